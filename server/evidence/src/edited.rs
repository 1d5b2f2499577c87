//! Tests that a change edits: what makes a check pass may be the check.

use std::collections::BTreeMap;

use legwork_model::TreePath;
use serde::{Deserialize, Serialize};

/// Lines that are told of one file.
const MOST: usize = 5;

/// The longest line that is told, in bytes.
const LONGEST: usize = 200;

/// A test file, or the tests in a file, that stood there before and are other now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// Where.
    pub path: TreePath,
    /// All of it is gone.
    pub deleted: bool,
    /// Assertions there were, and there are.
    pub assertions: (usize, usize),
    /// The first of the assertions that are not there any more as they were.
    pub removed: Vec<String>,
    /// The first of the lines that skip tests, or leave only some, and were not there before.
    pub skips: Vec<String>,
}

impl Edited {
    /// Whether fewer things are asserted than before.
    pub fn is_assertion_removed(&self) -> bool {
        self.assertions.1 < self.assertions.0
    }
}

/// Whether a path is that of a test, by the customs of its language.
pub fn is_test(path: &TreePath) -> bool {
    let text = path.to_string();
    let mut parts: Vec<&str> = text.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    let is_dir = |part: &&str| {
        matches!(
            *part,
            "test" | "tests" | "__tests__" | "spec" | "specs" | "testdata" | "__snapshots__"
        )
    };
    let stem = name.split('.').next().unwrap_or_default();
    parts.iter().any(is_dir)
        || name == "conftest.py"
        || name.contains(".test.")
        || name.contains(".spec.")
        || stem == "tests"
        || stem == "test"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || (stem.ends_with("Test") || stem.ends_with("Tests")) && stem.len() > 5
}

/// What a change does to tests; `None` if it edits none that stood there.
pub fn edited(path: &TreePath, before: &str, after: Option<&str>) -> Option<Edited> {
    let (old, new) = if is_test(path) {
        (before, after.unwrap_or_default())
    } else {
        // Rust has its unit tests in the file itself, by custom at its end.
        (inner(before)?, after.and_then(inner).unwrap_or_default())
    };
    if old == new || old.trim().is_empty() {
        return None;
    }
    let (asserted, asserts) = (lines(old, is_assertion), lines(new, is_assertion));
    let (skipped, skips) = (lines(old, is_skip), lines(new, is_skip));
    Some(Edited {
        path: path.clone(),
        deleted: after.is_none(),
        assertions: (asserted.values().sum(), asserts.values().sum()),
        removed: missing(&asserted, &asserts),
        skips: missing(&skips, &skipped),
    })
}

fn inner(text: &str) -> Option<&str> {
    text.find("#[cfg(test)]").map(|at| &text[at..])
}

/// Lines of a kind, and how often each stands there.
fn lines(text: &str, kind: fn(&str) -> bool) -> BTreeMap<&str, usize> {
    let mut lines = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| kind(line)) {
        *lines.entry(line).or_default() += 1;
    }
    lines
}

/// What the second has less often than the first.
fn missing(of: &BTreeMap<&str, usize>, in_: &BTreeMap<&str, usize>) -> Vec<String> {
    let gone = of
        .iter()
        .filter(|(line, count)| in_.get(*line).unwrap_or(&0) < count);
    let told = gone.map(|(line, _)| {
        let line = line.replace(char::is_control, " ");
        line[..line.floor_char_boundary(LONGEST)].to_owned()
    });
    told.take(MOST).collect()
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//")
        || line.starts_with("# ")
        || line.starts_with("/*")
        || line.starts_with("* ")
}

fn is_assertion(line: &str) -> bool {
    let marks = [
        "assert", "Assert", "expect(", "EXPECT_", ".should", "t.Error", "t.Fatal", "require.",
        "t.is(", "t.equal(",
    ];
    !is_comment(line)
        && !line.starts_with("import ")
        && !line.starts_with("from ")
        && !line.starts_with("use ")
        && marks.iter().any(|mark| line.contains(mark))
}

fn is_skip(line: &str) -> bool {
    let marks = [
        "#[ignore",
        "mark.skip",
        "mark.xfail",
        "unittest.skip",
        "expectedFailure",
        "pytest.skip(",
        "t.Skip",
        ".skip(",
        ".only(",
        "@Disabled",
        "@Ignore",
    ];
    let starts = ["xit(", "xdescribe(", "xtest(", "fit(", "fdescribe("];
    !is_comment(line)
        && (marks.iter().any(|mark| line.contains(mark))
            || starts.iter().any(|start| line.starts_with(start)))
}
