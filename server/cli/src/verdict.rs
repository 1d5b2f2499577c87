//! Words for where a task stands and how it ended.

use legwork_model::{ChangeKind, FailureKind, Outcome, Phase, Task, TaskState, Verdict};

/// Where a task stands, in a few words.
pub(crate) fn state(task: &Task) -> String {
    let ended = || {
        task.outcome
            .as_ref()
            .map_or_else(|| "done".to_owned(), outcome)
    };
    match task.state {
        TaskState::Queued => "queued".to_owned(),
        TaskState::Preparing => "preparing".to_owned(),
        TaskState::Running => "running".to_owned(),
        TaskState::NeedsInput => "needs input".to_owned(),
        TaskState::Collecting => "collecting".to_owned(),
        TaskState::Ready => {
            let hunks = count(task.pending.into(), "hunk");
            match &task.outcome {
                Some(Outcome::Done) | None => format!("ready ({hunks})"),
                Some(other) => format!("{} ({hunks})", outcome(other)),
            }
        }
        TaskState::Ended => ended(),
    }
}

/// What the checks of a task say, in a word or two; nothing where there are none.
pub(crate) fn checks(task: &Task) -> &'static str {
    match task.checks {
        None => "",
        Some(Verdict::Checking) => ", checking",
        Some(Verdict::Passing) => ", checks pass",
        Some(Verdict::Failing) => ", checks fail",
        Some(Verdict::Unknown) => ", checks unknown",
    }
}

/// How a task ended, in a few words.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "done".to_owned(),
        Outcome::Cancelled => "cancelled".to_owned(),
        Outcome::Failed(failure) => format!("failed: {}", kind(failure.kind)),
    }
}

/// The exit code of the command, where it ended by itself.
pub(crate) fn exit_code(outcome: Option<&Outcome>) -> Option<i32> {
    match outcome {
        Some(Outcome::Done) => Some(0),
        Some(Outcome::Failed(failure)) => match failure.kind {
            FailureKind::Exit { code } => Some(code),
            _ => None,
        },
        _ => None,
    }
}

/// What takes a while, in a word.
pub(crate) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Image => "image",
        Phase::Capture => "capture",
        Phase::Boot => "boot",
        Phase::Command => "command",
        Phase::Collect => "collect",
    }
}

/// How a change is told, in a few words.
pub(crate) fn change(kind: &ChangeKind) -> String {
    match kind {
        ChangeKind::Create => "created".to_owned(),
        ChangeKind::Modify => "modified".to_owned(),
        ChangeKind::Mode => "mode changed".to_owned(),
        ChangeKind::Delete => "deleted".to_owned(),
        ChangeKind::Rename { from } => format!("renamed from {from}"),
        ChangeKind::Retype => "type changed".to_owned(),
    }
}

/// `1 hunk`, `2 hunks`, `1,012 files`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped} {noun}{}", if number == 1 { "" } else { "s" })
}

fn kind(kind: FailureKind) -> String {
    match kind {
        FailureKind::Exit { code } => format!("exit {code}"),
        FailureKind::Signal { signal } => format!("signal {signal}"),
        FailureKind::NotFound => "command not found".to_owned(),
        FailureKind::OutOfMemory => "out of memory".to_owned(),
        FailureKind::TimedOut => "timed out".to_owned(),
        FailureKind::DiskFull => "disk full".to_owned(),
        FailureKind::VmDied => "the virtual machine ended".to_owned(),
        FailureKind::Boot => "no boot".to_owned(),
        FailureKind::Host => "this host cannot".to_owned(),
        FailureKind::Capture => "no capture".to_owned(),
        FailureKind::Protocol => "the guest broke the rules".to_owned(),
        FailureKind::Interrupted => "interrupted".to_owned(),
        FailureKind::Internal => "a fault of Legwork".to_owned(),
        FailureKind::Setup => "not set up".to_owned(),
        FailureKind::Model => "model failed".to_owned(),
        FailureKind::Budget => "budget used up".to_owned(),
        FailureKind::Stuck => "stuck".to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use legwork_model::{Failure, TaskId, TaskSpec, Worker};
    use legwork_spec::{Isolation, Limits};

    use super::*;

    /// A task that ran `make` in `/w`.
    pub(crate) fn task(state: TaskState, outcome: Option<Outcome>, pending: u32) -> Task {
        let spec = TaskSpec {
            workspace: "/w".into(),
            directory: "".into(),
            worker: Worker::Command {
                argv: vec!["make".to_owned()],
            },
            limits: Limits::default(),
            isolation: Isolation::EmulatedOk,
            root: legwork_spec::Root::Host,
            driver: None,
            include: vec![],
            allow: vec![],
            environment: vec![],
            request: None,
            checks: None,
            reproduce: None,
        };
        let id: TaskId = "bcdfghjkmnpq".parse().unwrap();
        Task {
            id,
            spec,
            state,
            outcome,
            created: 0,
            finished: None,
            pending,
            report: None,
            question: None,
            checks: None,
        }
    }

    fn failed(kind: FailureKind) -> Option<Outcome> {
        Some(Outcome::Failed(Failure::new(kind, "", "")))
    }

    #[test]
    fn states_are_said_in_words() {
        for (is, outcome, pending, said) in [
            (TaskState::Running, None, 0, "running"),
            (TaskState::Ready, Some(Outcome::Done), 1, "ready (1 hunk)"),
            (
                TaskState::Ready,
                failed(FailureKind::Exit { code: 2 }),
                3,
                "failed: exit 2 (3 hunks)",
            ),
            (
                TaskState::Ready,
                Some(Outcome::Cancelled),
                3,
                "cancelled (3 hunks)",
            ),
            (TaskState::Ended, Some(Outcome::Done), 0, "done"),
            (
                TaskState::Ended,
                failed(FailureKind::OutOfMemory),
                0,
                "failed: out of memory",
            ),
        ] {
            assert_eq!(state(&task(is, outcome, pending)), said);
        }
    }

    #[test]
    fn only_a_command_that_ended_has_an_exit_code() {
        assert_eq!(exit_code(Some(&Outcome::Done)), Some(0));
        assert_eq!(
            exit_code(failed(FailureKind::Exit { code: 7 }).as_ref()),
            Some(7)
        );
        assert_eq!(
            exit_code(failed(FailureKind::Signal { signal: 9 }).as_ref()),
            None
        );
        assert_eq!(exit_code(Some(&Outcome::Cancelled)), None);
        assert_eq!(exit_code(None), None);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, said) in [
            (0, "0 files"),
            (1, "1 file"),
            (999, "999 files"),
            (1_012, "1,012 files"),
            (1_234_567, "1,234,567 files"),
        ] {
            assert_eq!(count(number, "file"), said);
        }
    }
}
