//! Texts that are no files: `legwork:` addresses, and the output of a task.

use legwork_model::{EventBody, TaskId, TreePath};
use percent_encoding::percent_decode_str;

use crate::{failure::Failure, present, session::Session};

/// A task by its id or the beginning of it.
pub(crate) fn task(session: &Session, name: Option<&str>) -> Result<Option<TaskId>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let state = session.state();
    let newest = state.tasks.newest();
    let mut fit = newest
        .iter()
        .filter(|known| !name.is_empty() && known.task.id.as_str().starts_with(name));
    match (fit.next(), fit.next()) {
        (Some(known), None) => Ok(Some(known.task.id.clone())),
        (Some(_), Some(_)) => Err(Failure::new(format!(
            "several tasks begin with `{name}`: write more of it"
        ))),
        (None, _) => Err(Failure::new(format!(
            "there is no task `{name}` here: `legwork tasks` lists them"
        ))),
    }
}

/// What a task wrote so far.
pub(crate) async fn log(session: &Session, task: &TaskId) -> Result<String, Failure> {
    let events = session.daemon.client().await?.log(task.as_str()).await?;
    let pieces = events.into_iter().filter_map(|event| match event.body {
        EventBody::Output { text, .. } => Some(text),
        _ => None,
    });
    Ok(pieces.collect())
}

/// The text of a `legwork:` address.
pub(crate) async fn of(session: &Session, uri: &str) -> Result<String, Failure> {
    let unknown = || Failure::new(format!("`{uri}` names nothing of Legwork's"));
    let rest = uri
        .strip_prefix("legwork:")
        .map(|rest| rest.trim_start_matches('/'))
        .ok_or_else(unknown)?;
    let (name, rest) = rest.split_once('/').ok_or_else(unknown)?;
    let task = task(session, Some(name))?.ok_or_else(unknown)?;
    let (what, path) = rest
        .split_once('/')
        .map_or((rest, None), |(what, path)| (what, Some(path)));
    match (what, path) {
        ("diff", None) => {
            let diff = session.daemon.client().await?.diff(task.as_str()).await?;
            Ok(String::from_utf8_lossy(&diff).into_owned())
        }
        ("log", None) => log(session, &task).await,
        ("proposed" | "base", Some(path)) => {
            let bytes: Vec<u8> = percent_decode_str(path).collect();
            let path =
                TreePath::from_bytes(&bytes).map_err(|error| Failure::new(error.to_string()))?;
            let found = session
                .state()
                .tasks
                .get(&task)
                .and_then(|known| known.file(&path))
                .ok_or_else(unknown)?;
            let (base, agent) = present::bytes(session, &found).await?;
            let bytes = if what == "base" { base } else { agent };
            Ok(
                String::from_utf8_lossy(bytes.as_deref().map_or(&[][..], Vec::as_slice))
                    .into_owned(),
            )
        }
        _ => Err(unknown()),
    }
}
