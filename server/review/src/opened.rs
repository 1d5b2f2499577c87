//! A review together with the bytes it is about: the two texts that hold the truth, and the place of each hunk in a live
//! file.

use legwork_model::Digest;

use crate::{
    Content, FileReview, Hunk, Part, State, Version,
    merge::{Edit, Merge, Spot},
    text::lines,
};

/// A [`FileReview`] and its bytes, checked to belong together.
#[derive(Debug)]
pub struct Opened<'a> {
    pub(crate) review: &'a FileReview,
    pub(crate) base: Option<Version<'a>>,
    pub(crate) agent: Option<Version<'a>>,
    pub(crate) base_lines: Vec<&'a [u8]>,
    pub(crate) agent_lines: Vec<&'a [u8]>,
}

/// Why a review cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The bytes are not the ones it was made from.
    #[error(
        "the stored {side} does not belong to this review: the store is damaged, run the task again"
    )]
    OtherBytes {
        /// "base" or "result".
        side: &'static str,
    },
    /// Its hunks are not hunks of these bytes.
    #[error("the stored review does not fit its files: the store is damaged, run the task again")]
    Damaged,
}

/// The pending hunks of lines in a live text. One search serves the question where they are and the writing of them: a very
/// large diff is bounded by time and may come out another way when it is made again.
#[derive(Debug)]
pub(crate) struct Search<'m> {
    pub(crate) merge: Merge<'m>,
    /// Of the hunks, in [`FileReview::hunks`].
    pub(crate) indices: Vec<usize>,
    pub(crate) edits: Vec<Edit<'m>>,
    pub(crate) spots: Vec<Spot>,
}

/// Where a hunk stands in a live file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Pending: it goes here. Accepted: it stands here. The line is the first one in the live file, from 1.
    At {
        /// From 1.
        line: u32,
    },
    /// Pending, and the live file holds its result already: accepting it writes nothing.
    Already {
        /// From 1.
        line: u32,
    },
    /// Pending, and the live file was changed at the same place, or has several such places.
    Conflicted,
    /// Rejected, or accepted and changed by the user since.
    Nowhere,
}

impl FileReview {
    /// Joins the review with the bytes it was made from, from wherever they were kept.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when they are others, or the review was not made by [`FileReview::propose`].
    pub fn open<'a>(
        &'a self,
        base: Option<&'a [u8]>,
        agent: Option<&'a [u8]>,
    ) -> Result<Opened<'a>, OpenError> {
        let join =
            |stored: Option<crate::Stored>, bytes: Option<&'a [u8]>, side| match (stored, bytes) {
                (None, None) => Ok(None),
                (Some(stored), Some(bytes)) if stored.digest == Digest::of(bytes) => {
                    Ok(Some(Version {
                        bytes,
                        mode: stored.mode,
                    }))
                }
                _ => Err(OpenError::OtherBytes { side }),
            };
        let base = join(self.base, base, "base")?;
        let agent = join(self.agent, agent, "result")?;
        let split = |version: Option<Version<'a>>| match version {
            Some(version) if !self.binary && version.mode.is_file() => lines(version.bytes),
            _ => Vec::new(),
        };
        let opened = Opened {
            review: self,
            base,
            agent,
            base_lines: split(base),
            agent_lines: split(agent),
        };
        if opened.fits() {
            Ok(opened)
        } else {
            Err(OpenError::Damaged)
        }
    }
}

impl<'a> Opened<'a> {
    /// The base with the accepted hunks; `None` when nothing stands there.
    pub fn base_effective(&self) -> Option<Content> {
        self.with_hunks(|hunk| hunk.state == State::Accepted)
    }

    /// The base with the accepted and the pending hunks; `None` when nothing stands there.
    pub fn agent_effective(&self) -> Option<Content> {
        self.with_hunks(|hunk| hunk.state != State::Rejected)
    }

    /// Where each hunk, in the order of [`FileReview::hunks`], stands in the file as it is on disk or in an editor now;
    /// `live` is `None` when nothing stands at the path.
    pub fn place(&self, live: Option<Version<'_>>) -> Vec<Placement> {
        let hunks = self.review.hunks();
        let mut placements = vec![Placement::Nowhere; hunks.len()];
        for (index, hunk) in hunks.iter().enumerate() {
            if hunk.part != Part::Lines {
                placements[index] = self.place_whole(hunk, live);
            }
        }
        match self.search(live) {
            Some(search) => self.place_lines(&search, &mut placements),
            None => {
                for (placement, hunk) in placements.iter_mut().zip(hunks) {
                    if hunk.part == Part::Lines && hunk.state == State::Pending {
                        *placement = Placement::Conflicted;
                    }
                }
            }
        }
        placements
    }

    /// About which line of `live`, from 1, each hunk of lines is, in the order of [`FileReview::hunks`], also where its
    /// lines were changed or deleted: for showing a hunk that [`Opened::place`] finds no place for. `None` for hunks
    /// without lines.
    pub fn near(&self, live: Option<Version<'_>>) -> Vec<Option<u32>> {
        let mut lines = vec![None; self.review.hunks().len()];
        if let Some(search) = self.search(live) {
            for (index, edit) in self.edits() {
                lines[index] = Some(one_based(search.merge.near(&edit.range)));
            }
        }
        lines
    }

    /// Looks for the pending hunks of lines; `None` when no live text can hold them.
    pub(crate) fn search<'m>(&'m self, live: Option<Version<'m>>) -> Option<Search<'m>> {
        let live = live.filter(|live| self.has_lines() && live.is_text())?;
        let merge = Merge::new(
            self.effective_lines(|hunk| hunk.state == State::Accepted),
            live.bytes,
        );
        let (indices, edits): (Vec<usize>, Vec<Edit<'m>>) = self
            .edits()
            .into_iter()
            .filter(|(index, _)| self.review.hunks[*index].state == State::Pending)
            .unzip();
        let spots = merge.spots(&edits);
        Some(Search {
            merge,
            indices,
            edits,
            spots,
        })
    }

    fn place_lines(&self, search: &Search<'_>, placements: &mut [Placement]) {
        for (index, edit) in self.edits() {
            if self.review.hunks[index].state == State::Accepted
                && let Some(range) = search.merge.find(&edit.range)
            {
                let line = one_based(range.start);
                placements[index] = Placement::At { line };
            }
        }
        for (index, spot) in search.indices.iter().zip(&search.spots) {
            placements[*index] = match spot {
                Spot::At(range) => Placement::At {
                    line: one_based(range.start),
                },
                Spot::Already(range) => Placement::Already {
                    line: one_based(range.start),
                },
                Spot::Conflicted => Placement::Conflicted,
            };
        }
    }

    /// A hunk without lines of its own: it needs the very file it was made for.
    pub(crate) fn place_whole(&self, hunk: &Hunk, live: Option<Version<'_>>) -> Placement {
        let same = |side: Option<Version<'_>>| match (side, live) {
            (None, None) => true,
            (Some(side), Some(live)) => side.same_bytes(live),
            _ => false,
        };
        let line = 1;
        let stepped = |live: Version<'_>| match (self.base, self.agent) {
            (Some(base), Some(agent)) => live.mode.step(base.mode, agent.mode) == live.mode,
            _ => false,
        };
        match (hunk.state, hunk.part) {
            (State::Rejected, _) => Placement::Nowhere,
            (State::Accepted, Part::Mode) => match live {
                Some(live) if live.mode.is_file() && stepped(live) => Placement::At { line },
                _ => Placement::Nowhere,
            },
            (State::Accepted, _) if same(self.agent) => Placement::At { line },
            (State::Accepted, _) => Placement::Nowhere,
            (State::Pending, Part::Mode) => match live {
                Some(live) if !live.mode.is_file() => Placement::Conflicted,
                Some(live) if stepped(live) => Placement::Already { line },
                Some(_) => Placement::At { line },
                None => Placement::Conflicted,
            },
            (State::Pending, _)
                if live.map(|live| live.mode) == self.agent.map(|a| a.mode) && same(self.agent) =>
            {
                Placement::Already { line }
            }
            (State::Pending, _) if same(self.base) || same(self.agent) => Placement::At { line },
            (State::Pending, _) => Placement::Conflicted,
        }
    }

    /// The hunks of lines as edits of the base-effective text, with their index. An accepted hunk stands for its result.
    pub(crate) fn edits(&self) -> Vec<(usize, Edit<'a>)> {
        let mut edits = Vec::new();
        let mut added = 0;
        let mut removed = 0;
        for (index, hunk) in self.review.hunks.iter().enumerate() {
            if hunk.part != Part::Lines {
                continue;
            }
            let before = hunk.before.range();
            let after = hunk.after.range();
            let start = before.start + added - removed;
            let len = if hunk.state == State::Accepted {
                added += after.len();
                removed += before.len();
                after.len()
            } else {
                before.len()
            };
            let edit = Edit {
                range: start..start + len,
                lines: self.agent_lines[after].to_vec(),
            };
            edits.push((index, edit));
        }
        edits
    }

    /// The lines of the base with some of the hunks.
    pub(crate) fn effective_lines(&self, take: impl Fn(&Hunk) -> bool) -> Vec<&'a [u8]> {
        let mut text = Vec::with_capacity(self.base_lines.len());
        let mut next = 0;
        for hunk in &self.review.hunks {
            if hunk.part != Part::Lines || !take(hunk) {
                continue;
            }
            let before = hunk.before.range();
            text.extend_from_slice(&self.base_lines[next..before.start]);
            text.extend_from_slice(&self.agent_lines[hunk.after.range()]);
            next = before.end;
        }
        text.extend_from_slice(&self.base_lines[next..]);
        text
    }

    pub(crate) fn has_lines(&self) -> bool {
        self.review
            .hunks
            .iter()
            .any(|hunk| hunk.part == Part::Lines)
    }

    fn with_hunks(&self, take: impl Fn(&Hunk) -> bool) -> Option<Content> {
        let taken = |part| {
            self.review
                .hunks
                .iter()
                .any(|hunk| hunk.part == part && take(hunk))
        };
        if self.review.is_whole() {
            let side = if taken(Part::Whole) {
                self.agent
            } else {
                self.base
            };
            return side.map(Version::to_content);
        }
        let base = self.base?;
        let mode = match self.agent {
            Some(agent) if taken(Part::Mode) => agent.mode,
            _ => base.mode,
        };
        let bytes = if self.has_lines() {
            self.effective_lines(take).concat()
        } else {
            base.bytes.to_vec()
        };
        Some(Content { bytes, mode })
    }

    /// Whether the hunks lie in the texts, in order, with the same lines between them on both sides.
    fn fits(&self) -> bool {
        let hunks = &self.review.hunks;
        let alone = hunks.len() == 1 || !self.review.is_whole();
        let both = self.base.is_some() && self.agent.is_some();
        let (mut before_end, mut after_end) = (0, 0);
        for hunk in hunks {
            let (before, after) = (hunk.before.range(), hunk.after.range());
            let equal = match hunk.part {
                Part::Whole | Part::Mode => continue,
                Part::Lines if !both => return false,
                Part::Lines => self.equal(before_end..before.start, after_end..after.start),
            };
            if !equal {
                return false;
            }
            (before_end, after_end) = (before.end, after.end);
        }
        let rest = self.equal(
            before_end..self.base_lines.len(),
            after_end..self.agent_lines.len(),
        );
        alone && (!self.has_lines() || rest)
    }

    fn equal(&self, base: std::ops::Range<usize>, agent: std::ops::Range<usize>) -> bool {
        match (self.base_lines.get(base), self.agent_lines.get(agent)) {
            (Some(base), Some(agent)) => base == agent,
            _ => false,
        }
    }
}

fn one_based(index: usize) -> u32 {
    u32::try_from(index + 1).expect("a text has at most MAX_TEXT lines")
}
