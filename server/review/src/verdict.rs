//! An accept: the decision, what it writes, and nothing less. [`Accepted`] can only be made here, so that whoever writes
//! to a file can ask for one.

use std::{collections::HashSet, ops::Range};

use crate::{
    Content, DecideError, FileReview, Opened, Part, Placement, State, Version, merge::Spot,
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
        let asked: HashSet<u32> = ids.iter().copied().collect();
        let is_chosen = |index: usize| asked.contains(&self.review.hunks[index].id);
        let chosen: Vec<usize> = (0..self.review.hunks.len())
            .filter(|index| is_chosen(*index))
            .collect();
        let part = |index: &usize| self.review.hunks[*index].part;
        let has = |wanted| chosen.iter().any(|index| part(index) == wanted);

        let search = if has(Part::Lines) {
            self.search(live)
        } else {
            None
        };
        let mut edits = Vec::new();
        let mut spots = Vec::new();
        let mut placed = HashSet::new();
        if let Some(search) = &search {
            for ((index, edit), spot) in search
                .indices
                .iter()
                .zip(&search.edits)
                .zip(&search.spots)
                .filter(|((index, _), spot)| is_chosen(**index) && **spot != Spot::Conflicted)
            {
                placed.insert(*index);
                edits.push(edit.clone());
                spots.push(spot.clone());
            }
        }
        let conflicted: Vec<u32> = chosen
            .iter()
            .map(|index| (index, &self.review.hunks[*index]))
            .filter(|(index, hunk)| match hunk.part {
                Part::Lines => !placed.contains(*index),
                Part::Whole | Part::Mode => self.place_whole(hunk, live) == Placement::Conflicted,
            })
            .map(|(_, hunk)| hunk.id)
            .collect();
        if !conflicted.is_empty() {
            return Err(AcceptError::Conflicted { ids: conflicted });
        }

        let ids: Vec<u32> = chosen
            .iter()
            .map(|index| self.review.hunks[*index].id)
            .collect();
        let mut result = if has(Part::Whole) {
            self.agent.map(Version::to_content)
        } else {
            live.map(Version::to_content)
        };
        let mut splices = Vec::new();
        if let (Some(search), Some(content)) = (&search, &mut result) {
            (content.bytes, splices) = search.merge.write(&edits, &spots);
        }
        // Permissions that the change is not about stay as they are, also where the content is replaced whole.
        let is_stepped = has(Part::Mode) || has(Part::Whole);
        if let (true, Some(content), Some(live), Some(base), Some(agent)) =
            (is_stepped, &mut result, live, self.base, self.agent)
        {
            content.mode = live.mode.step(base.mode, agent.mode);
        }
        Ok(Accepted {
            review: self.review.with(&ids, State::Accepted),
            ids,
            changes: result.as_ref().map(Content::as_version) != live,
            result,
            splices,
        })
    }
}

fn list(ids: &[u32]) -> String {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    ids.join(", ")
}
