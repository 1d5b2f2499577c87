//! The common test runners, each as far as its lines are unlike those of the others. All of them look at every line, so a
//! script that runs several is understood too.

mod cargo;
mod go;
mod javascript;
mod junit;
mod pytest;
mod tap;
mod unittest;

use std::borrow::Cow;

use crate::results::Tests;

/// All of them, and what they found.
#[derive(Debug, Default)]
pub(crate) struct Runners {
    pub(crate) tests: Tests,
    cargo: cargo::Cargo,
    go: go::Go,
    javascript: javascript::JavaScript,
    junit: junit::Junit,
    pytest: pytest::Pytest,
    unittest: unittest::Unittest,
}

impl Runners {
    /// Takes a line without its end.
    pub(crate) fn line(&mut self, line: &str) {
        let tests = &mut self.tests;
        if self.junit.line(line) {
            return;
        }
        self.cargo.line(line, tests);
        self.go.line(line, tests);
        self.javascript.line(line, tests);
        self.pytest.line(line, tests);
        self.unittest.line(line, tests);
        tap::line(line, tests);
    }

    pub(crate) fn finish(mut self) -> Tests {
        self.go.finish(&mut self.tests);
        self.junit.finish(&mut self.tests);
        // What runners claim to have passed beside what they named.
        let named = self.tests.named.len();
        let claimed = [
            self.cargo.claimed,
            self.pytest.claimed,
            self.unittest.claimed,
            self.javascript.claimed,
        ];
        let claimed = claimed.into_iter().fold(0, usize::saturating_add);
        self.tests.partial |= claimed > named && self.tests.named.len() < crate::MAX_TESTS;
        self.tests
    }
}

/// A line without the sequences that colour it.
pub(crate) fn clean(line: &str) -> Cow<'_, str> {
    if !line.contains('\u{1b}') {
        return line.into();
    }
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        kept.push_str(before);
        rest = match after.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|c: char| ('@'..='~').contains(&c));
                end.map_or("", |end| &sequence[end + 1..])
            }
            None => after,
        };
    }
    kept.push_str(rest);
    kept.into()
}

/// The number that stands before a word, such as 3 of `3 passed`.
fn number_before(line: &str, word: &str) -> usize {
    let before = line
        .split(word)
        .next()
        .filter(|before| before.len() < line.len());
    let digits = before.and_then(|before| before.split_whitespace().next_back());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
