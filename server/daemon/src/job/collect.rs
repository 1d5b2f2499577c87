//! From what the guest lists to files under review. The listing is hostile: it is bounded here and judged by
//! `legwork_workspace`.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_host::{Collected, Found, FoundKind, MAX_COLLECTED, Running, Sandbox};
use legwork_model::{
    Change, ChangeKind, ChangeSet, Failure, FailureKind, Phase, Side, Task, TaskId,
};
use legwork_wire::CLAIM_SECONDS;
use legwork_workspace::{
    BlobError, BlobStore, BlobWriter, Caps, ChangeError, ChangeSetBuilder, Reported, ReportedKind,
    Snapshot, Workspace,
};
use tokio::sync::mpsc;

use super::{Break, Findings, Job, Room, ending};
use crate::{
    clock,
    review::{ReviewError, Told},
};

/// How long an editor may have a file in hand before its changes are merged all the same.
const IN_HAND: Duration = Duration::from_secs(CLAIM_SECONDS + 2);

impl Job {
    pub(super) async fn collect(
        &self,
        task: &Task,
        sandbox: &Sandbox<Running>,
        snapshot: &Arc<Snapshot>,
        told: Told,
        findings: &mut Findings,
    ) -> Result<(), Break> {
        self.tell(Phase::Collect, "collecting the changes").await;
        let (frames, inbox) = mpsc::channel(16);
        let (room, id, root) = (
            Arc::clone(&self.room),
            self.id.clone(),
            task.spec.workspace.clone(),
        );
        let snapshot = Arc::clone(snapshot);
        let taken = tokio::task::spawn_blocking({
            let (room, id, snapshot) = (Arc::clone(&room), id.clone(), Arc::clone(&snapshot));
            move || {
                let workspace = workspace(&room, &id, &root)?;
                take(inbox, &snapshot, &workspace, &room.blobs)
            }
        });
        let (listed, taken) = futures::join!(sandbox.collect(frames), taken);
        let taken = taken.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        // Its reader had a reason to stop reading, and that is the one to tell.
        let failed = taken
            .as_ref()
            .err()
            .cloned()
            .or_else(|| listed.err().map(|error| ending::failure(&error)));
        if let Some(failure) = failed {
            if failure.kind == FailureKind::Protocol {
                // What it showed while it ran came from the same guest.
                room.store
                    .call(move |db| db.withdraw(&id, clock::now()))
                    .await?;
            }
            return Err(failure.into());
        }
        let ChangeSet { changes, refused } = taken?;
        let merged = tokio::task::spawn_blocking(move || {
            for change in &changes {
                keep_base(change, &snapshot, &room.blobs)?;
            }
            merge(&room, &id, told, &changes)
        });
        merged
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        if !refused.is_empty() {
            findings.notices.push(format!(
                "{} of the changes cannot be taken over: `legwork show` says which and why",
                refused.len()
            ));
        }
        findings.refused = refused;
        Ok(())
    }
}

/// The very folder that the task was started on.
pub(super) fn workspace(room: &Room, id: &TaskId, root: &Path) -> Result<Workspace, Failure> {
    match room.store.with(|db| db.identity(id))? {
        Some(identity) => Workspace::reopen(root, identity),
        None => Workspace::open(root),
    }
    .map_err(|error| Failure::new(FailureKind::Capture, error.to_string(), ""))
}

/// Brings the result and what was decided by now together. An editor that has a file in hand is let finish.
fn merge(room: &Room, id: &TaskId, mut told: Told, changes: &[Change]) -> Result<(), Failure> {
    let begun = Instant::now();
    loop {
        let patient = begun.elapsed() < IN_HAND;
        let merged = room
            .reviewer
            .revise(id, &mut told, changes.to_vec(), patient);
        if merged.map_err(|error| unmerged(&error))? {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A file whose bytes are coming.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) path: Vec<u8>,
    pub(super) mode: u32,
    pub(super) size: u64,
    /// `None` if they are of no use.
    pub(super) writer: Option<BlobWriter>,
}

impl Incoming {
    /// All of them are there.
    pub(super) fn end(self) -> Result<Reported, BlobError> {
        let content = self.writer.map(BlobWriter::finish).transpose()?;
        let what = ReportedKind::File {
            mode: self.mode,
            size: self.size,
            content,
        };
        Ok(Reported {
            path: self.path,
            what,
        })
    }
}

/// Reads the listing to its end. The host has seen to it that frames come in order.
fn take(
    mut inbox: mpsc::Receiver<Collected>,
    snapshot: &Snapshot,
    workspace: &Workspace,
    blobs: &BlobStore,
) -> Result<ChangeSet, Failure> {
    let mut caps = Caps::default();
    // The data of longer files do not come.
    caps.file = caps.file.min(MAX_COLLECTED);
    let mut builder =
        ChangeSetBuilder::new(snapshot, workspace, caps).map_err(|error| unusable(&error))?;
    let mut incoming: Option<Incoming> = None;
    while let Some(frame) = inbox.blocking_recv() {
        match (frame, &mut incoming) {
            (Collected::Attributes, _) => builder.attributes_next(),
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
                let Some(incoming) = incoming.take() else {
                    continue;
                };
                builder
                    .add(incoming.end().map_err(|error| kept(&error))?)
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
    builder.finish(blobs).map_err(|error| unusable(&error))
}

pub(super) fn what(kind: FoundKind) -> ReportedKind {
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

/// Puts the base of a change into the blob store, so that its review outlives the snapshot.
pub(super) fn keep_base(
    change: &Change,
    snapshot: &Snapshot,
    blobs: &BlobStore,
) -> Result<(), Failure> {
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
pub(super) fn unusable(error: &ChangeError) -> Failure {
    match error {
        ChangeError::Snapshot(error) => internal(error.to_string()),
        ChangeError::Protocol(_) | ChangeError::TooMuch(_) => Failure::new(
            FailureKind::Protocol,
            error.to_string(),
            "nothing of it is used",
        ),
    }
}

/// Contents could not be kept.
pub(super) fn kept(error: &BlobError) -> Failure {
    match error {
        BlobError::TooLarge(_) => Failure::new(
            FailureKind::Protocol,
            format!("the guest sent a file that is larger than it said: {error}"),
            "run the task again with `legwork retry`",
        ),
        _ => internal(error.to_string()),
    }
}

/// A review could not be brought up to date.
pub(super) fn unmerged(error: &ReviewError) -> Failure {
    match error {
        ReviewError::Blob(error) => kept(error),
        other => internal(other.to_string()),
    }
}

fn internal(message: String) -> Failure {
    Failure::new(
        FailureKind::Internal,
        message,
        "run the task again with `legwork retry`",
    )
}
