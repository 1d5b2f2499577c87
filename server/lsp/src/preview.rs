//! Copies of files that a task would create, to be read by clients that know no `legwork:` address. A copy lies at
//! `TASK/PATH` below the previews' folder. It is no file of any workspace: what is asked for there is about its task.
//!
//! A client may start another server for a copy, because it lies outside of all its folders. That one learns here which
//! workspace it is about.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use legwork_model::{TaskId, TreePath};
use legwork_review::State;

use crate::{failure::Failure, name::HunkName, roots, session::Session, session::State as Known};

/// Whose copy a file is, and of what.
pub(crate) fn of(session: &Session, real: &Path) -> Option<(TaskId, TreePath)> {
    let below = real
        .strip_prefix(roots::real(&session.settings.preview)?)
        .ok()?;
    let mut parts = below.components();
    let task = parts.next()?.as_os_str().to_str()?.parse().ok()?;
    Some((task, TreePath::from_path(parts.as_path()).ok()?))
}

/// Writes a copy, and gives its place.
pub(crate) async fn write(
    session: &Session,
    name: &HunkName,
    bytes: Option<Arc<Vec<u8>>>,
) -> Result<PathBuf, Failure> {
    let path = name
        .path
        .under(&session.settings.preview.join(name.task.as_str()));
    let write = {
        let path = path.clone();
        move || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(&path, bytes.as_deref().map_or(&[][..], Vec::as_slice))
        }
    };
    let failed = |why: String| Failure::new(format!("the new file cannot be shown: {why}"));
    match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => Ok(path),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// The hunks of a copy that wait.
pub(crate) fn waiting(state: &Known, task: &TaskId, path: &TreePath) -> Vec<HunkName> {
    let found = state.tasks.get(task).and_then(|known| known.file(path));
    let hunks = found.iter().flat_map(|found| found.file().review.hunks());
    hunks
        .filter(|hunk| hunk.state == State::Pending)
        .map(|hunk| HunkName {
            task: task.clone(),
            number: hunk.id,
            path: path.clone(),
        })
        .collect()
}

/// The client has opened a copy: its task is the client's business.
pub(crate) async fn opened(session: Arc<Session>, task: TaskId) {
    if session.state().tasks.get(&task).is_some() {
        return;
    }
    let asked = match session.daemon.client().await {
        Ok(client) => client.task(task.as_str()).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    match asked {
        Ok(detail) => {
            session.state().roots.add(detail.task.spec.workspace);
            session.relist.notify_one();
        }
        Err(failure) => tracing::info!(%task, %failure, "the task of a preview is not known"),
    }
}
