//! `cargo test` and `cargo nextest run`.

use super::number_before;
use crate::results::{Status, Tests};

/// What was heard so far.
#[derive(Debug, Default)]
pub(crate) struct Cargo {
    /// Tests that the summaries count.
    pub(crate) claimed: usize,
}

impl Cargo {
    pub(crate) fn line(&mut self, line: &str, tests: &mut Tests) {
        if let Some(rest) = line.strip_prefix("test ") {
            if rest.starts_with("result: ") {
                let counts = [" passed;", " failed;", " ignored;"];
                let counts = counts.map(|word| number_before(rest, word));
                self.claimed = counts.into_iter().fold(self.claimed, usize::saturating_add);
            } else if let Some((name, end)) = rest.rsplit_once(" ... ") {
                let name = name.strip_suffix(" - should panic").unwrap_or(name);
                match end.split([' ', ',']).next() {
                    Some("ok") => tests.add(name, Status::Passed),
                    Some("FAILED") => tests.add(name, Status::Failed),
                    Some("ignored") => tests.add(name, Status::Skipped),
                    _ => {}
                }
            }
        } else if let Some(name) = line
            .strip_prefix("---- ")
            .and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            tests.add(name, Status::Failed);
        } else if line.starts_with("    ") {
            nextest(line.trim_start(), tests);
        }
    }
}

/// `PASS [   0.003s] (1/3) package::binary module::test`.
fn nextest(line: &str, tests: &mut Tests) {
    let Some((word, rest)) = line.split_once(" [") else {
        return;
    };
    let status = match word {
        "PASS" | "LEAK" | "SLOW" => Status::Passed,
        "FAIL" | "TIMEOUT" | "SIGABRT" | "SIGSEGV" | "SIGKILL" | "ABORT" | "LEAK-FAIL" => {
            Status::Failed
        }
        "SKIP" => Status::Skipped,
        _ => return,
    };
    let Some((time, name)) = rest.split_once(']') else {
        return;
    };
    let is_time = |byte: u8| byte.is_ascii_digit() || b" .s>".contains(&byte);
    if !time.bytes().all(is_time) || word == "SLOW" {
        return;
    }
    let name = name.trim_start();
    let name = match name.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((count, rest)) if count.contains('/') => rest,
        _ => name,
    };
    tests.add(name, status);
}
