//! Requests about what the checks of a task say.

use axum::{Json, extract::State};
use legwork_evidence::{Card, Part, Progress};
use legwork_wire::CheckAgain;

use super::{
    Api, Refusal,
    request::{Named, Sent},
};
use crate::{clock, evidence, supervisor::Message};

pub(super) async fn show(
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Json<Option<Card>>, Refusal> {
    let card = api.store.call(move |db| {
        let id = db.resolve(&name)?;
        let Some(mut card) = db.card(&id)? else {
            return Ok(None);
        };
        if card.progress != Progress::Checking {
            card.stale = evidence::stale(&card, &db.files(&id)?);
        }
        Ok(Some(card))
    });
    Ok(Json(card.await?))
}

pub(super) async fn check(
    State(api): State<Api>,
    Named(name): Named,
    Sent(again): Sent<CheckAgain>,
) -> Result<Json<Card>, Refusal> {
    let part = if again.accepted {
        Part::Accepted
    } else {
        Part::Whole
    };
    let task = super::tasks::find(&api, name).await?;
    if !task.state.is_over() {
        return Err(Refusal::conflict(
            format!("task {} is not over yet", task.id),
            "it is checked when it is",
        ));
    }
    if !task.spec.is_checked() {
        return Err(Refusal::usage(
            format!("task {} has no checks", task.id),
            "name some with `--check` when it is run, or in `[check] commands` of config.toml",
        ));
    }
    let (id, spec) = (task.id.clone(), task.spec.clone());
    // Stored before it is asked for: whoever looks from now on waits for this one.
    let begun = api.store.call(move |db| {
        if db
            .card(&id)?
            .is_some_and(|card| card.progress == Progress::Checking)
        {
            return Ok(None);
        }
        let card = evidence::begun(&spec, part, &db.files(&id)?, clock::now());
        db.set_card(&id, &card, clock::now())?;
        Ok(Some(card))
    });
    let Some(card) = begun.await? else {
        return Err(Refusal::conflict(
            format!("task {} is being checked", task.id),
            "wait for its end, or stop it with `legwork cancel`",
        ));
    };
    let message = Message::Check {
        task: task.id.clone(),
        part,
        memory: task.spec.limits.memory,
    };
    if api.supervisor.send(message).await.is_err() {
        return Err(Refusal::ending());
    }
    Ok(Json(card))
}
