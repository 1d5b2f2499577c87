//! An accept: the decision, what it writes, and nothing less. [`Accepted`] can only be made here, so that whoever writes
//! to a file can ask for one.

use std::ops::Range;

use crate::{
    Content, DecideError, FileReview, Opened, Part, Placement, State, Version,
    merge::{Edit, Merge},
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
        let chosen: Vec<usize> = self
            .review
            .hunks
            .iter()
            .enumerate()
            .filter(|(_, hunk)| ids.contains(&hunk.id))
            .map(|(index, _)| index)
            .collect();
        let id = |index: &usize| self.review.hunks[*index].id;
        let placements = self.place(live);
        let conflicted: Vec<u32> = chosen
            .iter()
            .filter(|index| {
                matches!(
                    placements[**index],
                    Placement::Conflicted | Placement::Nowhere
                )
            })
            .map(id)
            .collect();
        if !conflicted.is_empty() {
            return Err(AcceptError::Conflicted { ids: conflicted });
        }
        let ids: Vec<u32> = chosen.iter().map(id).collect();
        let has = |part| {
            chosen
                .iter()
                .any(|index| self.review.hunks[*index].part == part)
        };
        let (result, splices) = if has(Part::Whole) {
            (self.agent.map(Version::to_content), Vec::new())
        } else {
            self.write(live, &chosen, has(Part::Mode))?
        };
        Ok(Accepted {
            review: self.review.with(&ids, State::Accepted),
            ids,
            changes: result.as_ref().map(Content::as_version) != live,
            result,
            splices,
        })
    }

    fn write(
        &self,
        live: Option<Version<'_>>,
        chosen: &[usize],
        mode: bool,
    ) -> Result<(Option<Content>, Vec<Splice>), AcceptError> {
        let Some(live) = live else {
            return Ok((None, Vec::new()));
        };
        let mode = match self.agent {
            Some(agent) if mode => agent.mode,
            _ => live.mode,
        };
        let edits: Vec<(usize, Edit<'_>)> = self
            .edits()
            .into_iter()
            .filter(|(index, _)| chosen.contains(index))
            .collect();
        if edits.is_empty() {
            let bytes = live.bytes.to_vec();
            return Ok((Some(Content { bytes, mode }), Vec::new()));
        }
        let old = self.effective_lines(|hunk| hunk.state == State::Accepted);
        let merge = Merge::new(&old, live.bytes);
        let (indices, edits): (Vec<usize>, Vec<Edit<'_>>) = edits.into_iter().unzip();
        let spots = merge.spots(&edits);
        let conflicted: Vec<u32> = indices
            .iter()
            .zip(&spots)
            .filter(|(_, spot)| matches!(spot, crate::merge::Spot::Conflicted))
            .map(|(index, _)| self.review.hunks[*index].id)
            .collect();
        if !conflicted.is_empty() {
            return Err(AcceptError::Conflicted { ids: conflicted });
        }
        let (bytes, splices) = merge.write(&edits, &spots);
        Ok((Some(Content { bytes, mode }), splices))
    }
}

fn list(ids: &[u32]) -> String {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    ids.join(", ")
}
