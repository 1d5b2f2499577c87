//! The tasks that are this client's business, as the daemon last told them. Nothing here is a truth of its own.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
};

use legwork_model::{ChangeKind, Outcome, Task, TaskId, TaskState, TreePath};
use legwork_wire::{Desk, DeskFile};

use crate::failure::Failure;

/// A task and its changes.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) task: Task,
    /// `None` while there is nothing to review.
    pub(crate) desk: Option<Arc<Desk>>,
    /// Where in the desk a path is.
    index: Arc<HashMap<TreePath, usize>>,
}

/// A file of a task, found by its path on disk.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) desk: Arc<Desk>,
    at: usize,
}

impl Found {
    pub(crate) fn file(&self) -> &DeskFile {
        &self.desk.files[self.at]
    }
}

impl Known {
    fn new(task: Task, desk: Option<Desk>) -> Self {
        let mut index = HashMap::new();
        for (at, file) in desk.iter().flat_map(|desk| desk.files.iter().enumerate()) {
            index.insert(file.path.clone(), at);
        }
        // At its old path a rename is shown too, unless something else is.
        for (at, file) in desk.iter().flat_map(|desk| desk.files.iter().enumerate()) {
            if let ChangeKind::Rename { from } = &file.kind {
                index.entry(from.clone()).or_insert(at);
            }
        }
        Self {
            task,
            desk: desk.map(Arc::new),
            index: Arc::new(index),
        }
    }

    /// The files on disk that it is about, in the order in which they are best read.
    pub(crate) fn files(&self) -> impl Iterator<Item = PathBuf> {
        let root = &self.task.spec.workspace;
        self.desk
            .iter()
            .flat_map(|desk| &desk.files)
            .map(move |file| file.path.under(root))
    }

    /// A file of it by its path below the workspace.
    pub(crate) fn file(&self, path: &TreePath) -> Option<Found> {
        Some(Found {
            at: *self.index.get(path)?,
            desk: Arc::clone(self.desk.as_ref()?),
        })
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    known: BTreeMap<TaskId, Known>,
    /// Whether the daemon answers.
    pub(crate) up: bool,
}

impl Tasks {
    /// Takes what the daemon says. Gives the files whose hunks may be others now.
    pub(crate) fn put(&mut self, task: Task, desk: Option<Desk>) -> Vec<PathBuf> {
        let new = Known::new(task, desk);
        let mut files: Vec<PathBuf> = new.files().collect();
        if let Some(old) = self.known.insert(new.task.id.clone(), new) {
            files.extend(old.files());
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Forgets what the daemon does not know any more. Gives the files of it.
    pub(crate) fn keep(&mut self, ids: &[TaskId]) -> Vec<PathBuf> {
        let mut files = Vec::new();
        self.known.retain(|id, known| {
            let stays = ids.contains(id);
            if !stays {
                files.extend(known.files());
            }
            stays
        });
        files
    }

    pub(crate) fn get(&self, id: &TaskId) -> Option<&Known> {
        self.known.get(id)
    }

    /// A task by its id or the beginning of it.
    pub(crate) fn named(&self, name: &str) -> Result<TaskId, Failure> {
        let mut fit = self
            .known
            .keys()
            .filter(|id| !name.is_empty() && id.as_str().starts_with(name));
        match (fit.next(), fit.next()) {
            (Some(id), None) => Ok(id.clone()),
            (Some(_), Some(_)) => Err(Failure::new(format!(
                "several tasks begin with `{name}`: write more of it"
            ))),
            (None, _) => Err(Failure::new(format!(
                "there is no task `{name}` here: `legwork tasks` lists them"
            ))),
        }
    }

    /// Newest first.
    pub(crate) fn newest(&self) -> Vec<&Known> {
        let mut all: Vec<&Known> = self.known.values().collect();
        all.sort_by(|a, b| (b.task.created, &b.task.id).cmp(&(a.task.created, &a.task.id)));
        all
    }

    /// What the tasks want of a file, oldest task first.
    pub(crate) fn of_file(&self, real: &Path) -> Vec<Found> {
        let mut newest = self.newest();
        newest.reverse();
        newest
            .into_iter()
            .filter_map(|known| {
                let below = real.strip_prefix(&known.task.spec.workspace).ok()?;
                known.file(&TreePath::from_path(below).ok()?)
            })
            .collect()
    }
}

/// The state of a task in one word, for a list.
pub(crate) fn word(task: &Task) -> &'static str {
    match (task.state, &task.outcome) {
        (TaskState::Queued, _) => "queued",
        (TaskState::Preparing | TaskState::Running | TaskState::Collecting, _) => "running",
        (TaskState::NeedsInput, _) => "needs-input",
        (TaskState::Ready, _) => "ready",
        (TaskState::Ended, Some(Outcome::Failed(_))) => "failed",
        (TaskState::Ended, Some(Outcome::Cancelled)) => "cancelled",
        (TaskState::Ended, _) => "done",
    }
}

/// How a task ended, as half a sentence.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::Cancelled => "cancelled".to_owned(),
        Outcome::Failed(failure) if failure.hint.is_empty() => failure.message.clone(),
        Outcome::Failed(failure) => format!("{}; {}", failure.message, failure.hint),
    }
}
