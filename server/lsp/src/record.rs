//! What came into buffers and what left them, on its way into the daemon's record. While the daemon cannot be reached it
//! is kept, and told in the same order once it can.

use std::collections::{BTreeMap, VecDeque};

use legwork_model::{TaskId, TreePath};
use legwork_wire::{Landed, Pick, Reopen, Settle, WireError};

use crate::{
    name::HunkName,
    present,
    session::Session,
    sheet::{Spot, Stand},
};

/// So much is kept at the most; then the oldest is given up.
const MOST: usize = 10_000;

/// What is kept, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Record(VecDeque<Entry>);

#[derive(Clone, Debug)]
enum Entry {
    /// A buffer holds them.
    Came(TaskId, Settle),
    /// A buffer held them.
    Left(TaskId, Reopen),
}

impl Record {
    /// Hunks that the user typed or brought in count as accepted; those that were taken out are pending again.
    pub(crate) fn add(&mut self, came: Vec<HunkName>, left: Vec<HunkName>) {
        for (task, files) in by_task(came) {
            let landed = |(path, hunks)| Landed {
                path,
                hunks,
                texts: None,
            };
            self.came(
                task,
                Settle {
                    token: None,
                    landed: files.into_iter().map(landed).collect(),
                    gesture: None,
                },
            );
        }
        for (task, files) in by_task(left) {
            let picks = files.into_iter().flat_map(|(path, hunks)| {
                let pick = move |hunk| Pick {
                    path: path.clone(),
                    hunk: Some(hunk),
                };
                hunks.into_iter().map(pick)
            });
            let picks = picks.collect();
            self.push(Entry::Left(task, Reopen { picks }));
        }
    }

    /// What an accept put into buffers.
    pub(crate) fn came(&mut self, task: TaskId, settle: Settle) {
        self.push(Entry::Came(task, settle));
    }

    fn push(&mut self, entry: Entry) {
        if self.0.len() >= MOST {
            tracing::warn!("too much waits for the daemon: the oldest is given up");
            self.0.pop_front();
        }
        self.0.push_back(entry);
    }
}

/// Tells the daemon, if one runs. What it refuses was decided by somebody else meanwhile.
///
/// # Errors
///
/// When the daemon cannot be reached: all of it is kept that it has not answered.
pub(crate) async fn tell(session: &Session) -> Result<(), WireError> {
    let _in_order = session.recording.lock().await;
    loop {
        let Some(entry) = session.state().record.0.pop_front() else {
            return Ok(());
        };
        let told = match session.daemon.running().await {
            Some(client) => match &entry {
                Entry::Came(task, settle) => {
                    let settle = still(session, task, settle).await;
                    client.settle(task.as_str(), &settle).await
                }
                Entry::Left(task, reopen) => client.reopen(task.as_str(), reopen).await,
            },
            None => {
                session.state().record.0.push_front(entry);
                return Ok(());
            }
        };
        match told {
            Ok(_) => {}
            Err(WireError::Refused(refusal)) => {
                tracing::info!(%refusal, "what is in a buffer is not recorded");
            }
            Err(error) => {
                session.daemon.lost();
                session.state().record.0.push_front(entry);
                return Err(error);
            }
        }
    }
}

/// Without the hunks that were taken out of their buffer before the daemon knew of them.
async fn still(session: &Session, task: &TaskId, settle: &Settle) -> Settle {
    let mut settle = settle.clone();
    for landed in &mut settle.landed {
        let real = {
            let state = session.state();
            let known = state.tasks.get(task);
            known.map(|known| landed.path.under(&known.task.spec.workspace))
        };
        let Some(real) = real else { continue };
        // As the text is this moment, and only while it is a buffer's.
        let Ok(look) = present::look(session, &real).await else {
            continue;
        };
        let gone = |spot: &Spot| {
            let name = &spot.name;
            look.version.is_some()
                && (&name.task, &name.path) == (task, &landed.path)
                && spot.stand != Stand::Already
        };
        let gone: Vec<u32> = look
            .sheet
            .spots
            .iter()
            .filter(|spot| gone(spot))
            .map(|spot| spot.name.number)
            .collect();
        landed.hunks.retain(|hunk| !gone.contains(hunk));
    }
    settle.landed.retain(|landed| !landed.hunks.is_empty());
    settle
}

type ByFile = BTreeMap<TreePath, Vec<u32>>;

/// Hunks by their tasks and files.
fn by_task(names: Vec<HunkName>) -> BTreeMap<TaskId, ByFile> {
    let mut tasks: BTreeMap<TaskId, ByFile> = BTreeMap::new();
    for name in names {
        tasks
            .entry(name.task)
            .or_default()
            .entry(name.path)
            .or_default()
            .push(name.number);
    }
    tasks
}
