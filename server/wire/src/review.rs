//! What is shown for a decision, and the decision.

use legwork_model::{ChangeKind, Digest, TaskId, TreePath};
use serde::{Deserialize, Serialize};

/// All the changes of a task as they stand now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Whose.
    pub task: TaskId,
    /// Binds a decision to what was shown: it changes whenever a pending hunk does.
    pub digest: Digest,
    /// That another commit is checked out than when the task began, as a sentence.
    #[serde(default)]
    pub moved: Option<String>,
    /// Sorted by path.
    pub files: Vec<FileReview>,
}

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReview {
    /// Where.
    pub path: TreePath,
    /// How the change is told.
    pub kind: ChangeKind,
    /// Shown as size and digest, decided whole.
    pub binary: bool,
    /// Why it is in no bulk accept, if so.
    pub sensitive: Option<String>,
    /// One sentence for what lines do not show: a mode change, a link target, sizes of a binary file.
    pub summary: Option<String>,
    /// Pending and decided hunks, top to bottom. A change that has no lines (mode, empty file, binary, link, delete of
    /// a binary file) has exactly one, without lines.
    pub hunks: Vec<Hunk>,
}

/// The smallest part of a change that can be decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Number in its file, from 1, stable while the task is under review.
    pub id: u32,
    /// Where it stands.
    pub state: HunkState,
    /// First line in the base, from 1, and number of lines (without context).
    pub before: (u32, u32),
    /// First line in the result, from 1, and number of lines (without context).
    pub after: (u32, u32),
    /// First line in the file as it is on disk now, from 1; `None` when the hunk has no place there.
    pub live: Option<u32>,
    /// Up to three lines of context on each side, and the change. Text is printable: bytes that are not UTF-8 and
    /// control characters (but tab) are shown escaped; the files keep their bytes.
    pub lines: Vec<Line>,
}

/// Where a hunk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HunkState {
    /// Waits for a decision and has a place in the live file.
    Pending,
    /// Waits for a decision, but the live file was changed at the same place.
    Conflicted,
    /// Is in the live file.
    Accepted,
    /// Will never be.
    Rejected,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Which side it is on.
    pub kind: LineKind,
    /// Its text without the line ending.
    pub text: String,
    /// Set on a last line without a line ending.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_newline: bool,
}

/// Which side a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineKind {
    /// On both.
    Context,
    /// Only in the base.
    Removed,
    /// Only in the result.
    Added,
}

/// Part of a task's changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pick {
    /// The file, or a directory: everything below it.
    pub path: TreePath,
    /// One hunk of the file; all pending ones if absent.
    #[serde(default)]
    pub hunk: Option<u32>,
}

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// What it is about; empty for everything that is pending.
    #[serde(default)]
    pub picks: Vec<Pick>,
    /// Sensitive changes are accepted too. Naming a single hunk, or the very file, of a sensitive change has the same
    /// effect for it.
    #[serde(default)]
    pub include_sensitive: bool,
    /// [`Review::digest`] of what was shown; if it is given and the review is another by now, nothing is done.
    #[serde(default)]
    pub digest: Option<Digest>,
    /// A name for what the user did in one go, where that takes several requests: an undo takes them back together.
    #[serde(default)]
    pub gesture: Option<String>,
    /// Why, for the agent if it goes on: of a reject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which decision is to be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// All that has this [`Decide::gesture`], which may be nothing any more; else the last decision, with what belongs to
    /// it.
    #[serde(default)]
    pub gesture: Option<String>,
}

/// What a decision did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Hunks that were accepted, rejected, or made pending again by an undo.
    pub hunks: u32,
    /// Files that were written, deleted or given another mode on disk.
    pub written: Vec<TreePath>,
    /// What a decision over several hunks left pending, and why.
    pub skipped: Vec<Skipped>,
    /// Hunks that still wait.
    pub pending: u32,
}

/// Something that stays pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The file.
    pub path: TreePath,
    /// The hunk, or the whole file.
    pub hunk: Option<u32>,
    /// Why, as a sentence.
    pub reason: String,
}
