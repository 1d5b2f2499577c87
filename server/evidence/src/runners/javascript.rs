//! `jest` and `vitest`.

use crate::results::{Status, Tests};

/// How deep blocks may be nested.
const DEEPEST: usize = 32;

/// The file of the tests that come next, as `jest` tells it, and the blocks that they are in.
#[derive(Debug, Default)]
pub(crate) struct JavaScript {
    file: Option<(String, bool)>,
    blocks: Vec<(usize, String)>,
    /// Tests that the last line counts.
    pub(crate) claimed: usize,
}

impl JavaScript {
    pub(crate) fn line(&mut self, line: &str, tests: &mut Tests) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(counts) = text.strip_prefix("Tests:") {
            let total = super::number_before(counts, " total");
            self.claimed = self.claimed.saturating_add(total);
            return;
        }
        if let Some(counts) = text.strip_prefix("Tests  ") {
            let total = counts
                .rsplit_once('(')
                .and_then(|(_, rest)| rest.strip_suffix(')'));
            let total = total.and_then(|total| total.parse().ok()).unwrap_or(0);
            self.claimed = self.claimed.saturating_add(total);
            return;
        }
        if indent <= 1
            && let Some(rest) = text
                .strip_prefix("PASS ")
                .or_else(|| text.strip_prefix("FAIL "))
        {
            let failed = text.starts_with("FAIL");
            let rest = rest.trim_start();
            match rest.split_once(" > ") {
                // vitest tells what failed once more, with its file.
                Some((file, _)) if is_file(file) => {
                    let rest = rest.rsplit_once(" [ ").map_or(rest, |(name, _)| name);
                    tests.add(rest, Status::Failed);
                }
                _ => {
                    let file = rest.split(" (").next().unwrap_or_default();
                    let file = file.strip_prefix("./").unwrap_or(file);
                    self.file = is_file(file).then(|| (file.to_owned(), failed));
                }
            }
            self.blocks.clear();
            return;
        }
        let mut words = text.chars();
        let mark = words.next();
        let title = words.as_str().trim_start();
        let status = match mark {
            Some('✓' | '√') => Status::Passed,
            Some('✕' | '×' | '✗') => Status::Failed,
            Some('○' | '↓' | '✎') => Status::Skipped,
            Some('❯') if is_summary(title) => {
                tests.partial = true;
                return;
            }
            Some('●') => return self.detail(title, tests),
            _ => return self.block(indent, text),
        };
        let title = timeless(title);
        if title
            .split_once(" > ")
            .is_some_and(|(file, _)| is_file(file))
        {
            tests.add(title, status);
        } else if is_summary(title) {
            // A whole file, by vitest without names.
            tests.partial = true;
        } else if let Some((file, _)) = &self.file {
            while self.blocks.last().is_some_and(|(deep, _)| *deep >= indent) {
                self.blocks.pop();
            }
            let title = title.strip_prefix("skipped ").unwrap_or(title);
            let blocks = self.blocks.iter().map(|(_, block)| block.as_str());
            let name: Vec<&str> = [file.as_str()]
                .into_iter()
                .chain(blocks)
                .chain([title])
                .collect();
            tests.add(&name.join(" > "), status);
        }
    }

    /// `● block › test`: what failed in the last file, told at length.
    fn detail(&mut self, title: &str, tests: &mut Tests) {
        if let Some((file, true)) = &self.file
            && !title.is_empty()
            && title != "Console"
        {
            let name = title.split(" › ").collect::<Vec<_>>().join(" > ");
            tests.add(&format!("{file} > {name}"), Status::Failed);
        }
    }

    fn block(&mut self, indent: usize, text: &str) {
        if text.is_empty() || indent < 2 || self.file.is_none() {
            return;
        }
        while self.blocks.last().is_some_and(|(deep, _)| *deep >= indent) {
            self.blocks.pop();
        }
        if self.blocks.len() < DEEPEST {
            self.blocks.push((indent, text.to_owned()));
        }
    }
}

/// Whether it looks like the path of a script.
fn is_file(text: &str) -> bool {
    let ends = [
        ".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue",
    ];
    !text.contains(' ') && ends.iter().any(|end| text.ends_with(end))
}

/// `src/a.test.ts (3 tests | 1 failed) 8ms`.
fn is_summary(title: &str) -> bool {
    title
        .split_once(" (")
        .is_some_and(|(file, rest)| is_file(file) && rest.contains("test"))
}

/// Without how long it took: ` (2 ms)` or ` 2ms` at the end.
fn timeless(title: &str) -> &str {
    let is_time = |text: &str| {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
        let unit = &text[digits.len()..];
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        !digits.is_empty() && digits.chars().all(is_number) && ["ms", "s"].contains(&unit.trim())
    };
    if let Some((before, rest)) = title.rsplit_once(" (")
        && rest.strip_suffix(')').is_some_and(is_time)
    {
        return before;
    }
    match title.rsplit_once(' ') {
        Some((before, time)) if is_time(time) => before.trim_end(),
        _ => title,
    }
}
