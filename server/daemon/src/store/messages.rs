//! What the user says to the agent of a task: stored before anything else becomes of it, and told to the agent once.

use legwork_model::{EventBody, TaskId, TaskState};
use rusqlite::params;

use super::{Db, StoreError, events, tasks};

impl Db {
    /// Stores what the user says. Gives where the task stood.
    pub(crate) fn say(
        &mut self,
        task: &TaskId,
        text: &str,
        at: i64,
    ) -> Result<TaskState, StoreError> {
        self.write(|open| {
            let state = tasks::state(open, task)?;
            open.execute(
                "INSERT INTO messages (task, at, text) VALUES (?1, ?2, ?3)",
                params![task.as_str(), at, text],
            )?;
            let text = text.to_owned();
            events::append(open, task, at, &EventBody::Message { text })?;
            Ok(state)
        })
    }

    /// What the agent was not told yet, oldest first; from now on it counts as told.
    pub(crate) fn hear(&mut self, task: &TaskId, at: i64) -> Result<Vec<String>, StoreError> {
        self.write(|open| {
            let mut statement = open.prepare_cached(
                "SELECT text FROM messages WHERE task = ?1 AND heard IS NULL ORDER BY id",
            )?;
            let texts = statement
                .query_map([task.as_str()], |row| row.get(0))?
                .collect::<Result<Vec<String>, _>>()?;
            if !texts.is_empty() {
                open.execute(
                    "UPDATE messages SET heard = ?2 WHERE task = ?1 AND heard IS NULL",
                    params![task.as_str(), at],
                )?;
            }
            Ok(texts)
        })
    }
}
