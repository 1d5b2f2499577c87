//! What a decision is about: the hunks it names, file by file, and which of them go through the editor.

use std::path::PathBuf;

use legwork_model::{TaskId, TreePath};
use legwork_review::{Part, State};
use legwork_wire::{Decided, Pick, Skipped};

use super::arguments::Arguments;
use crate::{
    content::Address, failure::Failure, name::HunkName, roots, session::Session, sheet::Stand,
    tasks::Found, uri,
};

/// How much a command is about when its argument does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Hunk,
    File,
    Task,
}

/// What a decision is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    Hunk(HunkName),
    File(TaskId, TreePath),
    Task(TaskId),
}

/// Some hunks of one file.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) found: Found,
    pub(super) real: PathBuf,
    pub(super) ids: Vec<u32>,
}

impl About {
    /// What the command is about: what is named, else the review cursor.
    pub(super) fn of(
        session: &Session,
        arguments: &Arguments,
        width: Width,
    ) -> Result<Self, Failure> {
        if let Some(hunk) = arguments.hunk()? {
            return Ok(match width {
                Width::Hunk => Self::Hunk(hunk),
                Width::File => Self::File(hunk.task, hunk.path),
                Width::Task => Self::Task(hunk.task),
            });
        }
        let task = arguments.task(session)?;
        let cursor = session.state().cursor.clone();
        if let Some(address) = arguments
            .uri
            .as_deref()
            .and_then(|uri| Address::parse(session, uri))
        {
            return match address? {
                Address::Proposed(task, path) | Address::Base(task, path) => {
                    Ok(Self::File(task, path))
                }
                Address::Diff(task) | Address::Log(task) | Address::Seen(task) => {
                    Ok(Self::Task(task))
                }
            };
        }
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
            return Ok(Self::File(
                found.desk.task.clone(),
                found.file().path.clone(),
            ));
        }
        match (width, task, cursor) {
            (Width::Hunk | Width::Task, Some(task), _) => Ok(Self::Task(task)),
            (Width::Hunk, None, Some(cursor)) => Ok(Self::Hunk(cursor)),
            (Width::File, task, Some(cursor))
                if task.as_ref().is_none_or(|task| *task == cursor.task) =>
            {
                Ok(Self::File(cursor.task, cursor.path))
            }
            (Width::Task, None, Some(cursor)) => Ok(Self::Task(cursor.task)),
            (Width::Task, None, None) => only_task(session).map(Self::Task),
            _ => Err(Failure::new(
                "no hunk is under review: go to one with `legwork.next`",
            )),
        }
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
pub(super) fn shares(session: &Session, about: &About) -> Result<(Vec<Share>, Decided), Failure> {
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
pub(super) fn split(session: &Session, part: &Share) -> Result<(Vec<u32>, Vec<Pick>), Failure> {
    let state = session.state();
    let path = &part.found.file().path;
    let review = &part.found.file().review;
    // A hunk by its number is one that was seen: if the task has changed it since, it has another.
    let pick = |id: &u32| Pick {
        path: path.clone(),
        hunk: Some(*id),
    };
    if state.documents.of_file(&part.real).is_none() {
        return Ok((Vec::new(), part.ids.iter().map(pick).collect()));
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
        picks.push(pick(id));
    }
    Ok((lines, picks))
}

/// The file that an address names, without any link.
pub(super) fn file(uri: &str) -> Option<PathBuf> {
    roots::real(&uri::to_path(uri)?)
}
