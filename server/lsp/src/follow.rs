//! Follows the daemon's events for as long as this server lives, over restarts of the daemon.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use legwork_model::{Event, EventBody, Task, TaskId};
use legwork_wire::{Client, WireError};
use tokio::time::timeout;

use crate::{daemon, record, session::Session, tell};

/// How long events are gathered before the daemon is asked what they came to.
const GATHER: Duration = Duration::from_millis(15);
/// Pauses between two looks for a daemon that is gone.
const PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// Tasks that were decided wholly are of interest for this long: the user may still undo in a buffer.
const RECENT: i64 = 24 * 60 * 60 * 1000;
/// At most so many of those.
const MOST_RECENT: usize = 10;
/// At most so many tasks are looked at.
const MOST: usize = 200;
/// Hunks of closed files are shown for so many files of a task.
const MOST_CLOSED: u32 = 100;

/// Never ends.
pub(crate) async fn follow(session: Arc<Session>) {
    let mut pause = PAUSE.0;
    // Hunks of former tasks are to be seen at once, so there has to be a daemon; later ones are started when needed.
    let mut client = session.daemon.client().await.ok();
    loop {
        if let Some(client) = client.take() {
            let attended = attend(&session, &client).await;
            if std::mem::take(&mut session.state().tasks.up) {
                pause = PAUSE.0;
            }
            if let Err(error) = attended {
                tracing::info!(%error, "the daemon cannot be followed");
                if daemon::is_older(&error) {
                    tell::once_older(&session).await;
                    pause = PAUSE.1;
                }
            }
        }
        session.daemon.lost();
        tell::tasks(&session).await;
        // A command may have started one meanwhile.
        let _found = timeout(pause, session.daemon.found()).await;
        pause = (pause * 2).min(PAUSE.1);
        client = session.daemon.running().await;
    }
}

/// Follows one daemon to its end.
async fn attend(session: &Session, client: &Client) -> Result<(), WireError> {
    let mut events = client.events(None).await?;
    session.state().tasks.up = true;
    all(session, client).await?;
    record::tell(session).await?;
    tell::tasks(session).await;
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            () = session.relist.notified() => {
                all(session, client).await?;
                continue;
            }
        };
        let Some(event) = event else { break };
        let mut batch = vec![event?];
        // What follows at once comes to one look.
        while let Ok(Some(event)) = timeout(GATHER, events.next()).await {
            batch.push(event?);
            if batch.len() >= 256 {
                break;
            }
        }
        take(session, client, &batch).await?;
    }
    Ok(())
}

async fn take(session: &Session, client: &Client, batch: &[Event]) -> Result<(), WireError> {
    let mut changed = BTreeSet::new();
    for event in batch {
        if !matches!(
            event.body,
            EventBody::Output { .. }
                | EventBody::Phase { .. }
                | EventBody::Notice { .. }
                | EventBody::Agent { .. }
                | EventBody::Network { .. }
        ) {
            changed.insert(event.task.clone());
        }
    }
    for id in changed {
        one(session, client, &id).await?;
    }
    for event in batch {
        tell::event(session, event).await;
    }
    tell::tasks(session).await;
    Ok(())
}

/// Looks at every task that concerns this client.
pub(crate) async fn all(session: &Session, client: &Client) -> Result<(), WireError> {
    let tasks = client.tasks(None).await?;
    let now = tasks
        .iter()
        .map(|task| task.created.max(task.finished.unwrap_or(0)))
        .max()
        .unwrap_or(0);
    let mut decided = 0;
    let mut ids = Vec::new();
    for task in tasks.into_iter().take(MOST) {
        if !session.state().roots.concern(&task.spec.workspace) {
            continue;
        }
        ids.push(task.id.clone());
        let recent = now - task.finished.unwrap_or(now) < RECENT && decided < MOST_RECENT;
        let waits = task.pending > 0 || task.state.is_active();
        if !waits && recent {
            decided += 1;
        }
        put(session, client, task, waits || recent).await?;
    }
    let gone = session.state().tasks.keep(&ids);
    session.refresh(gone);
    Ok(())
}

/// Looks at one task.
pub(crate) async fn one(session: &Session, client: &Client, id: &TaskId) -> Result<(), WireError> {
    match client.task(id.as_str()).await {
        Ok(detail) if session.state().roots.concern(&detail.task.spec.workspace) => {
            put(session, client, detail.task, true).await
        }
        // Removed by now.
        Ok(_) | Err(WireError::Refused(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

async fn put(session: &Session, client: &Client, task: Task, look: bool) -> Result<(), WireError> {
    let desk = if look {
        match client.desk(task.id.as_str()).await {
            Ok(desk) => Some(desk),
            Err(error) if daemon::is_older(&error) => return Err(error),
            Err(WireError::Refused(_)) => None,
            Err(error) => return Err(error),
        }
    } else {
        None
    };
    let mut state = session.state();
    let native = session.wants(|profile| profile.options.ui.native);
    let files = state.tasks.put(task, desk);
    let mut closed = 0;
    let files: Vec<_> = files
        .into_iter()
        .filter(|file| {
            let open = state.documents.of_file(file).is_some() || state.shown.contains_key(file);
            closed += u32::from(!open);
            // A list of thousands of closed files helps nobody.
            open || (!native && closed <= MOST_CLOSED)
        })
        .collect();
    drop(state);
    session.refresh(files);
    Ok(())
}
