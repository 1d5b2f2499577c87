//! The way through a review, as a pure state machine: a key goes in, a step comes out.
//!
//! ```text
//!            ┌──────────── Next (skip), Help, Nothing ───────────┐
//!            ▼                                                   │
//!   current hunk ──key──▶ press ──▶ Accept / Reject ──▶ carried out, `renew`
//!            │                └──▶ End
//!            └── none left: the end
//! ```
//!
//! There is no cursor: the current hunk is the first one that waits and was not skipped.

use std::collections::BTreeSet;

use legwork_model::TreePath;
use legwork_wire::{Decide, FileReview, Hunk, HunkState, Pick, Review};

/// What can be answered to a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Accept,
    Reject,
    AcceptFile,
    RejectFile,
    Skip,
    Quit,
    Help,
    /// Anything else.
    Other,
}

impl Key {
    /// The key that a byte stands for; Ctrl-C and Ctrl-D end.
    pub(crate) fn of(byte: u8) -> Self {
        match byte {
            b'y' => Self::Accept,
            b'n' => Self::Reject,
            b'a' => Self::AcceptFile,
            b'd' => Self::RejectFile,
            b's' => Self::Skip,
            b'q' | 3 | 4 => Self::Quit,
            b'?' => Self::Help,
            _ => Self::Other,
        }
    }

    /// How it is echoed.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Accept => 'y',
            Self::Reject => 'n',
            Self::AcceptFile => 'a',
            Self::RejectFile => 'd',
            Self::Skip => 's',
            Self::Quit => 'q',
            Self::Help | Self::Other => '?',
        }
    }
}

/// What a key leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ask the daemon for this accept, then renew.
    Accept(Decide),
    /// Ask the daemon for this reject, then renew.
    Reject(Decide),
    /// Another hunk is the current one.
    Next,
    /// Say what the keys do.
    Help,
    /// Say this; nothing has changed.
    Nothing(&'static str),
    /// Go.
    End,
}

/// Where the walk stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<'a> {
    pub(crate) file: &'a FileReview,
    pub(crate) hunk: &'a Hunk,
    /// Which of the hunks it is, from 1, and of how many.
    pub(crate) number: (usize, usize),
}

/// A review and what was skipped of it.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    review: Review,
    skipped: BTreeSet<(TreePath, u32)>,
    /// How many hunks waited when the walk began.
    total: usize,
}

impl Walk {
    /// Begins at the first hunk that waits.
    pub(crate) fn new(review: Review) -> Self {
        let mut walk = Self {
            review,
            skipped: BTreeSet::new(),
            total: 0,
        };
        walk.total = walk.waiting();
        walk
    }

    /// The hunk that is asked about.
    pub(crate) fn current(&self) -> Option<Spot<'_>> {
        let mut ahead = self.ahead();
        let (file, hunk) = ahead.next()?;
        let left = 1 + ahead.count();
        Some(Spot {
            file,
            hunk,
            number: (
                (self.total + 1).saturating_sub(left).max(1),
                self.total.max(left),
            ),
        })
    }

    /// How many hunks wait for a decision, skipped ones included.
    pub(crate) fn waiting(&self) -> usize {
        self.review
            .files
            .iter()
            .flat_map(|file| &file.hunks)
            .filter(|hunk| is_waiting(hunk))
            .count()
    }

    /// Takes the review as it is after a decision.
    pub(crate) fn renew(&mut self, review: Review) {
        self.review = review;
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, key: Key) -> Step {
        let Some(Spot { file, hunk, .. }) = self.current() else {
            return Step::End;
        };
        let one = || {
            vec![Pick {
                path: file.path.clone(),
                hunk: Some(hunk.id),
            }]
        };
        match key {
            Key::Accept => Step::Accept(self.decide(one())),
            Key::Reject => Step::Reject(self.decide(one())),
            Key::AcceptFile => match self.rest(&file.path, |hunk| hunk.state == HunkState::Pending)
            {
                // An empty list would mean everything.
                picks if picks.is_empty() => {
                    Step::Nothing("what is left of this file is in conflict: [n] or [s]")
                }
                picks => Step::Accept(self.decide(picks)),
            },
            Key::RejectFile => Step::Reject(self.decide(self.rest(&file.path, |_| true))),
            Key::Skip => {
                let skipped = (file.path.clone(), hunk.id);
                self.skipped.insert(skipped);
                Step::Next
            }
            Key::Quit => Step::End,
            Key::Help => Step::Help,
            Key::Other => Step::Nothing("type one of y, n, a, d, s, q, or ? for help"),
        }
    }

    /// The hunks of a file that are still ahead, each by its number.
    fn rest(&self, path: &TreePath, wanted: impl Fn(&Hunk) -> bool) -> Vec<Pick> {
        self.ahead()
            .filter(|(file, hunk)| file.path == *path && wanted(hunk))
            .map(|(file, hunk)| Pick {
                path: file.path.clone(),
                hunk: Some(hunk.id),
            })
            .collect()
    }

    fn ahead(&self) -> impl Iterator<Item = (&FileReview, &Hunk)> {
        let hunks = self
            .review
            .files
            .iter()
            .flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)));
        hunks.filter(|(file, hunk)| {
            is_waiting(hunk) && !self.skipped.contains(&(file.path.clone(), hunk.id))
        })
    }

    fn decide(&self, picks: Vec<Pick>) -> Decide {
        Decide {
            picks,
            include_sensitive: false,
            digest: Some(self.review.digest),
            gesture: None,
            reason: None,
        }
    }
}

fn is_waiting(hunk: &Hunk) -> bool {
    matches!(hunk.state, HunkState::Pending | HunkState::Conflicted)
}
