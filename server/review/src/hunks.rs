//! The record of a review of one file: which hunks there are and what was decided. No bytes of the file are here.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use legwork_model::{Digest, TreePath};
use serde::{Deserialize, Serialize};

use crate::Mode;

/// Lines of a text: from the `start`th (from 0), `len` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The first, from 0.
    pub start: u32,
    /// How many.
    pub len: u32,
}

impl Span {
    /// A range of lines of a text of at most [`crate::MAX_TEXT`] bytes.
    pub(crate) fn new(range: &Range<usize>) -> Self {
        let narrow = |n: usize| u32::try_from(n).expect("a text has at most MAX_TEXT lines");
        Self {
            start: narrow(range.start),
            len: narrow(range.len()),
        }
    }

    /// For indexing.
    pub(crate) fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start.saturating_add(self.len as usize)
    }
}

/// What a hunk is a change of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Some lines of a text.
    Lines,
    /// All there is at the path: a created or deleted file, a binary file, a link, another type. It is the only hunk of
    /// its file and is never merged with what the user did.
    Whole,
    /// The permissions alone.
    Mode,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing yet.
    Pending,
    /// It is in the live file.
    Accepted,
    /// It never will be.
    Rejected,
}

/// The smallest part of a change that can be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// Its number in the file, from 1; it stays the same while the task is under review.
    pub id: u32,
    /// What it changes.
    pub part: Part,
    /// The lines of the base that it replaces; none where it only adds.
    pub before: Span,
    /// The lines of the agent's text that replace them; none where it only removes.
    pub after: Span,
    /// What was decided.
    pub state: State,
}

/// One version of the file, as it is kept in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// What it holds.
    pub digest: Digest,
    /// What it is.
    pub mode: Mode,
}

/// The review of one file: made by [`FileReview::propose`], kept in a store, used through [`FileReview::open`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReview {
    pub(crate) base: Option<Stored>,
    pub(crate) agent: Option<Stored>,
    pub(crate) binary: bool,
    pub(crate) hunks: Vec<Hunk>,
}

/// Why a decision cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// There is no such hunk.
    #[error("there is no hunk {id} in this file: look at its hunks again and name one of them")]
    Unknown {
        /// The number asked for.
        id: u32,
    },
    /// The decision was taken before.
    #[error("hunk {id} was {} before: undo that first", state.describe())]
    Decided {
        /// Which hunk.
        id: u32,
        /// What was decided.
        state: State,
    },
}

impl State {
    /// As the end of a sentence: "it was …".
    pub fn describe(self) -> &'static str {
        match self {
            Self::Pending => "left pending",
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

impl FileReview {
    /// All hunks, top to bottom; a change of the permissions comes last.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The hunk of this number.
    pub fn hunk(&self, id: u32) -> Option<&Hunk> {
        self.hunks.iter().find(|hunk| hunk.id == id)
    }

    /// The numbers of the hunks that wait for a decision, top to bottom.
    pub fn pending(&self) -> Vec<u32> {
        self.in_state(State::Pending).map(|hunk| hunk.id).collect()
    }

    /// The version the guest found; `None` where nothing stood.
    pub fn base(&self) -> Option<Stored> {
        self.base
    }

    /// The version the agent left; `None` where nothing stands any more.
    pub fn agent(&self) -> Option<Stored> {
        self.agent
    }

    /// Whether its content is not shown as lines because it is not text, or too large.
    pub fn is_binary(&self) -> bool {
        self.binary
    }

    /// Whether it is decided whole and never merged with what the user did.
    pub fn is_whole(&self) -> bool {
        self.hunks.iter().any(|hunk| hunk.part == Part::Whole)
    }

    /// The review after these pending hunks were rejected. No file changes by it.
    ///
    /// # Errors
    ///
    /// [`DecideError`] when one of them does not exist or is not pending.
    pub fn reject(&self, ids: &[u32]) -> Result<Self, DecideError> {
        self.check_pending(ids)?;
        Ok(self.with(ids, State::Rejected))
    }

    /// The review after these pending hunks were found in the live file, where somebody else put them: an editor, or the
    /// user. Nothing is written for it.
    ///
    /// # Errors
    ///
    /// [`DecideError`] when one of them does not exist or is not pending.
    pub fn landed(&self, ids: &[u32]) -> Result<Self, DecideError> {
        self.check_pending(ids)?;
        Ok(self.with(ids, State::Accepted))
    }

    /// The review with these hunks pending again, whatever was decided: what an undo records. It does not touch the file.
    ///
    /// # Errors
    ///
    /// [`DecideError::Unknown`] when one of them does not exist.
    pub fn reopen(&self, ids: &[u32]) -> Result<Self, DecideError> {
        for &id in ids {
            self.hunk(id).ok_or(DecideError::Unknown { id })?;
        }
        Ok(self.with(ids, State::Pending))
    }

    /// Whether all of these can be decided.
    pub(crate) fn check_pending(&self, ids: &[u32]) -> Result<(), DecideError> {
        let states: HashMap<u32, State> = self
            .hunks
            .iter()
            .map(|hunk| (hunk.id, hunk.state))
            .collect();
        for &id in ids {
            match states.get(&id).ok_or(DecideError::Unknown { id })? {
                State::Pending => {}
                &state => return Err(DecideError::Decided { id, state }),
            }
        }
        Ok(())
    }

    /// With these hunks in another state.
    pub(crate) fn with(&self, ids: &[u32], state: State) -> Self {
        let ids: HashSet<u32> = ids.iter().copied().collect();
        let mut review = self.clone();
        for hunk in &mut review.hunks {
            if ids.contains(&hunk.id) {
                hunk.state = state;
            }
        }
        review
    }

    pub(crate) fn in_state(&self, state: State) -> impl Iterator<Item = &Hunk> {
        self.hunks.iter().filter(move |hunk| hunk.state == state)
    }
}

/// What a decision is bound to: it changes whenever a pending hunk of one of the files appears, goes or becomes another.
pub fn digest<'a>(files: impl IntoIterator<Item = (&'a TreePath, &'a FileReview)>) -> Digest {
    let mut bytes = b"legwork review 1".to_vec();
    for (path, review) in files {
        let mut pending = review.in_state(State::Pending).peekable();
        if pending.peek().is_none() {
            continue;
        }
        let path = path.as_bytes();
        bytes.extend((path.len() as u64).to_le_bytes());
        bytes.extend(path);
        for side in [review.base, review.agent] {
            match side {
                None => bytes.push(0),
                Some(stored) => {
                    bytes.extend(mode_bytes(stored.mode));
                    bytes.extend(stored.digest.as_bytes());
                }
            }
        }
        for hunk in pending {
            for number in [
                hunk.id,
                hunk.before.start,
                hunk.before.len,
                hunk.after.start,
                hunk.after.len,
            ] {
                bytes.extend(number.to_le_bytes());
            }
        }
        // No hunk has the number 0: the end of the list.
        bytes.extend(0_u32.to_le_bytes());
    }
    Digest::of(&bytes)
}

fn mode_bytes(mode: Mode) -> [u8; 5] {
    let (kind, bits) = match mode {
        Mode::File(permissions) => (1, permissions.bits()),
        Mode::Symlink => (2, 0),
        Mode::Dir => (3, 0),
    };
    let [a, b, c, d] = bits.to_le_bytes();
    [kind, a, b, c, d]
}

#[cfg(test)]
mod tests;
