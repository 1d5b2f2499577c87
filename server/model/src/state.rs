//! The life of a task.
//!
//! ```text
//!   Queued ──Start──▶ Preparing ──Boot──▶ Running ──End──▶ Collecting ──Collected──▶ Ready
//!     │                  │                   │                 │                      │
//!     └──────────────────┴───── Finish ──────┴─────────────────┴──▶ Ended          Settle
//!                                            │                        ▲               │
//!                                      Ask   ▼   Answer               └───────────────┘
//!                                        NeedsInput
//! ```
//!
//! *NeedsInput* means that the agent has asked the user something. Its machine may be kept for the answer; where it was not,
//! the answer queues the task again (`Resume`), as what is said to a task that is over does.
//!
//! *Ready* means that there are changes nobody has decided on yet, whatever the outcome was. *Ended* means that nothing
//! is pending any more. Undoing an accept makes an ended task ready again (`Reopen`).

use serde::{Deserialize, Serialize};

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    /// Stored durably, waiting for its turn.
    Queued,
    /// The workspace is being captured and the virtual machine comes up.
    Preparing,
    /// The command runs.
    Running,
    /// The agent waits for an answer of the user.
    NeedsInput,
    /// The changes are on their way to the host.
    Collecting,
    /// Changes wait for a decision.
    Ready,
    /// Nothing is pending.
    Ended,
}

/// What can happen to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// Its turn has come.
    Start,
    /// The guest agent answered.
    Boot,
    /// The agent has a question.
    Ask,
    /// It was answered while the machine was there.
    Answer,
    /// It goes on where it left off, in a new machine.
    Resume,
    /// The command ended.
    End,
    /// The changes are stored and there are some.
    Collected,
    /// It ends with nothing to review: no changes, a failure, a cancel.
    Finish,
    /// The last pending hunk was decided.
    Settle,
    /// A decision was undone.
    Reopen,
}

impl TaskState {
    /// The state after `transition`; `None` if that cannot happen here.
    pub fn next(self, transition: Transition) -> Option<Self> {
        use TaskState::{Collecting, Ended, NeedsInput, Preparing, Queued, Ready, Running};
        Some(match (self, transition) {
            (Queued, Transition::Start) => Preparing,
            (Preparing, Transition::Boot) => Running,
            (Running, Transition::Ask) => NeedsInput,
            (NeedsInput, Transition::Answer) => Running,
            (NeedsInput | Ready | Ended, Transition::Resume) => Queued,
            (Running | NeedsInput, Transition::End) => Collecting,
            // One that was resumed may end with what it left before.
            (Queued | Preparing | NeedsInput | Collecting, Transition::Collected) => Ready,
            (Queued | Preparing | Running | NeedsInput | Collecting, Transition::Finish)
            | (Ready, Transition::Settle) => Ended,
            (Ended, Transition::Reopen) => Ready,
            _ => return None,
        })
    }

    /// Whether a sandbox may exist for it.
    pub fn is_active(self) -> bool {
        matches!(
            self,
            Self::Preparing | Self::Running | Self::NeedsInput | Self::Collecting
        )
    }

    /// Whether it will not run any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ready | Self::Ended)
    }
}
