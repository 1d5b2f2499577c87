//! What the user says to the agent of a task.

use axum::{Json, extract::State};
use legwork_model::{TaskState, Worker};
use legwork_wire::{Hearing, LONGEST_MESSAGE, Said, Say};

use super::{
    Api, Refusal,
    request::{Named, Sent},
};
use crate::clock;

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
        let can = can_hear(&task.spec.worker, task.state);
        match can {
            Ok(()) => {
                let state = db.say(&id, &text, clock::now())?;
                Ok(Ok((id, state)))
            }
            Err((why, hint)) => Ok(Err(Refusal::conflict(format!("task {id} {why}"), hint))),
        }
    });
    let (task, state) = said.await??;
    let hearing = match state {
        TaskState::Running => Hearing::NextTurn,
        _ => Hearing::AtStart,
    };
    Ok(Json(Said { task, hearing }))
}

/// Whether anybody hears what is said to such a task; else why not, and what to do.
fn can_hear(worker: &Worker, state: TaskState) -> Result<(), (&'static str, &'static str)> {
    match (worker, state) {
        (Worker::Builtin, TaskState::Queued | TaskState::Preparing | TaskState::Running) => Ok(()),
        (Worker::Builtin, _) => Err((
            "is over, so its agent hears nothing any more",
            "delegate the rest as a new task",
        )),
        _ => Err((
            "is done by a command, which hears nothing",
            "run it again with `legwork retry`, or delegate it anew with other words",
        )),
    }
}
