//! Python's `unittest`, with `-v` or without.

use crate::results::{Status, Tests};

/// What was heard so far.
#[derive(Debug, Default)]
pub(crate) struct Unittest {
    /// Begun on a line above: its end comes after its docstring, or after what it printed.
    begun: Option<String>,
    /// Tests that the last line counts.
    pub(crate) claimed: usize,
}

impl Unittest {
    pub(crate) fn line(&mut self, line: &str, tests: &mut Tests) {
        if let Some(rest) = line
            .strip_prefix("FAIL: ")
            .or_else(|| line.strip_prefix("ERROR: "))
        {
            if let Some((name, "")) = name(rest) {
                tests.add(&name, Status::Failed);
            }
            return;
        }
        if let Some(count) = line
            .strip_prefix("Ran ")
            .and_then(|rest| rest.split(' ').next())
        {
            let count: usize = count.parse().unwrap_or(0);
            self.claimed = self.claimed.saturating_add(count);
            return;
        }
        let rest = match name(line) {
            Some((name, rest)) => {
                self.begun = Some(name);
                rest
            }
            None => line,
        };
        let end = rest.rsplit_once("... ").map_or(rest, |(_, end)| end).trim();
        let status = match end.split(' ').next() {
            Some("ok") if end == "ok" => Status::Passed,
            Some("FAIL" | "ERROR") if !end.contains(' ') => Status::Failed,
            Some("skipped") if end.ends_with(['\'', '"']) => Status::Skipped,
            Some("expected") if end == "expected failure" => Status::Skipped,
            _ => return,
        };
        if let Some(name) = self.begun.take() {
            tests.add(&name, status);
        }
    }
}

/// The test at the beginning of a line, such as `test_x (module.Class.test_x)`, and what follows.
fn name(line: &str) -> Option<(String, &str)> {
    let (method, rest) = line.split_once(" (")?;
    let (class, rest) = rest.split_once(')')?;
    let is_name = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || "_.<>".contains(c))
    };
    if !is_name(method) || !is_name(class) || !class.contains('.') {
        return None;
    }
    // Since Python 3.11 the method is told twice.
    let full = if class.ends_with(&format!(".{method}")) {
        class.to_owned()
    } else {
        format!("{class}.{method}")
    };
    Some((full, rest))
}
