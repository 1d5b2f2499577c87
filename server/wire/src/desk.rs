//! Review in an editor: the editor has the live text, so it places the hunks itself, puts accepted ones into its own
//! buffers, and says what became of them.
//!
//! An accept through an editor takes three steps, so that it happens once and is recorded once: *claim* (nobody else can
//! decide these hunks for [`CLAIM_SECONDS`]), the edit in the buffer, *settle* (what the buffer holds now). An editor that
//! dies in between leaves hunks that are pending again; if its buffer was saved, they are found there already.

use legwork_model::{ChangeKind, Digest, TaskId, TaskState, TreePath};
use legwork_review::FileReview;
use serde::{Deserialize, Serialize};

use crate::{Pick, Skipped};

/// How long a claim is held, in seconds.
pub const CLAIM_SECONDS: u64 = 10;

/// All the changes of a task, for whoever has the live files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desk {
    /// Whose.
    pub task: TaskId,
    /// What it is called in a list.
    pub title: String,
    /// Where the task stands; while it runs there may be other changes at any time.
    pub state: TaskState,
    /// As [`crate::Review::digest`].
    pub digest: Digest,
    /// As [`crate::Review::moved`].
    #[serde(default)]
    pub moved: Option<String>,
    /// In the order in which they are best read: risk first, alike ones together.
    pub files: Vec<DeskFile>,
}

/// The changes of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskFile {
    /// Where.
    pub path: TreePath,
    /// How the change is told.
    pub kind: ChangeKind,
    /// Why it is in no bulk accept, if so.
    pub sensitive: Option<String>,
    /// One sentence for what lines do not show.
    pub summary: Option<String>,
    /// Why it is read at this place, as a few words.
    pub why: String,
    /// Hunks and decisions; the bytes it is about are fetched by their digests.
    pub review: FileReview,
}

/// Hunks are kept for one editor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// For [`Settle::token`].
    pub token: String,
    /// What is kept, by file.
    pub files: Vec<(TreePath, Vec<u32>)>,
    /// What is not, and why.
    pub skipped: Vec<Skipped>,
}

/// What became of a claim. What is claimed and not said to have landed is pending again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settle {
    /// From [`Claimed`]; `None` for hunks that the editor's text holds without any claim, because the user typed the same.
    #[serde(default)]
    pub token: Option<String>,
    /// What the editor's buffers hold now.
    pub landed: Vec<Landed>,
    /// As in [`crate::Decide`].
    #[serde(default)]
    pub gesture: Option<String>,
}

/// Accepted hunks of a file: that stand in an editor's buffer, or that a decision was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Landed {
    /// The file.
    pub path: TreePath,
    /// Which hunks.
    pub hunks: Vec<u32>,
    /// The buffer without them and with them, so that `legwork undo` can take them back from the file once the user has
    /// saved it; `None` when the user typed them, and where they are not text.
    #[serde(default)]
    pub texts: Option<(String, String)>,
}

/// What was accepted last, for an editor that takes it out of the files that it has open and has the hunks reopened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// As [`crate::Decide::gesture`]: all of it is told.
    pub gesture: Option<String>,
    /// Latest first; nothing where the last decision rejected.
    pub files: Vec<Landed>,
}

/// Asks for decided hunks to be pending again: an accepted one whose text the user took back, a rejected one that is
/// wanted after all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reopen {
    /// Which; a pick without a hunk means all decided ones of its file.
    pub picks: Vec<Pick>,
}
