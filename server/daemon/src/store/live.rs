//! Files under review while their task still runs: they come, change and go with what the task does.

use legwork_model::{EventBody, TaskId, TreePath};
use legwork_review::State;
use rusqlite::{Transaction, params};

use super::{Db, FileRow, StoreError, decisions, events, files, tasks};

impl Db {
    /// Stores what the reviews of a running task became, and tells of it. Gives the number of hunks that wait. Nothing
    /// happens once the task is over: whoever comes so late has missed its end.
    pub(crate) fn revise(
        &mut self,
        task: &TaskId,
        gone: &[TreePath],
        rows: &[FileRow],
        at: i64,
    ) -> Result<u32, StoreError> {
        self.write(|open| {
            if tasks::state(open, task)?.is_over() || gone.is_empty() && rows.is_empty() {
                return decisions::pending(open, task);
            }
            gone.iter().try_for_each(|path| remove(open, task, path))?;
            rows.iter()
                .try_for_each(|row| files::save(open, task, row))?;
            tell(open, task, at)
        })
    }

    /// What a task showed while it ran turns out to be of no use: takes back what nobody has decided on. Nothing happens
    /// once the task is over.
    pub(crate) fn withdraw(&mut self, task: &TaskId, at: i64) -> Result<(), StoreError> {
        self.write(|open| {
            if tasks::state(open, task)?.is_over() {
                return Ok(());
            }
            let mut any = false;
            for row in files::load(open, task)? {
                let mut hunks = row.review.hunks().iter();
                if hunks.all(|hunk| hunk.state == State::Pending) {
                    remove(open, task, row.path())?;
                    any = true;
                }
            }
            if any {
                tell(open, task, at)?;
            }
            Ok(())
        })
    }
}

fn remove(open: &Transaction<'_>, task: &TaskId, path: &TreePath) -> Result<(), StoreError> {
    open.prepare_cached("DELETE FROM files WHERE task = ?1 AND path = ?2")?
        .execute(params![task.as_str(), path.to_string()])?;
    Ok(())
}

fn tell(open: &Transaction<'_>, task: &TaskId, at: i64) -> Result<u32, StoreError> {
    let pending = decisions::pending(open, task)?;
    events::append(open, task, at, &EventBody::Changes { pending })?;
    Ok(pending)
}
