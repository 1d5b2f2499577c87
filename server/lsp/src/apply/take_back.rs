//! Taking an accept out of a buffer again.

use legwork_review::{State, Version};
use legwork_wire::{Pick, Reopen};

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
    let [before, after, live] = [own.before.as_str(), own.after.as_str(), text.as_str()]
        .map(|text| Some(Version::regular(text.as_bytes())));
    let result = legwork_review::undo(before, after, live)
        .map_err(|error| Failure::new(error.to_string()))?;
    let wanted = result.map(|content| content.bytes).unwrap_or_default();
    let wanted = String::from_utf8(wanted).map_err(|_| Failure::new("the text is not UTF-8"))?;
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
