//! The built-in agent without a model: how long the map of a repository takes, and what a tool costs beyond its command.

use std::{
    fmt::Write as _,
    fs,
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::Path,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    figures::{Table, median},
    stage::Stage,
    timing,
};

/// How often the tool is used in one task, and the command in the machine.
const CALLS: u32 = 20;

/// Starts as many programs in the machine as the tool does, and says how many microseconds one took.
const INSIDE: &str = "a=$(date +%s%N); for i in $(seq 20); do bash -c true; done; b=$(date +%s%N); echo each $(((b - a) / 20000))";

pub(super) fn measure(legwork: &Path, runs: u32, table: &mut Table) -> Result<()> {
    let stage = Stage::set(legwork)?;
    let mut calls = vec![bash(INSIDE)];
    // The same call again and again would be taken for a circle.
    calls.extend((0..CALLS).map(|call| bash(&format!("true # {call}"))));
    let project = repository(5_000)?;
    let (mut colds, mut warms, mut changes, mut trips) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in 0..runs {
        // Another name is another workspace: nothing of it is kept.
        let fresh = tempfile::tempdir()?;
        let folder = fresh.path().join("project");
        fs::rename(project.path().join("tree"), &folder)?;
        let map = |stage: &Stage| timing(&task(stage, &folder, &[])?, "map");
        colds.push(map(&stage)?);
        warms.push(map(&stage)?);
        for file in 0..10 {
            fs::write(
                folder.join(format!("d{file}/f{file}.py")),
                source(file, run + 1),
            )?;
        }
        changes.push(map(&stage)?);
        fs::rename(&folder, project.path().join("tree"))?;
    }
    let small = tempfile::tempdir()?;
    fs::write(small.path().join("a.txt"), "a\n")?;
    for _ in 0..runs {
        let ended = task(&stage, small.path(), &calls)?;
        let id = ended["task"].as_str().context("a task has an id")?;
        trips.push(beyond(&stage.events(id)?)?);
    }
    table.row(
        "map of 5,000 files, nothing kept",
        median(&mut colds),
        "ms",
        "at most 3,000",
    );
    table.row("  again", median(&mut warms), "ms", "");
    table.row(
        "  after a change of 10 files",
        median(&mut changes),
        "ms",
        "at most 150",
    );
    table.row(
        "tool call, beyond the command itself",
        median(&mut trips),
        "ms",
        "at most 5",
    );
    Ok(())
}

/// Lets the agent make these calls, each in an answer of its own.
fn task(stage: &Stage, folder: &Path, calls: &[Value]) -> Result<Value> {
    let mut answers = calls.to_vec();
    answers.push(
        json!({ "name": "finish", "arguments": json!({ "summary": "measured" }).to_string() }),
    );
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        let mut answers = answers.iter();
        for stream in listener.incoming().flatten() {
            if serve(stream, &mut answers).is_err() || answers.len() == 0 {
                break;
            }
        }
    });
    stage.configure(&format!(
        "[model]\nprovider = \"openai\"\nurl = \"{url}\"\nname = \"replay\"\n"
    ))?;
    stage.say(folder, "list the parts of the third service")
}

/// The list of models for a `GET`, and the next call for a `POST`.
fn serve<'a>(mut stream: TcpStream, answers: &mut impl Iterator<Item = &'a Value>) -> Result<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 64 << 10]);
    loop {
        let count = stream.read(&mut buffer)?;
        request.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            anyhow::ensure!(count > 0, "half a request");
            continue;
        };
        let low = head.to_ascii_lowercase();
        let length = low
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break;
        }
        anyhow::ensure!(count > 0, "half a request");
    }
    let (kind, body) = if request.starts_with(b"GET") {
        (
            "application/json",
            json!({ "data": [{ "id": "replay" }] }).to_string(),
        )
    } else {
        let call = answers.next().context("no answer is left")?;
        let call = json!({ "index": 0, "id": "call", "type": "function", "function": call });
        let said = json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "tool_calls": [call] } }] });
        let end =
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] });
        (
            "text/event-stream",
            format!("data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n"),
        )
    };
    let length = body.len();
    Ok(write!(
        stream,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
    )?)
}

fn bash(command: &str) -> Value {
    json!({ "name": "bash", "arguments": json!({ "command": command }).to_string() })
}

/// What a call took in the mean, without what the same command takes inside the machine; in milliseconds.
fn beyond(events: &[Value]) -> Result<f64> {
    let results: Vec<&Value> = events
        .iter()
        .map(|event| &event["body"]["step"])
        .filter(|step| step["kind"] == "result" && step["call"] != Value::Null)
        .collect();
    let told = results
        .first()
        .and_then(|step| step["text"].as_str())
        .unwrap_or_default();
    let inside: f64 = told
        .lines()
        .find_map(|line| line.strip_prefix("each ")?.trim().parse().ok())
        .context("the machine did not say how long a command takes")?;
    let calls = results
        .get(1..=CALLS as usize)
        .context("some calls were not made")?;
    let total: f64 = calls
        .iter()
        .filter_map(|step| step["millis"].as_f64())
        .sum();
    Ok(total / f64::from(CALLS) - inside / 1000.0)
}

/// A repository of source files of some sixty lines, a hundred to a folder, that import and use each other.
fn repository(files: u32) -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    for file in 0..files {
        let folder = dir.path().join(format!("tree/d{}", file % 50));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("f{file}.py")), source(file, 0))?;
    }
    Ok(dir)
}

fn source(file: u32, round: u32) -> String {
    let other = (file * 7 + 13) % 5_000;
    let mut text = format!(
        "\"\"\"Part {file}, as of round {round}.\"\"\"\n\nfrom d{}.f{other} import serve_{other}_0\n\n",
        other % 50
    );
    for part in 0..8 {
        let _ = write!(
            text,
            "def serve_{file}_{part}(request, limit):\n    total = 0\n    for item in request.items:\n        if item.price > limit:\n            \
             total += item.price * item.count\n    return serve_{other}_0(total, limit)\n\n"
        );
    }
    text
}
