//! `legwork run`: a task in the foreground. It runs in the daemon all the same, and goes on when this process ends.

use legwork_model::{EventBody, Outcome, Report, TaskId, TaskState};
use legwork_wire::{
    Card, Client, Decide, FileReview, HunkState, Places, Review, Submit, TaskDetail,
};
use serde::Serialize;

use crate::{
    accept,
    args::RunArgs,
    check, delegate, diff,
    failure::{Failure, Kind},
    follow::Follow,
    network, output,
    printable::printable,
    progress::Progress,
    start, verdict, workspace,
};

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    task: &'a TaskId,
    state: TaskState,
    outcome: Option<&'a Outcome>,
    /// The command's own exit code, if it ended by itself.
    exit_code: Option<i32>,
    /// Hunks that wait for a decision.
    pending: u32,
    files: Vec<AnswerFile<'a>>,
    /// Bytes that are not UTF-8 are replaced.
    diff: String,
    report: Option<&'a Report>,
    refused: &'a [legwork_model::Refused],
    notices: &'a [String],
    /// What the checks say before and after, if there are any.
    evidence: Option<&'a Card>,
}

/// A changed file in [`Answer`].
#[derive(Debug, Serialize)]
struct AnswerFile<'a> {
    path: &'a legwork_model::TreePath,
    kind: &'a legwork_model::ChangeKind,
    binary: bool,
    sensitive: Option<&'a str>,
    hunks: usize,
    pending: usize,
}

/// Does it.
pub(crate) async fn run(places: &Places, args: RunArgs) -> Result<(), Failure> {
    let spec = delegate::spec(places, args.task)?;
    let client = start::connect(places).await?;
    let task = client
        .submit(&Submit {
            spec,
            buffers: vec![],
        })
        .await?
        .task;
    network::tell(&client, &task).await?;
    let (client, told) = wait(places, client, &task).await?;

    let card = check_ended(&client, &task).await?;
    let mut detail = client.task(task.as_str()).await?;
    let review = client.review(task.as_str()).await?;
    let patch = client.diff(task.as_str()).await?;
    if !args.json {
        match diff::print(&patch).map_err(Failure::from) {
            // The task is what counts, whether somebody reads its diff or not.
            Err(failure) if failure.kind != Kind::Unread => return Err(failure),
            _ => {
                summary(&detail, &review, &told);
                if let Some(card) = &card {
                    output::tell_bytes(check::told(Some(card)).as_bytes());
                }
            }
        }
    }
    let mut accepted = Ok(());
    if args.accept {
        accepted = accept_all(&client, &detail, &review).await;
        detail = client.task(task.as_str()).await?;
    }
    if args.json {
        // As it stands after the accept.
        let review = client.review(task.as_str()).await?;
        print_json(&detail, &review, &patch, card.as_ref())?;
    }
    ended(&detail)?;
    accepted
}

/// Follows the task to its end; gives the daemon that was heard last, and the notices that were told. The first Ctrl-C cancels it, the second leaves at once.
async fn wait(
    places: &Places,
    client: Client,
    task: &TaskId,
) -> Result<(Client, Vec<String>), Failure> {
    let mut progress = Progress::new();
    let mut follow = Follow::new(places, client, task.as_str());
    let mut cancelling = false;
    loop {
        tokio::select! {
            event = follow.next() => match event? {
                Some(event) => {
                    progress.tell(&event.body);
                    if let EventBody::Asked { question } = &event.body {
                        let id = task.short();
                        progress.note(&format!("the agent asks: {}", printable(question)));
                        progress.note(&format!("answer it with `legwork say {id} TEXT`"));
                    }
                }
                None => break,
            },
            pressed = tokio::signal::ctrl_c() => {
                let left = || Failure::new(
                    Kind::Cancelled,
                    format!("left task {}", task.short()),
                    format!("`legwork show {}` says how it ended", task.short()),
                );
                if cancelling || pressed.is_err() {
                    return Err(left());
                }
                cancelling = true;
                progress.note("cancelling; press Ctrl-C again to leave at once");
                tokio::select! {
                    // It may just have ended by itself: what comes next tells.
                    cancelled = cancel(&follow, task) => cancelled.unwrap_or_else(|failure| progress.note(&failure.message)),
                    _again = tokio::signal::ctrl_c() => return Err(left()),
                }
            }
        }
    }
    Ok((follow.client().clone(), progress.finish()))
}

/// Waits for the checks; the first Ctrl-C stops them, and the task stays as it is.
async fn check_ended(client: &Client, task: &TaskId) -> Result<Option<Card>, Failure> {
    tokio::select! {
        card = check::wait(client, task.as_str()) => return card,
        pressed = tokio::signal::ctrl_c() => {
            if pressed.is_ok() {
                output::note("the checks are stopped");
                client.cancel(task.as_str()).await?;
            }
        }
    }
    check::wait(client, task.as_str()).await
}

async fn cancel(follow: &Follow<'_>, task: &TaskId) -> Result<(), Failure> {
    follow.client().cancel(task.as_str()).await?;
    Ok(())
}

/// Says what there is to decide and what the user should know and was not told yet.
fn summary(detail: &TaskDetail, review: &Review, told: &[String]) {
    for notice in detail
        .notices
        .iter()
        .filter(|notice| !told.contains(notice))
    {
        output::note(&printable(notice));
    }
    for refused in &detail.refused {
        let (path, reason) = (printable(&refused.path), printable(&refused.reason));
        output::note(&format!("not carried over: {path}: {reason}"));
    }
    if let Some(next) = next(review, detail) {
        output::note(&next);
    }
    let id = detail.task.id.short();
    let place = workspace::in_workspace(&detail.task.spec.workspace);
    for (file, reason) in sensitive(review) {
        let (path, typed, reason) = (&file.path, place.typed(&file.path), printable(reason));
        output::note(&format!(
            "{path} is sensitive ({reason}): only `legwork accept {id} {typed}` or `--include-sensitive` takes it"
        ));
    }
}

/// What changed and how to decide on it; `None` for a task that failed and changed nothing.
fn next(review: &Review, detail: &TaskDetail) -> Option<String> {
    let id = detail.task.id.short();
    if review.files.is_empty() {
        return (detail.task.outcome == Some(Outcome::Done))
            .then(|| format!("task {id} changed nothing"));
    }
    let files = verdict::count(review.files.len() as u64, "file");
    let hunks = verdict::count(detail.task.pending.into(), "hunk");
    let (takes, shows) = match detail.task.pending {
        1 => ("takes it", "shows it"),
        _ if sensitive(review).next().is_some() => {
            ("takes what is not sensitive", "goes through them")
        }
        _ => ("takes them all", "goes through them"),
    };
    Some(format!(
        "{files} changed, {hunks} pending: `legwork accept {id}` {takes}, `legwork review {id}` {shows}"
    ))
}

/// The files that wait for a decision of their own, and why.
fn sensitive(review: &Review) -> impl Iterator<Item = (&FileReview, &str)> {
    let files = review.files.iter().filter(|file| pending(file) > 0);
    files.filter_map(|file| Some((file, file.sensitive.as_deref()?)))
}

async fn accept_all(client: &Client, detail: &TaskDetail, review: &Review) -> Result<(), Failure> {
    if detail.task.outcome != Some(Outcome::Done) {
        output::note("nothing is accepted, because the task did not succeed");
        return Ok(());
    }
    if detail.task.pending == 0 {
        return Ok(());
    }
    let decide = Decide {
        digest: Some(review.digest),
        ..Decide::default()
    };
    let decided = client.accept(detail.task.id.as_str(), &decide).await?;
    accept::tell("accepted", &detail.task.id, &decided);
    Ok(())
}

fn print_json(
    detail: &TaskDetail,
    review: &Review,
    patch: &[u8],
    card: Option<&Card>,
) -> Result<(), Failure> {
    let task = &detail.task;
    let files = review.files.iter().map(|file| AnswerFile {
        path: &file.path,
        kind: &file.kind,
        binary: file.binary,
        sensitive: file.sensitive.as_deref(),
        hunks: file.hunks.len(),
        pending: pending(file),
    });
    output::json(&Answer {
        task: &task.id,
        state: task.state,
        outcome: task.outcome.as_ref(),
        exit_code: verdict::exit_code(task.outcome.as_ref()),
        pending: task.pending,
        files: files.collect(),
        diff: String::from_utf8_lossy(patch).into_owned(),
        report: task.report.as_ref(),
        refused: &detail.refused,
        notices: &detail.notices,
        evidence: card,
    })?;
    Ok(())
}

fn pending(file: &FileReview) -> usize {
    file.hunks
        .iter()
        .filter(|hunk| matches!(hunk.state, HunkState::Pending | HunkState::Conflicted))
        .count()
}

/// The exit code of the whole.
fn ended(detail: &TaskDetail) -> Result<(), Failure> {
    match &detail.task.outcome {
        Some(Outcome::Done) => Ok(()),
        Some(Outcome::Failed(failure)) => Err(Failure::of_task(failure)),
        Some(Outcome::Cancelled) => Err(Failure::new(
            Kind::Cancelled,
            format!("task {} was cancelled", detail.task.id.short()),
            "",
        )),
        None => Err(Failure::task(
            format!(
                "task {} is over and nobody knows how",
                detail.task.id.short()
            ),
            "the daemon's log (`daemon.log` in its state folder) says more",
        )),
    }
}

#[cfg(test)]
mod tests {
    use legwork_model::FailureKind;

    use super::*;

    fn detail(outcome: Option<Outcome>, pending: u32) -> TaskDetail {
        let task = verdict::tests::task(TaskState::Ready, outcome, pending);
        TaskDetail {
            task,
            last_event: 1,
            refused: vec![],
            notices: vec![],
        }
    }

    #[test]
    fn the_outcome_decides_the_exit_code() {
        let code =
            |outcome| ended(&detail(outcome, 0)).map_or_else(|failure| failure.kind.code(), |()| 0);
        let failed = |kind| Some(Outcome::Failed(legwork_model::Failure::new(kind, "m", "")));
        assert_eq!(code(Some(Outcome::Done)), 0);
        assert_eq!(code(failed(FailureKind::Exit { code: 9 })), 1);
        assert_eq!(code(failed(FailureKind::Host)), 3);
        assert_eq!(code(Some(Outcome::Cancelled)), 130);
        assert_eq!(code(None), 1);
    }

    #[test]
    fn the_summary_names_the_next_steps() {
        let mut review = crate::review::tests::review();
        let told = |review: &Review, pending| next(review, &detail(Some(Outcome::Done), pending));
        assert_eq!(
            told(&review, 5).unwrap(),
            "2 files changed, 5 hunks pending: `legwork accept bcdfgh` takes what is not sensitive, `legwork review \
             bcdfgh` goes through them"
        );
        review.files.pop();
        assert!(told(&review, 2).unwrap().contains("takes them all"));
        assert!(
            told(&review, 1)
                .unwrap()
                .contains("1 file changed, 1 hunk pending: `legwork accept bcdfgh` takes it,")
        );
        review.files.clear();
        assert_eq!(told(&review, 0).unwrap(), "task bcdfgh changed nothing");
        assert_eq!(next(&review, &detail(Some(Outcome::Cancelled), 0)), None);
    }
}
