//! `go test`, plain, with `-v`, and with `-json`.

use serde::Deserialize;

use crate::results::{MAX_TESTS, Status, Tests};

/// Tests whose package has not been told yet.
#[derive(Debug, Default)]
pub(crate) struct Go {
    open: Vec<(String, Status)>,
}

/// One line of `-json`.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "Action")]
    action: String,
    #[serde(rename = "Package", default)]
    package: String,
    #[serde(rename = "Test", default)]
    test: String,
}

impl Go {
    pub(crate) fn line(&mut self, line: &str, tests: &mut Tests) {
        if line.starts_with("{\"") && line.contains("\"Action\":") {
            if let Ok(event) = serde_json::from_str::<Event>(line)
                && !event.test.is_empty()
                && let Some(status) = status(&event.action)
            {
                tests.add(&format!("{}.{}", event.package, event.test), status);
            }
            return;
        }
        if let Some((word, rest)) = line
            .trim_start()
            .strip_prefix("--- ")
            .and_then(|rest| rest.split_once(": "))
        {
            let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
            if let Some(status) = status(&word.to_ascii_lowercase())
                && self.open.len() < MAX_TESTS
            {
                self.open.push((name.to_owned(), status));
            }
            return;
        }
        let Some((word, rest)) = line.split_once('\t') else {
            return;
        };
        let package = rest.split(['\t', ' ']).next().unwrap_or_default();
        match word.trim_end() {
            "ok" => {
                // Without `-v` those that pass have no names.
                tests.partial |= self.open.is_empty();
                self.close(package, tests);
            }
            "FAIL" => {
                let only_failed = |(_, status): &(String, Status)| *status == Status::Failed;
                tests.partial |= self.open.iter().all(only_failed);
                if rest.contains("[build failed]") || rest.contains("[setup failed]") {
                    tests.add(&format!("{package} [build]"), Status::Failed);
                }
                self.close(package, tests);
            }
            _ => {}
        }
    }

    fn close(&mut self, package: &str, tests: &mut Tests) {
        for (name, status) in self.open.drain(..) {
            tests.add(&format!("{package}.{name}"), status);
        }
    }

    pub(crate) fn finish(&mut self, tests: &mut Tests) {
        for (name, status) in self.open.drain(..) {
            tests.add(&name, status);
        }
    }
}

fn status(word: &str) -> Option<Status> {
    match word {
        "pass" => Some(Status::Passed),
        "fail" => Some(Status::Failed),
        "skip" => Some(Status::Skipped),
        _ => None,
    }
}
