//! What a user feels in the editor: how soon it is ready, what a key press costs, how soon a change in the guest is a hunk,
//! what an accept takes.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    client::{Client, uri},
    figures::{Table, median, memory, processor_time},
    stage::Stage,
};

/// Lines of the large file, and how many of them the task changes.
const LINES: usize = 10_000;
const HUNKS: usize = 100;
/// Key presses that are measured.
const KEYS: u32 = 200;
/// How long a daemon gathers what a guest writes.
const GATHERED: Duration = Duration::from_millis(100);
/// Files that are accepted at once.
const FILES: usize = 1_000;

/// All of it.
pub(super) fn measure(stage: &Stage, runs: u32, table: &mut Table) -> Result<()> {
    let project = tempfile::tempdir()?;
    let folder = project.path().canonicalize()?;
    ready(stage, &folder, runs, table)?;
    typing(stage, &folder, runs, table)?;
    guest(stage, &folder, runs, table)?;
    many(stage, table)
}

fn ready(stage: &Stage, folder: &Path, runs: u32, table: &mut Table) -> Result<()> {
    let mut times = Vec::new();
    for _ in 0..runs.max(5) {
        let (_client, ready) = Client::start(stage.command(), folder)?;
        times.push(ready);
    }
    table.row(
        "language server: start to ready",
        median(&mut times),
        "ms",
        "at most 50",
    );
    let (client, _) = Client::start(stage.command(), folder)?;
    std::thread::sleep(Duration::from_secs(3));
    table.row(
        "language server at rest, resident",
        memory(client.pid())?.resident,
        "MiB",
        "at most 20",
    );
    Ok(())
}

/// A large file with many hunks: what typing in it costs, and what an accept takes.
fn typing(stage: &Stage, folder: &Path, runs: u32, table: &mut Table) -> Result<()> {
    let path = folder.join("large.txt");
    let mut text: String = (0..LINES)
        .map(|line| format!("line {line} of a file that is long\n"))
        .collect();
    fs::write(&path, &text)?;
    let step = LINES / HUNKS;
    stage.run(folder, &[], &format!("awk 'NR % {step} == 7 {{ $0 = $0 \" and changed\" }} {{ print }}' large.txt > new && mv new large.txt"))?;
    let (mut client, _) = Client::start(stage.command(), folder)?;
    let address = uri(&path);
    let mut version = 1;
    client.notify("textDocument/didOpen", &json!({ "textDocument": { "uri": address, "languageId": "plaintext", "version": version, "text": text } }))?;
    let shown = hunks(&mut client, |hunks| hunks.len() == HUNKS)?;

    let line = LINES / 2 + 20;
    let before = processor_time(client.pid())?;
    let mut answers = Vec::new();
    for key in 0..KEYS {
        version += 1;
        let at = json!({ "line": line, "character": key });
        let begun = Instant::now();
        client.notify(
            "textDocument/didChange",
            &json!({
                "textDocument": { "uri": address, "version": version },
                "contentChanges": [{ "range": { "start": at, "end": at }, "text": "x" }],
            }),
        )?;
        client.request("legwork/hunks", &json!({ "uri": address }))?;
        answers.push(begun.elapsed().as_secs_f64() * 1000.0);
        std::thread::sleep(Duration::from_millis(20));
    }
    let cost = (processor_time(client.pid())? - before).as_secs_f64() * 1000.0 / f64::from(KEYS);
    table.row(
        "a key press in 10,000 lines with 100 hunks, processor time",
        cost,
        "ms",
        "at most 5",
    );
    table.row(
        "  until a request after it is answered",
        median(&mut answers),
        "ms",
        "",
    );
    let at = text
        .match_indices('\n')
        .nth(line - 1)
        .context("the file has the line")?
        .0
        + 1;
    text.insert_str(at, &"x".repeat(usize::try_from(KEYS)?));

    client.forget();
    let (mut edits, mut totals) = (Vec::new(), Vec::new());
    for hunk in shown.iter().take(usize::try_from(runs.max(5))?) {
        let begun = Instant::now();
        let id = client.ask(
            "workspace/executeCommand",
            &json!({ "command": "legwork.accept", "arguments": [{ "hunk": hunk["hunk"] }] }),
        )?;
        let request = client.until(|message| message["method"] == "workspace/applyEdit")?;
        edits.push(begun.elapsed().as_secs_f64() * 1000.0);
        let edit = &request["params"]["edit"]["documentChanges"][0]["edits"][0];
        version += 1;
        client.respond(&request, &json!({ "applied": true }))?;
        client.notify(
            "textDocument/didChange",
            &json!({
                "textDocument": { "uri": address, "version": version },
                "contentChanges": [{ "range": edit["range"], "text": edit["newText"] }],
            }),
        )?;
        client.answer(id)?;
        totals.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    table.row(
        "accept of one hunk: to the edit",
        median(&mut edits),
        "ms",
        "at most 10",
    );
    table.row(
        "  to the end: confirmed and recorded durably",
        median(&mut totals),
        "ms",
        "",
    );
    Ok(())
}

/// From a write in the guest to the hunk in the editor. A guest's clock is not the host's, so the guest says at once that
/// it wrote; what it says is gathered for [`GATHERED`] before it is told.
fn guest(stage: &Stage, folder: &Path, runs: u32, table: &mut Table) -> Result<()> {
    let path = folder.join("clock.txt");
    fs::write(&path, "0\n")?;
    let (mut client, _) = Client::start(stage.command(), folder)?;
    client.notify("textDocument/didOpen", &json!({ "textDocument": { "uri": uri(&path), "languageId": "plaintext", "version": 1, "text": "0\n" } }))?;
    let runs = runs.max(5);
    let script =
        format!("for i in $(seq {runs}); do sleep 2; echo $i > clock.txt; echo $i; done; sleep 2");
    let task = client.request("workspace/executeCommand", &json!({ "command": "legwork.delegate", "arguments": [{ "uri": uri(&path), "command": ["sh", "-c", script] }] }))?;
    let task = task["task"]
        .as_str()
        .context("a task has an id")?
        .to_owned();
    let mut logs = stage
        .command()
        .args(["logs", "-f", &task])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()?;
    let said = BufReader::new(logs.stdout.take().context("a pipe")?);
    let said = std::thread::spawn(move || {
        said.lines()
            .map_while(Result::ok)
            .map(|line| (line, Instant::now()))
            .collect::<Vec<_>>()
    });
    let mut seen: Vec<(String, Instant)> = Vec::new();
    while seen.len() < usize::try_from(runs)? {
        let hunks = hunks(&mut client, |hunks| hunks.len() == 1)?;
        let written = hunks[0]["added"][0].as_str().unwrap_or_default().to_owned();
        if seen.last().is_none_or(|(last, _)| *last != written) {
            seen.push((written, Instant::now()));
        }
    }
    logs.wait()?;
    let said = said
        .join()
        .map_err(|_| anyhow::anyhow!("the log could not be read"))?;
    let mut times = Vec::new();
    for (written, shown) in &seen {
        let told = said
            .iter()
            .find(|(line, _)| line.trim() == written)
            .map(|(_, told)| *told);
        let wrote = told
            .and_then(|told| told.checked_sub(GATHERED))
            .context("the guest said when it wrote")?;
        times.push(shown.saturating_duration_since(wrote).as_secs_f64() * 1000.0);
    }
    table.row(
        "a change in the guest to the hunk in the editor",
        median(&mut times),
        "ms",
        "at most 250",
    );
    Ok(())
}

/// A task that changed very many files.
fn many(stage: &Stage, table: &mut Table) -> Result<()> {
    let project = super::stage::folder(FILES)?;
    let folder = project.path().canonicalize()?;
    let task = stage.run(
        &folder,
        &[],
        "for f in d*/*.txt; do echo changed >> $f; done",
    )?;
    let (mut client, _) = Client::start(stage.command(), &folder)?;
    client
        .until(|message| message["method"] == "legwork/tasks" && message["params"]["ready"] == 1)?;
    let begun = Instant::now();
    let id = client.ask(
        "workspace/executeCommand",
        &json!({ "command": "legwork.acceptTask", "arguments": [{ "task": task["task"] }] }),
    )?;
    // An editor that waits for an answer meanwhile is not kept waiting.
    let mut waits = Vec::new();
    let mut done = false;
    while !done {
        let asked = Instant::now();
        client.request("legwork/walk", &json!({ "task": task["task"] }))?;
        waits.push(asked.elapsed().as_secs_f64() * 1000.0);
        std::thread::sleep(Duration::from_millis(50));
        done = client.has_answer(id);
    }
    let answer = client.answer(id)?;
    table.row(
        "accept of 1,000 files that are not open",
        begun.elapsed().as_secs_f64() * 1000.0,
        "ms",
        "at most 3,000",
    );
    table.row(
        "  longest wait of another request meanwhile",
        waits.iter().copied().fold(0.0, f64::max),
        "ms",
        "",
    );
    ensure!(answer["hunks"] == FILES, "not all was accepted: {answer}");
    Ok(())
}

/// Waits for hunks of a kind.
fn hunks(client: &mut Client, wanted: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
    let list = |message: &Value| {
        message["params"]["hunks"]
            .as_array()
            .cloned()
            .unwrap_or_default()
    };
    let message =
        client.until(|message| message["method"] == "legwork/hunks" && wanted(&list(message)))?;
    Ok(list(&message))
}
