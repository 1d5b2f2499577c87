//! The card in words. Names and output are the guest's: they are told as printable text, and no more of them than can be read.

use std::fmt::Write as _;

use legwork_model::Verdict;

use crate::{
    card::{Card, Check, End, Part, Progress, Run},
    compare::DifferenceKind,
    edited::Edited,
    results::Status,
};

/// Tests that are told by name, for each check.
const MOST_TESTS: usize = 20;

/// Lines of output that are told of a check that does not pass.
const MOST_LINES: usize = 12;

impl Card {
    /// One line: how the checks stand.
    pub fn summary(&self) -> String {
        let passing = self
            .checks
            .iter()
            .filter(|check| check.is_well() == Some(true))
            .count();
        let of = format!(
            "{passing} of {} checks as they should be",
            self.checks.len()
        );
        let mut text = match self.verdict() {
            Verdict::Checking => "checking".to_owned(),
            Verdict::Passing => format!("checks pass: {of}"),
            Verdict::Failing => format!("checks fail: {of}"),
            Verdict::Unknown => match &self.progress {
                Progress::Stopped { why } => format!("not checked: {}", printable(why)),
                _ => format!("not all is known: {of}"),
            },
        };
        let mut count = |kind, word: &str| {
            let count: usize = self.checks.iter().map(|check| check.count(kind)).sum();
            if count > 0 {
                let _ok = write!(text, ", {count} {word}");
            }
        };
        count(DifferenceKind::PassToFail, "pass→fail");
        count(DifferenceKind::FailToPass, "fail→pass");
        if self.edited.iter().any(Edited::is_assertion_removed) {
            text.push_str(", assertion removed");
        } else if !self.edited.is_empty() {
            text.push_str(", test edited");
        }
        if self.part == Part::Accepted {
            text.push_str(" (of what was accepted)");
        }
        if let Some(why) = &self.stale {
            let _ok = write!(text, "; stale: {}", printable(why));
        }
        text
    }

    /// All of it, line by line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.summary()];
        for check in &self.checks {
            told(check, &mut lines);
        }
        for edited in &self.edited {
            let word = if edited.deleted {
                "test deleted"
            } else {
                "test edited"
            };
            lines.push(format!("{word}: {}", edited.path));
            let (before, after) = edited.assertions;
            if after < before {
                lines.push(format!("  assertion removed: {before} before, {after} now"));
            } else if !edited.removed.is_empty() {
                lines.push("  assertion changed".to_owned());
            }
            lines.extend(
                edited
                    .removed
                    .iter()
                    .map(|line| format!("    - {}", printable(line))),
            );
            lines.extend(
                edited
                    .skips
                    .iter()
                    .map(|line| format!("  skips: {}", printable(line))),
            );
        }
        lines
    }
}

fn told(check: &Check, lines: &mut Vec<String>) {
    let command = printable(&check.command);
    let kind = if check.reproduces {
        "reproduction"
    } else {
        "check"
    };
    let word = match check.is_well() {
        Some(true) if check.reproduces => "confirmed",
        Some(true) => "passes",
        Some(false) if check.reproduces => "not confirmed",
        Some(false) => "fails",
        None => "not known",
    };
    lines.push(format!("{kind} {word}: {command}"));
    for (side, run) in [("before", &check.before), ("after", &check.after)] {
        if let Some(run) = run {
            lines.push(format!("  {side:6} {}", ran(run)));
        }
    }
    if check.reproduces && check.before.as_ref().is_some_and(Run::passed) {
        lines.push("  it passes on the base too, so it shows no bug".to_owned());
    }
    for difference in check.differences.iter().take(MOST_TESTS) {
        let fails = match difference.kind {
            DifferenceKind::New if difference.after == Some(Status::Failed) => ", fails",
            DifferenceKind::New if difference.after == Some(Status::Skipped) => ", skipped",
            _ => "",
        };
        let (kind, test) = (difference.kind.word(), printable(&difference.test));
        lines.push(format!("  {kind}{fails}: {test}"));
    }
    if let more @ 1.. = check.differences.len().saturating_sub(MOST_TESTS) {
        lines.push(format!("  and {more} more"));
    }
    if let Some(after) = check.after.as_ref().filter(|after| !after.passed()) {
        let all: Vec<&str> = after.tail.lines().collect();
        let last = &all[all.len().saturating_sub(MOST_LINES)..];
        lines.extend(last.iter().map(|line| format!("    | {}", printable(line))));
    }
}

impl End {
    /// In a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Exited { code: 0 } => "passes".to_owned(),
            Self::Exited { code } => format!("exit code {code}"),
            Self::Signaled { signal } => format!("ended by signal {signal}"),
            Self::TimedOut => "took too long and was ended".to_owned(),
            Self::OutOfMemory => "needed more memory than there is".to_owned(),
            Self::NotRun { why } => format!("not run: {}", printable(why)),
        }
    }
}

fn ran(run: &Run) -> String {
    let mut text = run.end.words();
    if matches!(run.end, End::NotRun { .. }) {
        return text;
    }
    let counts = [
        (Status::Passed, "passed"),
        (Status::Failed, "failed"),
        (Status::Skipped, "skipped"),
    ];
    for (status, word) in counts {
        let count = run.tests.count(status);
        if count > 0 {
            let _ok = write!(text, ", {count} {word}");
        }
    }
    if run.tests.partial {
        text.push_str(", not all tests are named");
    }
    let (seconds, tenths) = (run.millis / 1000, run.millis % 1000 / 100);
    let cached = if run.cached {
        ", known from before"
    } else {
        ""
    };
    let _ok = write!(text, " ({seconds}.{tenths} s{cached})");
    text
}

/// Without what would command a terminal.
fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => safe.push(' '),
            // Also what turns the direction of text.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => safe.push('\u{fffd}'),
            c if c.is_control() => {
                let _ok = write!(safe, "\\x{:02x}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}
