//! Lays edits into a fresh machine, so that it goes on from them: what a task left, or what of it was accepted.

use legwork_host::{LayInput, Running, Sandbox};
use legwork_model::{Failure, FailureKind, Side, TreePath, unescape};
use legwork_workspace::{BlobStore, Edit};
use tokio::sync::mpsc;

use super::{collect::kept, ending};

/// Data bytes of one frame.
const PIECE: usize = 64 << 10;

/// Makes the workspace of a machine in which nothing was run yet as `edits` leave it. Contents come from `blobs`.
pub(super) async fn lay(
    sandbox: &Sandbox<Running>,
    blobs: BlobStore,
    edits: Vec<Edit>,
) -> Result<(), Failure> {
    let (sender, frames) = mpsc::channel(16);
    let read = tokio::task::spawn_blocking(move || tell(&blobs, &edits, &sender));
    let laid = sandbox.lay(frames).await;
    let read = read
        .await
        .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
    laid.map_err(|error| ending::failure(&error))?;
    read
}

/// What goes first, then folders, then the rest. That nobody listens any more is told by who listened.
fn tell(blobs: &BlobStore, edits: &[Edit], frames: &mpsc::Sender<LayInput>) -> Result<(), Failure> {
    let path = |edit: &Edit| edit.path.as_bytes().to_vec();
    let goes = |edit: &&Edit| match (&edit.before, &edit.after) {
        (Some(before), Some(after)) => {
            std::mem::discriminant(before) != std::mem::discriminant(after)
        }
        (before, after) => before.is_some() && after.is_none(),
    };
    let is_dir = |edit: &&Edit| edit.after == Some(Side::Dir);
    let gone = edits.iter().filter(goes);
    let first = gone.map(|edit| LayInput::Remove(path(edit)));
    let dirs = edits.iter().filter(is_dir);
    for frame in first.chain(dirs.map(|edit| LayInput::Dir(path(edit)))) {
        if frames.blocking_send(frame).is_err() {
            return Ok(());
        }
    }
    for edit in edits {
        for frame in leaf(blobs, &edit.path, edit.after.as_ref())? {
            if frames.blocking_send(frame).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn leaf(blobs: &BlobStore, path: &TreePath, side: Option<&Side>) -> Result<Vec<LayInput>, Failure> {
    let at = path.as_bytes().to_vec();
    Ok(match side {
        None | Some(Side::Dir) => Vec::new(),
        Some(Side::Symlink { target }) => {
            let target = unescape(target).ok_or_else(|| {
                let message = format!("the target of the link `{path}` is garbled");
                Failure::new(FailureKind::Internal, message, "reject that link")
            })?;
            vec![LayInput::Symlink { path: at, target }]
        }
        Some(Side::File {
            digest,
            permissions,
            ..
        }) => {
            let mode = permissions.bits();
            let bytes = blobs.get(digest).map_err(|error| kept(&error))?;
            let data = bytes
                .chunks(PIECE)
                .map(|piece| LayInput::Data(piece.into()));
            std::iter::once(LayInput::File { path: at, mode })
                .chain(data)
                .collect()
        }
    })
}
