//! `legwork accept`, `reject` and `undo`: decisions without looking at each hunk.

use legwork_model::TaskId;
use legwork_wire::{Decide, Decided, HunkState, Places, Review};

use crate::{
    args::{AcceptArgs, RejectArgs, SomeArgs, TaskPrefix},
    decide,
    failure::{Failure, Kind},
    output,
    printable::printable,
    start, verdict as words, workspace,
};

/// Does `accept`.
pub(crate) async fn accept(places: &Places, args: AcceptArgs) -> Result<(), Failure> {
    take(places, args.some, Some(args.include_sensitive)).await
}

/// Does `reject`.
pub(crate) async fn reject(places: &Places, args: RejectArgs) -> Result<(), Failure> {
    take(places, args.some, None).await
}

/// Does `undo`.
pub(crate) async fn undo(places: &Places, task: &TaskPrefix, json: bool) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let id = client.task(task.as_str()).await?.task.id;
    let decided = client.undo(id.as_str()).await?;
    if json {
        output::json(&decided)?;
    } else {
        tell("pending again", &id, &decided);
    }
    Ok(())
}

/// An accept if it is said whether sensitive changes are included, else a reject.
async fn take(places: &Places, some: SomeArgs, accept: Option<bool>) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let task = client.task(some.task.as_str()).await?.task;
    let id = task.id;
    let review = client.review(id.as_str()).await?;
    let picks = decide::picks(
        &some.paths,
        &workspace::in_workspace(&task.spec.workspace),
        &review,
    )?;
    let decide = Decide {
        picks,
        include_sensitive: accept.unwrap_or_default(),
        digest: None,
    };
    let decided = match accept {
        Some(_) => client.accept(id.as_str(), &decide).await?,
        None => client.reject(id.as_str(), &decide).await?,
    };
    if some.json {
        output::json(&decided)?;
    } else {
        tell(
            if accept.is_some() {
                "accepted"
            } else {
                "rejected"
            },
            &id,
            &decided,
        );
    }
    verdict(&review, &decided)
}

/// Says what a decision did.
pub(crate) fn tell(what: &str, task: &TaskId, decided: &Decided) {
    for path in &decided.written {
        output::tell(&format!("  wrote {path}"));
    }
    for skipped in &decided.skipped {
        let hunk = skipped
            .hunk
            .map(|hunk| format!(":{hunk}"))
            .unwrap_or_default();
        output::tell(&format!(
            "  left {}{hunk}: {}",
            skipped.path,
            printable(&skipped.reason)
        ));
    }
    let hunks = words::count(decided.hunks.into(), "hunk");
    let pending = match decided.pending {
        0 => "nothing is pending any more".to_owned(),
        pending => format!("{} pending", words::count(pending.into(), "hunk")),
    };
    let undo = if what == "accepted" && !decided.written.is_empty() {
        format!("; `legwork undo {}` takes it back", task.short())
    } else {
        String::new()
    };
    output::note(&format!("{hunks} {what}, {pending}{undo}"));
}

/// A decision that did nothing at all has failed; by policy if what was left is sensitive.
pub(crate) fn verdict(review: &Review, decided: &Decided) -> Result<(), Failure> {
    if decided.hunks > 0 || decided.skipped.is_empty() {
        return Ok(());
    }
    let conflicted = |path, hunk: Option<u32>| {
        let file = review.files.iter().find(|file| file.path == path)?;
        let of = |state| {
            file.hunks
                .iter()
                .any(|h| h.state == state && hunk.is_none_or(|id| id == h.id))
        };
        Some(file.sensitive.is_none() || of(HunkState::Conflicted))
    };
    let policy = decided
        .skipped
        .iter()
        .all(|skipped| conflicted(skipped.path.clone(), skipped.hunk) == Some(false));
    if policy {
        Err(Failure::new(
            Kind::Policy,
            "nothing was accepted: what is pending is sensitive",
            "look at it, then name the file, or add --include-sensitive",
        ))
    } else {
        Err(Failure::task(
            "nothing was accepted: what is pending is in conflict or sensitive",
            "`legwork review` shows it; reject it, or retry the task on the files as they are now",
        ))
    }
}

#[cfg(test)]
mod tests {
    use legwork_wire::Skipped;

    use super::*;
    use crate::review::tests::review;

    fn skipped(path: &str, hunk: Option<u32>) -> Skipped {
        Skipped {
            path: path.parse().unwrap(),
            hunk,
            reason: "it is so".to_owned(),
        }
    }

    #[test]
    fn only_a_decision_that_did_nothing_fails_and_the_reason_names_the_code() {
        let mut review = review();
        let code = |review: &Review, hunks, skipped| {
            let decided = Decided {
                hunks,
                skipped,
                ..Decided::default()
            };
            verdict(review, &decided).map_or_else(|failure| failure.kind.code(), |()| 0)
        };
        assert_eq!(code(&review, 0, vec![]), 0);
        assert_eq!(code(&review, 1, vec![skipped("b", None)]), 0);
        assert_eq!(code(&review, 0, vec![skipped("b", None)]), 4);
        assert_eq!(code(&review, 0, vec![skipped("a", Some(1))]), 1);
        assert_eq!(
            code(&review, 0, vec![skipped("b", None), skipped("a", Some(1))]),
            1
        );
        review.files[1].hunks[0].state = HunkState::Conflicted;
        assert_eq!(code(&review, 0, vec![skipped("b", Some(1))]), 1);
    }
}
