//! Taking an accept out of a buffer again.

use legwork_model::TaskId;
use legwork_review::Version;
use legwork_wire::{Pick, Reopen};

use super::{OwnAccept, buffer, confirm, is_same, send};
use crate::{failure::Failure, session::Session, text};

/// Takes the last accept of a task that went through this editor out of its buffer again; `None` if there is none.
pub(crate) async fn undo(
    session: &Session,
    task: Option<&TaskId>,
) -> Option<Result<OwnAccept, Failure>> {
    let own = {
        let mut state = session.state();
        let at = state
            .own
            .iter()
            .rposition(|own| task.is_none_or(|task| own.task == *task))?;
        let own = state.own.remove(at);
        let open = state.documents.of_file(&own.real).is_some();
        let accepted = state
            .tasks
            .get(&own.task)
            .and_then(|known| known.file(&own.path))
            .is_some_and(|found| {
                own.ids.iter().all(|id| {
                    found
                        .file()
                        .review
                        .hunk(*id)
                        .is_some_and(|hunk| hunk.state == legwork_review::State::Accepted)
                })
            });
        if !open || !accepted {
            return None;
        }
        own
    };
    Some(take_back(session, &own).await.map(|()| own))
}

async fn take_back(session: &Session, own: &OwnAccept) -> Result<(), Failure> {
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
        let came = confirm(session, &own.real, |text| is_same(text.as_str(), &wanted)).await;
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
