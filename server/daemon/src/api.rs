//! The HTTP surface: the table in `legwork_wire`, row by row. It decides nothing: it reads a request, asks the one
//! whose business it is, and writes the answer down.

mod desk;
mod events;
mod evidence;
mod listener;
mod refusal;
mod request;
mod review;
mod say;
mod tasks;

use std::{path::PathBuf, sync::Arc};

use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, header::HeaderMap},
    middleware::{self, Next},
    response::Response,
    routing::{get, post},
};
use legwork_wire::{ErrorBody, ErrorKind, GENERATION, GENERATION_HEADER, Places, Status, Stop};
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use listener::Guarded;
pub(crate) use refusal::Refusal;

use crate::{
    review::Reviewer,
    store::Store,
    supervisor::{Message, Stopping},
};

/// What every handler may use.
#[derive(Clone, Debug)]
pub(crate) struct Api {
    pub(crate) store: Store,
    pub(crate) supervisor: mpsc::Sender<Message>,
    pub(crate) reviewer: Arc<Reviewer>,
    /// Where the user's settings are.
    pub(crate) places: Places,
    pub(crate) state: PathBuf,
    pub(crate) started: i64,
    pub(crate) concurrency: u32,
    /// Becomes true when the daemon ends; streams end then.
    pub(crate) ending: watch::Receiver<bool>,
}

/// All routes.
pub(crate) fn router(api: Api) -> Router {
    Router::new()
        .route("/v1/status", get(status))
        .route("/v1/stop", post(stop))
        .route("/v1/tasks", get(tasks::list).post(tasks::submit))
        .route("/v1/tasks/{id}", get(tasks::detail))
        .route("/v1/tasks/{id}/manifest", get(tasks::manifest))
        .route("/v1/tasks/{id}/log", get(tasks::log))
        .route("/v1/tasks/{id}/cancel", post(tasks::cancel))
        .route("/v1/tasks/{id}/retry", post(tasks::retry))
        .route("/v1/tasks/{id}/say", post(say::say))
        .route("/v1/tasks/{id}/events", get(events::of_task))
        .route("/v1/events", get(events::of_all))
        .route("/v1/tasks/{id}/review", get(review::show))
        .route("/v1/tasks/{id}/diff", get(review::diff))
        .route("/v1/tasks/{id}/accept", post(review::accept))
        .route("/v1/tasks/{id}/reject", post(review::reject))
        .route("/v1/tasks/{id}/undo", post(review::undo))
        .route("/v1/tasks/{id}/desk", get(desk::desk))
        .route("/v1/tasks/{id}/blobs/{digest}", get(desk::blob))
        .route("/v1/tasks/{id}/claim", post(desk::claim))
        .route("/v1/tasks/{id}/settle", post(desk::settle))
        .route("/v1/tasks/{id}/reopen", post(desk::reopen))
        .route("/v1/tasks/{id}/last", get(desk::last))
        .route("/v1/tasks/{id}/evidence", get(evidence::show))
        .route("/v1/tasks/{id}/check", post(evidence::check))
        .fallback(nothing_here)
        .method_not_allowed_fallback(nothing_here)
        .layer(middleware::from_fn(check_generation))
        .with_state(api)
}

impl Api {
    /// Asks the supervisor something.
    async fn ask<T>(
        &self,
        message: impl FnOnce(oneshot::Sender<T>) -> Message,
    ) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.supervisor
            .send(message(reply))
            .await
            .map_err(|_| Refusal::ending())?;
        answer.await.map_err(|_| Refusal::ending())
    }
}

/// An older client is always served. A newer one may ask for what is not there: it is told before it does.
async fn check_generation(request: Request, next: Next) -> Result<Response, Refusal> {
    match generation(request.headers()) {
        Some(client) if client > GENERATION => Err(Refusal::new(
            StatusCode::UPGRADE_REQUIRED,
            ErrorKind::Generation,
            format!(
                "the running daemon speaks generation {GENERATION} and this program asks for {client}"
            ),
            "end the old daemon with `legwork daemon stop` and try again",
        )),
        Some(_) => Ok(next.run(request).await),
        None => Err(Refusal::usage(
            format!("the request has no `{GENERATION_HEADER}` header with a number"),
            "use the `legwork` program, or send the header",
        )),
    }
}

fn generation(headers: &HeaderMap) -> Option<u32> {
    headers.get(GENERATION_HEADER)?.to_str().ok()?.parse().ok()
}

async fn nothing_here(request: Request) -> Refusal {
    let what = format!("there is no {} {}", request.method(), request.uri().path());
    Refusal(
        StatusCode::NOT_FOUND,
        ErrorBody {
            kind: ErrorKind::Usage,
            message: what,
            hint: String::new(),
        },
    )
}

async fn status(State(api): State<Api>) -> Result<Json<Status>, Refusal> {
    let (running, queued) = api.ask(|reply| Message::Count { reply }).await?;
    let ready = api.store.call(|db| db.ready()).await?;
    Ok(Json(Status {
        generation: GENERATION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        started: api.started,
        state: api.state,
        running: u32::try_from(running).unwrap_or(u32::MAX),
        queued: u32::try_from(queued).unwrap_or(u32::MAX),
        ready,
        concurrency: api.concurrency,
    }))
}

async fn stop(
    State(api): State<Api>,
    request::Sent(stop): request::Sent<Stop>,
) -> Result<Json<serde_json::Value>, Refusal> {
    match api
        .ask(|reply| Message::Stop {
            force: stop.force,
            reply,
        })
        .await?
    {
        Stopping::Yes => Ok(Json(serde_json::json!({}))),
        Stopping::Busy(running) => Err(Refusal::conflict(
            format!(
                "{running} {} running",
                if running == 1 { "task is" } else { "tasks are" }
            ),
            "wait for the end, cancel with `legwork cancel`, or insist with `legwork daemon stop --force`: running tasks fail as interrupted then",
        )),
    }
}
