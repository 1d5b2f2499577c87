//! What is about to happen to a tree, on disk before it happens. One file for each apply.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use legwork_model::{Side, TreePath, escape, unescape};
use serde::{Deserialize, Serialize};

use super::{Applied, ApplyError, Hook};
use crate::{Identity, Workspace};

/// The format that this program writes.
const VERSION: u32 = 1;

/// How far an apply has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Stage {
    /// New files are being written under temporary names; no file of the user is other than before.
    Prepared,
    /// Steps are being done.
    Committed,
    /// All steps are done; temporary names are being removed.
    Done,
}

/// Everything that is needed to end an apply in another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u32,
    workspace: String,
    identity: Identity,
    pub(super) context: String,
    pub(super) stage: Stage,
    pub(super) steps: Vec<Step>,
    pub(super) applied: Applied,
}

/// One change to the tree, in the order in which it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: TreePath,
    pub(super) action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub(super) enum Action {
    /// A file or link goes to a temporary name.
    Remove { temp: Temp, old: Side },
    /// A directory with nothing in it goes.
    RemoveDir { mode: u32 },
    /// A directory comes.
    MakeDir { mode: Option<u32> },
    /// A file or link changes places with a new one.
    Replace {
        temp: Temp,
        old: Side,
        new: Side,
        mode: u32,
        owner: (u32, u32),
        /// Inode of the new one.
        staged: Option<u64>,
    },
    /// A new file or link comes to where nothing is.
    Place {
        temp: Temp,
        new: Side,
        staged: Option<u64>,
    },
}

/// A temporary name in a directory that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Temp {
    /// `None` is the root.
    pub(super) dir: Option<TreePath>,
    pub(super) name: String,
}

impl Record {
    pub(super) fn new(
        workspace: &Workspace,
        context: &str,
        steps: Vec<Step>,
        applied: Applied,
    ) -> Self {
        Self {
            version: VERSION,
            workspace: escape(workspace.path().as_os_str().as_encoded_bytes()),
            identity: workspace.identity(),
            context: context.to_owned(),
            stage: Stage::Prepared,
            steps,
            applied,
        }
    }

    /// The workspace, if it still is the same folder.
    pub(super) fn workspace(&self) -> Result<Workspace, ApplyError> {
        use std::os::unix::ffi::OsStringExt as _;
        let path = unescape(&self.workspace).unwrap_or_default();
        let path = PathBuf::from(std::ffi::OsString::from_vec(path));
        Workspace::reopen(&path, self.identity)
            .map_err(|error| ApplyError::Root(io::Error::other(error)))
    }
}

/// A record and its file.
#[derive(Debug)]
pub(super) struct Journal<'a> {
    dir: PathBuf,
    path: PathBuf,
    hook: &'a Hook<'a>,
    pub(super) record: Record,
}

impl<'a> Journal<'a> {
    /// Writes a new journal.
    pub(super) fn begin(
        dir: &Path,
        hook: &'a Hook<'a>,
        record: Record,
    ) -> Result<Self, ApplyError> {
        use std::os::unix::fs::DirBuilderExt as _;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|error| journal_error(dir, error))?;
        let journal = Self {
            dir: dir.to_owned(),
            path: dir.join(format!("{}.json", super::plan::random_name())),
            hook,
            record,
        };
        journal.write()?;
        Ok(journal)
    }

    /// All journals that were not ended, oldest first. A file that is not whole never had an effect.
    pub(super) fn all(dir: &Path, hook: &'a Hook<'a>) -> Result<Vec<Self>, ApplyError> {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(journal_error(dir, error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| journal_error(dir, error))?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let read = || {
                let modified = path.metadata()?.modified()?;
                let record: Record = serde_json::from_slice(&std::fs::read(&path)?)?;
                if record.version != VERSION {
                    return Err(io::Error::other(
                        "it was written by another version of Legwork",
                    ));
                }
                Ok((modified, record))
            };
            let (modified, record) = read().map_err(|error| journal_error(&path, error))?;
            let journal = Self {
                dir: dir.to_owned(),
                path,
                hook,
                record,
            };
            found.push((modified, journal));
        }
        found.sort_by_key(|(modified, _)| *modified);
        Ok(found.into_iter().map(|(_, journal)| journal).collect())
    }

    pub(super) fn advance(&mut self, stage: Stage) -> Result<(), ApplyError> {
        let before = std::mem::replace(&mut self.record.stage, stage);
        self.write().inspect_err(|_| self.record.stage = before)
    }

    /// Forgets it.
    pub(super) fn end(self) -> Result<(), ApplyError> {
        let end = || {
            self.hook.call()?;
            std::fs::remove_file(&self.path)?;
            File::open(&self.dir)?.sync_all()
        };
        end().map_err(|error| journal_error(&self.dir, error))
    }

    fn write(&self) -> Result<(), ApplyError> {
        let write = || {
            self.hook.call()?;
            let mut temp = tempfile::NamedTempFile::new_in(&self.dir)?;
            temp.write_all(&serde_json::to_vec(&self.record)?)?;
            temp.as_file().sync_data()?;
            self.hook.call()?;
            temp.persist(&self.path).map_err(|error| error.error)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|error| match super::is_full(&error) {
            true => ApplyError::DiskFull,
            false => journal_error(&self.dir, error),
        })
    }
}

fn journal_error(dir: &Path, source: io::Error) -> ApplyError {
    ApplyError::Journal {
        dir: dir.display().to_string(),
        source,
    }
}
