//! What an editor needs to place hunks in its own buffers: the reviews themselves, and the bytes they name.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use legwork_model::{Digest, TreePath};
use legwork_review::{Candidate, Part};
use legwork_wire::{Desk, DeskFile};

use super::{ReviewError, Reviewer, digest, sides, sides::Bytes, view};
use crate::store::FileRow;

/// So many readings are kept; then it begins anew.
const MOST_READINGS: usize = 20_000;

/// What the bytes of a change of lines say.
#[derive(Clone, Debug, Default)]
struct Reading {
    signature: Option<Digest>,
    remarks: Vec<String>,
}

/// Readings, so that an editor can ask often: by what was read, which is both texts and whether the mode changed too.
#[derive(Debug, Default)]
pub(super) struct Readings(Mutex<HashMap<(Digest, Digest, bool), Reading>>);

impl Reviewer {
    /// All changes of a task, in the order in which they are best read.
    pub(crate) fn desk(&self, name: &str) -> Result<Desk, ReviewError> {
        let case = self.case(name)?;
        // One without hunks only remembers what was decided there.
        let shown = case
            .rows
            .iter()
            .filter(|row| !row.review.hunks().is_empty());
        let rows: Vec<&FileRow> = shown.collect();
        let readings = rows
            .iter()
            .map(|row| self.reading(row))
            .collect::<Result<Vec<_>, _>>()?;
        let candidates: Vec<Candidate<'_>> = rows
            .iter()
            .zip(&readings)
            .map(|(row, reading)| Candidate {
                path: row.path(),
                kind: &row.change.kind,
                sensitive: row.change.sensitive.as_deref(),
                review: &row.review,
                signature: reading.signature,
            })
            .collect();
        let files = legwork_review::order(&candidates).into_iter().map(|turn| {
            let (row, reading) = (rows[turn.index], &readings[turn.index]);
            DeskFile {
                path: row.path().clone(),
                kind: row.change.kind.clone(),
                sensitive: row.change.sensitive.clone(),
                summary: view::summary(&row.change, &row.review, reading.remarks.clone()),
                why: turn.why,
                review: row.review.clone(),
            }
        });
        Ok(Desk {
            title: case.task.spec.title(),
            state: case.task.state,
            digest: digest(&case.rows),
            moved: self
                .workspace(&case.task.id, &case.task)
                .ok()
                .and_then(|workspace| case.moved(&workspace)),
            files: files.collect(),
            task: case.task.id.clone(),
        })
    }

    fn reading(&self, row: &FileRow) -> Result<Reading, ReviewError> {
        let has = |part| row.review.hunks().iter().any(|hunk| hunk.part == part);
        let (Some(base), Some(agent), true) =
            (row.review.base(), row.review.agent(), has(Part::Lines))
        else {
            return Ok(Reading::default());
        };
        let key = (base.digest, agent.digest, has(Part::Mode));
        // It holds nothing that a panic could leave half done.
        let lock = || {
            self.readings
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(reading) = lock().get(&key) {
            return Ok(reading.clone());
        }
        let bytes = Bytes::load(&self.blobs, row)?;
        let opened = bytes.open(&row.review)?;
        let reading = Reading {
            signature: opened.signature(),
            remarks: opened.remarks(),
        };
        let mut readings = lock();
        if readings.len() >= MOST_READINGS {
            readings.clear();
        }
        readings.insert(key, reading.clone());
        Ok(reading)
    }

    /// One version of a file that the reviews of a task name. Others are none of its business.
    pub(crate) fn contents(&self, name: &str, digest: Digest) -> Result<Vec<u8>, ReviewError> {
        let case = self.case(name)?;
        for row in &case.rows {
            for stored in [row.review.base(), row.review.agent()]
                .into_iter()
                .flatten()
                .filter(|stored| stored.digest == digest)
            {
                if stored.mode.is_file() {
                    return Ok(self.blobs.get(&digest)?);
                }
                if let Some(bytes) = self.unblobbed(row, digest)? {
                    return Ok(bytes);
                }
            }
        }
        Err(ReviewError::NoContents {
            task: case.task.id,
            digest,
        })
    }

    /// What is in no blob: the target of a link, the nothing of a directory.
    fn unblobbed(&self, row: &FileRow, digest: Digest) -> Result<Option<Vec<u8>>, ReviewError> {
        let path: &TreePath = row.path();
        for side in [&row.change.before, &row.change.after] {
            let content = sides::content(&self.blobs, path, side.as_ref())?;
            let found = content.filter(|content| Digest::of(&content.bytes) == digest);
            if let Some(content) = found {
                return Ok(Some(content.bytes));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
impl Reviewer {
    /// How much was read.
    pub(super) fn readings_len(&self) -> usize {
        self.readings
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}
