//! A new version from the agent while the one before is under review.

use crate::{Content, FileReview, Hunk, Opened, Part, State, Version, text::lines};

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
        self.fold(agent, 0)
    }

    /// As [`Opened::revise`], but as long as the agent still has all that was accepted just as it was, the base stays and
    /// the accepted hunks with it, so that they can be shown and undone. Numbers up to `last` were given before and are
    /// not given again.
    pub fn renew(&self, agent: Option<Version<'_>>, last: u32) -> Revised {
        let mut review = FileReview::propose(self.base, agent);
        let new_lines = text_lines(&review, agent);
        let new_agent = review.agent;
        let kept = number(&mut review, self.highest(last), |hunk| {
            let same_place = |old: &&Hunk| old.part == hunk.part && old.before == hunk.before;
            let old = self.review.hunks.iter().find(same_place)?;
            let same = match hunk.part {
                Part::Lines => self.agent_lines[old.after.range()] == new_lines[hunk.after.range()],
                Part::Whole => self.review.agent == new_agent,
                Part::Mode => self.agent.map(|old| old.mode) == agent.map(|new| new.mode),
            };
            same.then_some(old)
        });
        if kept == self.review.in_state(State::Accepted).count() {
            let base = self.base.map(Version::to_content);
            Revised { base, review }
        } else {
            self.fold(agent, last)
        }
    }

    /// The review of the same version from the agent on another base: what an undo comes to when the hunks it is about
    /// are part of the base by now. Hunks that remove and add the same lines as one that waits or was rejected are that
    /// one.
    pub fn rebase(&self, base: Option<Version<'_>>, last: u32) -> FileReview {
        let mut review = FileReview::propose(base, self.agent);
        let base_lines = text_lines(&review, base);
        let new_base = review.base;
        let waits = |hunk: &&Hunk| hunk.state != State::Accepted;
        let mut left: Vec<&Hunk> = self.review.hunks.iter().filter(waits).collect();
        number(&mut review, self.highest(last), |hunk| {
            let same = |old: &&Hunk| match hunk.part {
                part if part != old.part => false,
                // Both are of the same version from the agent.
                Part::Lines => {
                    old.after == hunk.after
                        && self.base_lines[old.before.range()] == base_lines[hunk.before.range()]
                }
                Part::Whole => self.review.base == new_base,
                Part::Mode => self.base.map(|old| old.mode) == base.map(|new| new.mode),
            };
            Some(left.remove(left.iter().position(same)?))
        });
        review
    }

    fn fold(&self, agent: Option<Version<'_>>, last: u32) -> Revised {
        let base = self.base_effective();
        let mut review = FileReview::propose(base.as_ref().map(Content::as_version), agent);
        let edits = self.edits();
        let new_lines = text_lines(&review, agent);
        let new_agent = review.agent;
        number(&mut review, self.highest(last), |hunk| {
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
                    .find(|old| old.part == hunk.part && self.review.agent == new_agent)
            };
            same.filter(|old| old.state != State::Accepted)
        });
        Revised { base, review }
    }

    fn highest(&self, last: u32) -> u32 {
        self.review
            .hunks
            .iter()
            .map(|hunk| hunk.id)
            .fold(last, u32::max)
    }
}

/// Gives each hunk the number and the state of the old one that it is, or a new number. Gives how many are accepted.
fn number<'o>(
    review: &mut FileReview,
    mut highest: u32,
    mut old: impl FnMut(&Hunk) -> Option<&'o Hunk>,
) -> usize {
    for hunk in &mut review.hunks {
        if let Some(old) = old(hunk) {
            hunk.id = old.id;
            hunk.state = old.state;
        } else {
            highest += 1;
            hunk.id = highest;
        }
    }
    review.in_state(State::Accepted).count()
}

fn text_lines<'a>(review: &FileReview, version: Option<Version<'a>>) -> Vec<&'a [u8]> {
    match version {
        Some(version) if !review.binary => lines(version.bytes),
        _ => Vec::new(),
    }
}
