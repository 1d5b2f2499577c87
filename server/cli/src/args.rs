//! What can be typed after `legwork`, as types. Nothing is decided here but what is well-formed.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser as _},
    error::ErrorKind,
};
use legwork_model::AgentKind;
use legwork_spec::{ByteSize, Driver, Isolation};

use crate::{failure::Failure, output};

pub(crate) mod setup;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use values::{Allowed, TaskPrefix};

use values::{agent, allowed, driver, duration, isolation, lines, variable};

/// A background agent whose work comes back as hunks that you accept or reject.
///
/// A task runs in a virtual machine on a frozen copy of your workspace. Nothing reaches your files without an accept.
#[derive(Debug, Parser)]
#[command(name = "legwork", version, arg_required_else_help = true, max_term_width = 100, after_help = EXIT_CODES)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 ready or accepted, 1 the task or the decision failed, 2 usage, \
                          3 this host cannot run it, 4 refused by policy, 130 cancelled.";

/// A subcommand.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a task and wait: progress on standard error, the diff on standard output.
    Run(RunArgs),
    /// Run a task in the background and print its id.
    Delegate(DelegateArgs),
    /// List tasks: those that run or wait for you, and those that ended within a day.
    Tasks(TasksArgs),
    /// Tell all about a task.
    Show(ShowArgs),
    /// Print what a task's command wrote.
    Logs(LogsArgs),
    /// Print what happens to all tasks, as it happens.
    Watch {
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Go through the changes of a task, hunk by hunk.
    Review {
        /// The task, or the beginning of its id.
        #[arg(value_name = "ID")]
        task: TaskPrefix,
    },
    /// Take changes of a task into your files.
    Accept(AcceptArgs),
    /// Turn changes of a task down.
    Reject(RejectArgs),
    /// Say something to the agent of a task.
    Say(SayArgs),
    /// Take the last decision on a task back.
    Undo {
        /// The task, or the beginning of its id.
        #[arg(value_name = "ID")]
        task: TaskPrefix,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Stop a task; what it had changed by then can be reviewed.
    Cancel {
        /// The task, or the beginning of its id.
        #[arg(value_name = "ID")]
        task: TaskPrefix,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Run a task once more on the workspace as it is now, and print the new id.
    Retry {
        /// The task, or the beginning of its id.
        #[arg(value_name = "ID")]
        task: TaskPrefix,
        /// Let it reach this host too, as with `legwork run`.
        #[arg(long, value_name = "HOST[:PORT]", value_parser = allowed)]
        allow: Vec<Allowed>,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Run the checks of a task once more, and tell what they say before and after.
    Check {
        /// The task, or the beginning of its id.
        #[arg(value_name = "ID")]
        task: TaskPrefix,
        /// On what you accepted of it, and not on all that it changed.
        #[arg(long)]
        accepted: bool,
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// The model of the built-in agent: list what there is, or try the one that is set.
    Model {
        #[command(subcommand)]
        command: ModelCommand,
    },
    /// Agents of others that can work in a task: list what is known, or install one.
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Look at this host and say what tasks will run on.
    Doctor {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Make an editor start Legwork; without one, tell which can be set up.
    Setup {
        #[command(subcommand)]
        editor: Option<setup::Editor>,
    },
    /// The language server on standard input and output; editors start it.
    Lsp {
        /// Said by some editors; it is the only way there is.
        #[arg(long, hide = true)]
        stdio: bool,
    },
    /// The process in the background; it starts by itself.
    Daemon {
        #[command(subcommand)]
        command: DaemonCommand,
    },
}

/// What is asked about the model.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the models that the configured API offers.
    List {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Have a word with the model: whether it answers, and uses tools. It costs a few hundred tokens.
    Test {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// What is asked about agents.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// List the agents that are known, and which of them are installed.
    List {
        /// As a JSON array.
        #[arg(long)]
        json: bool,
    },
    /// Fetch an agent's package and make it a disk for the machines of tasks. Nothing of it is run here.
    Install {
        /// As `legwork agent list` shows it.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// What a task is made of.
#[derive(Debug, Args)]
pub(crate) struct TaskArgs {
    /// Virtual processors.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) cpus: Option<u8>,
    /// Memory of the virtual machine, such as 512M or 4G.
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<ByteSize>,
    /// How much the task may write, such as 2G.
    #[arg(long, value_name = "SIZE")]
    pub(crate) disk: Option<ByteSize>,
    /// How long the command may take, such as 90s, 10m or 1h.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// How the virtual machine is run, instead of what fits this host.
    #[arg(long, value_parser = PossibleValuesParser::new(["krun", "qemu"]).map(driver))]
    pub(crate) driver: Option<Driver>,
    /// `hardware` refuses to run where there is only software emulation; `unjailed-ok` runs also where this system cannot
    /// build every wall around the virtual machine's process.
    #[arg(
        long,
        default_value = "emulated-ok",
        value_parser = PossibleValuesParser::new(["hardware", "emulated-ok", "unjailed-ok"]).map(isolation)
    )]
    pub(crate) isolation: Isolation,
    /// Use the programs of a container image instead of this machine's: an archive or folder with an OCI image layout, such as
    /// `docker save` writes.
    #[arg(long, value_name = "PATH")]
    pub(crate) image: Option<PathBuf>,
    /// Take an ignored or secret-looking file or folder along.
    #[arg(long, value_name = "PATH")]
    pub(crate) include: Vec<PathBuf>,
    /// Set an environment variable for the command.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Run this shell command line before and after the change, each in a fresh virtual machine, instead of what
    /// `[check] commands` in your `config.toml` says.
    #[arg(long, value_name = "CMD")]
    pub(crate) check: Vec<String>,
    /// A shell command line that shows the bug: it has to fail before the change and to pass after it.
    #[arg(long, value_name = "CMD")]
    pub(crate) reproduce: Option<String>,
    /// Let the task reach a host, such as example.com:5432 (port 443 if you name none) or *.example.com, or all hosts of a
    /// preset: crates, debian, go, maven, npm, pypi, rubygems. Without it nothing outside of its machine can be reached.
    #[arg(long, value_name = "HOST[:PORT]", value_parser = allowed)]
    pub(crate) allow: Vec<Allowed>,
    /// This folder is the workspace, instead of the repository (or else the folder) you are in.
    #[arg(short = 'C', value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Who does what is asked for in words, instead of the agent that your `config.toml` names: `builtin`, `command`, or a
    /// name that `legwork agent list` shows.
    #[arg(long, value_name = "NAME", value_parser = agent, conflicts_with = "command")]
    pub(crate) agent: Option<AgentKind>,
    /// What is to be done, in words, for the agent that your `config.toml` names.
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Read the text that it is about from standard input; without a PROMPT, read that.
    #[arg(long)]
    pub(crate) stdin: bool,
    /// The file that it is about.
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// The lines of the file that it is about, such as 12-20.
    #[arg(long, value_name = "A-B", requires = "file", value_parser = lines)]
    pub(crate) lines: Option<(u32, u32)>,
    /// A program and its arguments. No shell is put in between.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// `legwork run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    /// One JSON object on standard output, instead of the diff.
    #[arg(long)]
    pub(crate) json: bool,
    /// If the command succeeds, accept all changes but sensitive and conflicted ones.
    #[arg(long)]
    pub(crate) accept: bool,
}

/// `legwork delegate`.
#[derive(Debug, Args)]
pub(crate) struct DelegateArgs {
    #[command(flatten)]
    pub(crate) task: TaskArgs,
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `legwork tasks`.
#[derive(Debug, Args)]
pub(crate) struct TasksArgs {
    /// Also those that ended longer ago.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only those of the workspace you are in.
    #[arg(long)]
    pub(crate) here: bool,
    /// As a JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `legwork show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The task, or the beginning of its id.
    #[arg(value_name = "ID")]
    pub(crate) task: TaskPrefix,
    /// All that it changed, as a unified diff.
    #[arg(long, group = "part")]
    pub(crate) diff: bool,
    /// What its command wrote.
    #[arg(long, group = "part")]
    pub(crate) log: bool,
    /// What its checks say before and after.
    #[arg(long, group = "part")]
    pub(crate) evidence: bool,
    /// What it saw of the workspace, and what was left out and why.
    #[arg(long, group = "part")]
    pub(crate) manifest: bool,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `legwork logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The task, or the beginning of its id.
    #[arg(value_name = "ID")]
    pub(crate) task: TaskPrefix,
    /// Its connections beyond its machine instead.
    #[arg(long)]
    pub(crate) network: bool,
    /// Go on until the task is over.
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `legwork accept`.
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    pub(crate) some: SomeArgs,
    /// Also what runs on this host by itself, such as build files and hooks.
    #[arg(long)]
    pub(crate) include_sensitive: bool,
}

/// `legwork reject`.
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) some: SomeArgs,
    /// Why; the agent is told if it goes on.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// Some changes of a task.
#[derive(Debug, Args)]
pub(crate) struct SomeArgs {
    /// The task, or the beginning of its id.
    #[arg(value_name = "ID")]
    pub(crate) task: TaskPrefix,
    /// Files, folders or (with a number behind a colon) single hunks; everything if there is none.
    #[arg(value_name = "PATH[:HUNK]")]
    pub(crate) paths: Vec<OsString>,
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `legwork say`.
#[derive(Debug, Args)]
pub(crate) struct SayArgs {
    /// The task, or the beginning of its id.
    #[arg(value_name = "ID")]
    pub(crate) task: TaskPrefix,
    /// What; the words are put together with blanks.
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) words: Vec<String>,
    /// As one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// `legwork daemon`.
#[derive(Debug, Subcommand)]
pub(crate) enum DaemonCommand {
    /// Start it, if it does not run.
    Start {
        /// Be it, in this very process.
        #[arg(long)]
        foreground: bool,
        /// Leave the terminal's session first, and end quietly if there is one already.
        #[arg(long, hide = true, requires = "foreground")]
        detached: bool,
    },
    /// End it.
    Stop {
        /// Although tasks are running: they fail as interrupted.
        #[arg(long)]
        force: bool,
    },
    /// Tell how it is.
    Status {
        /// As one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Reads the arguments of this process; `None` when they asked for help or the version, which is printed then.
pub(crate) fn read() -> Result<Option<Command>, Failure> {
    let error = match Line::try_parse() {
        Ok(line) => return Ok(Some(line.command)),
        Err(error) => error,
    };
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print(&text)?;
            Ok(None)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Err(Failure::help(text)),
        _ => Err(Failure::usage(
            text.trim_start_matches("error: ").trim_end(),
            "",
        )),
    }
}

/// A line with a blank between its words, as if it had been typed.
#[cfg(test)]
pub(crate) fn parse(line: &str) -> Result<Command, clap::Error> {
    Line::try_parse_from(line.split(' ')).map(|line| line.command)
}
