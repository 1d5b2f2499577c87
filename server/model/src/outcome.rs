//! How a task ended, as data: it is stored, sent and shown long after the process that saw it has gone.

use serde::{Deserialize, Serialize};

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Outcome {
    /// The command ended with exit code 0.
    Done,
    /// Anything else. What the guest had changed by then is kept and can be reviewed.
    Failed(Failure),
    /// The user stopped it.
    Cancelled,
}

/// A failure that a user can act on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind it is.
    pub kind: FailureKind,
    /// What happened, as a sentence without a full stop.
    pub message: String,
    /// What to do next, as a sentence without a full stop; empty if there is nothing to say.
    pub hint: String,
}

/// The kinds of failure. New ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum FailureKind {
    /// The command ended with another exit code than 0.
    Exit {
        /// The code.
        code: i32,
    },
    /// The command was killed by a signal.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// There is no such program in the guest, or it cannot be executed.
    NotFound,
    /// The guest ran out of memory.
    OutOfMemory,
    /// The wall-clock limit was reached.
    TimedOut,
    /// The scratch disk was full.
    DiskFull,
    /// The virtual machine ended before the command did.
    VmDied,
    /// The virtual machine did not come up.
    Boot,
    /// This host cannot run a virtual machine as asked.
    Host,
    /// The workspace could not be captured.
    Capture,
    /// The guest's answer broke the protocol or a cap; nothing of it is used.
    Protocol,
    /// The daemon ended while the task ran.
    Interrupted,
    /// A fault of Legwork's own.
    Internal,
    /// The built-in agent is not set up: no model, no key, a key that is not taken, a budget of nothing.
    Setup,
    /// The model API failed, or the model did not answer in a way that can be used.
    Model,
    /// A budget was used up.
    Budget,
    /// The agent went round in circles or stopped working.
    Stuck,
}

impl Failure {
    /// A failure with a next step.
    pub fn new(kind: FailureKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
        }
    }
}
