//! The task table: submitted, moved along, finished, found again, forgotten.

use std::path::Path;

use legwork_model::{
    EventBody, Outcome, Refused, Report, Task, TaskId, TaskSpec, TaskState, Transition, TreePath,
};
use legwork_workspace::Identity;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::{Db, StoreError, decisions, events, evidence};

/// Columns that [`raw`] reads, in its order.
const COLUMNS: &str = "t.id, t.spec, t.state, t.outcome, t.created, t.finished, t.report, \
     (SELECT coalesce(sum(pending), 0) FROM files WHERE task = t.id), t.question, \
     (SELECT verdict FROM evidence WHERE task = t.id)";

/// How many candidates an ambiguous prefix is told with.
const CANDIDATES: u32 = 5;

/// A task to be.
#[derive(Debug)]
pub(crate) struct NewTask {
    /// Its name.
    pub(crate) id: TaskId,
    /// What is asked for.
    pub(crate) spec: TaskSpec,
    /// Unsaved buffers in place of what is on disk.
    pub(crate) buffers: Vec<(TreePath, String)>,
}

/// How a task ended, and what it left.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) outcome: Outcome,
    pub(crate) report: Report,
    pub(crate) refused: Vec<Refused>,
    /// What the user should know.
    pub(crate) notices: Vec<String>,
}

impl Finish {
    /// An end of which there is nothing more to say.
    pub(crate) fn with(outcome: Outcome, report: Report) -> Self {
        Self {
            outcome,
            report,
            refused: Vec::new(),
            notices: Vec::new(),
        }
    }
}

impl Db {
    /// Stores a new task as queued.
    pub(crate) fn submit(&mut self, task: &NewTask, at: i64) -> Result<(), StoreError> {
        let workspace = task.spec.workspace.to_string_lossy();
        let spec = serde_json::to_string(&task.spec)?;
        let buffers = (!task.buffers.is_empty())
            .then(|| serde_json::to_string(&task.buffers))
            .transpose()?;
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO tasks (id, workspace, spec, buffers, state, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![task.id.as_str(), workspace, spec, buffers, word(TaskState::Queued)?, at],
            )?;
            events::append(transaction, &task.id, at, &EventBody::State { state: TaskState::Queued })
        })
    }

    /// The task with this id, or the only one whose id begins so.
    pub(crate) fn resolve(&mut self, prefix: &str) -> Result<TaskId, StoreError> {
        let none = || StoreError::NoTask(prefix.to_owned());
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Err(none());
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM tasks WHERE substr(id, 1, length(?1)) = ?1 ORDER BY number DESC LIMIT ?2")?;
        let found = statement
            .query_map(params![prefix, CANDIDATES], |row| row.get::<_, String>(0))?
            .map(|text| id(&text?))
            .collect::<Result<Vec<_>, _>>()?;
        match <[TaskId; 1]>::try_from(found) {
            Ok([only]) => Ok(only),
            Err(found) if found.is_empty() => Err(none()),
            Err(candidates) => Err(StoreError::Ambiguous {
                prefix: prefix.to_owned(),
                candidates,
            }),
        }
    }

    /// One task.
    pub(crate) fn task(&mut self, id: &TaskId) -> Result<Task, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM tasks t WHERE t.id = ?1");
        let raw = self
            .connection
            .prepare_cached(&sql)?
            .query_row([id.as_str()], raw)
            .optional()?;
        task(raw.ok_or_else(|| StoreError::NoTask(id.to_string()))?)
    }

    /// All tasks, newest first; those of one workspace if it is given.
    pub(crate) fn tasks(&mut self, workspace: Option<&Path>) -> Result<Vec<Task>, StoreError> {
        let workspace = workspace.map(Path::to_string_lossy);
        let sql = format!(
            "SELECT {COLUMNS} FROM tasks t WHERE ?1 IS NULL OR t.workspace = ?1 ORDER BY t.number DESC"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement
            .query_map([workspace], raw)?
            .collect::<Result<Vec<_>, _>>()?;
        rows.into_iter().map(task).collect()
    }

    /// Tasks in one of these states, oldest first.
    pub(crate) fn tasks_in(&mut self, states: &[TaskState]) -> Result<Vec<Task>, StoreError> {
        let mut tasks = self.tasks(None)?;
        tasks.retain(|task| states.contains(&task.state));
        tasks.reverse();
        Ok(tasks)
    }

    /// Unsaved buffers that came with a task.
    pub(crate) fn buffers(&mut self, id: &TaskId) -> Result<Vec<(TreePath, String)>, StoreError> {
        let text: Option<String> = self.connection.query_row(
            "SELECT buffers FROM tasks WHERE id = ?1",
            [id.as_str()],
            |row| row.get(0),
        )?;
        Ok(text
            .map(|text| serde_json::from_str(&text))
            .transpose()?
            .unwrap_or_default())
    }

    /// Which directory the workspace of a task was when it was captured.
    pub(crate) fn identity(&mut self, id: &TaskId) -> Result<Option<Identity>, StoreError> {
        let text: Option<String> = self.connection.query_row(
            "SELECT identity FROM tasks WHERE id = ?1",
            [id.as_str()],
            |row| row.get(0),
        )?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Stores which directory the workspace of a task is.
    pub(crate) fn set_identity(
        &mut self,
        id: &TaskId,
        identity: Identity,
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(&identity)?;
        self.write(|open| {
            open.execute(
                "UPDATE tasks SET identity = ?2 WHERE id = ?1",
                params![id.as_str(), text],
            )?;
            Ok(())
        })
    }

    /// How many tasks have changes that nobody has decided on.
    pub(crate) fn ready(&mut self) -> Result<u32, StoreError> {
        let count = self.connection.query_row(
            "SELECT count(*) FROM tasks WHERE state = ?1",
            [word(TaskState::Ready)?],
            |row| row.get(0),
        );
        Ok(count?)
    }

    /// What the guest did that is not carried over, and what the user should know.
    pub(crate) fn remarks(
        &mut self,
        id: &TaskId,
    ) -> Result<(Vec<Refused>, Vec<String>), StoreError> {
        let (refused, notices): (String, String) = self.connection.query_row(
            "SELECT refused, notices FROM tasks WHERE id = ?1",
            [id.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok((
            serde_json::from_str(&refused)?,
            serde_json::from_str(&notices)?,
        ))
    }

    /// Moves a task along.
    pub(crate) fn transition(
        &mut self,
        id: &TaskId,
        transition: Transition,
        at: i64,
    ) -> Result<TaskState, StoreError> {
        self.write(|open| step(open, id, transition, at))
    }

    /// Ends a task in one go: its result, its last state and its outcome. What is under review was stored before. Gives the
    /// number of pending hunks.
    pub(crate) fn finish(
        &mut self,
        id: &TaskId,
        finish: &Finish,
        at: i64,
    ) -> Result<u32, StoreError> {
        self.write(|open| {
            let pending = decisions::pending(open, id)?;
            open.execute(
                "UPDATE tasks SET outcome = ?2, report = ?3, refused = ?4, notices = ?5, finished = ?6, buffers = NULL, \
                 question = NULL \
                 WHERE id = ?1",
                params![
                    id.as_str(),
                    serde_json::to_string(&finish.outcome)?,
                    serde_json::to_string(&finish.report)?,
                    serde_json::to_string(&finish.refused)?,
                    serde_json::to_string(&finish.notices)?,
                    at
                ],
            )?;
            for text in &finish.notices {
                events::append(open, id, at, &EventBody::Notice { text: text.clone() })?;
            }
            if pending > 0 && state(open, id)? == TaskState::Running {
                // It was cut off, and what it had changed by then was stored.
                step(open, id, Transition::End, at)?;
            }
            step(open, id, if pending > 0 { Transition::Collected } else { Transition::Finish }, at)?;
            events::append(open, id, at, &EventBody::Outcome { outcome: finish.outcome.clone(), pending })?;
            Ok(pending)
        })
    }

    /// Tasks that ended before `at` and have nothing pending.
    pub(crate) fn ended_before(&mut self, at: i64) -> Result<Vec<TaskId>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM tasks WHERE state = ?1 AND finished < ?2")?;
        statement
            .query_map(params![word(TaskState::Ended)?, at], |row| {
                row.get::<_, String>(0)
            })?
            .map(|text| id(&text?))
            .collect()
    }

    /// Removes all that is known of a task.
    pub(crate) fn forget(&mut self, id: &TaskId) -> Result<(), StoreError> {
        self.write(|open| {
            Ok(open
                .execute("DELETE FROM tasks WHERE id = ?1", [id.as_str()])
                .map(drop)?)
        })
    }
}

/// Changes the state of a task as [`TaskState::next`] allows, and says so in an event.
pub(super) fn step(
    open: &Transaction<'_>,
    id: &TaskId,
    transition: Transition,
    at: i64,
) -> Result<TaskState, StoreError> {
    let state = state(open, id)?;
    let Some(next) = state.next(transition) else {
        return Err(StoreError::Illegal {
            task: id.clone(),
            state,
            transition,
        });
    };
    open.execute(
        "UPDATE tasks SET state = ?2 WHERE id = ?1",
        params![id.as_str(), word(next)?],
    )?;
    events::append(open, id, at, &EventBody::State { state: next })?;
    Ok(next)
}

/// Where a task stands.
pub(super) fn state(open: &Transaction<'_>, id: &TaskId) -> Result<TaskState, StoreError> {
    let text: Option<String> = open
        .query_row(
            "SELECT state FROM tasks WHERE id = ?1",
            [id.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    parse_state(&text.ok_or_else(|| StoreError::NoTask(id.to_string()))?)
}

pub(super) fn id(text: &str) -> Result<TaskId, StoreError> {
    text.parse()
        .map_err(|error| StoreError::Garbled(format!("{error}")))
}

/// A state as it stands in its column.
fn word(state: TaskState) -> Result<String, StoreError> {
    match serde_json::to_value(state)? {
        serde_json::Value::String(word) => Ok(word),
        other => Err(StoreError::Garbled(other.to_string())),
    }
}

fn parse_state(word: &str) -> Result<TaskState, StoreError> {
    Ok(serde_json::from_value(serde_json::Value::String(
        word.to_owned(),
    ))?)
}

#[expect(clippy::type_complexity, reason = "it is the row, once")]
fn raw(
    row: &Row<'_>,
) -> rusqlite::Result<(
    String,
    String,
    String,
    Option<String>,
    i64,
    Option<i64>,
    Option<String>,
    u32,
    Option<String>,
    Option<String>,
)> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(8)?,
        row.get(9)?,
    ))
}

#[expect(clippy::type_complexity, reason = "it is the row, once")]
fn task(
    raw: (
        String,
        String,
        String,
        Option<String>,
        i64,
        Option<i64>,
        Option<String>,
        u32,
        Option<String>,
        Option<String>,
    ),
) -> Result<Task, StoreError> {
    let (text, spec, state, outcome, created, finished, report, pending, question, checks) = raw;
    Ok(Task {
        id: id(&text)?,
        spec: serde_json::from_str(&spec)?,
        state: parse_state(&state)?,
        outcome: outcome
            .map(|text| serde_json::from_str(&text))
            .transpose()?,
        created,
        finished,
        pending,
        report: report.map(|text| serde_json::from_str(&text)).transpose()?,
        question,
        checks: checks.map(|word| evidence::verdict(&word)).transpose()?,
    })
}
