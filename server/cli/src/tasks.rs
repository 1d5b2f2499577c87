//! `legwork tasks`: a table.

use legwork_model::{Task, TaskState, Worker};
use legwork_wire::Places;

use crate::{
    args::TasksArgs,
    failure::Failure,
    moment, output,
    printable::{command, cut, printable},
    start, verdict,
    workspace::Place,
};

/// Characters of a command that a list shows.
const LONGEST: usize = 72;

/// How long an ended task is listed without `--all`, in milliseconds.
const RECENT: i64 = 24 * 3600 * 1000;

/// Does it.
pub(crate) async fn tasks(places: &Places, args: TasksArgs) -> Result<(), Failure> {
    let here = if args.here {
        Some(Place::find(None)?.workspace)
    } else {
        None
    };
    let client = start::connect(places).await?;
    let now = moment::now();
    let mut tasks = client.tasks(here.as_deref()).await?;
    tasks.retain(|task| args.all || is_listed(task, now));
    if args.json {
        output::json(&tasks)?;
        return Ok(());
    }
    if tasks.is_empty() {
        output::tell(if args.all {
            "no tasks"
        } else {
            "no tasks; `legwork tasks --all` shows older ones"
        });
        return Ok(());
    }
    let rows: Vec<_> = tasks
        .iter()
        .map(|task| row(task, now, here.is_none()))
        .collect();
    let columns = output::columns();
    let table: String = table(&rows)
        .iter()
        .map(|line| format!("{}\n", cut(line, columns)))
        .collect();
    output::print(&table)?;
    Ok(())
}

/// What a task was asked to do, on one line: in words, or as a command that could be typed.
pub(crate) fn title(task: &Task) -> String {
    let said = task.spec.request.as_ref();
    match &task.spec.worker {
        _ if said.is_some_and(|request| !request.text.trim().is_empty()) => {
            printable(&task.spec.title()).into_owned()
        }
        Worker::Command { argv } => command(argv),
        Worker::Builtin => "the built-in agent".to_owned(),
        Worker::External { agent } => printable(agent).into_owned(),
    }
}

fn is_listed(task: &Task, now: i64) -> bool {
    task.state != TaskState::Ended
        || now.saturating_sub(task.finished.unwrap_or(task.created)) < RECENT
}

fn row(task: &Task, now: i64, with_workspace: bool) -> Vec<String> {
    let mut row = vec![
        task.id.short().to_owned(),
        format!("{}{}", verdict::state(task), verdict::checks(task)),
        moment::age(task.created, now),
    ];
    if with_workspace {
        let name = task
            .spec
            .workspace
            .file_name()
            .unwrap_or(task.spec.workspace.as_os_str());
        row.push(printable(&name.to_string_lossy()).into_owned());
    }
    row.push(shortened(&title(task)));
    row
}

/// A list has a line a task: the whole command stands in `legwork show`.
fn shortened(title: &str) -> String {
    if title.chars().count() <= LONGEST {
        return title.to_owned();
    }
    let kept: String = title.chars().take(LONGEST - 1).collect();
    format!("{kept}…")
}

/// Columns side by side, each as wide as its widest cell; the last one as it comes.
fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use legwork_model::Outcome;

    use super::*;

    #[test]
    fn a_command_takes_one_line_of_the_list() {
        assert_eq!(shortened("sed -i s/a/b/ file"), "sed -i s/a/b/ file");
        let long = shortened(&"ü".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (LONGEST, true));
    }

    #[test]
    fn what_waits_is_always_listed_and_what_ended_for_a_day() {
        let day = RECENT;
        let mut task = verdict::tests::task(TaskState::Ready, Some(Outcome::Done), 1);
        assert!(is_listed(&task, 9 * day));
        task.state = TaskState::Ended;
        assert!(!is_listed(&task, 9 * day));
        task.finished = Some(8 * day + 1);
        assert!(is_listed(&task, 9 * day));
    }

    #[test]
    fn columns_are_aligned() {
        let running = verdict::tests::task(TaskState::Running, None, 0);
        let mut ready = verdict::tests::task(TaskState::Ready, Some(Outcome::Done), 3);
        ready.spec.worker = Worker::Command {
            argv: vec!["sh".to_owned(), "-c".to_owned(), "a b\u{1b}".to_owned()],
        };
        let rows = [row(&running, 5_000, true), row(&ready, 600_000, true)];
        assert_eq!(
            table(&rows),
            [
                r"bcdfgh  running          5 s     w  make",
                r"bcdfgh  ready (3 hunks)  10 min  w  sh -c 'a b\x1b'",
            ]
        );
        ready.spec.request = Some(legwork_model::Request {
            text: "\n fix \u{1b} it \nnow".to_owned(),
            ..Default::default()
        });
        assert_eq!(title(&ready), "fix \\x1b it");
    }
}
