//! What must survive: tasks, events, files under review, decisions. One SQLite database with one writer; what a method
//! returned from is on the disk.
//!
//! [`Db`] is the database, synchronous. [`Store`] is the handle that everybody else has: it keeps callers out of one
//! another's way and tells them when there are new events.

mod decisions;
mod events;
mod evidence;
mod files;
mod live;
mod messages;
mod open;
mod tasks;

#[cfg(test)]
mod tests;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use legwork_model::{TaskId, TaskState, Transition};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::watch;

pub(crate) use decisions::{Decision, DecisionKind, Dropped, Unsettled};
pub(crate) use files::FileRow;
pub(crate) use tasks::{Finish, NewTask};

/// Why the store did not do something. Nothing was written then.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened or made.
    #[error(
        "cannot open the database {path}: {source}; check the free space and the rights of its directory"
    )]
    Open {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process has it.
    #[error(
        "{0} is in use by another daemon: its runtime directory is another, set LEGWORK_RUNTIME to that one"
    )]
    InUse(PathBuf),
    /// It was written by a newer version.
    #[error(
        "{path} has schema {found} and this version knows up to {known}: run the newer Legwork again, or set LEGWORK_STATE to another directory"
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// SQLite refuses, or the disk.
    #[error("the database does not work: {0}; check the free space of the state directory")]
    Database(#[from] rusqlite::Error),
    /// What is stored is not what was written.
    #[error("the database holds something that cannot be understood: {0}")]
    Garbled(String),
    /// No such task.
    #[error("there is no task `{0}`")]
    NoTask(String),
    /// Several tasks begin so.
    #[error("`{prefix}` is the beginning of several task ids: {}", list(.candidates))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of those that fit, newest first.
        candidates: Vec<TaskId>,
    },
    /// The task is in another state.
    #[error("task {task} is {state:?} and cannot do {transition:?}")]
    Illegal {
        /// Which.
        task: TaskId,
        /// Its state.
        state: TaskState,
        /// What was asked of it.
        transition: Transition,
    },
    /// The process is going down.
    #[error("the daemon is ending")]
    Closing,
}

fn list(candidates: &[TaskId]) -> String {
    candidates
        .iter()
        .map(TaskId::as_str)
        .collect::<Vec<_>>()
        .join(", ")
}

impl From<serde_json::Error> for StoreError {
    fn from(error: serde_json::Error) -> Self {
        Self::Garbled(error.to_string())
    }
}

/// The database.
#[derive(Debug)]
pub(crate) struct Db {
    connection: Connection,
}

impl Db {
    /// All or nothing.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }
}

/// A handle on the database; clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    db: Arc<Mutex<Db>>,
    last_event: Arc<watch::Sender<u64>>,
}

impl Store {
    /// Opens or makes the database in `dir`. The second value tells the user of a database that had to be put aside.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`], [`StoreError::InUse`], [`StoreError::Newer`].
    pub(crate) fn open(dir: &Path) -> Result<(Self, Option<String>), StoreError> {
        let (db, notice) = open::open(&dir.join("legwork.db"))?;
        let last_event = watch::Sender::new(db.last_event()?);
        Ok((
            Self {
                db: Arc::new(Mutex::new(db)),
                last_event: Arc::new(last_event),
            },
            notice,
        ))
    }

    /// Does `work` with the database, here. It blocks: not for async code.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Db) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A panic in `work` rolled its transaction back, so the value behind the lock is sound.
        let mut db = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let value = work(&mut db)?;
        let last = db.last_event()?;
        self.last_event
            .send_if_modified(|seen| std::mem::replace(seen, last) != last);
        Ok(value)
    }

    /// Does `work` with the database, on a thread that may block.
    pub(crate) async fn call<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Db) -> Result<T, StoreError> + Send + 'static,
    {
        let store = self.clone();
        match tokio::task::spawn_blocking(move || store.with(work)).await {
            Ok(result) => result,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(StoreError::Closing),
        }
    }

    /// Number of the last event; it changes when there are new ones.
    pub(crate) fn last_event(&self) -> watch::Receiver<u64> {
        self.last_event.subscribe()
    }
}
