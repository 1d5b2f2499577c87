//! What the guest did to its copy, as typed data.

use serde::{Deserialize, Serialize};

use crate::{Digest, Permissions, TreePath};

/// One side of a change: what stands at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Side {
    /// A regular file.
    File {
        /// What it holds.
        digest: Digest,
        /// Length in bytes.
        size: u64,
        /// Who may read, write and execute it.
        permissions: Permissions,
    },
    /// A directory with nothing in it; directories that hold something need no change of their own.
    Dir,
    /// A symbolic link.
    Symlink {
        /// The bytes of its target, escaped as in [`TreePath`]'s text form.
        target: String,
    },
}

/// How a change is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum ChangeKind {
    /// Nothing stood there before.
    Create,
    /// The content, and perhaps the mode, is another.
    Modify,
    /// Only the permissions are another.
    Mode,
    /// Nothing stands there any more.
    Delete,
    /// A file that went away at `from` and stands here now with the same or similar content.
    Rename {
        /// Where it stood.
        from: TreePath,
    },
    /// Something of another type stands there now: a file became a symbolic link, say.
    Retype,
}

/// A change at one path. `before` is as the guest found it, `after` as it left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where.
    pub path: TreePath,
    /// How it is told.
    pub kind: ChangeKind,
    /// What stood there, or for a rename at the old path.
    pub before: Option<Side>,
    /// What stands there now.
    pub after: Option<Side>,
    /// The content is not text (or not text that can be shown line by line): accepted or rejected whole.
    pub binary: bool,
    /// Why this change is never part of a bulk accept, if so; a short phrase such as "runs on build".
    pub sensitive: Option<String>,
}

/// Something the guest did that Legwork will not carry to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Where, as printable text.
    pub path: String,
    /// Why, as a sentence.
    pub reason: String,
}

/// All that a task changed. Sorted by path; at most one change at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// What can be reviewed.
    pub changes: Vec<Change>,
    /// What cannot, and why.
    pub refused: Vec<Refused>,
}

impl ChangeSet {
    /// Whether the guest left its copy as it found it.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.refused.is_empty()
    }

    /// The change at a path.
    pub fn get(&self, path: &TreePath) -> Option<&Change> {
        self.changes.iter().find(|change| change.path == *path)
    }
}
