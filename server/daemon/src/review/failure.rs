//! Why a decision was not taken. Nothing was written then.

use legwork_model::{Digest, TaskId, TreePath};
use legwork_review::DecideError;
use legwork_wire::{ErrorKind, Skipped};
use legwork_workspace::{ApplyError, BlobError};

use crate::store::{FileRow, StoreError};

/// Why a hunk is left out that somebody claimed.
pub(super) const IN_HAND: &str = "is being accepted in another editor";

/// Why a decision was not taken. Nothing was written then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReviewError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Contents are gone or damaged.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The stored review and the stored contents do not fit.
    #[error(transparent)]
    Open(#[from] legwork_review::OpenError),
    /// The workspace is not there.
    #[error(transparent)]
    Workspace(#[from] legwork_workspace::OpenError),
    /// Writing.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// It is not over, and there is nothing to decide.
    #[error("task {0} has changed nothing yet")]
    NotYet(TaskId),
    /// The digest is another.
    #[error("the review of task {0} is another by now than the one that was shown")]
    Outdated(TaskId),
    /// No such change.
    #[error("the task changed nothing at `{0}`")]
    NoChange(TreePath),
    /// No such hunk, or it was decided.
    #[error("`{path}`: {source}")]
    Decide { path: TreePath, source: DecideError },
    /// It was decided before.
    #[error("{what} was already {how}")]
    Already { what: String, how: &'static str },
    /// Another editor has it in hand.
    #[error("hunk {hunk} of `{path}` {IN_HAND}")]
    Claimed { path: TreePath, hunk: u32 },
    /// The editor's text holds hunks that cannot be recorded as accepted.
    #[error("nothing was recorded as accepted; hunk {hunk} of `{path}`: {reason}")]
    NotLanded {
        path: TreePath,
        hunk: u32,
        reason: String,
    },
    /// One file was told of twice.
    #[error("`{0}` is named twice in one request")]
    Twice(TreePath),
    /// No pick.
    #[error("no hunk was named that is to be pending again")]
    NothingNamed,
    /// Contents of something else.
    #[error("the review of task {task} names no contents {digest}")]
    NoContents { task: TaskId, digest: Digest },
    /// The user's file is another.
    #[error("`{path}` cannot be accepted: {why}")]
    Collided { path: TreePath, why: &'static str },
    /// All of it was left out.
    #[error("nothing was accepted; `{}`: {}{}", .first.path, .first.reason, and_more(*.more))]
    AllSkipped {
        first: Box<Skipped>,
        more: usize,
        collided: bool,
    },
    /// There was no decision.
    #[error("there is nothing to undo in task {0}")]
    NothingToUndo(TaskId),
    /// The user's file is another.
    #[error("`{path}` cannot be taken back: {source}")]
    Undo {
        path: TreePath,
        source: legwork_review::UndoError,
    },
    /// It cannot be read.
    #[error("`{path}` cannot be read: {reason}")]
    Live { path: TreePath, reason: String },
}

fn and_more(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(" (and {count} more)")
    }
}

impl ReviewError {
    pub(super) fn decide(row: &FileRow, error: DecideError) -> Self {
        match error {
            DecideError::Decided { id, state } => Self::Already {
                what: format!("hunk {id} of `{}`", row.path()),
                how: state.describe(),
            },
            DecideError::Unknown { .. } => Self::Decide {
                path: row.path().clone(),
                source: error,
            },
        }
    }

    /// Everything was left out.
    pub(super) fn nothing(skipped: Vec<Skipped>, collided: bool) -> Self {
        let more = skipped.len().saturating_sub(1);
        match skipped.into_iter().next() {
            Some(first) => Self::AllSkipped {
                first: Box::new(first),
                more,
                collided,
            },
            None => Self::Already {
                what: "everything".to_owned(),
                how: "decided",
            },
        }
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(_) | Self::Blob(_) | Self::Open(_) | Self::Live { .. } => {
                ErrorKind::Internal
            }
            Self::Apply(
                ApplyError::Changed { .. } | ApplyError::Refused { .. } | ApplyError::Root(_),
            ) => ErrorKind::Conflict,
            Self::Apply(_) => ErrorKind::Internal,
            Self::NoChange(_)
            | Self::Decide { .. }
            | Self::Twice(_)
            | Self::NothingNamed
            | Self::NoContents { .. } => ErrorKind::Usage,
            Self::AllSkipped {
                collided: false, ..
            } => ErrorKind::Policy,
            Self::Workspace(_)
            | Self::NotYet(_)
            | Self::Outdated(_)
            | Self::Already { .. }
            | Self::Claimed { .. }
            | Self::NotLanded { .. }
            | Self::Collided { .. }
            | Self::AllSkipped { .. }
            | Self::NothingToUndo(_)
            | Self::Undo { .. } => ErrorKind::Conflict,
        }
    }

    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotYet(_) => "wait for its end: `legwork logs -f` follows it",
            Self::Outdated(_) => "look at it again and decide on what is shown then",
            Self::Claimed { .. } => "look at it again in some seconds",
            Self::NotLanded { .. } | Self::NoContents { .. } => {
                "look at the changes of the task again"
            }
            Self::Twice(_) => "name each file once, with all its hunks",
            Self::NothingNamed => "name a file, or a file and a hunk",
            Self::NoChange(_) | Self::Decide { .. } => "`legwork show` lists what can be decided",
            Self::Already { .. } => "`legwork undo` takes the last decision back",
            Self::Collided { .. } | Self::AllSkipped { collided: true, .. } => {
                "look at it with `legwork review`; bring the file back, or reject the hunk"
            }
            Self::AllSkipped { .. } => "name the file or the hunk, or add `--include-sensitive`",
            Self::NothingToUndo(_) => "nothing was decided, or all of it was taken back",
            Self::Live { .. } => "check its permissions",
            // These say it themselves.
            Self::Store(_)
            | Self::Blob(_)
            | Self::Open(_)
            | Self::Workspace(_)
            | Self::Apply(_)
            | Self::Undo { .. } => "",
        }
        .to_owned()
    }
}
