//! What the user says to the agent of a task.

use axum::{Json, extract::State};
use legwork_model::{TaskState, Worker};
use legwork_wire::{Hearing, LONGEST_MESSAGE, Said, Say};

use super::{
    Api, Refusal,
    request::{Named, Sent},
};
use crate::{clock, supervisor::Message};

/// Stores it first: from then on it survives everything, and only then is it said to be heard.
pub(super) async fn say(
    State(api): State<Api>,
    Named(name): Named,
    Sent(Say { text }): Sent<Say>,
) -> Result<Json<Said>, Refusal> {
    let text = text.trim().to_owned();
    if text.is_empty() {
        return Err(Refusal::usage("nothing is said", "say it in words"));
    }
    if text.len() > LONGEST_MESSAGE {
        return Err(Refusal::usage(
            format!("that is longer than {LONGEST_MESSAGE} bytes"),
            "leave out what is in the files: the agent sees them",
        ));
    }
    let said = api.store.call(move |db| {
        let id = db.resolve(&name)?;
        let task = db.task(&id)?;
        if task.spec.worker != Worker::Builtin {
            return Ok(Err(Refusal::conflict(
                format!("task {id} is done by a command, which hears nothing"),
                "run it again with `legwork retry`, or delegate it anew with other words",
            )));
        }
        let state = db.say(&id, &text, clock::now())?;
        Ok(Ok((id, state)))
    });
    let (task, state) = said.await??;
    // A daemon that is ending leaves it to the next one.
    let message = Message::Said { task: task.clone() };
    drop(api.supervisor.send(message).await);
    let hearing = match state {
        TaskState::Queued | TaskState::Preparing => Hearing::AtStart,
        TaskState::Running => Hearing::NextTurn,
        TaskState::NeedsInput => Hearing::Answer,
        TaskState::Collecting | TaskState::Ready | TaskState::Ended => Hearing::Resumed,
    };
    Ok(Json(Said { task, hearing }))
}
