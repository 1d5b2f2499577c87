//! Texts that are no files: `legwork:` addresses, and the output of a task.

mod seen;

use legwork_model::{EventBody, TaskId, TreePath};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::{failure::Failure, present, session::Session};

/// What a task wrote so far.
pub(crate) async fn log(session: &Session, task: &TaskId) -> Result<String, Failure> {
    let events = session.daemon.client().await?.log(task.as_str()).await?;
    let pieces = events.into_iter().filter_map(|event| match event.body {
        EventBody::Output { text, .. } => Some(text),
        EventBody::Agent { step, .. } => Some(step.lines()),
        _ => None,
    });
    Ok(pieces.collect())
}

/// What the checks of a task say: as data, and as Markdown in which nothing that they wrote is more than text.
pub(crate) async fn evidence(session: &Session, task: &TaskId) -> Result<Value, Failure> {
    let card = session
        .daemon
        .client()
        .await?
        .evidence(task.as_str())
        .await?;
    let text = card.as_ref().map(|card| fenced(&card.lines().join("\n")));
    Ok(json!({ "card": card, "text": text }))
}

/// A block of code with a fence that is longer than any in it.
fn fenced(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// What a `legwork:` address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    Diff(TaskId),
    Log(TaskId),
    /// What the task saw of the workspace.
    Seen(TaskId),
    /// A file as the task would have it.
    Proposed(TaskId, TreePath),
    /// A file as the task found it.
    Base(TaskId, TreePath),
}

impl Address {
    /// Understands an address; `None` for one that is none of Legwork's.
    pub(crate) fn parse(session: &Session, uri: &str) -> Option<Result<Self, Failure>> {
        let rest = uri.strip_prefix("legwork:")?.trim_start_matches('/');
        Some(
            Self::parts(session, rest).unwrap_or_else(|| {
                Err(Failure::new(format!("`{uri}` names nothing of Legwork's")))
            }),
        )
    }

    fn parts(session: &Session, rest: &str) -> Option<Result<Self, Failure>> {
        let (name, rest) = rest.split_once('/')?;
        let task = match session.state().tasks.named(name) {
            Ok(task) => task,
            Err(failure) => return Some(Err(failure)),
        };
        let (what, path) = match rest.split_once('/') {
            Some((what, path)) => (what, Some(percent_decode_str(path).collect::<Vec<u8>>())),
            None => (rest, None),
        };
        let path = path.map(|bytes| TreePath::from_bytes(&bytes)).transpose();
        Some(Ok(match (what, path.ok()?) {
            ("diff", None) => Self::Diff(task),
            ("log", None) => Self::Log(task),
            ("seen", None) => Self::Seen(task),
            ("proposed", Some(path)) => Self::Proposed(task, path),
            ("base", Some(path)) => Self::Base(task, path),
            _ => return None,
        }))
    }
}

/// The text of a `legwork:` address.
pub(crate) async fn of(session: &Session, uri: &str) -> Result<String, Failure> {
    let unknown = || Failure::new(format!("`{uri}` names nothing of Legwork's"));
    let address = Address::parse(session, uri).ok_or_else(unknown)??;
    let (task, path, is_base) = match address {
        Address::Diff(task) => {
            let diff = session.daemon.client().await?.diff(task.as_str()).await?;
            return Ok(String::from_utf8_lossy(&diff).into_owned());
        }
        Address::Log(task) => return log(session, &task).await,
        Address::Seen(task) => {
            let client = session.daemon.client().await?;
            return Ok(seen::text(&client.manifest(task.as_str()).await?));
        }
        Address::Proposed(task, path) => (task, path, false),
        Address::Base(task, path) => (task, path, true),
    };
    let found = session
        .state()
        .tasks
        .get(&task)
        .and_then(|known| known.file(&path))
        .ok_or_else(unknown)?;
    let (base, agent) = present::bytes(session, &found).await?;
    let bytes = if is_base { base } else { agent };
    let bytes = bytes.as_deref().map_or(&[][..], Vec::as_slice);
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
