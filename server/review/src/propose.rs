//! Two versions of a file become a review of it.

use std::ops::Range;

use legwork_model::Digest;

use crate::{
    FileReview, Hunk, Part, Span, State, Stored, Version,
    diff::regions,
    text::{is_binary, lines},
};

impl FileReview {
    /// What the agent changed, cut into hunks that all wait for a decision. `None` is a path at which nothing stands.
    ///
    /// Two texts differ by hunks of lines, between which at least one line is equal, and by a hunk for the
    /// permissions. All else is one whole hunk: what was created or deleted, is not text, is a link or has another type now.
    /// Equal versions have no hunks.
    pub fn propose(base: Option<Version<'_>>, agent: Option<Version<'_>>) -> Self {
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut add = |part, before: Range<usize>, after: Range<usize>| {
            let id = u32::try_from(hunks.len() + 1).expect("fewer hunks than lines");
            hunks.push(Hunk {
                id,
                part,
                before: Span::new(&before),
                after: Span::new(&after),
                state: State::Pending,
            });
        };
        match (base, agent) {
            (None, None) => {}
            (None, Some(created)) => add(Part::Whole, 0..0, shown(created)),
            (Some(deleted), None) => add(Part::Whole, shown(deleted), 0..0),
            (Some(old), Some(new)) if old.same_bytes(new) => {
                if old.mode != new.mode {
                    add(Part::Mode, 0..0, 0..0);
                }
            }
            (Some(old), Some(new)) if old.is_text() && new.is_text() => {
                for region in regions(&lines(old.bytes), &lines(new.bytes)) {
                    add(Part::Lines, region.old, region.new);
                }
                if old.mode != new.mode {
                    add(Part::Mode, 0..0, 0..0);
                }
            }
            (Some(_), Some(_)) => add(Part::Whole, 0..0, 0..0),
        }
        Self {
            base: base.map(stored),
            agent: agent.map(stored),
            binary: [base, agent]
                .into_iter()
                .flatten()
                .any(|version| version.mode.is_file() && is_binary(version.bytes)),
            hunks,
        }
    }
}

/// The lines to show of a file that is created or deleted whole.
fn shown(version: Version<'_>) -> Range<usize> {
    if version.is_text() {
        0..lines(version.bytes).len()
    } else {
        0..0
    }
}

fn stored(version: Version<'_>) -> Stored {
    Stored {
        digest: Digest::of(version.bytes),
        mode: version.mode,
    }
}
