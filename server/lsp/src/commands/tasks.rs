//! Commands about whole tasks.

use gen_lsp_types::MessageType;
use legwork_model::TaskId;
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::{ext, failure::Failure, follow, session::Session, tell};

/// All tasks, and one line about them.
pub(super) async fn list(session: &Session) -> Result<Value, Failure> {
    if let Some(client) = session.daemon.running().await {
        follow::all(session, &client).await?;
    }
    let params = ext::tasks(&session.state().tasks);
    let mut line = format!(
        "{} running, {} ready, {} failed",
        params.running, params.ready, params.failed
    );
    if params.asking > 0 {
        line = format!("{line}, {} waiting for an answer", params.asking);
    }
    for task in params
        .tasks
        .iter()
        .filter(|task| ["ready", "running", "needs-input"].contains(&&*task.state))
        .take(3)
    {
        line = format!("{line}; {} {}", task.state, tell::cut(&task.title));
    }
    if !session.wants(|profile| profile.options.ui.tasks) {
        tell::say(session, MessageType::Info, &line).await;
    }
    serde_json::to_value(params).map_err(|error| Failure::new(error.to_string()))
}

/// Stops a task: the one that is named, else the latest that runs.
pub(super) async fn cancel(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let task = arguments
        .task(session)?
        .or_else(|| latest(session, |known| known.task.state.is_active()));
    let task = task.ok_or_else(|| Failure::new("no task is running"))?;
    cancel_task(session, &task).await?;
    Ok(json!({ "task": task }))
}

pub(super) async fn cancel_task(session: &Session, task: &TaskId) -> Result<(), Failure> {
    session.daemon.client().await?.cancel(task.as_str()).await?;
    Ok(())
}

/// Asks for the same once more: the task that is named, else the latest that is over.
pub(super) async fn retry(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let task = arguments
        .task(session)?
        .or_else(|| latest(session, |known| known.task.state.is_over()));
    let task = task.ok_or_else(|| Failure::new("no task is over"))?;
    let submitted = session.daemon.client().await?.retry(task.as_str()).await?;
    tell::say(session, MessageType::Info, "queued once more").await;
    Ok(json!({ "task": submitted.task }))
}

fn latest(session: &Session, wanted: impl Fn(&crate::tasks::Known) -> bool) -> Option<TaskId> {
    let state = session.state();
    state
        .tasks
        .newest()
        .into_iter()
        .find(|known| wanted(known))
        .map(|known| known.task.id.clone())
}

/// What tasks run on here.
pub(super) async fn doctor(session: &Session) -> Result<Value, Failure> {
    let host = (session.settings.doctor)().await.map_err(Failure::new)?;
    let kind = if host.able {
        MessageType::Info
    } else {
        MessageType::Warning
    };
    tell::say(session, kind, &host.verdict).await;
    serde_json::to_value(host).map_err(|error| Failure::new(error.to_string()))
}
