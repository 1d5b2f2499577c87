//! Requests about the changes of a task. They touch files, so each has a thread that may block.

use std::sync::Arc;

use axum::{Json, extract::State, http::header, response::IntoResponse};
use legwork_wire::{Decide, Decided, Review, Undo};

use super::{
    Api, Refusal,
    request::{Named, Sent},
};
use crate::review::{ReviewError, Reviewer};

pub(super) async fn show(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Review>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.show(&name)).await?,
    ))
}

pub(super) async fn diff(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<impl IntoResponse, Refusal> {
    let bytes = blocking(&api, move |reviewer| reviewer.diff(&name)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes))
}

pub(super) async fn accept(
    State(api): State<Api>,
    Named(name): Named,
    Sent(decide): Sent<Decide>,
) -> Result<Json<Decided>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.accept(&name, &decide)).await?,
    ))
}

pub(super) async fn reject(
    State(api): State<Api>,
    Named(name): Named,
    Sent(decide): Sent<Decide>,
) -> Result<Json<Decided>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.reject(&name, &decide)).await?,
    ))
}

pub(super) async fn undo(
    State(api): State<Api>,
    Named(name): Named,
    Sent(undo): Sent<Undo>,
) -> Result<Json<Decided>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.undo(&name, &undo)).await?,
    ))
}

/// Does `work` on a thread that may block.
pub(super) async fn blocking<T, F>(api: &Api, work: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnOnce(&Reviewer) -> Result<T, ReviewError> + Send + 'static,
{
    let reviewer = Arc::clone(&api.reviewer);
    match tokio::task::spawn_blocking(move || work(&reviewer)).await {
        Ok(result) => Ok(result?),
        Err(error) => {
            tracing::error!(%error, "a review request ended in a panic");
            Err(Refusal::internal(
                "Legwork made a mistake in the review",
                "report it with the daemon's log; your files are as they were or as accepted, never in between",
            ))
        }
    }
}
