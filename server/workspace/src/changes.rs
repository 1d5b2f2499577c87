//! From what a guest reports about the upper layer of its overlay to a change set.
//!
//! The report is hostile: it is data that is checked, never a command. Its contents were hashed on the host.

use legwork_model::ChangeSet;

use crate::{Blob, BlobStore, Snapshot, Workspace};

/// One entry of the upper layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Where it stands below the workspace, as the guest wrote it.
    pub path: Vec<u8>,
    /// What it is.
    pub what: ReportedKind,
}

/// What an entry of the upper layer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedKind {
    /// A regular file.
    File {
        /// Permission bits; only the owner's `x` counts.
        mode: u32,
        /// Length in bytes, as the guest says.
        size: u64,
        /// Its content in the store; `None` if it was not asked for because [`ChangeSetBuilder::wants`] said no.
        content: Option<Blob>,
    },
    /// A directory.
    Dir {
        /// Permission bits; not carried to the host.
        mode: u32,
        /// Whether it hides what the base has below it.
        opaque: bool,
    },
    /// A symbolic link.
    Symlink {
        /// The bytes of its target.
        target: Vec<u8>,
    },
    /// What the base has here is gone, and everything below.
    Whiteout,
    /// Something that is never carried: "a FIFO", "a socket", "a device".
    Other {
        /// What, with its article.
        what: String,
    },
}

/// How much a guest may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Entries outside ignored directories.
    pub entries: usize,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files.
    pub total: u64,
}

impl Default for Caps {
    /// 20,000 entries, 64 MiB for a file, 512 MiB in all.
    fn default() -> Self {
        Self {
            entries: 20_000,
            file: 64 << 20,
            total: 512 << 20,
        }
    }
}

/// Why nothing of a report is used.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The guest's report contradicts itself or the base.
    #[error("the guest's report is not usable: {0}; run the task again")]
    Protocol(String),
    /// Too much.
    #[error(
        "the task changed too much: {0}; ask for less at once, or have an ignore rule name what is generated"
    )]
    TooMuch(String),
    /// The base could not be read.
    #[error(transparent)]
    Snapshot(#[from] crate::SnapshotError),
}

/// Takes the report entry by entry, in any order.
#[derive(Debug)]
pub struct ChangeSetBuilder<'a> {
    _base: (&'a Snapshot, &'a Workspace),
    _blobs: BlobStore,
    _caps: Caps,
}

impl<'a> ChangeSetBuilder<'a> {
    /// Starts on the base that the guest was given. The workspace is only looked at: whether something stands at a path
    /// that the guest never saw.
    pub fn new(
        base: &'a Snapshot,
        workspace: &'a Workspace,
        blobs: &BlobStore,
        caps: Caps,
    ) -> Self {
        Self {
            _base: (base, workspace),
            _blobs: blobs.clone(),
            _caps: caps,
        }
    }

    /// Whether the content of a file is of use; when it is not (ignored, too large, refused for its name) the entry is
    /// still to be added, without content.
    pub fn wants(&self, _path: &[u8], _size: u64) -> bool {
        true
    }

    /// Takes one entry.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Protocol`] for a second entry at one path, [`ChangeError::TooMuch`] over a cap.
    pub fn add(&mut self, _entry: Reported) -> Result<(), ChangeError> {
        Ok(())
    }

    /// Makes the change set.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; nothing of the report is used then.
    pub fn finish(self) -> Result<ChangeSet, ChangeError> {
        Ok(ChangeSet::default())
    }
}
