//! Evidence: the check commands on the base and on the result, each side in a fresh machine, and the card that tells of it.
//! What a task's outcome is does not depend on it.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use legwork_evidence::{Card, Check, End, Part, Progress, Reader, Run};
use legwork_host::{ExitStatus, Program, Running, Sandbox, Source};
use legwork_model::{
    Digest, EntryKind, Failure, FailureKind, Manifest, Stream, Task, TaskId, TaskSpec,
};
use legwork_workspace::{Edit, Snapshot};
use tokio::sync::{mpsc, watch};

use super::{Break, Job, Room, StopReason, ending, lay::lay, manifest_of, millis};
use crate::{clock, evidence, output::Printer, store::StoreError};

/// What a cached run depends on beside its inputs: how runs are made and understood. To be raised with either.
const UNDERSTANDING: u32 = 1;

/// Checks a task that is over. The card says how far it came, whatever happens.
pub(crate) async fn check(
    room: Arc<Room>,
    task: TaskId,
    part: Part,
    stop: watch::Receiver<Option<StopReason>>,
) -> Result<(), StoreError> {
    let job = Job {
        room,
        id: task,
        stop,
    };
    let (task, rows) = job.changed().await?;
    let mut card = evidence::begun(&task.spec, part, &rows, clock::now());
    job.put_card(&card).await?;
    card.progress = match job.checked(&task, &mut card).await {
        Ok(()) => Progress::Done,
        Err(Break::Failed(failure)) => Progress::Stopped {
            why: failure.message,
        },
        Err(Break::Stopped(StopReason::Cancelled)) => stopped("the checks were cancelled"),
        Err(Break::Stopped(StopReason::Interrupted)) => stopped(CUT_OFF),
    };
    job.put_card(&card).await
}

/// How a card says that its daemon went away.
pub(crate) const CUT_OFF: &str = "the daemon ended while it checked";

fn stopped(why: &str) -> Progress {
    Progress::Stopped {
        why: why.to_owned(),
    }
}

impl Job {
    async fn changed(&self) -> Result<(Task, Vec<crate::store::FileRow>), StoreError> {
        let id = self.id.clone();
        let both = self
            .room
            .store
            .call(move |db| Ok((db.task(&id)?, db.files(&id)?)));
        both.await
    }

    async fn put_card(&self, card: &Card) -> Result<(), StoreError> {
        let (id, card) = (self.id.clone(), card.clone());
        self.room
            .store
            .call(move |db| db.set_card(&id, &card, clock::now()))
            .await
    }

    async fn checked(&self, task: &Task, card: &mut Card) -> Result<(), Break> {
        let (room, id, part) = (Arc::clone(&self.room), self.id.clone(), card.part);
        let prepared = tokio::task::spawn_blocking(move || {
            let manifest = manifest_of(&room.state, &id);
            let snapshot = Snapshot::load(&manifest).map_err(|error| {
                Failure::new(
                    FailureKind::Capture,
                    format!("its snapshot is gone: {error}"),
                    "",
                )
            })?;
            let rows = room.store.with(|db| db.files(&id))?;
            let edited = evidence::edited(&room.blobs, &rows);
            let edits = match part {
                Part::Whole => rows
                    .iter()
                    .flat_map(|row| Edit::accept(&row.change))
                    .collect(),
                Part::Accepted => {
                    let accepted = room.reviewer.accepted(rows);
                    accepted.map_err(|error| super::collect::unmerged(&error))?
                }
            };
            Ok::<_, Failure>((snapshot, edited, edits))
        });
        let prepared = prepared.await;
        let (snapshot, edited, edits) =
            prepared.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        card.edited = edited;
        let sandbox = self.machine(task, &snapshot).await?;
        let image = sandbox.root().display().to_string();
        let laid = self
            .unless_stopped(lay(&sandbox, self.room.blobs.clone(), edits))
            .await;
        let done = match laid {
            Ok(Ok(())) => self.side(task, &sandbox, card, Side::After).await,
            Ok(Err(failure)) => Err(failure.into()),
            Err(stopped) => Err(stopped),
        };
        sandbox.stop().await;
        self.room.tidy(&self.id).await;
        done?;
        self.base(task, &snapshot, &image, card).await
    }

    /// On the base: what is known of this very base is not run again.
    async fn base(
        &self,
        task: &Task,
        snapshot: &Snapshot,
        image: &str,
        card: &mut Card,
    ) -> Result<(), Break> {
        let base = base_key(&task.spec, &snapshot.manifest, image);
        let keys: Vec<Digest> = card
            .checks
            .iter()
            .map(|check| key(&base, &check.command))
            .collect();
        for (check, key) in card.checks.iter_mut().zip(&keys) {
            let key = *key;
            let known = self
                .room
                .store
                .call(move |db| db.base_run(key, clock::now()))
                .await?;
            check.before = known.map(|run| Run {
                cached: true,
                ..run
            });
        }
        if card.checks.iter().any(|check| check.before.is_none()) {
            let sandbox = self.machine(task, snapshot).await?;
            let done = self.side(task, &sandbox, card, Side::Before).await;
            sandbox.stop().await;
            self.room.tidy(&self.id).await;
            for (check, key) in card.checks.iter().zip(keys) {
                if let Some(run) = check.before.clone().filter(is_known) {
                    let store = self
                        .room
                        .store
                        .call(move |db| db.set_base_run(key, &run, clock::now()));
                    store.await?;
                }
            }
            done?;
        }
        card.checks.iter_mut().for_each(Check::compare);
        Ok(())
    }

    /// Runs what has not been run on this side.
    async fn side(
        &self,
        task: &Task,
        sandbox: &Sandbox<Running>,
        card: &mut Card,
        side: Side,
    ) -> Result<(), Break> {
        for number in 0..card.checks.len() {
            let check = &card.checks[number];
            let run = match side {
                Side::Before => &check.before,
                Side::After => &check.after,
            };
            if run.is_some() {
                continue;
            }
            let command = check.command.clone();
            let run = self
                .unless_stopped(one(sandbox, &task.spec, &command, None))
                .await?;
            let check = &mut card.checks[number];
            match side {
                Side::Before => check.before = Some(run),
                Side::After => check.after = Some(run),
            }
            self.put_card(card).await?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Before,
    After,
}

/// Whether it says how the command ends, and not what became of a machine.
fn is_known(run: &Run) -> bool {
    !run.cached && !matches!(run.end, End::NotRun { .. })
}

/// Runs one check. That the machine ended is the end of the check alone.
pub(super) async fn one(
    sandbox: &Sandbox<Running>,
    spec: &TaskSpec,
    command: &str,
    timeout: Option<Duration>,
) -> Run {
    let program = Program {
        environment: naming(spec),
        timeout,
        ..Program::new(["sh", "-c", command])
    };
    let (sender, mut receiver) = mpsc::channel::<legwork_host::Output>(64);
    let started = Instant::now();
    let heard = async {
        let mut reader = Reader::default();
        while let Some(piece) = receiver.recv().await {
            reader.push(piece.source == Source::Stderr, &piece.bytes);
        }
        reader.finish()
    };
    let (exit, (tests, tail)) = futures::join!(sandbox.exec(program, sender), heard);
    let end = match exit {
        Ok(exit) if exit.disk_full => End::NotRun {
            why: format!("the scratch disk of {} was full", spec.limits.disk),
        },
        Ok(exit) => match exit.status {
            ExitStatus::Exited(code) => End::Exited { code },
            ExitStatus::Signaled(signal) => End::Signaled { signal },
            ExitStatus::NotStarted(why) => End::NotRun { why },
            ExitStatus::TimedOut => End::TimedOut,
            ExitStatus::OutOfMemory => End::OutOfMemory,
        },
        Err(error) => End::NotRun {
            why: ending::failure(&error).message,
        },
    };
    Run {
        end,
        millis: millis(started),
        cached: false,
        tests,
        tail: printable(&tail),
    }
}

fn printable(text: &str) -> String {
    let mut printer = Printer::new(u64::MAX);
    let mut clean = printer.print(Stream::Stdout, text.as_bytes());
    clean.extend(printer.end().into_iter().map(|(_, rest)| rest));
    clean
}

/// Makes runners name also the tests that pass, beside what the user has set.
fn naming(spec: &TaskSpec) -> Vec<(String, String)> {
    let more = [("PYTEST_ADDOPTS", "-rfEp"), ("GOFLAGS", "-v")];
    let beside = |(name, more): (&str, &str)| {
        let mut set = spec.environment.iter().rev();
        let set = set
            .find(|(given, _)| given == name)
            .map_or("", |(_, value)| value);
        (name.to_owned(), format!("{set} {more}").trim().to_owned())
    };
    more.map(beside).to_vec()
}

/// All that the end of a check on a base depends on, but for the command. Times of files are left out: they are others after
/// each checkout.
fn base_key(spec: &TaskSpec, manifest: &Manifest, image: &str) -> Vec<u8> {
    let mut text = format!(
        "{UNDERSTANDING} {} {image}\n{:?}\n{:?} {:?}\n",
        env!("CARGO_PKG_VERSION"),
        spec.workspace,
        spec.limits,
        (&spec.environment, &spec.include),
    );
    for entry in &manifest.entries {
        let what = match &entry.kind {
            EntryKind::File { digest, .. } => digest.to_string(),
            EntryKind::Dir => "dir".to_owned(),
            EntryKind::Symlink { target } => format!("-> {target:?}"),
        };
        // Writing to a string does not fail.
        let _ok = writeln!(text, "{} {:o} {what}", entry.path, entry.mode);
    }
    Digest::of(text.as_bytes()).as_bytes().to_vec()
}

fn key(base: &[u8], command: &str) -> Digest {
    Digest::of(&[base, command.as_bytes()].concat())
}
