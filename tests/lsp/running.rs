//! Hunks while the task goes on, and a user who goes on typing.

use std::{fs, path::PathBuf};

use kit::lsp::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::{Stage, accept, begin, refused, until_state};

const TEXT: &str = "one\ntwo\n\nfn shape() {\n    old();\n}\n\nlast\n";

/// A task that has changed its file and waits for a sign.
struct Waiting {
    client: Client,
    stage: Stage,
    uri: String,
    task: String,
    sign: PathBuf,
    _dir: TempDir,
}

fn waiting() -> Waiting {
    let stage = Stage::with(&[("f.rs", TEXT)]);
    let dir = tempfile::tempdir().expect("a directory");
    let sign = dir.path().join("go");
    let client = stage.client();
    let uri = client.open(&stage.path("f.rs"));
    let script = format!(
        "sed -i 's/old/new/' f.rs; until [ -e '{}' ]; do sleep 0.05; done",
        sign.display()
    );
    let task = begin(&client, &script);
    Waiting {
        client,
        stage,
        uri,
        task,
        sign,
        _dir: dir,
    }
}

impl Waiting {
    fn hunk(&self) -> Value {
        self.client.hunks(&self.uri, 1).remove(0)
    }

    fn go_on(&self) {
        fs::write(&self.sign, "").expect("a file");
        until_state(&self.client, &self.task, &["ready", "done"]);
    }
}

/// B35 (a).
#[test]
fn the_user_inserts_lines_above_while_the_task_runs() {
    let waiting = waiting();
    let (client, uri) = (&waiting.client, &waiting.uri);
    let hunk = waiting.hunk();
    assert_eq!(
        (&hunk["start"], &hunk["running"]),
        (&json!(4), &json!(true))
    );
    client.splice(uri, 0..0, &"above\n".repeat(30));
    assert_eq!(waiting.hunk()["start"], 34);
    waiting.go_on();
    let hunk = client.until_of("legwork/hunks", uri, |params| {
        let hunk = params["hunks"].get(0)?;
        (hunk["running"] == false).then(|| hunk.clone())
    });
    assert_eq!(hunk["start"], 34);
    accept(client, &hunk).expect("accepted");
    assert_eq!(
        client.text(uri),
        "above\n".repeat(30) + &TEXT.replace("old", "new")
    );
}

/// B35 (b).
#[test]
fn the_user_changes_a_line_inside_of_the_hunk_while_the_task_runs() {
    let waiting = waiting();
    let (client, uri) = (&waiting.client, &waiting.uri);
    waiting.hunk();
    client.replace(uri, "old();", "mine();");
    let hunk = waiting.hunk();
    assert_eq!(hunk["state"], "conflicted");
    assert_eq!(
        hunk["added"],
        json!(["    new();"]),
        "the task's text is still shown"
    );
    waiting.go_on();
    refused(accept(client, &waiting.hunk()));
    assert_eq!(client.text(uri), TEXT.replace("old", "mine"));
}

/// B35 (c).
#[test]
fn the_user_types_what_the_task_made() {
    let waiting = waiting();
    let (client, uri) = (&waiting.client, &waiting.uri);
    waiting.hunk();
    client.replace(uri, "old();", "new();");
    waiting.go_on();
    client.hunks(uri, 0);
    assert_eq!(client.text(uri), TEXT.replace("old", "new"));
    until_state(client, &waiting.task, &["done", "ready"]);
    assert!(client.requests("workspace/applyEdit").is_empty());
}

/// B35 (d).
#[test]
fn the_user_deletes_the_function_while_the_task_runs() {
    let waiting = waiting();
    let (client, uri) = (&waiting.client, &waiting.uri);
    waiting.hunk();
    client.replace(uri, "fn shape() {\n    old();\n}\n\n", "");
    let hunk = waiting.hunk();
    assert_eq!(hunk["state"], "conflicted");
    waiting.go_on();
    refused(accept(client, &waiting.hunk()));
    assert_eq!(client.text(uri), "one\ntwo\n\nlast\n");
    assert_eq!(waiting.stage.folder.read("f.rs"), TEXT);
}

#[test]
fn what_is_accepted_while_the_task_runs_stays_accepted() {
    let waiting = waiting();
    let (client, uri) = (&waiting.client, &waiting.uri);
    accept(client, &waiting.hunk()).expect("accepted");
    assert_eq!(client.text(uri), TEXT.replace("old", "new"));
    waiting_is_over(&waiting);
    client.hunks(uri, 0);
    assert_eq!(client.text(uri), TEXT.replace("old", "new"));
}

fn waiting_is_over(waiting: &Waiting) {
    fs::write(&waiting.sign, "").expect("a file");
    until_state(&waiting.client, &waiting.task, &["ready", "done"]);
}
