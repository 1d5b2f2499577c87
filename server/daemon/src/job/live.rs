//! What the command changes while it runs, brought into the review as it comes. What the guest tells here is as hostile as
//! its last listing, and is judged by the same rules; the last listing has the last word. Whatever goes wrong here ends the
//! watch and never the task.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_host::{Collected, Found, FoundKind, HostError, MAX_WATCHED, Running, Sandbox};
use legwork_model::{ChangeSet, Task, TaskId};
use legwork_workspace::{
    Caps, ChangeError, ChangeSetBuilder, Reported, ReportedKind, Snapshot, Workspace,
};
use tokio::{
    runtime::Handle,
    sync::mpsc,
    time::{sleep, timeout},
};

use super::{
    Break, Job, Room,
    collect::{Incoming, keep_base, kept, unmerged, unusable, what, workspace},
};
use crate::review::Told;

/// Most bytes that are taken from one watch, in all versions of all files: they are on the disk until the task is
/// forgotten.
const MOST_BYTES: u64 = 256 << 20;

/// Most paths that the guest is told to leave alone.
const MOST_SKIPS: usize = 10_000;

/// The shortest time between two merges, for a guest that does not pause by itself.
const PAUSE: Duration = Duration::from_millis(20);

/// The pause is this many times as long as a merge took.
const SHARE: u32 = 4;

/// After so long it is tried again to merge what an editor had in hand.
const AGAIN: Duration = Duration::from_millis(50);

/// What a watch leaves.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) told: Told,
    /// Why it ended early, for the user.
    pub(super) notice: Option<String>,
}

impl Job {
    /// Does `work` with a watch beside it.
    pub(super) async fn beside<T>(
        &self,
        task: &Task,
        sandbox: &Sandbox<Running>,
        snapshot: &Arc<Snapshot>,
        work: impl Future<Output = T>,
    ) -> Result<(T, Live), Break> {
        let (frames, inbox) = mpsc::channel(64);
        let (skips, skipped) = mpsc::channel(64);
        let (room, id) = (Arc::clone(&self.room), self.id.clone());
        let (snapshot, root) = (Arc::clone(snapshot), task.spec.workspace.clone());
        let earlier = tokio::task::spawn_blocking({
            let (room, id, snapshot) = (Arc::clone(&room), id.clone(), Arc::clone(&snapshot));
            move || room.reviewer.told(&id, &snapshot)
        });
        let mut told = earlier
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
            .map_err(|error| unmerged(&error))?;
        let follower = tokio::task::spawn_blocking(move || {
            let followed = workspace(&room, &id, &root)
                .map_err(|failure| failure.message)
                .and_then(|workspace| {
                    Follower::new(&room, &id, &snapshot, &workspace, skips)?
                        .follow(inbox, &mut told)
                });
            (told, followed.err())
        });
        let mut work = std::pin::pin!(work);
        let (value, broken) = {
            let watch = sandbox.watch(frames, skipped);
            tokio::select! {
                biased;
                value = &mut work => (value, None),
                ended = watch => (work.await, ended.err()),
            }
        };
        let (told, reason) = follower
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let reason = reason.or_else(|| match broken {
            // That is the end of the task, and will be told as such.
            Some(HostError::Died { .. }) | None => None,
            Some(error) => Some(error.to_string()),
        });
        let notice = reason.map(|reason| {
            tracing::warn!(task = %self.id, reason, "the watch ended early");
            format!("not all changes were shown while the task ran: {reason}")
        });
        Ok((value, Live { told, notice }))
    }
}

/// Reads what the watch tells, on a thread that may block.
struct Follower<'a> {
    room: &'a Room,
    task: &'a TaskId,
    snapshot: &'a Snapshot,
    workspace: &'a Workspace,
    /// Only asked what is of use.
    rules: ChangeSetBuilder<'a>,
    skips: mpsc::Sender<Vec<u8>>,
    skipped: BTreeSet<Vec<u8>>,
    /// The upper layer, as far as it was told.
    upper: BTreeMap<Vec<u8>, ReportedKind>,
    incoming: Option<Incoming>,
    bytes: u64,
}

impl<'a> Follower<'a> {
    fn new(
        room: &'a Room,
        task: &'a TaskId,
        snapshot: &'a Snapshot,
        workspace: &'a Workspace,
        skips: mpsc::Sender<Vec<u8>>,
    ) -> Result<Self, String> {
        let rules = ChangeSetBuilder::new(snapshot, workspace, Caps::default());
        Ok(Self {
            room,
            task,
            snapshot,
            workspace,
            rules: rules.map_err(|error| error.to_string())?,
            skips,
            skipped: BTreeSet::new(),
            upper: BTreeMap::new(),
            incoming: None,
            bytes: 0,
        })
    }

    /// Until the watch ends.
    fn follow(
        mut self,
        mut inbox: mpsc::Receiver<Collected>,
        told: &mut Told,
    ) -> Result<(), String> {
        let runtime = Handle::current();
        let mut waits = false;
        loop {
            let frame = if waits && self.incoming.is_none() {
                match runtime.block_on(async { timeout(AGAIN, inbox.recv()).await }) {
                    Ok(frame) => frame,
                    Err(_) => {
                        waits = !self.merge(told)?;
                        continue;
                    }
                }
            } else {
                inbox.blocking_recv()
            };
            match frame {
                None => return Ok(()),
                Some(Collected::BatchEnd) => {
                    let clock = Instant::now();
                    waits = !self.merge(told)?;
                    let took = clock.elapsed();
                    tracing::debug!(task = %self.task, ?took, "merged a batch");
                    let pause = (took * SHARE).max(PAUSE);
                    runtime.block_on(async { sleep(pause).await });
                }
                Some(frame) => self.take(frame)?,
            }
        }
    }

    fn take(&mut self, frame: Collected) -> Result<(), String> {
        let failed = |error| kept(&error).message;
        match frame {
            Collected::Found(Found {
                path,
                kind: FoundKind::File { mode, size },
            }) => {
                let wanted = self.is_carried(&path, false) && self.rules.wants(&path, size);
                let writer = wanted.then(|| self.room.blobs.writer(MAX_WATCHED));
                self.incoming = Some(Incoming {
                    path,
                    mode,
                    size,
                    writer: writer.transpose().map_err(failed)?,
                });
            }
            Collected::Found(Found { path, kind }) => {
                self.is_carried(&path, matches!(kind, FoundKind::Dir { .. }));
                self.put(path, what(kind))?;
            }
            Collected::Data(bytes) => {
                self.bytes = self.bytes.saturating_add(bytes.len() as u64);
                if self.bytes > MOST_BYTES {
                    return Err(format!("it wrote more than {} MiB", MOST_BYTES >> 20));
                }
                if let Some(Incoming {
                    writer: Some(writer),
                    ..
                }) = &mut self.incoming
                {
                    writer.write(&bytes).map_err(failed)?;
                }
            }
            Collected::EndOfFile => {
                if let Some(incoming) = self.incoming.take() {
                    let Reported { path, what } = incoming.end().map_err(failed)?;
                    self.put(path, what)?;
                }
            }
            Collected::Gone(path) => drop(self.upper.remove(&path)),
            Collected::Attributes
            | Collected::BatchEnd
            | Collected::Done
            | Collected::Failed(_) => {}
        }
        Ok(())
    }

    /// Whether what stands here may be part of the result; if not, the guest need not look at it again.
    fn is_carried(&mut self, path: &[u8], is_dir: bool) -> bool {
        let Some(top) = self.rules.stops(path, is_dir) else {
            return true;
        };
        let top = top.as_bytes().to_vec();
        if self.skipped.len() < MOST_SKIPS
            && !self.skipped.contains(&top)
            && self.skips.try_send(top.clone()).is_ok()
        {
            self.skipped.insert(top);
        }
        false
    }

    /// Below what is not carried nothing is remembered.
    fn put(&mut self, path: Vec<u8>, what: ReportedKind) -> Result<(), String> {
        let is_dir = matches!(what, ReportedKind::Dir { .. });
        let top = self.rules.stops(&path, is_dir);
        if top.is_some_and(|top| top.as_bytes() != path) {
            return Ok(());
        }
        self.upper.insert(path, what);
        let most = Caps::default().entries;
        if self.upper.len() > most {
            return Err(format!("more than {most} files and folders changed"));
        }
        Ok(())
    }

    /// Brings the review up to date; gives whether that was done. A batch that makes no sense is passed over, since the
    /// guest may have looked while things were on the move.
    fn merge(&self, told: &mut Told) -> Result<bool, String> {
        let ChangeSet { changes, .. } = match self.changes() {
            Ok(changes) => changes,
            Err(ChangeError::Protocol(reason)) => {
                tracing::debug!(task = %self.task, reason, "a batch makes no sense");
                return Ok(true);
            }
            Err(error) => return Err(unusable(&error).message),
        };
        for change in &changes {
            keep_base(change, self.snapshot, &self.room.blobs)
                .map_err(|failure| failure.message)?;
        }
        let merged = self.room.reviewer.revise(self.task, told, changes, true);
        merged.map_err(|error| unmerged(&error).message)
    }

    fn changes(&self) -> Result<ChangeSet, ChangeError> {
        let mut builder = ChangeSetBuilder::new(self.snapshot, self.workspace, Caps::default())?;
        for (path, what) in &self.upper {
            builder.add(Reported {
                path: path.clone(),
                what: what.clone(),
            })?;
        }
        builder.finish(&self.room.blobs)
    }
}
