//! What the guest sees, and what it does not see and why.

use serde::{Deserialize, Serialize};

use crate::{Digest, TreePath};

/// One entry of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where it stands.
    pub path: TreePath,
    /// What it is.
    pub kind: EntryKind,
    /// Permission bits (of the lower nine) as on the host.
    pub mode: u16,
    /// Modification time in nanoseconds since 1970, as on the host; the guest sees the same.
    pub mtime: i128,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum EntryKind {
    /// A regular file.
    File {
        /// Length in bytes.
        size: u64,
        /// What it holds.
        digest: Digest,
        /// Where its bytes begin in the snapshot's image.
        offset: u64,
    },
    /// A directory.
    Dir,
    /// A symbolic link, never followed.
    Symlink {
        /// The bytes of its target, escaped as in [`TreePath`]'s text form.
        target: String,
    },
}

/// Why something of the workspace is not in the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// An ignore file names it.
    Ignored,
    /// Its name says that it holds a secret.
    Secret,
    /// The version control system's own folder.
    VersionControl,
    /// The same, but the guest has a copy of its own, because the user named it; nothing of it is ever taken over.
    Copied,
    /// A socket, FIFO or device.
    Special,
    /// It could not be read.
    Unreadable,
    /// It lies on another file system or is a mount point.
    OtherFileSystem,
    /// It is bigger than the largest file a snapshot takes.
    TooLarge,
    /// It went away or changed while it was read.
    Vanished,
}

impl Reason {
    /// As a part of a sentence: "left out because …".
    pub fn describe(self) -> &'static str {
        match self {
            Self::Ignored => "an ignore rule names it",
            Self::Secret => "its name says that it holds a secret",
            Self::VersionControl => "it belongs to the version control system",
            Self::Copied => {
                "it belongs to the version control system; the task has a copy of its own"
            }
            Self::Special => "it is a socket, FIFO or device",
            Self::Unreadable => "it cannot be read",
            Self::OtherFileSystem => "it lies on another file system",
            Self::TooLarge => "it is too large",
            Self::Vanished => "it changed while it was read",
        }
    }
}

/// Something that stays outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The top of what was left out; nothing below it is listed.
    pub path: TreePath,
    /// Why.
    pub reason: Reason,
}

/// A whole snapshot, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Sorted by path.
    pub left_out: Vec<LeftOut>,
    /// What is in the snapshot without its extended attributes and access list, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unattributed: Vec<TreePath>,
    /// Files that are one file under several names here and a file of its own under each in the snapshot, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<TreePath>,
}

impl Manifest {
    /// The entry at a path.
    pub fn get(&self, path: &TreePath) -> Option<&Entry> {
        self.entries
            .binary_search_by(|entry| entry.path.cmp(path))
            .ok()
            .map(|index| &self.entries[index])
    }

    /// What was left out at this path or above it.
    pub fn left_out_at(&self, path: &TreePath) -> Option<&LeftOut> {
        self.left_out
            .iter()
            .find(|out| out.path == *path || path.is_below(&out.path))
    }

    /// Number of regular files.
    pub fn files(&self) -> usize {
        self.entries
            .iter()
            .filter(|entry| matches!(entry.kind, EntryKind::File { .. }))
            .count()
    }
}
