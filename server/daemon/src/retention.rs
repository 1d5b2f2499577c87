//! What is kept, for how long: an ended task goes with its snapshot and its events when it is old enough; contents that
//! no task needs any more go with it.

use std::{collections::HashSet, path::Path, time::Duration};

use legwork_model::{Digest, Side};
use legwork_workspace::BlobStore;

use crate::{
    clock, job,
    store::{Store, StoreError},
};

/// Forgets ended tasks that are older than `keep`. It blocks. Nobody may be storing contents meanwhile.
pub(crate) fn sweep(
    store: &Store,
    state: &Path,
    blobs: &BlobStore,
    keep: Duration,
) -> Result<usize, StoreError> {
    let keep = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
    let old = store.with(|db| db.ended_before(clock::now().saturating_sub(keep)))?;
    for task in &old {
        // Files first: a task without files can be listed, files without a task would stay for ever.
        if let Err(error) = job::remove_dir(&job::dir_of(state, task)) {
            tracing::warn!(%task, %error, "the files of an old task could not be removed");
            continue;
        }
        store.with(|db| db.forget(task))?;
    }
    if !old.is_empty() {
        remove_unused(store, blobs)?;
    }
    Ok(old.len())
}

fn contents(side: &Option<Side>) -> Option<Digest> {
    match side {
        Some(Side::File { digest, .. }) => Some(*digest),
        _ => None,
    }
}

fn remove_unused(store: &Store, blobs: &BlobStore) -> Result<(), StoreError> {
    let used: HashSet<Digest> = store.with(|db| {
        let mut used = HashSet::new();
        for task in db.tasks(None)? {
            for file in db.files(&task.id)? {
                used.extend(contents(&file.change.before));
                used.extend(contents(&file.change.after));
                // While a task runs, its reviews move on from what the change says.
                let versions = [file.review.base(), file.review.agent()];
                used.extend(versions.into_iter().flatten().map(|version| version.digest));
            }
            for edit in db.edits(&task.id)? {
                used.extend(contents(&edit.before));
                used.extend(contents(&edit.after));
            }
        }
        Ok(used)
    })?;
    let Ok(entries) = std::fs::read_dir(blobs.dir()) else {
        return Ok(());
    };
    for name in entries.flatten().map(|entry| entry.file_name()) {
        let Some(digest) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if !used.contains(&digest)
            && let Err(error) = blobs.remove(&digest)
        {
            tracing::warn!(%error, "contents that nobody needs could not be removed");
        }
    }
    Ok(())
}
