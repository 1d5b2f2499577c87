//! Accept, reject, undo, and the way from hunk to hunk.

use std::{collections::BTreeMap, sync::Arc};

use gen_lsp_types::MessageType;
use legwork_model::TaskId;
use legwork_wire::{Decide, Decided, Pick, Skipped, Undo};
use serde_json::Value;

use super::{
    about::{self, About, Width, file},
    arguments::Arguments,
};
use crate::{
    apply::{self, Target},
    failure::Failure,
    follow,
    progress::Progress,
    session::Session,
    tell,
    walk::{self, Way},
};

/// The daemon is asked for so many hunks at once, so that progress is seen and a cancel is heard.
const AT_ONCE: usize = 64;
/// A message names so many reasons; the answer has all.
const MOST_REASONS: usize = 3;

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

/// What a command is about. A user can be faster than the daemon's events: before it is said that there is nothing, the daemon is
/// asked.
async fn known(session: &Session, arguments: &Arguments, width: Width) -> Result<About, Failure> {
    match About::of(session, arguments, width) {
        Ok(about) => Ok(about),
        Err(_) => {
            let client = session.daemon.client().await?;
            follow::all(session, &client).await?;
            About::of(session, arguments, width)
        }
    }
}

/// Accepts.
pub(super) async fn accept(
    session: &Arc<Session>,
    arguments: &Arguments,
    width: Width,
) -> Result<Value, Failure> {
    let about = known(session, arguments, width).await?;
    let named = matches!(about, About::Hunk(_));
    let (parts, mut decided) = about::shares(session, &about)?;
    let task = match &about {
        About::Hunk(name) => name.task.clone(),
        About::File(task, _) | About::Task(task) => task.clone(),
    };
    let mut picks = Vec::new();
    let mut here = Vec::new();
    for part in parts {
        match about::split(session, &part) {
            Ok((lines, whole)) => {
                if !lines.is_empty() {
                    here.push((part.found, part.real, lines));
                }
                picks.extend(whole);
            }
            Err(failure) if named => return Err(failure),
            Err(failure) => decided.skipped.push(Skipped {
                path: part.found.file().path.clone(),
                hunk: None,
                reason: failure.to_string(),
            }),
        }
    }
    let gesture = session.gesture(&task);
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
        if let Err(failure) = by_daemon(session, &task, &gesture, chunk, named, &mut decided).await
        {
            progress.end(session).await;
            return Err(failure);
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
                gesture: &gesture,
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
    let about = known(session, arguments, width).await?;
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
        gesture: Some(session.gesture(task)),
        reason: arguments.reason.clone(),
        ..Decide::default()
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

/// Takes the last decision back: out of open buffers here, out of files by the daemon. What was decided through this editor
/// comes first, then what was before it.
pub(super) async fn undo(session: &Session, arguments: &Arguments) -> Result<Value, Failure> {
    let task = arguments.task(session)?;
    while let Some((task, gesture)) = session.last_gesture(task.as_ref()) {
        let (hunks, failures) = apply::take_back(session, &gesture).await;
        if hunks == 0
            && let Some(failure) = failures.first()
        {
            return Err(failure.clone());
        }
        // What stands in a buffer that could not be changed is left to the user, and so is what the daemon knows of it.
        let mut decided = if failures.is_empty() {
            let gesture = Some(gesture);
            let client = session.daemon.client().await?;
            client.undo(task.as_str(), &Undo { gesture }).await?
        } else {
            Decided::default()
        };
        decided.hunks += hunks;
        // The user has taken it back in the editor by then: what was done before it is meant.
        if decided.hunks > 0 || !decided.skipped.is_empty() {
            taken_back(session, &decided, &failures).await;
            return to_json(&decided);
        }
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
    let client = session.daemon.client().await?;
    // A daemon of before there was this question takes all of it back by itself.
    let last = client.last(task.as_str()).await.unwrap_or_default();
    let gesture = last.gesture.clone();
    let (hunks, failures, more) = apply::take_back_last(session, &task, last).await;
    if hunks == 0
        && let Some(failure) = failures.first()
    {
        return Err(failure.clone());
    }
    let mut decided = if failures.is_empty() && (more || hunks == 0) {
        client.undo(task.as_str(), &Undo { gesture }).await?
    } else {
        Decided::default()
    };
    decided.hunks += hunks;
    taken_back(session, &decided, &failures).await;
    to_json(&decided)
}

/// Says what an undo did.
async fn taken_back(session: &Session, decided: &Decided, failures: &[Failure]) {
    let waits = if decided.hunks == 1 { "waits" } else { "wait" };
    let mut parts = vec![format!(
        "taken back: {} {waits} again",
        count(decided.hunks, "hunk")
    )];
    parts.extend(reasons("stays as it is", &decided.skipped));
    parts.extend(failures.iter().map(ToString::to_string));
    let kind = if parts.len() == 1 {
        MessageType::Info
    } else {
        MessageType::Warning
    };
    tell::say(session, kind, &parts.join("; ")).await;
}

/// Reasons, each with how often it was one.
fn reasons(what: &str, skipped: &[Skipped]) -> Vec<String> {
    let mut why: BTreeMap<&str, usize> = BTreeMap::new();
    for skipped in skipped {
        *why.entry(skipped.reason.as_str()).or_default() += 1;
    }
    let more = why.len().saturating_sub(MOST_REASONS);
    let first = why.into_iter().take(MOST_REASONS);
    let mut said: Vec<String> = first
        .map(|(reason, times)| format!("{times} {what}: {reason}"))
        .collect();
    if more > 0 {
        said.push(format!("and {more} more reasons"));
    }
    said
}

/// Has the daemon write. Of many hunks, those that cannot be written are left out, each with its reason.
async fn by_daemon(
    session: &Session,
    task: &TaskId,
    gesture: &str,
    picks: &[Pick],
    named: bool,
    decided: &mut Decided,
) -> Result<(), Failure> {
    let client = session.daemon.client().await?;
    let decide = |picks: &[Pick]| Decide {
        picks: picks.to_vec(),
        gesture: Some(gesture.to_owned()),
        ..Decide::default()
    };
    match client.accept(task.as_str(), &decide(picks)).await {
        Ok(answer) => add(decided, answer),
        Err(error) if named => return Err(error.into()),
        // One of them stands in the way of all, since each is named.
        Err(_) => {
            for pick in picks {
                let one = decide(std::slice::from_ref(pick));
                match client.accept(task.as_str(), &one).await {
                    Ok(answer) => add(decided, answer),
                    Err(error) => decided.skipped.push(Skipped {
                        path: pick.path.clone(),
                        hunk: pick.hunk,
                        reason: Failure::from(error).to_string(),
                    }),
                }
            }
        }
    }
    Ok(())
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
    parts.extend(reasons("left out", &decided.skipped));
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

fn count(n: u32, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn to_json(value: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new(error.to_string()))
}
