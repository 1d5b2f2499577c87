//! A task: what was asked for, where it stands, how it went.

use std::path::PathBuf;

use legwork_spec::{Destination, Driver, Isolation, Limits, Root, Wall};
use serde::{Deserialize, Serialize};

use crate::{Head, Outcome, Reached, Request, Spent, TaskId, TaskState};

/// Who does the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Worker {
    /// A plain command: a codemod, a linter's fix, a generator.
    Command {
        /// Program and arguments. No shell is put in between.
        argv: Vec<String>,
    },
    /// The built-in agent, with the model that is configured when the task runs. It does what the request says.
    Builtin,
    /// An agent of somebody else, which runs in the sandbox and asks the model that is configured when the task runs. It does
    /// what the request says.
    External {
        /// The name of its recipe.
        agent: String,
    },
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// The folder on the host: absolute, with no symbolic link in it.
    pub workspace: PathBuf,
    /// Directory below the workspace in which the command starts; empty for the workspace itself.
    #[serde(default)]
    pub directory: PathBuf,
    /// Who does it.
    pub worker: Worker,
    /// What it may use.
    pub limits: Limits,
    /// Which wall is asked for.
    pub isolation: Isolation,
    /// Which driver is asked for; `None` leaves it to the host.
    pub driver: Option<Driver>,
    /// Where its programs come from.
    #[serde(default)]
    pub root: Root,
    /// Ignored or secret-looking files that come along all the same, as the user named them, relative to the workspace.
    #[serde(default)]
    pub include: Vec<String>,
    /// Environment variables for the command.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// What it may reach beyond its machine; nothing if it is empty.
    #[serde(default)]
    pub allow: Vec<Destination>,
    /// What was asked for in words, if it was: the command is told by `LEGWORK_PROMPT`, `LEGWORK_FILE`, `LEGWORK_LINES`
    /// and, as JSON, `LEGWORK_REQUEST`.
    #[serde(default)]
    pub request: Option<Request>,
    /// Shell command lines that the daemon runs in virtual machines on the base and on the result, at the top of the
    /// workspace. `None` for what the user's settings say.
    #[serde(default)]
    pub checks: Option<Vec<String>>,
    /// A shell command line that has to fail on the base and to pass on the result.
    #[serde(default)]
    pub reproduce: Option<String>,
}

impl TaskSpec {
    /// A task with the usual limits on whatever wall this host has, at the top of its workspace.
    pub fn new(workspace: PathBuf, worker: Worker) -> Self {
        Self {
            workspace,
            directory: PathBuf::new(),
            worker,
            limits: Limits::default(),
            isolation: Isolation::EmulatedOk,
            driver: None,
            root: Root::Host,
            include: Vec::new(),
            environment: Vec::new(),
            allow: Vec::new(),
            request: None,
            checks: None,
            reproduce: None,
        }
    }

    /// Whether there is anything to check its result with.
    pub fn is_checked(&self) -> bool {
        self.reproduce.is_some()
            || self
                .checks
                .as_ref()
                .is_some_and(|checks| !checks.is_empty())
    }

    /// What the task is called in a list: the first line of what was asked for, else its command.
    pub fn title(&self) -> String {
        let said = self.request.as_ref().and_then(|request| {
            request
                .text
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty())
        });
        match (&self.worker, said) {
            (_, Some(said)) => said.to_owned(),
            (Worker::Command { argv }, None) => argv.join(" "),
            (Worker::Builtin, None) => String::new(),
            (Worker::External { agent }, None) => agent.clone(),
        }
    }
}

/// A task as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// What was asked for.
    pub spec: TaskSpec,
    /// Where it stands.
    pub state: TaskState,
    /// How it ended, once it has.
    pub outcome: Option<Outcome>,
    /// When it was submitted, in milliseconds since 1970.
    pub created: i64,
    /// When it stopped running, in milliseconds since 1970.
    pub finished: Option<i64>,
    /// Hunks that wait for a decision.
    pub pending: u32,
    /// How it ran, once it has.
    pub report: Option<Report>,
    /// What its agent asks, while it waits for the answer.
    #[serde(default)]
    pub question: Option<String>,
    /// What its checks say, if there are any.
    #[serde(default)]
    pub checks: Option<Verdict>,
}

/// What the checks of a task say, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is not known yet.
    Checking,
    /// Every check passes on the result, and what reproduces a bug failed on the base.
    Passing,
    /// Something fails on the result, or a reproduction reproduced nothing.
    Failing,
    /// Not everything could be run.
    Unknown,
}

/// How a task ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The driver that ran it.
    pub driver: Option<Driver>,
    /// Whether the guest was emulated in software: not a hardware boundary.
    pub emulated: bool,
    /// The walls around the virtual machine's process, as they were built and tried for this task; empty when none
    /// started, or an older Legwork ran it.
    #[serde(default)]
    pub walls: Vec<Wall>,
    /// Where the time went.
    pub timings: Timings,
    /// Most memory the command's processes used at once, in bytes, as the guest tells it.
    pub peak_memory: u64,
    /// Processor time of the command's processes in milliseconds, as the guest tells it.
    pub cpu_ms: u64,
    /// Bytes of output that were dropped because of the limit.
    pub output_dropped: u64,
    /// Files in the snapshot.
    pub files: u64,
    /// Bytes in the snapshot.
    pub bytes: u64,
    /// Which commit was checked out when the workspace was captured, if it is in a repository.
    #[serde(default)]
    pub head: Option<Head>,
    /// What the built-in agent used up, if it worked.
    #[serde(default)]
    pub agent: Option<Spent>,
    /// What it reached beyond its machine, and what it was refused; the first 200 hosts.
    #[serde(default)]
    pub network: Vec<Reached>,
}

/// Where the time of a task went; milliseconds each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    /// Waiting in the queue.
    pub queued: u64,
    /// Capturing the workspace.
    pub capture: u64,
    /// Making sure of the guest's root file system, kernel and scratch disk.
    pub image: u64,
    /// From the start of the virtual machine's process to the guest agent's first word; runs beside the capture only
    /// where the driver allows it.
    pub boot: u64,
    /// Building the jail around that process; part of the boot.
    #[serde(default)]
    pub jail: u64,
    /// Mounting in the guest.
    pub mount: u64,
    /// Making the map of the repository, for the built-in agent; part of `command`.
    #[serde(default)]
    pub map: u64,
    /// The command itself.
    pub command: u64,
    /// From the end of the command to the stored change set.
    pub collect: u64,
}
