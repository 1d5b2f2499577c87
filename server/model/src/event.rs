//! What is told about a task while it goes on. Events are stored in order and can be replayed.

use serde::{Deserialize, Serialize};

use crate::{AgentStep, Connection, Outcome, TaskId, TaskState};

/// One thing that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Number of the event over all tasks; grows by at least one.
    pub seq: u64,
    /// Whose event it is.
    pub task: TaskId,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub body: EventBody,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum EventBody {
    /// The task is in another state.
    State {
        /// The new one.
        state: TaskState,
    },
    /// Something goes on that takes a while.
    Phase {
        /// What.
        phase: Phase,
        /// In words, for the user.
        detail: String,
    },
    /// The command wrote something. Bytes that are not UTF-8 are replaced and control characters made visible.
    Output {
        /// Where.
        stream: Stream,
        /// What.
        text: String,
    },
    /// Something the user should know.
    Notice {
        /// As a sentence.
        text: String,
    },
    /// The task ended.
    Outcome {
        /// How.
        outcome: Outcome,
        /// Hunks that wait for a decision.
        pending: u32,
    },
    /// Hunks were decided on, or a decision was undone.
    Review {
        /// Hunks that still wait.
        pending: u32,
    },
    /// The task is running and has changed something: there are other hunks to look at than before.
    Changes {
        /// Hunks that wait.
        pending: u32,
    },
    /// The user said something to the agent. It is told of it at its next turn.
    Message {
        /// What.
        text: String,
    },
    /// The agent asks the user something and waits for the answer.
    Asked {
        /// What.
        question: String,
    },
    /// The daemon checks what the task changed, or has done so.
    Evidence {
        /// Whether it goes on.
        checking: bool,
        /// Where it stands, in words.
        summary: String,
    },
    /// The built-in agent did something.
    Agent {
        /// [`STEP_VERSION`](crate::STEP_VERSION) of who wrote it.
        version: u32,
        /// What.
        step: AgentStep,
    },
    /// A connection that the task made, or tried to make, beyond its machine is over. The first ones of each task are told.
    Network {
        /// Which, and how it went.
        connection: Connection,
    },
}

/// What takes a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The guest's root file system is built (once for a machine).
    Image,
    /// The workspace is captured.
    Capture,
    /// The virtual machine comes up.
    Boot,
    /// The command or the agent runs.
    Command,
    /// The changes are collected.
    Collect,
}

/// Where a command writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
