//! An accept: the decision, what it writes, and nothing less. [`Accepted`] can only be made here, so that whoever writes
//! to a file can ask for one.

use std::ops::Range;

use crate::{
    Content, DecideError, FileReview, Hunk, Opened, Part, Placement, State, Version,
    merge::{Merge, Spot},
};

/// Bytes of a live file that are replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Offsets in bytes in the live file as it was.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub bytes: Vec<u8>,
}

/// Hunks that were accepted, with all that has to happen now. Only [`Opened::accept`] makes one.
#[derive(Clone, Debug)]
pub struct Accepted {
    ids: Vec<u32>,
    review: FileReview,
    result: Option<Content>,
    splices: Vec<Splice>,
    changes: bool,
}

/// Why hunks are not accepted. Nothing is written then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AcceptError {
    /// They are not there, or were decided before.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The live file was changed where these hunks stand.
    #[error(
        "the file was changed where hunk {} stands: bring that part of the file back, or reject the hunk",
        list(ids)
    )]
    Conflicted {
        /// The hunks without a place, top to bottom.
        ids: Vec<u32>,
    },
}

impl Accepted {
    /// The hunks it is about, top to bottom.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The review after it.
    pub fn review(&self) -> &FileReview {
        &self.review
    }

    /// What has to stand at the path; `None`: nothing.
    pub fn result(&self) -> Option<&Content> {
        self.result.as_ref()
    }

    /// How the lines of the live file become those of the result, top to bottom; none when the change is not one of
    /// lines, or when the user typed the same before.
    pub fn splices(&self) -> &[Splice] {
        &self.splices
    }

    /// Whether there is anything to write; not when the user did the same before.
    pub fn changes_live(&self) -> bool {
        self.changes
    }
}

impl Opened<'_> {
    /// Accepts pending hunks into the live file: all of these, or none. The rest of the file keeps its bytes, and its mode
    /// unless a hunk changes it. `live` is `None` when nothing stands at the path.
    ///
    /// # Errors
    ///
    /// [`AcceptError`] when one of them is not pending or has no place in the live file.
    pub fn accept(&self, live: Option<Version<'_>>, ids: &[u32]) -> Result<Accepted, AcceptError> {
        self.review.check_pending(ids)?;
        let chosen: Vec<&Hunk> = self
            .review
            .hunks
            .iter()
            .filter(|hunk| ids.contains(&hunk.id))
            .collect();
        let ids: Vec<u32> = chosen.iter().map(|hunk| hunk.id).collect();
        let conflicted: Vec<u32> = self
            .review
            .hunks
            .iter()
            .zip(self.place(live))
            .filter(|(hunk, placement)| {
                ids.contains(&hunk.id) && *placement == Placement::Conflicted
            })
            .map(|(hunk, _)| hunk.id)
            .collect();
        if !conflicted.is_empty() {
            return Err(AcceptError::Conflicted { ids: conflicted });
        }
        let has = |part| chosen.iter().any(|hunk| hunk.part == part);
        let (result, splices) = if has(Part::Whole) {
            (self.agent.map(Version::to_content), Vec::new())
        } else {
            self.write(live, &ids, has(Part::Mode))?
        };
        Ok(Accepted {
            review: self.review.with(&ids, State::Accepted),
            ids,
            changes: result.as_ref().map(Content::as_version) != live,
            result,
            splices,
        })
    }

    /// The live file with hunks of lines and of the executable bit.
    fn write(
        &self,
        live: Option<Version<'_>>,
        ids: &[u32],
        mode: bool,
    ) -> Result<(Option<Content>, Vec<Splice>), AcceptError> {
        let Some(live) = live else {
            return Ok((None, Vec::new()));
        };
        let mode = match self.agent {
            Some(agent) if mode => agent.mode,
            _ => live.mode,
        };
        let is_chosen = |index: usize| ids.contains(&self.review.hunks[index].id);
        let (indices, edits) = self.pending_edits();
        if !indices.iter().any(|index| is_chosen(*index)) {
            let bytes = live.bytes.to_vec();
            return Ok((Some(Content { bytes, mode }), Vec::new()));
        }
        let old = self.effective_lines(|hunk| hunk.state == State::Accepted);
        let merge = Merge::new(&old, live.bytes);
        // All pending hunks are placed, as they were for the eye, and the chosen ones written.
        let spots = merge.spots(&edits);
        let mut written = Vec::new();
        let mut at = Vec::new();
        let mut conflicted = Vec::new();
        for ((index, edit), spot) in indices.into_iter().zip(edits).zip(spots) {
            if !is_chosen(index) {
                continue;
            }
            if spot == Spot::Conflicted {
                conflicted.push(self.review.hunks[index].id);
            }
            written.push(edit);
            at.push(spot);
        }
        // A very large diff is bounded by time and can come out coarser than it did a moment ago.
        if !conflicted.is_empty() {
            return Err(AcceptError::Conflicted { ids: conflicted });
        }
        let (bytes, splices) = merge.write(&written, &at);
        Ok((Some(Content { bytes, mode }), splices))
    }
}

fn list(ids: &[u32]) -> String {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    ids.join(", ")
}
