//! Files under review.

use legwork_model::{Change, TaskId, TreePath};
use legwork_review::FileReview;
use rusqlite::{Connection, params};

use super::{Db, StoreError};

/// One change of a task and where its review stands.
#[derive(Clone, Debug)]
pub(crate) struct FileRow {
    pub(crate) change: Change,
    pub(crate) review: FileReview,
    /// Hunks of `review` that wait.
    pub(crate) pending: u32,
}

impl FileRow {
    /// A change of which nothing has been decided, or whose review has moved on.
    pub(crate) fn new(change: Change, review: FileReview) -> Self {
        let pending = u32::try_from(review.pending().len()).unwrap_or(u32::MAX);
        Self {
            change,
            review,
            pending,
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &TreePath {
        &self.change.path
    }
}

impl Db {
    /// The changes of a task, sorted by path.
    pub(crate) fn files(&mut self, task: &TaskId) -> Result<Vec<FileRow>, StoreError> {
        load(&self.connection, task)
    }
}

pub(super) fn load(connection: &Connection, task: &TaskId) -> Result<Vec<FileRow>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT change, review, pending FROM files WHERE task = ?1")?;
    let rows = statement
        .query_map([task.as_str()], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get(2)?,
            ))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let mut files = rows
        .into_iter()
        .map(|(change, review, pending)| {
            Ok(FileRow {
                change: serde_json::from_str(&change)?,
                review: serde_json::from_str(&review)?,
                pending,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    // The column holds the escaped form, whose order is another.
    files.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(files)
}

pub(super) fn save(
    connection: &Connection,
    task: &TaskId,
    file: &FileRow,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO files (task, path, change, review, pending) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            task.as_str(),
            file.path().to_string(),
            serde_json::to_string(&file.change)?,
            serde_json::to_string(&file.review)?,
            file.pending
        ])?;
    Ok(())
}
