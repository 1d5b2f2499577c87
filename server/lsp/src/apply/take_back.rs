//! Taking an accept out of a buffer again.

use legwork_model::TaskId;
use legwork_review::{State, UndoError, Version};
use legwork_wire::{Landed, Last, Pick, Reopen};

use super::{OwnAccept, Wait, buffer, confirm, is_same, send};
use crate::{
    failure::Failure,
    session::Session,
    text::{self, Text},
};

/// Takes what was accepted in one go, and stands in open buffers, out of them again, the latest first. Gives the number of
/// hunks that wait again, and why others do not.
pub(crate) async fn take_back(session: &Session, gesture: &str) -> (u32, Vec<Failure>) {
    let (mut hunks, mut failures) = (0, Vec::new());
    while let Some(own) = last(session, gesture) {
        match one(session, &own).await {
            Ok(()) => hunks += u32::try_from(own.ids.len()).unwrap_or(u32::MAX),
            Err(failure) => failures.push(failure),
        }
    }
    (hunks, failures)
}

/// The last of them that is still as it was accepted; those that are not are forgotten.
fn last(session: &Session, gesture: &str) -> Option<OwnAccept> {
    let mut state = session.state();
    loop {
        let at = state.own.iter().rposition(|own| own.gesture == gesture)?;
        let own = state.own.remove(at);
        let found = state
            .tasks
            .get(&own.task)
            .and_then(|known| known.file(&own.path));
        let accepted = |id: &u32| {
            let hunk = found
                .as_ref()
                .and_then(|found| found.file().review.hunk(*id));
            hunk.is_some_and(|hunk| hunk.state == State::Accepted)
        };
        if state.documents.of_file(&own.real).is_some() && own.ids.iter().all(accepted) {
            return Some(own);
        }
    }
}

/// The same with what was accepted last of a task, whoever did it: this editor before it was started again, another one, or
/// the daemon. No file is changed on the disk under the editor that has it open. Gives too whether there is more of it, in
/// files that are not open here.
pub(crate) async fn take_back_last(
    session: &Session,
    task: &TaskId,
    last: Last,
) -> (u32, Vec<Failure>, bool) {
    let (mut hunks, mut failures, mut more) = (0, Vec::new(), false);
    for Landed {
        path,
        hunks: ids,
        texts,
    } in last.files
    {
        let workspace = session
            .state()
            .tasks
            .get(task)
            .map(|known| known.task.spec.workspace.clone());
        let own = workspace.zip(texts).map(|(workspace, texts)| OwnAccept {
            task: task.clone(),
            real: path.under(&workspace),
            path,
            gesture: String::new(),
            ids,
            before: unmarked(texts.0),
            after: unmarked(texts.1),
        });
        let open = own.filter(|own| {
            // Where the buffer does not hold it, it is to go from the disk.
            buffer(session, &own.real).is_some_and(|(_, _, text)| {
                without(own, text.as_str()).map_or(true, |left| left != text.as_str())
            })
        });
        let Some(own) = open else {
            more = true;
            continue;
        };
        match one(session, &own).await {
            Ok(()) => hunks += u32::try_from(own.ids.len()).unwrap_or(u32::MAX),
            Err(failure) => failures.push(failure),
        }
    }
    (hunks, failures, more)
}

/// In the buffer, which does not have the mark that stands before the text in the file.
fn unmarked(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// A text without what was accepted.
fn without(own: &OwnAccept, text: &str) -> Result<String, UndoError> {
    let [before, after, live] =
        [&own.before, &own.after, text].map(|text| Some(Version::regular(text.as_bytes())));
    let result = legwork_review::undo(before, after, live)?;
    let bytes = result.map(|content| content.bytes).unwrap_or_default();
    // It is made of lines of three texts.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn one(session: &Session, own: &OwnAccept) -> Result<(), Failure> {
    let _alone = session.applying.lock().await;
    let closed = || {
        Failure::new(format!(
            "`{}` is not open any more: use `legwork undo {}`",
            own.path,
            own.task.short()
        ))
    };
    let (uri, version, text) = buffer(session, &own.real).ok_or_else(closed)?;
    let wanted = without(own, text.as_str()).map_err(|error| Failure::new(error.to_string()))?;
    let edits = text::replace(&text, &wanted, session.encoding());
    if !edits.is_empty() {
        let label = "Legwork: undo an accept".to_owned();
        let answer = send(session, &uri, version, edits, label).await;
        let wait = Wait::after(session, &answer, version);
        let same = |text: &Text| is_same(text.as_str(), &wanted);
        let came = confirm(session, &own.real, wait, same).await;
        if came.is_none() {
            let why = answer
                .err()
                .unwrap_or_else(|| "the text did not come back within 2 s".to_owned());
            return Err(Failure::new(format!(
                "`{}` was not changed: {why}",
                own.path
            )));
        }
    }
    let picks = own
        .ids
        .iter()
        .map(|id| Pick {
            path: own.path.clone(),
            hunk: Some(*id),
        })
        .collect();
    session
        .daemon
        .client()
        .await?
        .reopen(own.task.as_str(), &Reopen { picks })
        .await?;
    Ok(())
}
