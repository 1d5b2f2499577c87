//! The card: what was run on what, how it ended, and what that says.

use legwork_model::{Digest, Verdict};
use serde::{Deserialize, Serialize};

use crate::{
    compare::{Difference, DifferenceKind, compare},
    edited::Edited,
    results::{Status, Tests},
};

/// All the evidence on one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// How far it is.
    pub progress: Progress,
    /// What was checked.
    pub part: Part,
    /// What it was when it was checked.
    pub stamp: Stamp,
    /// Each command, in the order in which they were asked for.
    pub checks: Vec<Check>,
    /// Tests that the change edits.
    pub edited: Vec<Edited>,
    /// When it was begun, in milliseconds since 1970.
    pub at: i64,
    /// Why it says nothing of how things stand now, if so. It is made out anew whenever the card is asked for.
    #[serde(default)]
    pub stale: Option<String>,
}

/// How far the checking is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Progress {
    /// Something is run or waits for it.
    Checking,
    /// All is run.
    Done,
    /// It was stopped, or could not be done; why, as a sentence without a full stop.
    Stopped {
        /// Why.
        why: String,
    },
}

/// What was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// All that the task changed.
    Whole,
    /// What was accepted of it.
    Accepted,
}

/// What changes were when they were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// All changes of the task.
    pub changes: Digest,
    /// What was accepted of them.
    pub accepted: Digest,
}

/// A check command, on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// A shell command line.
    pub command: String,
    /// It reproduces a bug: it has to fail on the base and to pass on the result.
    pub reproduces: bool,
    /// On the base.
    pub before: Option<Run>,
    /// On the result.
    pub after: Option<Run>,
    /// Tests that ended in another way than before.
    pub differences: Vec<Difference>,
}

/// One run of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// It was run earlier, on the same snapshot.
    pub cached: bool,
    /// What it said of its tests.
    pub tests: Tests,
    /// The end of what it wrote, as printable text.
    pub tail: String,
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum End {
    /// By itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// By a signal.
    Signaled {
        /// The signal's number.
        signal: i32,
    },
    /// Its time was up.
    TimedOut,
    /// The memory was used up.
    OutOfMemory,
    /// It was not run; why, as a sentence without a full stop.
    NotRun {
        /// Why.
        why: String,
    },
}

impl Run {
    /// Whether the command says that all is well.
    pub fn passed(&self) -> bool {
        self.end == End::Exited { code: 0 }
    }

    /// A run that did not come about.
    pub fn not_run(why: impl Into<String>) -> Self {
        Self {
            end: End::NotRun { why: why.into() },
            millis: 0,
            cached: false,
            tests: Tests::default(),
            tail: String::new(),
        }
    }
}

impl Check {
    /// One that was not run yet.
    pub fn new(command: impl Into<String>, reproduces: bool) -> Self {
        Self {
            command: command.into(),
            reproduces,
            before: None,
            after: None,
            differences: Vec::new(),
        }
    }

    /// Compares the two sides, once both are known.
    pub fn compare(&mut self) {
        if let (Some(before), Some(after)) = (&self.before, &self.after) {
            let unknown = |run: &Run| matches!(run.end, End::NotRun { .. });
            self.differences = if unknown(before) || unknown(after) {
                Vec::new()
            } else {
                compare(&before.tests, &after.tests)
            };
        }
    }

    /// Whether the result is as it should be; `None` where that is not known.
    pub fn is_well(&self) -> Option<bool> {
        let known = |run: &Option<Run>| {
            let run = run.as_ref()?;
            (!matches!(run.end, End::NotRun { .. })).then(|| run.passed())
        };
        let after = known(&self.after)?;
        if self.reproduces {
            return Some(after && !known(&self.before)?);
        }
        Some(after)
    }

    /// How many tests are of this kind.
    pub fn count(&self, kind: DifferenceKind) -> usize {
        self.differences
            .iter()
            .filter(|difference| difference.kind == kind)
            .count()
    }

    /// How many tests are new and fail.
    pub fn new_failures(&self) -> usize {
        let fails = |difference: &&Difference| {
            difference.kind == DifferenceKind::New && difference.after == Some(Status::Failed)
        };
        self.differences.iter().filter(fails).count()
    }
}

impl Card {
    /// Nothing was run yet.
    pub fn new(part: Part, stamp: Stamp, at: i64) -> Self {
        Self {
            progress: Progress::Checking,
            part,
            stamp,
            checks: Vec::new(),
            edited: Vec::new(),
            at,
            stale: None,
        }
    }

    /// What it says in a word.
    pub fn verdict(&self) -> Verdict {
        if self.progress == Progress::Checking {
            return Verdict::Checking;
        }
        let well: Vec<_> = self.checks.iter().map(Check::is_well).collect();
        if well.contains(&Some(false)) {
            Verdict::Failing
        } else if well.contains(&None) || self.progress != Progress::Done {
            Verdict::Unknown
        } else {
            Verdict::Passing
        }
    }
}
