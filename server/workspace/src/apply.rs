//! The only code that writes to the user's tree. All or nothing, journaled, undoable.

use std::{
    io,
    path::{Path, PathBuf},
};

use legwork_model::{Change, ChangeKind, Side, TreePath};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{BlobError, BlobStore, Workspace};

use journal::{Journal, Record, Stage};
use write::Tree;

mod journal;
mod look;
mod plan;
mod write;

#[cfg(test)]
mod tests;

/// One thing to do at one path.
///
/// A directory side means "there is a directory": making one that is there already is done, and removing one removes it
/// only if nothing else stands in it. Parents are made as needed; a directory whose last entry is deleted is removed
/// with it, as git does, unless another edit of the set wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where.
    pub path: TreePath,
    /// What must stand there for this to be right. Of a file the content counts, and of its permissions those that the
    /// edit changes.
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
///
/// 1. Every path is looked at, without following links, and compared with what the edit expects; what stands there is
///    kept in the blob store.
/// 2. The journal says what is about to happen, then the new files are written beside their places.
/// 3. The journal says that it happens now. Files are exchanged with the new ones; what came out is compared once more,
///    and if it is not what was expected (a save in that very moment) everything is taken back.
/// 4. The journal says that it is done, and what came out is removed.
///
/// A file with several hard links is replaced under this one name; the others keep the old content. A replaced file keeps
/// its extended attributes and its access list.
#[derive(Debug)]
pub struct Applier<'a> {
    workspace: &'a Workspace,
    journal: PathBuf,
    blobs: &'a BlobStore,
    hook: Hook<'a>,
}

impl<'a> Applier<'a> {
    /// `journal_dir` is private to this user and outlives the process.
    pub fn new(workspace: &'a Workspace, journal_dir: &Path, blobs: &'a BlobStore) -> Self {
        Self {
            workspace,
            journal: journal_dir.to_owned(),
            blobs,
            hook: Hook::default(),
        }
    }

    /// Does all edits or none. At most one edit at a path. `context` comes back from [`recover`] if this process ends in
    /// the middle.
    ///
    /// # Errors
    ///
    /// [`ApplyError`]; the tree is as it was.
    pub fn apply(&self, edits: &[Edit], context: &str) -> Result<Applied, ApplyError> {
        let root = self.workspace.root().map_err(ApplyError::Root)?;
        let steps = plan::plan(&root, edits, self.blobs)?;
        let applied = plan::applied(&steps);
        if steps.is_empty() {
            return Ok(applied);
        }
        let tree = Tree::new(root, &self.hook);
        let mut journal = Journal::begin(
            &self.journal,
            &self.hook,
            Record::new(self.workspace, context, steps, applied.clone()),
        )?;
        let staged = tree
            .stage(&mut journal.record.steps, self.blobs)
            .and_then(|()| journal.advance(Stage::Committed));
        if let Err(error) = staged {
            return Err(back(&tree, journal, error));
        }
        if let Err(error) = finish(&tree, &mut journal) {
            // Should the mark be on disk although its writing failed, it is not true any more.
            let _better = journal.advance(Stage::Committed);
            tree.undo(&journal.record.steps)?;
            return Err(back(&tree, journal, error));
        }
        // From here on it is done, whatever happens: what is left is tidied up by the next start.
        if tree.tidy(&journal.record.steps).is_ok() {
            let _left = journal.end();
        }
        Ok(applied)
    }
}

/// Ends an apply of which nothing is left in the tree but temporary files. If they cannot be removed now, the journal
/// stays and the next start tries again.
fn back(tree: &Tree<'_>, journal: Journal<'_>, error: ApplyError) -> ApplyError {
    if tree.tidy(&journal.record.steps).is_ok() {
        let _left = journal.end();
    }
    error
}

/// All steps, those that are done already included, and the mark that nothing is to be taken back any more.
fn finish(tree: &Tree<'_>, journal: &mut Journal<'_>) -> Result<(), ApplyError> {
    tree.perform(&journal.record.steps)?;
    journal.advance(Stage::Done)
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

/// Brings applies that were interrupted to an end; to be called once before anything is applied. An apply that had
/// returned already may be told again if its temporary files could not be removed then.
///
/// # Errors
///
/// The journal cannot be read.
pub fn recover(journal_dir: &Path) -> Result<Vec<Recovered>, ApplyError> {
    let hook = Hook::default();
    recover_with(journal_dir, &hook)
}

fn recover_with(dir: &Path, hook: &Hook<'_>) -> Result<Vec<Recovered>, ApplyError> {
    let journals = Journal::all(dir, hook)?;
    Ok(journals
        .into_iter()
        .map(|journal| {
            let context = journal.record.context.clone();
            let outcome = recover_one(journal, hook)
                .unwrap_or_else(|error| RecoveredAs::Stuck(error.to_string()));
            Recovered { context, outcome }
        })
        .collect())
}

fn recover_one(mut journal: Journal<'_>, hook: &Hook<'_>) -> Result<RecoveredAs, ApplyError> {
    let workspace = journal.record.workspace()?;
    let tree = Tree::new(workspace.root().map_err(ApplyError::Root)?, hook);
    let forward = match journal.record.stage {
        Stage::Prepared => false,
        Stage::Committed => {
            let done = finish(&tree, &mut journal).is_ok();
            if !done {
                tree.undo(&journal.record.steps)?;
            }
            done
        }
        Stage::Done => true,
    };
    if !forward {
        tree.tidy(&journal.record.steps)?;
        journal.end()?;
        return Ok(RecoveredAs::RolledBack);
    }
    tree.tidy(&journal.record.steps)?;
    let applied = journal.record.applied.clone();
    journal.end()?;
    Ok(RecoveredAs::Finished(applied))
}

/// Called before each change to a disk. Tests let it fail or end the process.
#[derive(Default)]
struct Hook<'a>(Option<Box<dyn Fn() -> io::Result<()> + 'a>>);

impl Hook<'_> {
    fn call(&self) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |hook| hook())
    }
}

impl std::fmt::Debug for Hook<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}

/// Whether an error says that there is no room left.
pub(crate) fn is_full(error: &io::Error) -> bool {
    let full = [Errno::NOSPC, Errno::DQUOT].map(|errno| errno.raw_os_error());
    error
        .raw_os_error()
        .is_some_and(|code| full.contains(&code))
}
