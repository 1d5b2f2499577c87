//! Why the program ends with another code than 0, and what the user can do about it.

use std::{io, process::ExitCode};

use legwork_model::{Failure as TaskFailure, FailureKind};
use legwork_wire::{ConfigFileError, ErrorKind, PlacesError, WireError};

use crate::{
    output,
    printable::{printable, printable_lines},
};

/// What kind of failure it is; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The task failed, or what was asked for could not be done.
    Task,
    /// What was typed makes no sense.
    Usage,
    /// This host, or the daemon on it, cannot do it.
    Host,
    /// A rule forbids it.
    Policy,
    /// The user stopped it.
    Cancelled,
    /// Nobody reads standard output any more.
    Unread,
}

impl Kind {
    /// The exit code, as in `legwork --help`.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Unread => 0,
            Self::Task => 1,
            Self::Usage => 2,
            Self::Host => 3,
            Self::Policy => 4,
            Self::Cancelled => 130,
        }
    }
}

/// A failure with a next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    /// What happened, as a sentence without a full stop.
    pub(crate) message: String,
    /// What to do next, as a sentence without a full stop; empty if the message says it all.
    pub(crate) hint: String,
    /// Whether the message stands for itself, without the program's name before it.
    bare: bool,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
            bare: false,
        }
    }

    pub(crate) fn task(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Task, message, hint)
    }

    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message, hint)
    }

    pub(crate) fn host(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Host, message, hint)
    }

    /// The help text, shown because nothing was asked for.
    pub(crate) fn help(text: String) -> Self {
        Self {
            bare: true,
            ..Self::usage(text.trim_end(), "")
        }
    }

    /// How a task failed.
    pub(crate) fn of_task(failure: &TaskFailure) -> Self {
        let kind = if failure.kind == FailureKind::Host {
            Kind::Host
        } else {
            Kind::Task
        };
        Self::new(kind, failure.message.clone(), failure.hint.clone())
    }

    /// What is said on standard error: one sentence and perhaps a hint.
    fn text(&self) -> String {
        let message = printable_lines(&self.message);
        let message = if self.bare {
            message.into_owned()
        } else {
            format!("legwork: {message}")
        };
        if self.hint.is_empty() {
            message
        } else {
            format!("{message}\n  hint: {}", printable_lines(&self.hint))
        }
    }

    /// Tells the user, and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if self.kind != Kind::Unread {
            output::tell(&self.text());
        }
        ExitCode::from(self.kind.code())
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Self {
        let restart = "run `legwork daemon stop`, then try again";
        match error {
            WireError::Refused(body) => {
                let (kind, otherwise) = match body.kind {
                    ErrorKind::Usage => (Kind::Usage, ""),
                    ErrorKind::Conflict => (Kind::Task, ""),
                    ErrorKind::Policy => (Kind::Policy, ""),
                    ErrorKind::Host => (Kind::Host, "`legwork doctor` says what is missing"),
                    ErrorKind::Generation => (Kind::Host, restart),
                    ErrorKind::Internal => (
                        Kind::Task,
                        "the daemon's log (`daemon.log` in its state folder) says more",
                    ),
                };
                let hint = if body.hint.is_empty() {
                    otherwise.to_owned()
                } else {
                    body.hint
                };
                Self::new(kind, body.message, hint)
            }
            WireError::Unreachable { .. } => {
                Self::host(error.to_string(), "`legwork daemon start` starts it")
            }
            WireError::Garbled(_) => Self::host(error.to_string(), restart),
        }
    }
}

impl From<PlacesError> for Failure {
    fn from(error: PlacesError) -> Self {
        Self::host(error.to_string(), "")
    }
}

impl From<ConfigFileError> for Failure {
    fn from(error: ConfigFileError) -> Self {
        Self::usage(error.to_string(), "")
    }
}

/// Only what is written to standard output fails like this.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::new(Kind::Unread, "nobody reads standard output", "")
        } else {
            Self::task(
                format!(
                    "cannot write to standard output: {}",
                    printable(&error.to_string())
                ),
                "look at the disk or the program that reads it",
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use legwork_wire::ErrorBody;

    use super::*;

    #[test]
    fn each_refusal_has_its_exit_code_and_a_next_step() {
        for (kind, code, hint) in [
            (ErrorKind::Usage, 2, ""),
            (ErrorKind::Conflict, 1, ""),
            (ErrorKind::Policy, 4, ""),
            (ErrorKind::Host, 3, "doctor"),
            (ErrorKind::Generation, 3, "daemon stop"),
            (ErrorKind::Internal, 1, "log"),
        ] {
            let body = ErrorBody {
                kind,
                message: "m".to_owned(),
                hint: String::new(),
            };
            let failure = Failure::from(WireError::Refused(body.clone()));
            assert_eq!(failure.kind.code(), code, "{kind:?}");
            assert!(failure.hint.contains(hint), "{kind:?}: {}", failure.hint);
            let told = Failure::from(WireError::Refused(ErrorBody {
                hint: "do it".to_owned(),
                ..body
            }));
            assert_eq!(told.hint, "do it");
        }
        assert_eq!(
            Failure::from(WireError::Garbled("x".to_owned()))
                .kind
                .code(),
            3
        );
        assert_eq!(Kind::Cancelled.code(), 130);
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        assert_eq!(
            Failure::from(io::Error::from(io::ErrorKind::BrokenPipe))
                .kind
                .code(),
            0
        );
        assert_eq!(
            Failure::from(io::Error::from(io::ErrorKind::StorageFull))
                .kind
                .code(),
            1
        );
    }

    #[test]
    fn only_a_host_that_cannot_is_the_hosts_failure() {
        let of = |kind| {
            Failure::of_task(&TaskFailure::new(kind, "m", "h"))
                .kind
                .code()
        };
        assert_eq!(of(FailureKind::Host), 3);
        assert_eq!(of(FailureKind::Exit { code: 4 }), 1);
        assert_eq!(of(FailureKind::TimedOut), 1);
    }

    #[test]
    fn what_others_wrote_cannot_reach_the_terminal_as_control_characters() {
        assert_eq!(
            Failure::usage("a\u{1b}[2J", "b\u{7}").text(),
            "legwork: a\\x1b[2J\n  hint: b\\x07"
        );
        assert_eq!(Failure::task("a", "").text(), "legwork: a");
    }
}
