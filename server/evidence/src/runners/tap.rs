//! The Test Anything Protocol, as `node --test`, `bats` and `prove` speak it.

use crate::results::{Status, Tests};

/// `ok 1 - adds # SKIP why`.
pub(crate) fn line(line: &str, tests: &mut Tests) {
    let line = line.trim_start();
    let (passed, rest) = match line.strip_prefix("not ok ") {
        Some(rest) => (false, rest),
        None => match line.strip_prefix("ok ") {
            Some(rest) => (true, rest),
            None => return,
        },
    };
    let Some((number, rest)) = rest.split_once(' ') else {
        return;
    };
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return;
    }
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (name, directive) = rest.rsplit_once(" # ").unwrap_or((rest, ""));
    let directive = directive.to_ascii_uppercase();
    let status = if directive.starts_with("SKIP") || directive.starts_with("TODO") {
        Status::Skipped
    } else if passed {
        Status::Passed
    } else {
        Status::Failed
    };
    tests.add(name, status);
}
