//! The one owner of the queue and of the running jobs. Others send it a [`Message`]; it decides, and nothing else does,
//! what starts, what is stopped, and when the daemon ends.

use std::{collections::HashMap, sync::Arc, time::Duration};

use legwork_evidence::Part;
use legwork_model::{Failure, FailureKind, Outcome, Report, Task, TaskId, TaskState};
use legwork_spec::ByteSize;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
    time::Instant,
};

use crate::{
    clock, evidence,
    job::{self, Room, StopReason},
    queue::Queue,
    store::{Finish, StoreError},
};

/// What a virtual machine takes besides its guest's memory.
const OVERHEAD: ByteSize = ByteSize::mib(128);

/// What can be asked of the supervisor.
#[derive(Debug)]
pub(crate) enum Message {
    /// A task was stored as queued; `memory` is what its guest has.
    Queued { task: TaskId, memory: ByteSize },
    /// Something was said to the agent of a task, and is stored.
    Said { task: TaskId },
    /// Check a task that is over once more; its card says that it is to be.
    Check {
        task: TaskId,
        part: Part,
        memory: ByteSize,
    },
    /// Stop a task; answered when it is over.
    Cancel {
        task: TaskId,
        reply: oneshot::Sender<Cancelled>,
    },
    /// How many run and how many wait.
    Count {
        reply: oneshot::Sender<(usize, usize)>,
    },
    /// End the daemon.
    Stop {
        force: bool,
        reply: oneshot::Sender<Stopping>,
    },
}

/// What became of a wish to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// It is over, by this or otherwise.
    Over,
    /// It was over before.
    TooLate,
}

/// What became of a wish to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// The daemon is ending.
    Yes,
    /// So many tasks are running.
    Busy(usize),
}

/// A job of the supervisor.
#[derive(Debug)]
struct Running {
    stop: watch::Sender<Option<StopReason>>,
    /// Who wants to know when it is over.
    waiters: Vec<oneshot::Sender<Cancelled>>,
}

/// The queue and the jobs.
#[derive(Debug)]
pub(crate) struct Supervisor {
    room: Arc<Room>,
    queue: Queue,
    jobs: JoinSet<TaskId>,
    running: HashMap<TaskId, Running>,
    /// Those in the queue that are over and are only checked.
    checks: HashMap<TaskId, (Part, ByteSize)>,
    /// Set once the daemon is to end: nothing starts any more.
    ending: bool,
}

impl Supervisor {
    /// Nothing runs yet. `waiting` are the stored tasks that are queued, oldest first.
    pub(crate) fn new(room: Arc<Room>, slots: u32, memory: ByteSize, waiting: Vec<Task>) -> Self {
        let mut queue = Queue::new(slots, memory.as_bytes());
        for task in waiting {
            queue.push(task.id, weight(task.spec.limits.memory));
        }
        Self {
            room,
            queue,
            jobs: JoinSet::new(),
            running: HashMap::new(),
            checks: HashMap::new(),
            ending: false,
        }
    }

    /// Runs until it is told to stop, until all senders of messages are gone, or until there was nothing to do and no
    /// client for `idle_exit`. No job runs afterwards.
    pub(crate) async fn run(
        mut self,
        mut messages: mpsc::Receiver<Message>,
        mut clients: watch::Receiver<usize>,
        idle_exit: Duration,
    ) {
        loop {
            self.start_what_fits();
            if self.ending && self.jobs.is_empty() {
                return;
            }
            let busy =
                self.queue.waiting() + self.queue.running() + *clients.borrow_and_update() > 0;
            let idle_until = (!busy).then(|| Instant::now() + idle_exit);
            tokio::select! {
                message = messages.recv() => match message {
                    Some(message) => self.handle(message).await,
                    None => self.end(),
                },
                Some(ended) = self.jobs.join_next() => self.ended(ended).await,
                changed = clients.changed() => if changed.is_err() {
                    self.end();
                },
                () = tokio::time::sleep_until(idle_until.unwrap_or_else(Instant::now)), if idle_until.is_some() => {
                    tracing::info!("nothing to do and no client: ending");
                    self.end();
                }
            }
        }
    }

    async fn handle(&mut self, message: Message) {
        match message {
            Message::Queued { task, memory } => self.queue.push(task, weight(memory)),
            // One that runs hears it, or is looked at when it ends.
            Message::Said { task } if !self.running.contains_key(&task) => self.wake(&task).await,
            Message::Said { .. } => {}
            Message::Check { task, part, memory } => {
                self.checks.insert(task.clone(), (part, memory));
                // If it just ends, it is put there by its end.
                self.queue.push(task, weight(memory));
            }
            Message::Cancel { task, reply } => self.cancel(task, reply).await,
            Message::Count { reply } => answer(reply, (self.queue.running(), self.queue.waiting())),
            Message::Stop { force, reply } => {
                if force || self.running.is_empty() {
                    self.end();
                    answer(reply, Stopping::Yes);
                } else {
                    answer(reply, Stopping::Busy(self.running.len()));
                }
            }
        }
    }

    fn start_what_fits(&mut self) {
        while !self.ending
            && let Some(task) = self.queue.start()
        {
            let (stop, stopped) = watch::channel(None);
            self.running.insert(
                task.clone(),
                Running {
                    stop,
                    waiters: Vec::new(),
                },
            );
            let room = Arc::clone(&self.room);
            match self.checks.remove(&task) {
                Some((part, _)) => self.jobs.spawn(checked(room, task, part, stopped)),
                None => self.jobs.spawn(contained(room, task, stopped)),
            };
        }
    }

    async fn cancel(&mut self, task: TaskId, reply: oneshot::Sender<Cancelled>) {
        if let Some(running) = self.running.get_mut(&task) {
            running.stop.send_replace(Some(StopReason::Cancelled));
            running.waiters.push(reply);
        } else if self.checks.remove(&task).is_some() {
            self.queue.remove(&task);
            give_up(&self.room, &task, "the checks were cancelled").await;
            answer(reply, Cancelled::Over);
        } else if self.queue.remove(&task) || self.is_parked(&task).await {
            let finish = Finish::with(Outcome::Cancelled, Report::default());
            keep(&self.room, &task, finish).await;
            answer(reply, Cancelled::Over);
        } else {
            answer(reply, Cancelled::TooLate);
        }
    }

    /// Whether its agent waits for an answer and has no machine.
    async fn is_parked(&self, task: &TaskId) -> bool {
        let id = task.clone();
        let found = self.room.store.call(move |db| db.task(&id)).await;
        found.is_ok_and(|task| task.state == TaskState::NeedsInput)
    }

    /// Puts a task that does not run into the queue if its agent has something to hear.
    async fn wake(&mut self, task: &TaskId) {
        let id = task.clone();
        let woken = self.room.store.call(move |db| {
            let waits = db.wake(&id, clock::now())?;
            waits.then(|| db.task(&id)).transpose()
        });
        match woken.await {
            Ok(Some(task)) => self.queue.push(task.id, weight(task.spec.limits.memory)),
            Ok(None) => {}
            Err(error) => tracing::error!(%task, %error, "a task cannot be woken"),
        }
    }

    async fn ended(&mut self, ended: Result<TaskId, tokio::task::JoinError>) {
        match ended {
            Ok(task) => {
                self.queue.finish(&task);
                for waiter in self
                    .running
                    .remove(&task)
                    .into_iter()
                    .flat_map(|running| running.waiters)
                {
                    answer(waiter, Cancelled::Over);
                }
                self.wake(&task).await;
                if let Some((_, memory)) = self.checks.get(&task) {
                    self.queue.push(task, weight(*memory));
                }
            }
            // `contained` holds no code that panics, and nobody aborts it.
            Err(error) => tracing::error!(%error, "a job was lost"),
        }
    }

    /// Stops all jobs and starts none; what waits stays stored as queued.
    fn end(&mut self) {
        self.ending = true;
        #[expect(clippy::iter_over_hash_type, reason = "they are all told the same")]
        for running in self.running.values() {
            running.stop.send_if_modified(|reason| {
                let first = reason.is_none();
                reason.get_or_insert(StopReason::Interrupted);
                first
            });
        }
    }
}

/// One attempt and the storing of its result, whatever happens in it.
async fn contained(
    room: Arc<Room>,
    task: TaskId,
    stop: watch::Receiver<Option<StopReason>>,
) -> TaskId {
    let attempt = job::attempt(Arc::clone(&room), task.clone(), stop.clone());
    let attempt = tokio::spawn(attempt).await;
    let left = attempt.unwrap_or_else(|error| {
        tracing::error!(%task, %error, "the job ended in a panic");
        let failure = Failure::new(
            FailureKind::Internal,
            "Legwork made a mistake while it ran this task",
            "try it again with `legwork retry`, and report it with the daemon's log",
        );
        Some(Finish::with(Outcome::Failed(failure), Report::default()))
    });
    room.tidy(&task).await;
    let Some(finish) = left else {
        return task;
    };
    let cancelled = finish.outcome == Outcome::Cancelled;
    // Its card is there before its end is told, so that whoever hears of the end knows that there is more to come.
    let is_checked = !cancelled && announce(&room, &task).await;
    keep(&room, &task, finish).await;
    if is_checked {
        return checked(room, task, Part::Whole, stop).await;
    }
    task
}

/// Tells that a task will be checked, if it will be.
async fn announce(room: &Room, task: &TaskId) -> bool {
    let id = task.clone();
    let announced = room.store.call(move |db| {
        let spec = db.task(&id)?.spec;
        let rows = db.files(&id)?;
        if !spec.is_checked() || rows.is_empty() {
            return Ok(false);
        }
        let card = evidence::begun(&spec, Part::Whole, &rows, clock::now());
        db.set_card(&id, &card, clock::now())?;
        Ok(true)
    });
    announced.await.unwrap_or_else(|error| {
        tracing::error!(%task, %error, "the checks could not be announced");
        false
    })
}

/// The checks of a task that is over, whatever happens in them.
async fn checked(
    room: Arc<Room>,
    task: TaskId,
    part: Part,
    stop: watch::Receiver<Option<StopReason>>,
) -> TaskId {
    let check = tokio::spawn(job::check(Arc::clone(&room), task.clone(), part, stop)).await;
    room.tidy(&task).await;
    let failed = match check {
        Ok(Ok(())) => return task,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::error!(%task, %failed, "a task could not be checked");
    give_up(
        &room,
        &task,
        "Legwork made a mistake while it checked; its log says more",
    )
    .await;
    task
}

/// Says on a card that nothing more comes.
async fn give_up(room: &Room, task: &TaskId, why: &'static str) {
    let id = task.clone();
    let stored = room
        .store
        .call(move |db| evidence::give_up(db, &id, why, clock::now()));
    if let Err(error) = stored.await {
        tracing::error!(%task, %error, "the end of the checks could not be stored");
    }
}

/// Stores a result; if that cannot be done with all of it, at least that it ended.
async fn keep(room: &Room, task: &TaskId, finish: Finish) {
    let id = task.clone();
    let report = finish.report.clone();
    let Err(error) = room
        .store
        .call(move |db| db.finish(&id, &finish, clock::now()))
        .await
    else {
        return;
    };
    tracing::error!(%task, %error, "the result could not be stored");
    let failure = Failure::new(
        FailureKind::Internal,
        format!("the result could not be stored: {error}"),
        "make room in the state directory and try it again with `legwork retry`",
    );
    let id = task.clone();
    let short = Finish::with(Outcome::Failed(failure), report);
    let second = room.store.call(move |db| match db.task(&id)?.state {
        TaskState::Ready | TaskState::Ended => Ok(0),
        _ => db.finish(&id, &short, clock::now()),
    });
    if let Err(error) = second.await {
        tracing::error!(%task, %error, "nor could its end; the next daemon will call it interrupted");
    }
}

fn weight(memory: ByteSize) -> u64 {
    memory.as_bytes().saturating_add(OVERHEAD.as_bytes())
}

/// Nobody waits for the answer any more if this fails, which is fine.
fn answer<T>(reply: oneshot::Sender<T>, value: T) {
    drop(reply.send(value));
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::new(
            FailureKind::Internal,
            error.to_string(),
            "check the free space and the daemon's log",
        )
    }
}
