//! What the user says to the agent of a task: stored before anything else becomes of it, and told to the agent once.

use legwork_model::{EventBody, Outcome, Report, TaskId, TaskState, Transition};
use rusqlite::{Transaction, params};

use super::{Db, StoreError, events, tasks};

impl Db {
    /// Stores what the user says. A task that is over waits for its turn again with this. Gives where the task stood.
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
            if state.is_over() {
                resume(open, task, at)?;
            }
            Ok(state)
        })
    }

    /// Whether a task waits for its turn. One that was left with something unheard does so from now on: its agent has asked, or
    /// has ended in the same moment. One that failed does not go on by itself.
    pub(crate) fn wake(&mut self, task: &TaskId, at: i64) -> Result<bool, StoreError> {
        let is_done = self.task(task)?.outcome == Some(Outcome::Done);
        self.write(|open| {
            let resumes = match tasks::state(open, task)? {
                TaskState::Queued => return Ok(true),
                TaskState::NeedsInput => true,
                TaskState::Ready | TaskState::Ended => is_done,
                _ => false,
            };
            if !resumes || unheard(open, task)? == 0 {
                return Ok(false);
            }
            resume(open, task, at)?;
            Ok(true)
        })
    }

    /// Tasks whose agents were not told everything.
    pub(crate) fn with_unheard(&mut self) -> Result<Vec<TaskId>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT DISTINCT task FROM messages WHERE heard IS NULL")?;
        statement
            .query_map([], |row| row.get::<_, String>(0))?
            .map(|text| tasks::id(&text?))
            .collect()
    }

    /// The agent has a question; the task stands still from now on.
    pub(crate) fn ask(&mut self, task: &TaskId, question: &str, at: i64) -> Result<(), StoreError> {
        self.write(|open| {
            open.execute(
                "UPDATE tasks SET question = ?2 WHERE id = ?1",
                params![task.as_str(), question],
            )?;
            tasks::step(open, task, Transition::Ask, at)?;
            let question = question.to_owned();
            events::append(open, task, at, &EventBody::Asked { question })
        })
    }

    /// Goes on with a task whose agent has asked, if something was said since; gives whether it does.
    pub(crate) fn answer(&mut self, task: &TaskId, at: i64) -> Result<bool, StoreError> {
        self.write(|open| {
            if unheard(open, task)? == 0 {
                return Ok(false);
            }
            forget_question(open, task)?;
            tasks::step(open, task, Transition::Answer, at)?;
            Ok(true)
        })
    }

    /// Stores how a task ran by now that is left waiting for an answer.
    pub(crate) fn park(&mut self, task: &TaskId, report: &Report) -> Result<(), StoreError> {
        let report = serde_json::to_string(report)?;
        self.write(|open| {
            open.execute(
                "UPDATE tasks SET report = ?2 WHERE id = ?1",
                params![task.as_str(), report],
            )?;
            Ok(())
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

/// Queues a task again.
fn resume(open: &Transaction<'_>, task: &TaskId, at: i64) -> Result<(), StoreError> {
    forget_question(open, task)?;
    open.execute(
        "UPDATE tasks SET outcome = NULL, finished = NULL WHERE id = ?1",
        [task.as_str()],
    )?;
    tasks::step(open, task, Transition::Resume, at).map(drop)
}

fn forget_question(open: &Transaction<'_>, task: &TaskId) -> Result<(), StoreError> {
    open.execute(
        "UPDATE tasks SET question = NULL WHERE id = ?1",
        [task.as_str()],
    )?;
    Ok(())
}

/// How much of what was said the agent does not know.
fn unheard(open: &Transaction<'_>, task: &TaskId) -> Result<u32, StoreError> {
    Ok(open.query_row(
        "SELECT count(*) FROM messages WHERE task = ?1 AND heard IS NULL",
        [task.as_str()],
        |row| row.get(0),
    )?)
}

#[cfg(test)]
mod tests {
    use legwork_model::{Failure, FailureKind, TaskSpec, Worker};

    use super::*;
    use crate::store::{Finish, NewTask, Store};

    fn running(store: &Store) -> TaskId {
        let task = NewTask {
            id: TaskId::random(),
            spec: TaskSpec::new("/w".into(), Worker::Builtin),
            buffers: Vec::new(),
        };
        store
            .with(|db| {
                db.submit(&task, 1)?;
                db.transition(&task.id, Transition::Start, 1)?;
                db.transition(&task.id, Transition::Boot, 1)
            })
            .unwrap();
        task.id
    }

    fn finish(store: &Store, task: &TaskId, outcome: Outcome) {
        let finish = Finish::with(outcome, Report::default());
        store.with(|db| db.finish(task, &finish, 2)).unwrap();
    }

    #[test]
    fn what_is_said_is_heard_once_and_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(dir.path()).unwrap();
        let task = running(&store);
        for text in ["one", "two"] {
            let state = store.with(|db| db.say(&task, text, 2)).unwrap();
            assert_eq!(state, TaskState::Running);
        }
        drop(store);
        let (store, _) = Store::open(dir.path()).unwrap();
        let unheard = store.with(|db| db.with_unheard()).unwrap();
        assert_eq!(unheard, std::slice::from_ref(&task));
        let hear = || store.with(|db| db.hear(&task, 3)).unwrap();
        assert_eq!(hear(), ["one", "two"]);
        assert!(hear().is_empty());
        let events = store.with(|db| db.log(&task)).unwrap();
        let said = events
            .iter()
            .filter(|event| matches!(event.body, EventBody::Message { .. }));
        assert_eq!(said.count(), 2);
    }

    #[test]
    fn a_question_stands_until_something_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(dir.path()).unwrap();
        let task = running(&store);
        store.with(|db| db.ask(&task, "Blue?", 2)).unwrap();
        let now = || store.with(|db| db.task(&task)).unwrap();
        assert_eq!(
            (now().state, now().question.as_deref()),
            (TaskState::NeedsInput, Some("Blue?"))
        );
        assert!(!store.with(|db| db.answer(&task, 3)).unwrap());
        assert!(!store.with(|db| db.wake(&task, 3)).unwrap(), "it waits");
        store.with(|db| db.say(&task, "green", 3)).unwrap();
        assert!(store.with(|db| db.answer(&task, 3)).unwrap());
        assert_eq!((now().state, now().question), (TaskState::Running, None));
        // The same where the machine is gone.
        store.with(|db| db.hear(&task, 4)).unwrap();
        store.with(|db| db.ask(&task, "Sure?", 4)).unwrap();
        store.with(|db| db.say(&task, "yes", 5)).unwrap();
        assert!(store.with(|db| db.wake(&task, 5)).unwrap());
        assert_eq!((now().state, now().question), (TaskState::Queued, None));
        assert_eq!(store.with(|db| db.hear(&task, 6)).unwrap(), ["yes"]);
    }

    #[test]
    fn a_task_that_is_over_waits_for_its_turn_again_and_a_failed_one_only_when_spoken_to() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(dir.path()).unwrap();
        let wake = |task: &TaskId| store.with(|db| db.wake(task, 3)).unwrap();
        let failed = || Outcome::Failed(Failure::new(FailureKind::Model, "", ""));
        let done = running(&store);
        finish(&store, &done, Outcome::Done);
        assert!(!wake(&done), "there is nothing to hear");
        store.with(|db| db.say(&done, "more", 3)).unwrap();
        let now = store.with(|db| db.task(&done)).unwrap();
        assert_eq!((now.state, now.outcome), (TaskState::Queued, None));
        // Said in its last moment.
        for (outcome, goes_on) in [(Outcome::Done, true), (failed(), false)] {
            let late = running(&store);
            store.with(|db| db.say(&late, "wait", 2)).unwrap();
            finish(&store, &late, outcome);
            assert_eq!(wake(&late), goes_on);
        }
    }
}
