//! Requests and answers about tasks.

use std::path::PathBuf;

use legwork_model::{Refused, Task, TaskId, TaskSpec};
use serde::{Deserialize, Serialize};

/// Number of this surface. It grows when something is added; a daemon serves every older one.
pub const GENERATION: u32 = 3;

/// Header of each request with the client's [`GENERATION`].
pub const GENERATION_HEADER: &str = "x-legwork-generation";

/// What the daemon says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Its [`GENERATION`].
    pub generation: u32,
    /// Version of the program.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// When it started, in milliseconds since 1970.
    pub started: i64,
    /// Where its state is kept.
    pub state: PathBuf,
    /// Tasks that have a sandbox now.
    pub running: u32,
    /// Tasks that wait for their turn.
    pub queued: u32,
    /// Tasks with changes nobody has decided on.
    pub ready: u32,
    /// How many tasks run at once, at the most.
    pub concurrency: u32,
}

/// What a host can do, as `legwork doctor` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// One line: what tasks will run on here.
    pub verdict: String,
    /// Whether tasks can run at all.
    pub able: bool,
    /// Each thing that was looked at: name, whether it is well, and a sentence.
    pub checks: Vec<(String, bool, String)>,
}

/// Asks for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submit {
    /// What is asked for.
    pub spec: TaskSpec,
    /// Unsaved buffers: path below the workspace and text, in place of what is on disk.
    #[serde(default)]
    pub buffers: Vec<(legwork_model::TreePath, String)>,
}

/// Asks for another look at a task that is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckAgain {
    /// At what was accepted of it, and not at all that it changed.
    pub accepted: bool,
}

/// The task is stored durably.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// Its name.
    pub task: TaskId,
}

/// Says something to the agent of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// What; at most [`LONGEST_MESSAGE`] bytes.
    pub text: String,
}

/// The longest text of a [`Say`], in bytes.
pub const LONGEST_MESSAGE: usize = 64 << 10;

/// What was said is stored durably.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// To whose agent.
    pub task: TaskId,
    /// When it is told.
    pub hearing: Hearing,
}

/// When an agent is told what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hearing {
    /// When it begins: the task waits for its turn.
    AtStart,
    /// At its next turn: it is working.
    NextTurn,
    /// Now: it waits for an answer.
    Answer,
    /// In a new machine, in which it goes on where it left off: the task was over.
    Resumed,
}

/// All about a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDetail {
    /// The task.
    pub task: Task,
    /// Number of its last event.
    pub last_event: u64,
    /// What the guest did that is not carried to the host.
    pub refused: Vec<Refused>,
    /// What the user should know: a label such as "emulated", output that was dropped, files left out.
    pub notices: Vec<String>,
}

/// Asks the daemon to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// End although tasks are running; they fail as interrupted.
    pub force: bool,
}
