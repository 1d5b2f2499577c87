//! One attempt at a task: capture, boot, run, collect. It owns its sandbox and its directory, and whatever happens it
//! ends in a value that can be stored.
//!
//! | phase | file | takes → gives |
//! | --- | --- | --- |
//! | prepare | `prepare.rs` | the spec → a snapshot and a running sandbox |
//! | | `network.rs` | what is allowed → the way out of the sandbox, and what is told of it |
//! | | `asked.rs` | what the user said → variables of the command |
//! | | `calls.rs` | who answers the machine → one that may call them |
//! | | `lay.rs` | what an earlier machine left → a fresh one |
//! | | `earlier.rs` | what it left when it ran before → the same in a new sandbox |
//! | run | `run.rs` | the command → how it ended; its output is stored on the way |
//! | | `agent.rs` | or the built-in agent → how it ended; its steps are stored on the way |
//! | | `index.rs`, `guides.rs` | the snapshot → what the agent is told of it at the start |
//! | | `external.rs` | or an agent of somebody else → how it ended; what it asks its model is stored on the way |
//! | | `live.rs` | beside it: what the guest changes → files to review, as far as they go |
//! | collect | `collect.rs` | what the guest changed → files to review |
//! | check | `check.rs` | what is under review → what the checks say before and after |

mod agent;
mod asked;
mod calls;
mod check;
mod collect;
mod earlier;
mod ending;
mod external;
mod guides;
mod index;
mod lay;
mod live;
mod network;
mod prepare;
mod run;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_agent::Gate;
use legwork_host::{Running, Sandbox};
use legwork_model::{
    EventBody, Failure, FailureKind, Manifest, Outcome, Phase, Refused, Report, Task, TaskId,
    Transition, Worker,
};
use legwork_wire::Places;
use legwork_workspace::{BlobStore, Snapshot};
use tokio::sync::watch;

pub(crate) use check::{CUT_OFF, check};

use self::external::External;
use crate::{
    clock,
    model::Configured,
    review::Reviewer,
    store::{Finish, Store, StoreError},
};

/// How long the collecting of a cancelled task may take: whoever cancels wants it to end.
const FAREWELL: Duration = Duration::from_secs(10);

/// What jobs work with.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) store: Store,
    pub(crate) state: PathBuf,
    pub(crate) blobs: BlobStore,
    /// Merges what running tasks change into what is under review.
    pub(crate) reviewer: Arc<Reviewer>,
    /// Where images are kept.
    pub(crate) cache: PathBuf,
    /// Where the user's settings are.
    pub(crate) places: Places,
    /// Pauses that model APIs ask for; all tasks keep them.
    pub(crate) gate: Arc<Gate>,
}

/// Why a job is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The user wants it.
    Cancelled,
    /// The daemon is ending.
    Interrupted,
}

/// Why a phase did not get to its end.
#[derive(Debug)]
enum Break {
    Failed(Failure),
    Stopped(StopReason),
}

impl From<Failure> for Break {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StoreError> for Break {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

/// What is known of the attempt so far; it is kept even if a phase breaks off.
#[derive(Debug, Default)]
struct Findings {
    report: Report,
    notices: Vec<String>,
    refused: Vec<Refused>,
}

/// Runs a queued task once. `None`: its agent waits for an answer, and what it changed is kept.
pub(crate) async fn attempt(
    room: Arc<Room>,
    task: TaskId,
    stop: watch::Receiver<Option<StopReason>>,
) -> Option<Finish> {
    let mut findings = Findings::default();
    let job = Job {
        room,
        id: task,
        stop,
    };
    let outcome = match job.phases(&mut findings).await {
        Ok(Some(outcome)) => outcome,
        Ok(None) => {
            job.park(findings.report).await;
            return None;
        }
        Err(Break::Stopped(StopReason::Interrupted)) if job.is_asking().await => return None,
        Err(Break::Failed(failure)) => Outcome::Failed(failure),
        Err(Break::Stopped(StopReason::Cancelled)) => Outcome::Cancelled,
        Err(Break::Stopped(StopReason::Interrupted)) => Outcome::Failed(interrupted()),
    };
    let Findings {
        report,
        notices,
        refused,
    } = findings;
    Some(Finish {
        outcome,
        report,
        refused,
        notices,
    })
}

/// How a task is told that the daemon went away under it.
pub(crate) fn interrupted() -> Failure {
    Failure::new(
        FailureKind::Interrupted,
        "the daemon ended while the task ran",
        "run it again with `legwork retry`; what it had shown by then can still be decided",
    )
}

/// One attempt.
#[derive(Debug)]
struct Job {
    room: Arc<Room>,
    id: TaskId,
    stop: watch::Receiver<Option<StopReason>>,
}

impl Job {
    async fn phases(&self, findings: &mut Findings) -> Result<Option<Outcome>, Break> {
        let task = self.task().await?;
        let was_here = self.was_here();
        findings.report.timings.queued = u64::try_from(clock::now() - task.created).unwrap_or(0);
        self.to(Transition::Start).await?;
        let ready = match task.spec.worker {
            Worker::Builtin => Some(self.ready().await?),
            Worker::Command { .. } | Worker::External { .. } => None,
        };
        let external = match &task.spec.worker {
            Worker::External { agent } => Some(self.invite(&task, agent).await?),
            Worker::Command { .. } | Worker::Builtin => None,
        };
        let prepared = self.prepare(&task, external.as_ref(), findings).await?;
        let sandbox = prepared.sandbox;
        if was_here {
            self.lay_earlier(&sandbox).await?;
        }
        self.to(Transition::Boot).await?;
        let ended = self
            .in_sandbox(
                &task,
                ready.as_ref(),
                external.as_ref(),
                &sandbox,
                &prepared.snapshot,
                findings,
            )
            .await;
        // Also when it broke off: nothing of it may be left when the result is told.
        sandbox.stop().await;
        if let Some(network) = prepared.network {
            findings.report.network = network.close().await;
            let notices = network::notices(&findings.report.network, &self.id);
            findings.notices.extend(notices);
        }
        ended
    }

    async fn in_sandbox(
        &self,
        task: &Task,
        ready: Option<&Configured>,
        external: Option<&External>,
        sandbox: &Sandbox<Running>,
        snapshot: &Arc<Snapshot>,
        findings: &mut Findings,
    ) -> Result<Option<Outcome>, Break> {
        let run = async {
            if let Some(external) = external {
                let hosted = self.host(task, external, sandbox, snapshot, findings);
                return hosted.await.map(Some);
            }
            match (&task.spec.worker, ready) {
                (Worker::Command { argv }, _) => {
                    self.run(task, argv, sandbox, findings).await.map(Some)
                }
                (Worker::Builtin, Some(ready)) => {
                    self.work(task, ready, sandbox, snapshot, findings).await
                }
                (Worker::Builtin, None) | (Worker::External { .. }, _) => {
                    Err(Break::Stopped(StopReason::Interrupted))
                }
            }
        };
        let (ran, live) = self.beside(task, sandbox, snapshot, run).await?;
        findings.notices.extend(live.notice);
        let outcome = match ran {
            // The command is gone with its substream; what it changed by then is still the user's to look at.
            Err(Break::Stopped(StopReason::Cancelled)) => Some(Outcome::Cancelled),
            ended => ended?,
        };
        let clock = Instant::now();
        if outcome.is_some() {
            self.to(Transition::End).await?;
        }
        let collected = self.collect(task, sandbox, snapshot, live.told, findings);
        if outcome == Some(Outcome::Cancelled) {
            let late = |_| Break::Stopped(StopReason::Cancelled);
            tokio::time::timeout(FAREWELL, collected)
                .await
                .map_err(late)??;
        } else {
            self.unless_stopped(collected).await??;
        }
        findings.report.timings.collect = millis(clock);
        Ok(outcome)
    }

    async fn task(&self) -> Result<Task, StoreError> {
        let id = self.id.clone();
        self.room.store.call(move |db| db.task(&id)).await
    }

    async fn to(&self, transition: Transition) -> Result<(), StoreError> {
        let id = self.id.clone();
        self.room
            .store
            .call(move |db| db.transition(&id, transition, clock::now()))
            .await
            .map(drop)
    }

    /// Tells what goes on. That it cannot be stored is no reason to stop.
    async fn tell(&self, phase: Phase, detail: impl Into<String>) {
        self.append(vec![EventBody::Phase {
            phase,
            detail: detail.into(),
        }])
        .await;
    }

    async fn append(&self, bodies: Vec<EventBody>) {
        let id = self.id.clone();
        if let Err(error) = self
            .room
            .store
            .call(move |db| db.append(&id, clock::now(), &bodies))
            .await
        {
            tracing::warn!(task = %self.id, %error, "events were not stored");
        }
    }

    /// Does `work` unless it is to stop; then `work` is dropped where it is.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Break> {
        let mut stop = self.stop.clone();
        tokio::select! {
            biased;
            reason = stop.wait_for(Option::is_some) => {
                // The supervisor holds the other end for as long as the job lives.
                Err(Break::Stopped(reason.ok().and_then(|reason| *reason).unwrap_or(StopReason::Interrupted)))
            }
            value = work => Ok(value),
        }
    }

    /// Where the files of this task are.
    fn dir(&self) -> PathBuf {
        dir_of(&self.room.state, &self.id)
    }
}

impl Room {
    /// Removes what a job leaves when its sandbox is gone, even if it could not do so itself.
    pub(crate) async fn tidy(&self, task: &TaskId) {
        let vm = dir_of(&self.state, task).join("vm");
        let removed = tokio::task::spawn_blocking(move || remove_dir(&vm)).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(%task, %error, "the directory of a sandbox could not be removed");
        }
    }
}

/// Where the files of a task are.
pub(crate) fn dir_of(state: &Path, task: &TaskId) -> PathBuf {
    state.join("tasks").join(task.as_str())
}

/// Where the description of a task's snapshot is.
pub(crate) fn manifest_of(state: &Path, task: &TaskId) -> PathBuf {
    dir_of(state, task).join("manifest.json")
}

/// What a task's guest saw; `None` if there was no snapshot.
pub(crate) fn read_manifest(
    path: &Path,
) -> Result<Option<Manifest>, legwork_workspace::SnapshotError> {
    if !path.exists() {
        return Ok(None);
    }
    Snapshot::load(path).map(|snapshot| Some(snapshot.manifest))
}

/// Removes a directory that may be gone already.
pub(crate) fn remove_dir(dir: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn millis(since: Instant) -> u64 {
    whole_millis(since.elapsed())
}

fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
