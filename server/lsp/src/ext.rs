//! What is spoken beside plain LSP. `server/docs/lsp-extensions.md` says what each means.

use std::borrow::Cow;

use gen_lsp_types::{LspNotificationMethod, MessageDirection, Notification};
use legwork_model::Verdict;
use serde::{Deserialize, Serialize};

use crate::tasks;

/// `legwork/hunks`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hunks {}

/// `legwork/tasks`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tasks {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HunksParams {
    pub(crate) uri: String,
    pub(crate) version: Option<i32>,
    pub(crate) hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hunk {
    pub(crate) hunk: String,
    pub(crate) task: String,
    pub(crate) title: String,
    pub(crate) number: usize,
    pub(crate) of: usize,
    pub(crate) state: Cow<'static, str>,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) removed: Vec<String>,
    pub(crate) added: Vec<String>,
    pub(crate) whole: Option<Cow<'static, str>>,
    pub(crate) summary: Option<String>,
    pub(crate) sensitive: Option<String>,
    pub(crate) running: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TasksParams {
    pub(crate) daemon: Cow<'static, str>,
    pub(crate) running: usize,
    pub(crate) ready: usize,
    pub(crate) failed: usize,
    /// Those that wait for an answer.
    pub(crate) asking: usize,
    pub(crate) tasks: Vec<TaskItem>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskItem {
    pub(crate) task: String,
    pub(crate) title: String,
    pub(crate) state: Cow<'static, str>,
    pub(crate) pending: u32,
    pub(crate) files: usize,
    pub(crate) outcome: Option<String>,
    /// What its agent asks.
    pub(crate) question: Option<String>,
    /// What its checks say, if there are any.
    pub(crate) checks: Option<Verdict>,
    pub(crate) created: i64,
    pub(crate) finished: Option<i64>,
    pub(crate) emulated: bool,
    pub(crate) workspace: String,
}

impl Notification for Hunks {
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::new("legwork/hunks");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
    type Params = HunksParams;
}

impl Notification for Tasks {
    const METHOD: LspNotificationMethod<'static> = LspNotificationMethod::new("legwork/tasks");
    const MESSAGE_DIRECTION: MessageDirection = MessageDirection::ServerToClient;
    type Params = TasksParams;
}

/// At most so many tasks are listed.
const MOST: usize = 50;

/// The tasks as they are now.
pub(crate) fn tasks(tasks: &tasks::Tasks) -> TasksParams {
    let newest = tasks.newest();
    let count = |wanted: &[&str]| {
        newest
            .iter()
            .filter(|known| wanted.contains(&tasks::word(&known.task)))
            .count()
    };
    let items = newest.iter().take(MOST).map(|known| {
        let task = &known.task;
        TaskItem {
            task: task.id.to_string(),
            title: task.spec.title(),
            state: tasks::word(task).into(),
            pending: task.pending,
            files: known.desk.as_ref().map_or(0, |desk| desk.files.len()),
            outcome: task.outcome.as_ref().map(tasks::outcome),
            question: task.question.clone(),
            checks: task.checks,
            created: task.created,
            finished: task.finished,
            emulated: task.report.as_ref().is_some_and(|report| report.emulated),
            workspace: task.spec.workspace.display().to_string(),
        }
    });
    TasksParams {
        daemon: if tasks.up { "up" } else { "down" }.into(),
        running: count(&["queued", "running"]),
        ready: count(&["ready"]),
        failed: count(&["failed"]),
        asking: count(&["needs-input"]),
        tasks: items.collect(),
    }
}
