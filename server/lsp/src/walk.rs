//! The review cursor: from hunk to hunk across files, in the order in which they are best read.

use std::path::PathBuf;

use gen_lsp_types::{Position, Range, ShowDocumentParams, Uri};
use legwork_model::TaskId;
use legwork_review::{LineKind, State};
use serde::Serialize;

use crate::{
    failure::Failure,
    name::HunkName,
    present, preview,
    session::{Session, State as SessionState},
    sheet::Stand,
};

/// A hunk that waits, somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: HunkName,
    pub(crate) title: String,
    pub(crate) why: String,
    pub(crate) real: PathBuf,
    /// From 0; where no buffer and no look at the disk says better, the line in the base.
    pub(crate) line: u32,
    pub(crate) conflicted: bool,
}

/// One place, as clients are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Item {
    pub(crate) hunk: String,
    pub(crate) task: String,
    pub(crate) uri: String,
    pub(crate) line: u32,
    pub(crate) title: String,
    pub(crate) state: &'static str,
    pub(crate) why: String,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    First,
    Next,
    Previous,
}

/// All that waits: newest task first, within one the daemon's order, within a file from top to bottom.
pub(crate) fn steps(state: &SessionState, task: Option<&TaskId>) -> Vec<Step> {
    let mut steps = Vec::new();
    for known in state.tasks.newest() {
        if task.is_some_and(|task| known.task.id != *task) {
            continue;
        }
        let Some(desk) = &known.desk else { continue };
        for file in &desk.files {
            let real = file.path.under(&known.task.spec.workspace);
            let shown = state.shown.get(&real);
            let first = steps.len();
            for hunk in file
                .review
                .hunks()
                .iter()
                .filter(|hunk| hunk.state == State::Pending)
            {
                let name = HunkName {
                    task: known.task.id.clone(),
                    number: hunk.id,
                    path: file.path.clone(),
                };
                let spot =
                    shown.and_then(|shown| shown.sheet.spots.iter().find(|spot| spot.name == name));
                steps.push(Step {
                    name,
                    title: desk.title.clone(),
                    why: file.why.clone(),
                    real: real.clone(),
                    line: spot.map_or(hunk.before.start, |spot| spot.start),
                    conflicted: spot.is_some_and(|spot| spot.stand == Stand::Conflicted),
                });
            }
            steps[first..].sort_by_key(|step| step.line);
        }
    }
    steps
}

/// As clients are told.
pub(crate) fn item(session: &Session, step: &Step) -> Item {
    let uri = session.state().uri(&step.real);
    Item {
        hunk: step.name.to_string(),
        task: step.name.task.to_string(),
        uri: if is_there(session, step) {
            uri
        } else {
            proposed(session, step).unwrap_or(uri)
        },
        line: step.line,
        title: step.title.clone(),
        state: if step.conflicted {
            "conflicted"
        } else {
            "pending"
        },
        why: step.why.clone(),
    }
}

/// Whether there is a file, or a buffer that is to be one.
fn is_there(session: &Session, step: &Step) -> bool {
    step.real.exists() || session.state().documents.of_file(&step.real).is_some()
}

/// Where a file that is not on disk can be read.
fn proposed(session: &Session, step: &Step) -> Option<String> {
    session
        .wants(|profile| profile.options.ui.content)
        .then(|| {
            let path = crate::uri::from_path(&PathBuf::from("/").join(step.name.path.as_path()));
            let path = path.strip_prefix("file://").unwrap_or(&path).to_owned();
            format!("legwork:/{}/proposed{path}", step.name.task)
        })
}

/// Where to go from the cursor, or from a line of a file.
pub(crate) fn choose(
    state: &SessionState,
    way: Way,
    task: Option<&TaskId>,
    from: Option<(PathBuf, u32)>,
) -> Option<Step> {
    let steps = steps(state, task);
    let back = way == Way::Previous;
    let here = match (way, &from, &state.cursor) {
        (Way::First, _, _) => None,
        (_, Some((real, line)), _) => {
            // A line between two hunks of a file is as good as the hunk itself.
            let beyond = |step: &&Step| {
                step.real == *real
                    && if back {
                        step.line < *line
                    } else {
                        step.line > *line
                    }
            };
            let found = if back {
                steps.iter().rfind(beyond)
            } else {
                steps.iter().find(beyond)
            };
            if let Some(step) = found {
                return Some(step.clone());
            }
            let edge = |step: &Step| step.real == *real;
            if back {
                steps.iter().position(edge)
            } else {
                steps.iter().rposition(edge)
            }
        }
        (_, None, Some(cursor)) => {
            steps
                .iter()
                .position(|step| step.name == *cursor)
                .or_else(|| {
                    // It was decided: what comes next is what stands behind it now.
                    let real = state
                        .tasks
                        .get(&cursor.task)
                        .map(|known| cursor.path.under(&known.task.spec.workspace))?;
                    let behind = steps
                        .iter()
                        .position(|step| step.real == real && step.name.number > cursor.number)?;
                    Some(if back { behind } else { behind.checked_sub(1)? })
                })
        }
        _ => None,
    };
    let at = match (here, back) {
        (None, false) => 0,
        (None, true) => steps.len().checked_sub(1)?,
        (Some(here), false) => here + 1,
        (Some(here), true) => here.checked_sub(1).unwrap_or(steps.len().saturating_sub(1)),
    };
    // Behind the last one comes the first.
    steps.get(at).or_else(|| steps.first()).cloned()
}

/// Goes there: the client's own cursor too, if it can be moved.
pub(crate) async fn go(session: &Session, mut step: Step) -> Result<Item, Failure> {
    session.state().cursor = Some(step.name.clone());
    let known = session.state().spot(&step.name).is_some();
    if !known && let Ok(look) = present::look(session, &step.real).await {
        let spot = look.sheet.spots.iter().find(|spot| spot.name == step.name);
        step.line = spot.map_or(step.line, |spot| spot.start);
    }
    let mut place = item(session, &step);
    if session.wants(|profile| profile.show_document) {
        if !is_there(session, &step) && !place.uri.starts_with("legwork:") {
            place.uri = copy(session, &step).await?;
        }
        let at = Position {
            line: step.line,
            character: 0,
        };
        let params = ShowDocumentParams {
            uri: Uri(place.uri.clone()),
            external: None,
            take_focus: Some(true),
            selection: Some(Range { start: at, end: at }),
        };
        let shown = session.client.show_document(params).await;
        if !matches!(shown, Ok(true)) {
            tracing::info!(uri = %place.uri, "the client does not show a document");
        }
    }
    Ok(place)
}

/// A file that the task would create, to be read: clients that know no `legwork:` address get it as a file of ours.
async fn copy(session: &Session, step: &Step) -> Result<String, Failure> {
    let found = session
        .state()
        .tasks
        .get(&step.name.task)
        .and_then(|known| known.file(&step.name.path))
        .ok_or_else(|| Failure::new("the hunk is gone: go to the next one"))?;
    let (_, agent) = present::bytes(session, &found).await?;
    let path = preview::write(session, &step.name, agent).await?;
    Ok(crate::uri::from_path(&path))
}

/// A hunk in half a line, for menus and messages.
pub(crate) fn brief(lines: &[legwork_review::LineView]) -> String {
    let line = lines
        .iter()
        .find(|line| line.kind == LineKind::Added && !line.text.trim().is_empty())
        .or_else(|| lines.iter().find(|line| line.kind == LineKind::Removed));
    let sign = |kind| if kind == LineKind::Added { '+' } else { '-' };
    line.map_or_else(String::new, |line| {
        format!("{}{}", sign(line.kind), crate::tell::cut(line.text.trim()))
    })
}
