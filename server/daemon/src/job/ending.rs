//! What the sandbox tells, in the words of the product. It holds every sentence about how a command can end.

use legwork_host::{Exit, ExitStatus, HostError, Source};
use legwork_model::{Failure, FailureKind, Outcome, Stream, TaskSpec};

/// How the task ended, by how its command did.
pub(super) fn outcome(exit: &Exit, argv: &[String], spec: &TaskSpec) -> Outcome {
    let program = argv.first().map_or("", String::as_str);
    let full = Failure::new(
        FailureKind::DiskFull,
        format!("the scratch disk of {} was full", spec.limits.disk),
        "give it more with `--disk`",
    );
    let failure = match &exit.status {
        ExitStatus::Exited(0) if !exit.disk_full => return Outcome::Done,
        // A command that ends well although it could not write has not done what was asked.
        ExitStatus::Exited(_) | ExitStatus::Signaled(_) if exit.disk_full => full,
        ExitStatus::Exited(code) => Failure::new(
            FailureKind::Exit { code: *code },
            format!("the command ended with exit code {code}"),
            "look at what it printed",
        ),
        ExitStatus::Signaled(signal) => Failure::new(
            FailureKind::Signal { signal: *signal },
            format!("the command was killed by signal {signal}{}", name(*signal)),
            "look at what it printed",
        ),
        ExitStatus::NotStarted(why) => Failure::new(
            FailureKind::NotFound,
            format!("`{program}` cannot be run in the sandbox: {why}"),
            "check its name; what is only in your home directory is not in the sandbox",
        ),
        ExitStatus::TimedOut => Failure::new(
            FailureKind::TimedOut,
            format!(
                "the command ran longer than {} s and was stopped",
                spec.limits.wall.as_secs_f64()
            ),
            "give it more time with `--timeout`",
        ),
        ExitStatus::OutOfMemory => Failure::new(
            FailureKind::OutOfMemory,
            format!(
                "the command needed more than the {} of memory it has",
                spec.limits.memory
            ),
            "give it more with `--memory`",
        ),
    };
    Outcome::Failed(failure)
}

/// Why the sandbox failed.
pub(super) fn failure(error: &HostError) -> Failure {
    let kind = match error {
        HostError::Installation { .. } | HostError::Unable { .. } | HostError::Image(_) => {
            FailureKind::Host
        }
        HostError::Boot { .. } => FailureKind::Boot,
        HostError::Died { .. } => FailureKind::VmDied,
        HostError::Silent | HostError::Protocol(_) => FailureKind::Protocol,
        HostError::Io { .. } => FailureKind::Internal,
    };
    Failure::new(kind, error.to_string(), error.hint())
}

/// Where output came from.
pub(super) fn stream(source: Source) -> Stream {
    match source {
        Source::Stdout => Stream::Stdout,
        Source::Stderr => Stream::Stderr,
    }
}

/// The names that people know.
fn name(signal: i32) -> &'static str {
    match signal {
        1 => " (SIGHUP)",
        2 => " (SIGINT)",
        3 => " (SIGQUIT)",
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        _ => "",
    }
}
