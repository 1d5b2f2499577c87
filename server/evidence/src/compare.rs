//! Two runs of one check, test by test.

use serde::{Deserialize, Serialize};

use crate::results::{Status, Tests};

/// A test that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Its name.
    pub test: String,
    /// What became of it.
    pub kind: DifferenceKind,
    /// How it ended on the base, if it was named.
    pub before: Option<Status>,
    /// How it ended on the result, if it was named.
    pub after: Option<Status>,
}

/// What became of a test; what a reader wants to see first comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// It passed, or was skipped, and fails.
    PassToFail,
    /// It failed and passes.
    FailToPass,
    /// It failed and is not named any more by a runner that names only what fails: it passes, or is gone.
    NoLongerFails,
    /// It ran and is skipped.
    Skipped,
    /// It was there and is not any more.
    Removed,
    /// It was not there before.
    New,
    /// It was skipped and passes.
    Unskipped,
}

impl DifferenceKind {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::PassToFail => "pass→fail",
            Self::FailToPass => "fail→pass",
            Self::NoLongerFails => "no longer fails",
            Self::Skipped => "skipped now",
            Self::Removed => "removed",
            Self::New => "new",
            Self::Unskipped => "no longer skipped",
        }
    }
}

/// What is not as it was, the gravest first.
pub fn compare(before: &Tests, after: &Tests) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut add = |test: &String, kind, before, after| {
        differences.push(Difference {
            test: test.clone(),
            kind,
            before,
            after,
        });
    };
    for (test, &was) in &before.named {
        let is = after.named.get(test).copied();
        let kind = match (was, is) {
            (Status::Failed, Some(Status::Passed)) => DifferenceKind::FailToPass,
            (Status::Passed | Status::Skipped, Some(Status::Failed)) => DifferenceKind::PassToFail,
            (Status::Passed | Status::Failed, Some(Status::Skipped)) => DifferenceKind::Skipped,
            (Status::Skipped, Some(Status::Passed)) => DifferenceKind::Unskipped,
            (Status::Failed, None) if after.partial => DifferenceKind::NoLongerFails,
            (_, None) if !after.partial => DifferenceKind::Removed,
            _ => continue,
        };
        add(test, kind, Some(was), is);
    }
    for (test, &is) in &after.named {
        if before.named.contains_key(test) {
            continue;
        }
        // It may have passed there without a name.
        if !before.partial || is == Status::Failed {
            add(test, DifferenceKind::New, None, Some(is));
        }
    }
    differences.sort_by_key(|difference| {
        let failing_first = difference.after != Some(Status::Failed);
        (failing_first, difference.kind)
    });
    differences
}
