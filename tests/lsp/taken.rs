//! Buffers that are not files, or not as the task's files, or cannot be changed.

use std::path::Path;

use kit::{lsp::Client, screen::eventually};
use serde_json::{Value, json};

use crate::stage::{Stage, accept, begin, delegate, refused, until_state, until_task};

/// B28.
#[test]
fn create_and_write_of_a_path_that_is_open_in_the_editor() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let client = stage.client();
    let uri = client.open_as(&kit::lsp::uri(&stage.path("out.txt")), "");
    let task = begin(&client, "rm -f out.txt; echo made > out.txt");
    client.set_text(&uri, "mine\n");
    until_state(&client, &task, &["ready"]);
    client.hunks(&uri, 1);
    let answer = client.command("legwork.acceptTask", json!({ "task": task }));
    assert!(client.text(&uri).contains("mine\n"), "{answer:?}");
    for edit in client.requests("workspace/applyEdit") {
        let text = edit.to_string();
        assert!(!text.contains("\"newText\":\"\""), "emptied first: {text}");
    }
    refused(answer);
    assert!(!stage.path("out.txt").exists());
    client.hunks(&uri, 1);
    // The review goes to that buffer, and to no copy of what the task made.
    let place = client.command("legwork.review", json!(null));
    assert_eq!(place.expect("a hunk")["uri"], uri);
}

/// B29.
#[test]
fn untitled_or_never_saved_buffer_in_the_task_scope() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let client = stage.client();
    client.open_as("untitled:Untitled-1", "precious\n");
    let argument = json!({ "command": ["true"], "uri": "untitled:Untitled-1" });
    let sentence = refused(client.command("legwork.delegate", argument));
    assert!(sentence.contains("save it"), "{sentence}");
    // Where another one is just open it is said that the task does not see it.
    delegate(&client, "true");
    let said = client.message("not seen");
    assert!(said.contains("Untitled-1"), "{said}");
    assert_eq!(client.text("untitled:Untitled-1"), "precious\n");
    // Nothing that is asked of it breaks anything.
    let document = json!({ "uri": "untitled:Untitled-1" });
    let position = json!({ "line": 0, "character": 0 });
    let range = json!({ "start": position, "end": position });
    client
        .request(
            "textDocument/hover",
            json!({ "textDocument": document, "position": position }),
        )
        .expect("an answer");
    client
        .request(
            "textDocument/codeAction",
            json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } }),
        )
        .expect("an answer");
    client
        .request("legwork/hunks", json!({ "uri": "untitled:Untitled-1" }))
        .expect("an answer");
}

/// B30.
#[test]
fn buffer_that_cannot_be_changed() {
    let stage = Stage::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let client = stage.client();
    let uris = ["a.txt", "b.txt"].map(|name| client.open(&stage.path(name)));
    let task = delegate(&client, "echo more | tee -a a.txt >> b.txt");
    client.make_read_only(&uris[0]);
    let hunk = client.hunks(&uris[0], 1).remove(0);
    let sentence = refused(accept(&client, &hunk));
    assert!(
        sentence.contains("a.txt") && sentence.contains("not modifiable"),
        "{sentence}"
    );
    assert_eq!(client.hunks(&uris[0], 1)[0]["state"], "pending");
    // The others go on.
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("the rest is accepted");
    assert_eq!(client.text(&uris[1]), "b\nmore\n");
    assert_eq!(client.text(&uris[0]), "a\n");
    assert_eq!(client.hunks(&uris[0], 1)[0]["state"], "pending");
}

/// B49.
#[test]
fn new_file_shown_against_the_wrong_buffer() {
    let stage = Stage::with(&[("main.go", "package main\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("main.go"));
    let task = delegate(&client, "echo 'package main // test' > main_test.go");
    let walk = client.request("legwork/walk", json!({})).expect("a walk");
    let shown = walk["items"][0]["uri"].as_str().expect("a file");
    assert!(shown.ends_with("/main_test.go"), "{shown}");
    let own = client
        .request("legwork/hunks", json!({ "uri": uri }))
        .expect("hunks");
    assert_eq!(own["hunks"], json!([]));
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("accepted");
    let test = client.open(&stage.path("main_test.go"));
    assert_eq!(client.text(&test), "package main // test\n");
    until_task(&client, &task, |item| item["pending"] == 0);
    let later = client.request("legwork/walk", json!({})).expect("a walk");
    assert_eq!(later["items"], Value::Array(Vec::new()));
}

/// A new file is read in a copy and decided there: also by a server that a client starts for the copy alone, since it lies
/// outside of all folders.
#[test]
fn a_new_file_is_decided_in_its_copy() {
    let stage = Stage::with(&[("main.go", "package main\n")]);
    let mut setup = stage.setup();
    setup.options = Value::Null;
    let client = Client::with(&stage.home, &setup);
    delegate(
        &client,
        "echo one > one.go; mkdir deep; echo two > deep/two.go",
    );
    setup.folders = Vec::new();
    let alone = Client::with(&stage.home, &setup);
    let start = json!({ "line": 0, "character": 0 });
    for (by, verb, left) in [(&alone, "Accept", 1), (&client, "Reject", 0)] {
        let place = client.command("legwork.review", json!(null));
        let uri = place.expect("a hunk")["uri"]
            .as_str()
            .expect("a file")
            .to_owned();
        let path = uri.strip_prefix("file://").expect("a file");
        assert!(
            !path.starts_with(stage.folder.path().to_str().expect("UTF-8")),
            "{path}"
        );
        by.open(Path::new(path));
        let params = json!({
            "textDocument": { "uri": uri }, "range": { "start": start, "end": start },
            "context": { "diagnostics": [] },
        });
        // The server that was just started has to hear of the task first.
        let actions = eventually(
            || format!("actions for {uri}"),
            || {
                let actions = by.request("textDocument/codeAction", params.clone());
                let actions = actions
                    .expect("actions")
                    .as_array()
                    .expect("a list")
                    .clone();
                (!actions.is_empty()).then_some(actions)
            },
        );
        assert_eq!(actions.len(), 2, "{actions:?}");
        let action = actions
            .iter()
            .find(|action| {
                action["title"]
                    .as_str()
                    .is_some_and(|title| title.starts_with(verb))
            })
            .expect("an action");
        let command = &action["command"];
        by.command(
            command["command"].as_str().expect("a name"),
            command["arguments"][0].clone(),
        )
        .expect("decided");
        let tasks = client.request("legwork/tasks", json!({})).expect("tasks");
        let task = tasks["tasks"][0]["task"]
            .as_str()
            .expect("a task")
            .to_owned();
        until_task(&client, &task, |item| item["pending"] == left);
    }
    let deep = stage.path("deep/two.go").exists();
    assert_ne!(stage.path("one.go").exists(), deep, "one was accepted");
    // Nothing is shown or asked for in a copy that is decided.
    assert_eq!(client.requests("workspace/applyEdit").len(), 0);
}
