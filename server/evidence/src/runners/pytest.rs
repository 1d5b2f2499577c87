//! `pytest`, with names (`-v`, or `-rA` and the like) or without.

use super::number_before;
use crate::results::{Status, Tests};

/// What was heard so far.
#[derive(Debug, Default)]
pub(crate) struct Pytest {
    /// Tests that the last line counts.
    pub(crate) claimed: usize,
}

impl Pytest {
    pub(crate) fn line(&mut self, line: &str, tests: &mut Tests) {
        // `FAILED tests/test_a.py::test_x - assert …`, of the summary.
        if let Some((word, rest)) = line.split_once(' ')
            && let Some(status) = status(word)
        {
            let name = rest.trim_start().split(" - ").next().unwrap_or_default();
            if name.contains("::") || (word == "ERROR" && name.contains(".py")) {
                tests.add(name, status);
                return;
            }
        }
        // `tests/test_a.py::test_x PASSED [ 50%]`, with `-v`.
        if line.contains("::") && line.ends_with("%]") {
            let told = line
                .rsplit_once('[')
                .map_or(line, |(told, _)| told)
                .trim_end();
            let told = match told.rsplit_once(" (") {
                Some((before, reason)) if reason.ends_with(')') => before,
                _ => told,
            };
            if let Some((name, word)) = told.rsplit_once(' ')
                && let Some(status) = status(word)
            {
                tests.add(name, status);
            }
        }
        // `===== 1 failed, 2 passed in 0.01s =====`, without the signs with `-q`.
        let bare = line.trim_matches(|c| c == '=' || c == ' ');
        if bare.ends_with('s') && bare.contains(" in ") || bare.ends_with(')') {
            let counts = [" passed", " failed", " xfailed", " xpassed"];
            let counts = counts.map(|word| number_before(bare, word));
            if counts.iter().any(|&count| count > 0)
                && bare.starts_with(|c: char| c.is_ascii_digit())
            {
                self.claimed = counts.into_iter().fold(self.claimed, usize::saturating_add);
            }
        }
    }
}

fn status(word: &str) -> Option<Status> {
    match word {
        "PASSED" | "XPASS" => Some(Status::Passed),
        "FAILED" | "ERROR" => Some(Status::Failed),
        "SKIPPED" | "XFAIL" => Some(Status::Skipped),
        _ => None,
    }
}
