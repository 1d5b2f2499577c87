//! `legwork show`: all about one task.

use std::fmt::Write as _;

use legwork_model::{EntryKind, Manifest, Request, Task, Worker};
use legwork_spec::{ByteSize, Driver, Wall};
use legwork_wire::{Client, FileReview, HunkState, Places, Review, TaskDetail};
use serde_json::json;

use crate::{
    args::ShowArgs,
    check, diff,
    failure::Failure,
    logs, moment, network, output,
    printable::{command, printable},
    start, verdict,
};

/// Does it.
pub(crate) async fn show(places: &Places, args: ShowArgs) -> Result<(), Failure> {
    let client = start::connect(places).await?;
    let id = args.task.as_str();
    if args.diff {
        let patch = client.diff(id).await?;
        if args.json {
            output::json(&json!({ "diff": String::from_utf8_lossy(&patch) }))?;
        } else {
            diff::print(&patch)?;
        }
    } else if args.log {
        logs::print(&client, id, args.json).await?;
    } else if args.evidence {
        let card = client.evidence(id).await?;
        if args.json {
            output::json(&card)?;
        } else {
            output::print(&check::told(card.as_ref()))?;
        }
    } else if args.manifest {
        let manifest = client.manifest(id).await?;
        if args.json {
            output::json(&manifest)?;
        } else {
            output::print(&listing(&manifest))?;
        }
    } else {
        whole(&client, id, args.json).await?;
    }
    Ok(())
}

async fn whole(client: &Client, id: &str, json: bool) -> Result<(), Failure> {
    let detail = client.task(id).await?;
    // While it runs there may be something to review already.
    let review = client.review(detail.task.id.as_str()).await?;
    if json {
        output::json(&json!({ "detail": detail, "review": review }))?;
    } else {
        let card = client.evidence(detail.task.id.as_str()).await?;
        let mut text = told(&detail, &review, moment::now());
        if let Some(card) = card {
            let mut lines = Lines::default();
            lines.field("evidence", &printable(&card.summary()));
            text.push_str(&lines.text);
        }
        output::print(&text)?;
    }
    Ok(())
}

fn told(detail: &TaskDetail, review: &Review, now: i64) -> String {
    let task = &detail.task;
    let mut lines = Lines::default();
    lines.field("task", task.id.as_str());
    let spec = &task.spec;
    if let Some(request) = &spec.request {
        asked(&mut lines, request);
    }
    match &spec.worker {
        Worker::Command { argv } => lines.field("command", &command(argv)),
        Worker::Builtin => lines.field("agent", "built in"),
        Worker::External { agent } => lines.field("agent", &printable(agent)),
    }
    lines.field(
        "workspace",
        &printable(&spec.workspace.display().to_string()),
    );
    if !spec.directory.as_os_str().is_empty() {
        lines.field(
            "directory",
            &printable(&spec.directory.display().to_string()),
        );
    }
    if let legwork_spec::Root::Oci(path) = &spec.root {
        lines.field("image", &printable(&path.display().to_string()));
    }
    lines.field("network", &network::allowed(spec));
    lines.field("state", &verdict::state(task));
    if let Some(legwork_model::Outcome::Failed(failure)) = &task.outcome {
        lines.field("", &printable(&failure.message));
        if !failure.hint.is_empty() {
            lines.field("", &format!("hint: {}", printable(&failure.hint)));
        }
    }
    lines.field(
        "asked",
        &format!(
            "{} ({} ago)",
            moment::local(task.created),
            moment::age(task.created, now)
        ),
    );
    if let Some(finished) = task.finished {
        lines.field("ended", &moment::local(finished));
    }
    report(&mut lines, task);
    if let Some(question) = &task.question {
        for line in question.lines().filter(|line| !line.trim().is_empty()) {
            lines.field("asks", &printable(line));
        }
        lines.field("answer", &format!("`legwork say {} TEXT`", task.id.short()));
    }
    for notice in &detail.notices {
        lines.field("notice", &printable(notice));
    }
    for refused in &detail.refused {
        lines.field(
            "refused",
            &format!(
                "{}: {}",
                printable(&refused.path),
                printable(&refused.reason)
            ),
        );
    }
    if let Some(moved) = &review.moved {
        lines.field("commit", &printable(moved));
    }
    for file in &review.files {
        lines.field("change", &change(file));
    }
    if task.pending > 0 {
        let id = task.id.short();
        let still = if task.state.is_over() {
            ""
        } else {
            "; it goes on, and what it changes may still change"
        };
        lines.field(
            "next",
            &format!(
                "`legwork review {id}`, `legwork accept {id}` or `legwork reject {id}`{still}"
            ),
        );
    }
    lines.text
}

/// What was said, line by line, and where.
fn asked(lines: &mut Lines, request: &Request) {
    let mut name = "prompt";
    for line in request.text.lines().filter(|line| !line.trim().is_empty()) {
        lines.field(name, &printable(line));
        name = "";
    }
    if let Some(place) = &request.place {
        let (first, last) = place.lines;
        lines.field("at", &format!("{}, lines {first} to {last}", place.path));
    }
}

fn report(lines: &mut Lines, task: &Task) {
    let Some(report) = &task.report else { return };
    let driver = match report.driver {
        Some(Driver::Krun) => "krun",
        Some(Driver::Qemu) => "qemu",
        None => "none yet",
    };
    let emulated = if report.emulated {
        ", emulated in software: not a hardware boundary"
    } else {
        ""
    };
    lines.field("driver", &format!("{driver}{emulated}"));
    jail(lines, &report.walls);
    for reached in &report.network {
        lines.field("reached", &network::reached(reached));
    }
    let timings = report.timings;
    let spent: Vec<String> = [
        ("queued", timings.queued),
        ("capture", timings.capture),
        ("image", timings.image),
        ("boot", timings.boot),
        ("jail", timings.jail),
        ("mount", timings.mount),
        ("command", timings.command),
        ("collect", timings.collect),
    ]
    .into_iter()
    .filter(|(_, spent)| *spent > 0)
    .map(|(name, spent)| format!("{name} {}", moment::length(spent)))
    .collect();
    lines.field("time", &spent.join(", "));
    let files = verdict::count(report.files, "file");
    lines.field(
        "snapshot",
        &format!("{files}, {}", ByteSize::bytes(report.bytes)),
    );
    if report.peak_memory > 0 || report.cpu_ms > 0 {
        let memory = ByteSize::bytes(report.peak_memory);
        lines.field(
            "used",
            &format!(
                "{memory} of memory, {} of processor time",
                moment::length(report.cpu_ms)
            ),
        );
    }
    if report.output_dropped > 0 {
        lines.field(
            "output",
            &format!("{} were dropped", ByteSize::bytes(report.output_dropped)),
        );
    }
}

/// Which walls stood for this task; those that did not are named one by one.
fn jail(lines: &mut Lines, walls: &[Wall]) {
    let standing: Vec<_> = walls
        .iter()
        .filter(|wall| wall.stands)
        .map(|wall| format!("{} ({})", wall.kind.word(), printable(&wall.detail)))
        .collect();
    if !standing.is_empty() {
        lines.field("jail", &standing.join(", "));
    }
    for wall in walls.iter().filter(|wall| !wall.stands) {
        lines.field(
            "no wall",
            &format!("{}: {}", wall.kind.word(), printable(&wall.detail)),
        );
    }
}

fn change(file: &FileReview) -> String {
    let mut parts = vec![verdict::change(&file.kind)];
    for (state, word) in [
        (HunkState::Pending, "pending"),
        (HunkState::Conflicted, "in conflict"),
        (HunkState::Accepted, "accepted"),
        (HunkState::Rejected, "rejected"),
    ] {
        match file.hunks.iter().filter(|hunk| hunk.state == state).count() {
            0 => {}
            count => parts.push(format!("{count} {word}")),
        }
    }
    if let Some(summary) = &file.summary {
        parts.push(printable(summary).into_owned());
    }
    if let Some(reason) = &file.sensitive {
        parts.push(format!("sensitive: {}", printable(reason)));
    }
    format!("{}: {}", file.path, parts.join(", "))
}

fn listing(manifest: &Manifest) -> String {
    // Writing to a string does not fail.
    let mut text = String::new();
    for entry in &manifest.entries {
        let (size, tail) = match &entry.kind {
            EntryKind::File { size, .. } => (size.to_string(), String::new()),
            EntryKind::Dir => ("dir".to_owned(), "/".to_owned()),
            EntryKind::Symlink { target } => {
                ("link".to_owned(), format!(" -> {}", printable(target)))
            }
        };
        let _ok = writeln!(text, "{:04o} {size:>10} {}{tail}", entry.mode, entry.path);
    }
    for out in &manifest.left_out {
        let _ok = writeln!(
            text,
            "left out: {}, because {}",
            out.path,
            out.reason.describe()
        );
    }
    for path in &manifest.unattributed {
        let _ok = writeln!(
            text,
            "without its extended attributes or access list: {path}"
        );
    }
    for path in &manifest.linked {
        let _ok = writeln!(text, "a file of its own, not a hard link: {path}");
    }
    text
}

/// Named values, one a line.
#[derive(Debug, Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn field(&mut self, name: &str, value: &str) {
        let line = format!("{name:10} {value}");
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use legwork_model::{
        Failure as TaskFailure, FailureKind, Outcome, Refused, Report, TaskState, Timings,
    };

    use legwork_spec::WallKind;

    use super::*;

    #[test]
    fn a_failed_task_is_told_with_its_cause_changes_and_next_step() {
        let failure = TaskFailure::new(
            FailureKind::Exit { code: 2 },
            "the command ended with exit code 2",
            "read the log",
        );
        let mut task = verdict::tests::task(TaskState::Ready, Some(Outcome::Failed(failure)), 2);
        let timings = Timings {
            boot: 1500,
            command: 61_000,
            ..Timings::default()
        };
        task.report = Some(Report {
            driver: Some(Driver::Qemu),
            emulated: true,
            walls: [(WallKind::Files, true), (WallKind::Calls, false)]
                .map(|(kind, stands)| Wall {
                    kind,
                    stands,
                    detail: "why \u{1b}".to_owned(),
                })
                .to_vec(),
            timings,
            files: 2,
            ..Report::default()
        });
        let refused = vec![Refused {
            path: "a".to_owned(),
            reason: "it is \u{1b}bad".to_owned(),
        }];
        let detail = TaskDetail {
            task,
            last_event: 1,
            refused,
            notices: vec![],
        };
        let text = told(&detail, &crate::review::tests::review(), 60_000);
        for line in [
            "state      failed: exit 2 (2 hunks)\n           the command ended with exit code 2\n           hint: read the log\n",
            "driver     qemu, emulated in software: not a hardware boundary\n",
            "jail       files (why \\x1b)\n",
            "no wall    system calls: why \\x1b\n",
            "time       boot 1.5 s, command 1 min 1 s\n",
            "refused    a: it is \\x1bbad\n",
            "change     a: modified, 2 pending, 1 accepted\n",
            "next       `legwork review bcdfgh`",
        ] {
            assert!(text.contains(line), "{line:?} is not in\n{text}");
        }
    }

    #[test]
    fn a_task_that_runs_is_told_with_its_words_and_what_waits_already() {
        let mut task = verdict::tests::task(TaskState::Running, None, 2);
        task.spec.request = Some(Request {
            text: "fix it\n\n  and \u{7} test it".to_owned(),
            place: Some(legwork_model::Place {
                path: "src/a.rs".parse().unwrap(),
                lines: (12, 20),
                text: String::new(),
                language: None,
                symbol: None,
            }),
            ..Request::default()
        });
        let detail = TaskDetail {
            task,
            last_event: 1,
            refused: vec![],
            notices: vec![],
        };
        let text = told(&detail, &crate::review::tests::review(), 60_000);
        for line in [
            "prompt     fix it\n             and \\x07 test it\nat         src/a.rs, lines 12 to 20\ncommand    make\n",
            "change     a: modified",
            "`legwork reject bcdfgh`; it goes on",
        ] {
            assert!(text.contains(line), "{line:?} is not in\n{text}");
        }
    }
}
