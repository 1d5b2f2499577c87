//! Accept, reject, undo, and the way from hunk to hunk.

use std::{collections::BTreeMap, path::PathBuf};

use gen_lsp_types::MessageType;
use legwork_model::{TaskId, TreePath};
use legwork_review::{Part, State};
use legwork_wire::{Decide, Decided, Pick, Skipped};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::{
    apply::{self, Target},
    failure::Failure,
    follow,
    name::HunkName,
    progress::Progress,
    roots,
    session::Session,
    sheet::Stand,
    tasks::Found,
    tell, uri,
    walk::{self, Way},
};

/// The daemon is asked for so many files at once, so that progress is seen and a cancel is heard.
const AT_ONCE: usize = 64;

/// How much a command is about when its argument does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Hunk,
    File,
    Task,
}

/// What a decision is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum About {
    Hunk(HunkName),
    File(TaskId, TreePath),
    Task(TaskId),
}

/// Some hunks of one file.
#[derive(Debug)]
struct Share {
    found: Found,
    real: PathBuf,
    ids: Vec<u32>,
}

/// Goes to a hunk.
pub(super) async fn walk(
    session: &Session,
    way: Way,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let task = arguments.task(session)?;
    let from = match (&arguments.uri, arguments.line) {
        (Some(uri), line) => file(uri).map(|real| (real, line.unwrap_or(0))),
        (None, _) => None,
    };
    let step = walk::choose(&session.state(), way, task.as_ref(), from);
    match step {
        Some(step) => to_json(&walk::go(session, step).await?),
        None => {
            tell::say(session, MessageType::Info, "no hunk waits for a decision").await;
            Ok(Value::Null)
        }
    }
}

/// Accepts.
pub(super) async fn accept(
    session: &Session,
    arguments: &Arguments,
    width: Width,
) -> Result<Value, Failure> {
    let about = about(session, arguments, width)?;
    let named = matches!(about, About::Hunk(_));
    let (parts, mut decided) = parts(session, &about)?;
    let task = match &about {
        About::Hunk(name) => name.task.clone(),
        About::File(task, _) | About::Task(task) => task.clone(),
    };
    let mut picks = Vec::new();
    let mut here = Vec::new();
    for part in parts {
        let (lines, whole) = split(session, &part)?;
        if !lines.is_empty() {
            here.push((part.found, part.real, lines));
        }
        picks.extend(whole);
    }
    let progress = Progress::begin(
        session,
        "Legwork: accepting",
        picks.len().div_ceil(AT_ONCE) + here.len() > 3,
    )
    .await;
    let total = picks.len() + here.len();
    let mut done = 0;
    let mut cancelled = false;
    for chunk in picks.chunks(AT_ONCE) {
        if progress.is_cancelled(session) {
            cancelled = true;
            break;
        }
        progress.report(session, done, total).await;
        let decide = Decide {
            picks: chunk.to_vec(),
            include_sensitive: false,
            digest: None,
        };
        let answer = session
            .daemon
            .client()
            .await?
            .accept(task.as_str(), &decide)
            .await;
        match answer {
            Ok(answer) => add(&mut decided, answer),
            // Of a bulk accept only what cannot be done is left out.
            Err(error) if !named && done + chunk.len() < total => decided.skipped.push(Skipped {
                path: chunk[0].path.clone(),
                hunk: None,
                reason: Failure::from(error).to_string(),
            }),
            Err(error) => return Err(error.into()),
        }
        done += chunk.len();
    }
    let mut failures = Vec::new();
    for (found, real, ids) in &here {
        if cancelled || progress.is_cancelled(session) {
            cancelled = true;
            break;
        }
        progress.report(session, done, total).await;
        match apply::accept(
            session,
            Target {
                found,
                real,
                ids,
                named,
            },
        )
        .await
        {
            Ok(landing) => {
                decided.hunks += landing.hunks;
                decided.pending = landing.pending;
                decided.skipped.extend(landing.skipped);
            }
            Err(failure) => failures.push(failure),
        }
        done += 1;
    }
    progress.end(session).await;
    if decided.hunks == 0
        && let Some(failure) = failures.first()
    {
        return Err(failure.clone());
    }
    if decided.hunks == 0
        && let Some(skipped) = decided.skipped.first()
    {
        return Err(Failure::new(format!(
            "nothing was accepted: `{}`: {}",
            skipped.path, skipped.reason
        )));
    }
    told(session, "accepted", &about, &decided, &failures, cancelled).await;
    forward(session, arguments, &task).await;
    to_json(&decided)
}

/// Rejects. No file is touched.
pub(super) async fn reject(
    session: &Session,
    arguments: &Arguments,
    width: Width,
) -> Result<Value, Failure> {
    let about = about(session, arguments, width)?;
    let (task, picks) = match &about {
        About::Hunk(name) => (
            &name.task,
            vec![Pick {
                path: name.path.clone(),
                hunk: Some(name.number),
            }],
        ),
        About::File(task, path) => (
            task,
            vec![Pick {
                path: path.clone(),
                hunk: None,
            }],
        ),
        About::Task(task) => (task, Vec::new()),
    };
    let decide = Decide {
        picks,
        include_sensitive: true,
        digest: None,
    };
    let decided = session
        .daemon
        .client()
        .await?
        .reject(task.as_str(), &decide)
        .await?;
    told(session, "rejected", &about, &decided, &[], false).await;
    forward(session, arguments, task).await;
    to_json(&decided)
}

/// Takes the last decision back: in the buffer if it went through this editor, else by the daemon.
pub(super) async fn undo(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let task = arguments.task(session)?;
    if let Some(own) = apply::undo(session, task.as_ref()).await {
        let own = own?;
        tell::say(
            session,
            MessageType::Info,
            &format!("`{}` is as before; what was accepted waits again", own.path),
        )
        .await;
        return Ok(json!({ "path": own.path }));
    }
    let task = task.or_else(|| {
        let state = session.state();
        let cursor = state.cursor.as_ref().map(|cursor| cursor.task.clone());
        cursor.or_else(|| {
            state
                .tasks
                .newest()
                .into_iter()
                .find(|known| known.desk.is_some())
                .map(|known| known.task.id.clone())
        })
    });
    let task =
        task.ok_or_else(|| Failure::new("there is no task whose decision could be taken back"))?;
    let decided = session.daemon.client().await?.undo(task.as_str()).await?;
    tell::say(
        session,
        MessageType::Info,
        &format!(
            "the last decision was taken back: {} pending",
            count(decided.pending, "hunk")
        ),
    )
    .await;
    to_json(&decided)
}

/// What the command is about: what is named, else the review cursor.
fn about(session: &Session, arguments: &Arguments, width: Width) -> Result<About, Failure> {
    if let Some(hunk) = arguments.hunk()? {
        return Ok(match width {
            Width::Hunk => About::Hunk(hunk),
            Width::File => About::File(hunk.task, hunk.path),
            Width::Task => About::Task(hunk.task),
        });
    }
    let task = arguments.task(session)?;
    let cursor = session.state().cursor.clone();
    if let Some(uri) = &arguments.uri {
        let real =
            file(uri).ok_or_else(|| Failure::new("this buffer has no file: save it first"))?;
        let state = session.state();
        let mut newest = state.tasks.newest().into_iter();
        let found = newest.find_map(|known| {
            let below = real.strip_prefix(&known.task.spec.workspace).ok()?;
            let found = known.file(&TreePath::from_path(below).ok()?)?;
            let waits = !found.file().review.pending().is_empty();
            (task.as_ref().is_none_or(|task| *task == known.task.id) && waits).then_some(found)
        });
        let found =
            found.ok_or_else(|| Failure::new("no hunk of this file waits for a decision"))?;
        return Ok(About::File(
            found.desk.task.clone(),
            found.file().path.clone(),
        ));
    }
    match (width, task, cursor) {
        (Width::Hunk | Width::Task, Some(task), _) => Ok(About::Task(task)),
        (Width::Hunk, None, Some(cursor)) => Ok(About::Hunk(cursor)),
        (Width::File, task, Some(cursor))
            if task.as_ref().is_none_or(|task| *task == cursor.task) =>
        {
            Ok(About::File(cursor.task, cursor.path))
        }
        (Width::Task, None, Some(cursor)) => Ok(About::Task(cursor.task)),
        (Width::Task, None, None) => only_task(session).map(About::Task),
        _ => Err(Failure::new(
            "no hunk is under review: go to one with `legwork.next`",
        )),
    }
}

/// The one task that waits, where nothing is under review.
fn only_task(session: &Session) -> Result<TaskId, Failure> {
    let state = session.state();
    let waiting: Vec<TaskId> = state
        .tasks
        .newest()
        .into_iter()
        .filter(|known| known.task.pending > 0)
        .map(|known| known.task.id.clone())
        .collect();
    match waiting.as_slice() {
        [task] => Ok(task.clone()),
        [] => Err(Failure::new("no hunk waits for a decision")),
        _ => Err(Failure::new(
            "several tasks wait: go to a hunk of one with `legwork.next`, or name it",
        )),
    }
}

/// The hunks, file by file; and what a bulk accept leaves out.
fn parts(session: &Session, about: &About) -> Result<(Vec<Share>, Decided), Failure> {
    let mut decided = Decided::default();
    let state = session.state();
    let task = match about {
        About::Hunk(name) => &name.task,
        About::File(task, _) | About::Task(task) => task,
    };
    let known = state
        .tasks
        .get(task)
        .ok_or_else(|| Failure::new("the task is gone, or is none of this workspace"))?;
    let gone = || {
        Failure::new(
            "the hunk is gone: the task has changed it since, or it was decided; go to the next one",
        )
    };
    let root = &known.task.spec.workspace;
    let part = |found: Found, ids| Share {
        real: found.file().path.under(root),
        found,
        ids,
    };
    let parts = match about {
        About::Hunk(name) => {
            let found = known.file(&name.path).ok_or_else(gone)?;
            let hunk = found.file().review.hunk(name.number).ok_or_else(gone)?;
            if hunk.state != State::Pending {
                return Err(Failure::new(format!(
                    "the hunk was {} before",
                    hunk.state.describe()
                )));
            }
            vec![part(found, vec![name.number])]
        }
        About::File(_, path) => {
            let found = known.file(path).ok_or_else(gone)?;
            let ids = found.file().review.pending();
            vec![part(found, ids)]
        }
        About::Task(_) => {
            let mut parts = Vec::new();
            for file in known.desk.iter().flat_map(|desk| &desk.files) {
                let ids = file.review.pending();
                match &file.sensitive {
                    _ if ids.is_empty() => {}
                    Some(why) => decided.skipped.push(Skipped {
                        path: file.path.clone(),
                        hunk: None,
                        reason: format!("it waits for a decision of its own: {why}"),
                    }),
                    None => parts.push(part(known.file(&file.path).ok_or_else(gone)?, ids)),
                }
            }
            parts
        }
    };
    Ok((parts, decided))
}

/// What goes through the editor, and what the daemon writes: files that are not open, and what is no change of lines.
fn split(session: &Session, part: &Share) -> Result<(Vec<u32>, Vec<Pick>), Failure> {
    let state = session.state();
    let path = &part.found.file().path;
    let review = &part.found.file().review;
    if state.documents.of_file(&part.real).is_none() {
        let pending = review.pending();
        let picks = if part.ids == pending {
            vec![Pick {
                path: path.clone(),
                hunk: if pending.len() == 1 {
                    Some(pending[0])
                } else {
                    None
                },
            }]
        } else {
            part.ids
                .iter()
                .map(|id| Pick {
                    path: path.clone(),
                    hunk: Some(*id),
                })
                .collect()
        };
        return Ok((Vec::new(), picks));
    }
    let mut lines = Vec::new();
    let mut picks = Vec::new();
    for id in &part.ids {
        if review
            .hunk(*id)
            .is_some_and(|hunk| hunk.part == Part::Lines)
        {
            lines.push(*id);
            continue;
        }
        let spots = state.shown.get(&part.real).map(|shown| &shown.sheet.spots);
        let blocked = spots.into_iter().flatten().any(|spot| {
            spot.name.path == *path && spot.name.number == *id && spot.stand == Stand::Conflicted
        });
        if blocked {
            return Err(Failure::new(format!(
                "`{path}` is open with another text than the task found: save it or take your changes back, or reject the hunk"
            )));
        }
        picks.push(Pick {
            path: path.clone(),
            hunk: Some(*id),
        });
    }
    Ok((lines, picks))
}

fn add(decided: &mut Decided, more: Decided) {
    decided.hunks += more.hunks;
    decided.written.extend(more.written);
    decided.skipped.extend(more.skipped);
    decided.pending = more.pending;
}

/// Says what happened, where that is not seen by itself.
async fn told(
    session: &Session,
    done: &str,
    about: &About,
    decided: &Decided,
    failures: &[Failure],
    cancelled: bool,
) {
    let mut parts = Vec::new();
    if !matches!(about, About::Hunk(_)) || !decided.written.is_empty() {
        parts.push(format!("{} {done}", count(decided.hunks, "hunk")));
    }
    if let [path] = decided.written.as_slice() {
        parts.push(format!("`{path}` was written"));
    } else if !decided.written.is_empty() {
        parts.push(format!("{} files were written", decided.written.len()));
    }
    let mut why: BTreeMap<&str, usize> = BTreeMap::new();
    for skipped in &decided.skipped {
        *why.entry(skipped.reason.as_str()).or_default() += 1;
    }
    parts.extend(
        why.into_iter()
            .map(|(reason, files)| format!("{files} left out: {reason}")),
    );
    parts.extend(failures.iter().map(ToString::to_string));
    if cancelled {
        parts.push("cancelled; what is not listed still waits".to_owned());
    }
    if !parts.is_empty() {
        let kind = if failures.is_empty() {
            MessageType::Info
        } else {
            MessageType::Warning
        };
        tell::say(session, kind, &parts.join("; ")).await;
    }
}

/// A decision at the review cursor goes on to the next hunk.
async fn forward(session: &Session, arguments: &Arguments, task: &TaskId) {
    // The daemon's word is on its way; what comes next is to see it already.
    if let Some(client) = session.daemon.running().await
        && let Err(error) = follow::one(session, &client, task).await
    {
        tracing::info!(%task, %error, "the task cannot be looked at");
    }
    if let Ok(Some(hunk)) = arguments.hunk() {
        session.state().cursor = Some(hunk);
        return;
    }
    if *arguments != Arguments::default() {
        return;
    }
    let next = walk::choose(&session.state(), Way::Next, None, None);
    if let Some(step) = next
        && let Err(failure) = walk::go(session, step).await
    {
        tracing::info!(%failure, "the next hunk cannot be shown");
    }
}

fn file(uri: &str) -> Option<PathBuf> {
    roots::real(&uri::to_path(uri)?)
}

fn count(n: u32, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new(error.to_string()))
}
