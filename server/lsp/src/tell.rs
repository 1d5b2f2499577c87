//! What the user is told without having asked: in one line each, and only when a task asks something, is ready, has failed, has
//! used most of its budget, or cannot be followed; and the progress of what runs.

use gen_lsp_types::{
    MessageType, ProgressToken, WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport,
};
use legwork_model::{AgentStep, Event, EventBody, Outcome, Phase, TaskId, TaskState};

use crate::{ext, progress::send, session::Session, tasks};

/// Longest title in a line, in characters.
const TITLE: usize = 50;

/// One line: some clients drop what follows the first, others stop until a key is pressed.
pub(crate) async fn say(session: &Session, kind: MessageType, text: &str) {
    let line: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    session
        .client
        .show_message(kind, format!("legwork: {}", line.join("; ")))
        .await;
}

/// The list of tasks, for those who draw it, if it is another than they were told last.
pub(crate) async fn tasks(session: &Session) {
    if session.wants(|profile| profile.options.ui.tasks) {
        let params = {
            let mut state = session.state();
            let params = ext::tasks(&state.tasks);
            if state.told.as_ref() == Some(&params) {
                return;
            }
            state.told = Some(params.clone());
            params
        };
        session.client.send_notification::<ext::Tasks>(params).await;
    }
}

/// The daemon was installed before this server.
pub(crate) async fn once_older(session: &Session) {
    let text = "the daemon is older than this language server: end it with `legwork daemon stop`, it starts again by itself";
    say(session, MessageType::Warning, text).await;
}

/// An event of a task that concerns this client.
pub(crate) async fn event(session: &Session, event: &Event) {
    let Some((title, running)) = ({
        let state = session.state();
        state
            .tasks
            .get(&event.task)
            .map(|known| (cut(&known.task.spec.title()), known.task.state.is_active()))
    }) else {
        return;
    };
    match &event.body {
        EventBody::Phase { phase, .. } if running => {
            progress(session, &event.task, &title, word(*phase)).await;
        }
        EventBody::State {
            state: TaskState::Queued,
        } => progress(session, &event.task, &title, "queued").await,
        EventBody::Agent {
            step: AgentStep::Nearly { limit },
            ..
        } => {
            let text = format!("80 % of the budget: {title}: {limit}");
            say(session, MessageType::Warning, &text).await;
        }
        EventBody::Asked { question } => {
            progress(session, &event.task, &title, "needs input").await;
            let text = format!("needs input: {title}: {question}");
            say(session, MessageType::Info, &text).await;
        }
        EventBody::Outcome { outcome, pending } => {
            end(session, &event.task).await;
            let changes = match pending {
                0 => "nothing changed".to_owned(),
                1 => "1 hunk to review".to_owned(),
                n => format!("{n} hunks to review"),
            };
            match outcome {
                Outcome::Done => {
                    say(
                        session,
                        MessageType::Info,
                        &format!("ready: {title}: {changes}"),
                    )
                    .await;
                }
                Outcome::Cancelled => {
                    say(
                        session,
                        MessageType::Info,
                        &format!("cancelled: {title}: {changes}"),
                    )
                    .await;
                }
                Outcome::Failed(_) => {
                    let why = tasks::outcome(outcome);
                    say(
                        session,
                        MessageType::Warning,
                        &format!("failed: {title}: {why}; {changes}"),
                    )
                    .await;
                }
            }
        }
        _ => {}
    }
}

fn word(phase: Phase) -> &'static str {
    match phase {
        Phase::Image => "preparing the guest's root file system",
        Phase::Capture => "capturing the workspace",
        Phase::Boot => "starting the virtual machine",
        Phase::Command => "running",
        Phase::Collect => "collecting the changes",
    }
}

pub(crate) fn cut(title: &str) -> String {
    match title.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title.to_owned(),
    }
}

async fn progress(session: &Session, task: &TaskId, title: &str, message: &str) {
    if !session.wants(|profile| profile.progress) {
        return;
    }
    let token = session.state().progress.get(task).cloned();
    let token = match token {
        Some(token) => {
            let report = WorkDoneProgressReport {
                message: Some(message.to_owned()),
                ..Default::default()
            };
            return send(session, token, "report", &report).await;
        }
        // Some clients show it in place of the title.
        None => ProgressToken::String(format!("Legwork {}: {title}", task.short())),
    };
    session.state().progress.insert(task.clone(), token.clone());
    // Events wait for nobody: a client that does not answer has no progress bar.
    let client = session.client.clone();
    let begin = WorkDoneProgressBegin {
        title: format!("Legwork: {title}"),
        cancellable: Some(true),
        message: Some(message.to_owned()),
        percentage: None,
    };
    let created = tokio::time::timeout(
        std::time::Duration::from_secs(2),
        client.create_work_done_progress(token.clone()),
    );
    if matches!(created.await, Ok(Ok(()))) {
        send(session, token, "begin", &begin).await;
    }
}

async fn end(session: &Session, task: &TaskId) {
    let token = session.state().progress.remove(task);
    if let Some(token) = token {
        send(session, token, "end", &WorkDoneProgressEnd::default()).await;
    }
}
