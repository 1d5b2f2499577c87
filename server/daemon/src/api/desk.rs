//! Requests of editors, which place hunks themselves.

use axum::{Json, extract::State, http::header, response::IntoResponse};
use legwork_wire::{Claimed, Decide, Decided, Desk, Last, Reopen, Settle};

use super::{
    Api, Refusal,
    request::{Named, NamedContents, Sent},
    review::blocking,
};

pub(super) async fn desk(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Desk>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.desk(&name)).await?,
    ))
}

pub(super) async fn blob(
    State(api): State<Api>,
    NamedContents(name, digest): NamedContents,
) -> Result<impl IntoResponse, Refusal> {
    let bytes = blocking(&api, move |reviewer| reviewer.contents(&name, digest)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes))
}

pub(super) async fn claim(
    State(api): State<Api>,
    Named(name): Named,
    Sent(decide): Sent<Decide>,
) -> Result<Json<Claimed>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.claim(&name, &decide)).await?,
    ))
}

pub(super) async fn settle(
    State(api): State<Api>,
    Named(name): Named,
    Sent(settle): Sent<Settle>,
) -> Result<Json<Decided>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.landed(&name, &settle)).await?,
    ))
}

pub(super) async fn reopen(
    State(api): State<Api>,
    Named(name): Named,
    Sent(reopen): Sent<Reopen>,
) -> Result<Json<Decided>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.reopen(&name, &reopen)).await?,
    ))
}

pub(super) async fn last(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Last>, Refusal> {
    Ok(Json(
        blocking(&api, move |reviewer| reviewer.last(&name)).await?,
    ))
}
