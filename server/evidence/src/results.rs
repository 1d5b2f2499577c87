//! What a run said of its tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// More tests of one run are not kept.
pub const MAX_TESTS: usize = 10_000;

/// The longest name of a test, in bytes.
const LONGEST_NAME: usize = 300;

/// How one test ended; the worse ones come later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It passed.
    Passed,
    /// It was not run, or was expected to fail and did.
    Skipped,
    /// It failed, or could not be run.
    Failed,
}

/// The tests of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// By name. Of several with one name the worst counts.
    pub named: BTreeMap<String, Status>,
    /// The runner named only some of them: a test that is not here may have passed.
    pub partial: bool,
}

impl Tests {
    /// How many ended so.
    pub fn count(&self, status: Status) -> usize {
        self.named
            .values()
            .filter(|&&other| other == status)
            .count()
    }

    /// A test ended. Control characters of its name are left out.
    pub(crate) fn add(&mut self, name: &str, status: Status) {
        let mut name: String = name.trim().chars().filter(|c| !c.is_control()).collect();
        name.truncate(name.floor_char_boundary(LONGEST_NAME));
        if name.is_empty() {
            return;
        }
        if self.named.len() >= MAX_TESTS && !self.named.contains_key(&name) {
            self.partial = true;
            return;
        }
        let known = self.named.entry(name).or_insert(status);
        *known = status.max(*known);
    }
}
