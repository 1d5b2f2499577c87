//! From what the guest lists to files under review. The listing is hostile: it is bounded here and judged by
//! `legwork_workspace`.

use std::sync::Arc;

use legwork_host::{Collected, Found, FoundKind, Running, Sandbox};
use legwork_model::{Change, ChangeKind, ChangeSet, Failure, FailureKind, Phase, Side, Task};
use legwork_workspace::{
    BlobError, BlobStore, BlobWriter, Caps, ChangeError, ChangeSetBuilder, Reported, ReportedKind,
    Snapshot, Workspace,
};
use tokio::sync::mpsc;

use super::{Break, Findings, Job, ending};
use crate::{
    review::{self, ReviewError},
    store::FileRow,
};

impl Job {
    pub(super) async fn collect(
        &self,
        task: &Task,
        sandbox: &Sandbox<Running>,
        snapshot: &Arc<Snapshot>,
        findings: &mut Findings,
    ) -> Result<Vec<FileRow>, Break> {
        self.tell(Phase::Collect, "collecting the changes").await;
        let (frames, inbox) = mpsc::channel(16);
        let (room, id, root) = (
            Arc::clone(&self.room),
            self.id.clone(),
            task.spec.workspace.clone(),
        );
        let snapshot = Arc::clone(snapshot);
        let taken = tokio::task::spawn_blocking(move || {
            let workspace = match room.store.with(|db| db.identity(&id))? {
                Some(identity) => Workspace::reopen(&root, identity),
                None => Workspace::open(&root),
            }
            .map_err(|error| Failure::new(FailureKind::Capture, error.to_string(), ""))?;
            let changes = take(inbox, &snapshot, &workspace, &room.blobs)?;
            rows(changes, &snapshot, &room.blobs)
        });
        let (listed, taken) = futures::join!(sandbox.collect(frames), taken);
        let taken = taken.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let (rows, refused) = match (listed, taken) {
            // Its reader had a reason to stop reading, and that is the one to tell.
            (_, Err(failure)) => return Err(failure.into()),
            (Err(error), Ok(_)) => return Err(ending::failure(&error).into()),
            (Ok(()), Ok(taken)) => taken,
        };
        if !refused.is_empty() {
            findings.notices.push(format!(
                "{} of the changes cannot be taken over: `legwork show` says which and why",
                refused.len()
            ));
        }
        findings.refused = refused;
        Ok(rows)
    }
}

/// A file whose bytes are coming.
#[derive(Debug)]
struct Incoming {
    path: Vec<u8>,
    mode: u32,
    size: u64,
    /// `None` if they are of no use.
    writer: Option<BlobWriter>,
}

/// Reads the listing to its end. The host has seen to it that frames come in order.
fn take(
    mut inbox: mpsc::Receiver<Collected>,
    snapshot: &Snapshot,
    workspace: &Workspace,
    blobs: &BlobStore,
) -> Result<ChangeSet, Failure> {
    let caps = Caps::default();
    let mut builder =
        ChangeSetBuilder::new(snapshot, workspace, caps).map_err(|error| unusable(&error))?;
    let mut incoming: Option<Incoming> = None;
    while let Some(frame) = inbox.blocking_recv() {
        match (frame, &mut incoming) {
            (
                Collected::Found(Found {
                    path,
                    kind: FoundKind::File { mode, size },
                }),
                _,
            ) => {
                let writer = builder
                    .wants(&path, size)
                    .then(|| blobs.writer(caps.file))
                    .transpose();
                incoming = Some(Incoming {
                    path,
                    mode,
                    size,
                    writer: writer.map_err(|error| kept(&error))?,
                });
            }
            (Collected::Found(Found { path, kind }), _) => {
                builder
                    .add(Reported {
                        path,
                        what: what(kind),
                    })
                    .map_err(|error| unusable(&error))?;
            }
            (
                Collected::Data(bytes),
                Some(Incoming {
                    writer: Some(writer),
                    ..
                }),
            ) => {
                writer.write(&bytes).map_err(|error| kept(&error))?;
            }
            (Collected::EndOfFile, _) => {
                let Some(Incoming {
                    path,
                    mode,
                    size,
                    writer,
                }) = incoming.take()
                else {
                    continue;
                };
                let content = writer
                    .map(BlobWriter::finish)
                    .transpose()
                    .map_err(|error| kept(&error))?;
                let what = ReportedKind::File {
                    mode,
                    size,
                    content,
                };
                builder
                    .add(Reported { path, what })
                    .map_err(|error| unusable(&error))?;
            }
            (
                Collected::Data(_)
                | Collected::Done
                | Collected::Failed(_)
                | Collected::Gone(_)
                | Collected::BatchEnd,
                _,
            ) => {}
        }
    }
    builder.finish().map_err(|error| unusable(&error))
}

fn what(kind: FoundKind) -> ReportedKind {
    match kind {
        FoundKind::File { mode, size } => ReportedKind::File {
            mode,
            size,
            content: None,
        },
        FoundKind::Dir { mode, opaque } => ReportedKind::Dir { mode, opaque },
        FoundKind::Symlink { target } => ReportedKind::Symlink { target },
        FoundKind::Whiteout => ReportedKind::Whiteout,
        FoundKind::Special { file_type } => {
            let what = match rustix::fs::FileType::from_raw_mode(file_type) {
                rustix::fs::FileType::Fifo => "a FIFO",
                rustix::fs::FileType::Socket => "a socket",
                _ => "a device",
            };
            ReportedKind::Other {
                what: what.to_owned(),
            }
        }
    }
}

type Rows = (Vec<FileRow>, Vec<legwork_model::Refused>);

/// Makes the reviews. The base of each file goes to the blob store, so that a review outlives its snapshot.
fn rows(changes: ChangeSet, snapshot: &Snapshot, blobs: &BlobStore) -> Result<Rows, Failure> {
    let mut rows = Vec::with_capacity(changes.changes.len());
    for change in changes.changes {
        keep_base(&change, snapshot, blobs)?;
        let row = review::propose(blobs, change).map_err(|error| match error {
            ReviewError::Blob(error) => kept(&error),
            other => internal(other.to_string()),
        })?;
        if row.pending == 0 {
            tracing::debug!(path = %row.path(), "a change that changes nothing");
            continue;
        }
        rows.push(row);
    }
    Ok((rows, changes.refused))
}

fn keep_base(change: &Change, snapshot: &Snapshot, blobs: &BlobStore) -> Result<(), Failure> {
    let Some(Side::File { digest, .. }) = &change.before else {
        return Ok(());
    };
    if blobs.has(digest) {
        return Ok(());
    }
    let path = match &change.kind {
        ChangeKind::Rename { from } => from,
        _ => &change.path,
    };
    let entry = snapshot.manifest.get(path).ok_or_else(|| {
        internal(format!(
            "`{path}` is said to have changed and is not in the snapshot"
        ))
    })?;
    let bytes = snapshot
        .read(entry)
        .map_err(|error| internal(error.to_string()))?;
    blobs.put(&bytes).map(drop).map_err(|error| kept(&error))
}

/// The guest's report is not used.
fn unusable(error: &ChangeError) -> Failure {
    match error {
        ChangeError::Snapshot(error) => internal(error.to_string()),
        ChangeError::Protocol(_) | ChangeError::TooMuch(_) => Failure::new(
            FailureKind::Protocol,
            error.to_string(),
            "nothing of it is used; your files are untouched",
        ),
    }
}

/// Contents could not be kept.
fn kept(error: &BlobError) -> Failure {
    match error {
        BlobError::TooLarge(_) => Failure::new(
            FailureKind::Protocol,
            format!("the guest sent a file that is larger than it said: {error}"),
            "run the task again with `legwork retry`",
        ),
        _ => internal(error.to_string()),
    }
}

fn internal(message: String) -> Failure {
    Failure::new(
        FailureKind::Internal,
        message,
        "run the task again with `legwork retry`",
    )
}
