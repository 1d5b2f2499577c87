//! Streams of events. What was stored is what is sent, so a slow or late reader gets the same as a quick one.

use std::{collections::VecDeque, convert::Infallible};

use axum::{
    extract::State,
    response::sse::{Event as Frame, Sse},
};
use futures::{Stream, stream};
use legwork_model::{Event, TaskId};
use serde::Deserialize;
use tokio::sync::watch;

use super::{
    Api, Refusal,
    request::{Asked, Named},
};
use crate::store::{Store, StoreError};

/// Events that are read from the store at a time.
const PAGE: u32 = 256;

#[derive(Debug, Deserialize)]
pub(super) struct After {
    after: Option<u64>,
}

/// The events of one task; the stream ends with the task.
pub(super) async fn of_task(
    State(api): State<Api>,
    Named(name): Named,
    Asked(query): Asked<After>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Refusal> {
    let task = api.store.call(move |db| db.resolve(&name)).await?;
    Ok(Sse::new(follow(api, Some(task), query.after.unwrap_or(0))))
}

/// The events of all tasks, from now on if nothing else is asked for; the stream ends with the daemon.
pub(super) async fn of_all(
    State(api): State<Api>,
    Asked(query): Asked<After>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Refusal> {
    let after = query
        .after
        .unwrap_or_else(|| *api.store.last_event().borrow());
    Ok(Sse::new(follow(api, None, after)))
}

/// A reader's place.
struct Place {
    store: Store,
    task: Option<TaskId>,
    after: u64,
    page: VecDeque<Event>,
    /// Nothing comes after `page`.
    over: bool,
    news: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
}

fn follow(
    api: Api,
    task: Option<TaskId>,
    after: u64,
) -> impl Stream<Item = Result<Frame, Infallible>> {
    let news = api.store.last_event();
    let place = Place {
        store: api.store,
        task,
        after,
        page: VecDeque::new(),
        over: false,
        news,
        ending: api.ending,
    };
    stream::unfold(place, |mut place| async move {
        loop {
            if let Some(event) = place.page.pop_front() {
                place.after = event.seq;
                match serde_json::to_string(&event) {
                    Ok(json) => {
                        return Some((
                            Ok(Frame::default().id(event.seq.to_string()).data(json)),
                            place,
                        ));
                    }
                    Err(error) => tracing::error!(%error, "an event cannot be written as JSON"),
                }
                continue;
            }
            if place.over {
                return None;
            }
            // Seen before it is read: what is stored meanwhile wakes us again.
            place.news.mark_unchanged();
            if let Err(error) = place.read().await {
                tracing::error!(%error, "a stream of events ended early");
                return None;
            }
            if place.page.is_empty() && !place.over {
                tokio::select! {
                    changed = place.news.changed() => changed.ok()?,
                    _ = place.ending.wait_for(|ending| *ending) => return None,
                }
            }
        }
    })
}

impl Place {
    async fn read(&mut self) -> Result<(), StoreError> {
        let (task, after) = (self.task.clone(), self.after);
        let (page, over) = self
            .store
            .call(move |db| {
                let page = db.events(task.as_ref(), after, PAGE)?;
                let over = match &task {
                    Some(task) => db.task(task)?.state.is_over(),
                    None => false,
                };
                Ok((page, over))
            })
            .await?;
        // A full page may have more behind it.
        self.over = over && page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
        self.page = page.into();
        Ok(())
    }
}
