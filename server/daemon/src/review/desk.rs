//! What an editor needs to place hunks in its own buffers: the reviews themselves, and the bytes they name.

use legwork_model::{Digest, TreePath};
use legwork_wire::{Desk, DeskFile};

use super::{ReviewError, Reviewer, digest, sides, view};
use crate::store::FileRow;

impl Reviewer {
    /// All changes of a task, in the order in which they are best read.
    pub(crate) fn desk(&self, name: &str) -> Result<Desk, ReviewError> {
        let case = self.case(name)?;
        let file = |row: &FileRow| DeskFile {
            path: row.path().clone(),
            kind: row.change.kind.clone(),
            sensitive: row.change.sensitive.clone(),
            summary: view::summary(&row.change, &row.review),
            why: String::new(),
            review: row.review.clone(),
        };
        Ok(Desk {
            title: case.task.spec.title(),
            state: case.task.state,
            digest: digest(&case.rows),
            files: case.rows.iter().map(file).collect(),
            task: case.task.id,
        })
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
