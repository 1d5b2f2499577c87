//! A new version from the agent while the one before is under review.

use crate::{Content, FileReview, Opened, Part, State, Version, text::lines};

/// What a review became when the agent went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revised {
    /// The base from now on: the old one with what was accepted. It is to be kept beside the review.
    pub base: Option<Content>,
    /// What is pending now, and what the agent made again although it was rejected.
    pub review: FileReview,
}

impl Opened<'_> {
    /// The review of a new version from the agent. What was accepted is part of the base now; what the agent proposes
    /// again exactly as it was rejected stays rejected; hunks that are the same as before keep their numbers, others get
    /// new ones.
    pub fn revise(&self, agent: Option<Version<'_>>) -> Revised {
        let base = self.base_effective();
        let mut review = FileReview::propose(base.as_ref().map(Content::as_version), agent);
        let mut highest = self
            .review
            .hunks
            .iter()
            .map(|hunk| hunk.id)
            .max()
            .unwrap_or(0);
        let edits = self.edits();
        let new_lines = match agent {
            Some(agent) if !review.binary => lines(agent.bytes),
            _ => Vec::new(),
        };
        for hunk in &mut review.hunks {
            let before = hunk.before.range();
            let same = if hunk.part == Part::Lines {
                // Hunks are apart: no two begin at one line.
                edits
                    .binary_search_by_key(&before.start, |(_, edit)| edit.range.start)
                    .ok()
                    .map(|at| &edits[at])
                    .filter(|(_, edit)| {
                        edit.range == before && edit.lines == new_lines[hunk.after.range()]
                    })
                    .map(|(index, _)| &self.review.hunks[*index])
            } else {
                self.review
                    .hunks
                    .iter()
                    .find(|old| old.part == hunk.part && self.review.agent == review.agent)
            };
            if let Some(old) = same.filter(|old| old.state != State::Accepted) {
                hunk.id = old.id;
                hunk.state = old.state;
            } else {
                highest += 1;
                hunk.id = highest;
            }
        }
        Revised { base, review }
    }
}
