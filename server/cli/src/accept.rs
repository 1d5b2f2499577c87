//! `legwork accept`, `reject` and `undo`: decisions without looking at each hunk.

use legwork_model::TaskId;
use legwork_wire::{Decide, Decided, Places, Undo};

use crate::{
    args::{AcceptArgs, RejectArgs, SomeArgs, TaskPrefix},
    decide,
    failure::Failure,
    output,
    printable::printable,
    start, verdict, workspace,
};

/// Does `accept`.
pub(crate) async fn accept(places: &Places, args: AcceptArgs) -> Result<(), Failure> {
    take(places, args.some, Verdict::Accept(args.include_sensitive)).await
}

/// Does `reject`.
pub(crate) async fn reject(places: &Places, args: RejectArgs) -> Result<(), Failure> {
    take(places, args.some, Verdict::Reject(args.reason)).await
}

/// Does `undo`.
pub(crate) async fn undo(places: &Places, task: &TaskPrefix, json: bool) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let id = client.task(task.as_str()).await?.task.id;
    let decided = client.undo(id.as_str(), &Undo::default()).await?;
    if json {
        output::json(&decided)?;
    } else {
        tell("pending again", &id, &decided);
    }
    Ok(())
}

/// What is decided.
enum Verdict {
    /// Whether sensitive changes are included.
    Accept(bool),
    /// Why, if that is said.
    Reject(Option<String>),
}

async fn take(places: &Places, some: SomeArgs, verdict: Verdict) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let task = client.task(some.task.as_str()).await?.task;
    let id = task.id;
    let review = client.review(id.as_str()).await?;
    let picks = decide::picks(
        &some.paths,
        &workspace::in_workspace(&task.spec.workspace),
        &review,
    )?;
    let mut decide = Decide {
        picks,
        ..Decide::default()
    };
    let (decided, what) = match verdict {
        Verdict::Accept(include_sensitive) => {
            decide.include_sensitive = include_sensitive;
            (client.accept(id.as_str(), &decide).await?, "accepted")
        }
        Verdict::Reject(reason) => {
            decide.reason = reason;
            (client.reject(id.as_str(), &decide).await?, "rejected")
        }
    };
    if some.json {
        output::json(&decided)?;
    } else {
        tell(what, &id, &decided);
    }
    Ok(())
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
    output::note(&done(what, task, decided));
}

/// What a decision did, in one line.
fn done(what: &str, task: &TaskId, decided: &Decided) -> String {
    let hunks = verdict::count(decided.hunks.into(), "hunk");
    let pending = match decided.pending {
        0 => "nothing is pending any more".to_owned(),
        pending => format!("{pending} pending in all"),
    };
    let undo = if what == "accepted" && !decided.written.is_empty() {
        format!("; `legwork undo {}` takes it back", task.short())
    } else {
        String::new()
    };
    format!("{hunks} {what}, {pending}{undo}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_told_with_what_is_left_and_the_way_back() {
        let task: TaskId = "bcdfghjkmnpq".parse().unwrap();
        let written = vec!["a".parse().unwrap()];
        let mut decided = Decided {
            hunks: 2,
            written,
            pending: 1,
            ..Decided::default()
        };
        assert_eq!(
            done("accepted", &task, &decided),
            "2 hunks accepted, 1 pending in all; `legwork undo bcdfgh` takes it back"
        );
        assert_eq!(
            done("pending again", &task, &decided),
            "2 hunks pending again, 1 pending in all"
        );
        decided.pending = 0;
        assert_eq!(
            done("rejected", &task, &decided),
            "2 hunks rejected, nothing is pending any more"
        );
    }
}
