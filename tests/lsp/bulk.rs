//! A thousand files at once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::stage::{Stage, delegate, until_task};

const SCRIPT: &str = "find . -name 'f*.txt' -exec sed -i 's/old/new/' {} +";

fn thousand() -> Stage {
    let stage = Stage::with(&[]);
    stage.folder.sh(
        "for d in $(seq -w 1 40); do mkdir d$d; for f in $(seq -w 1 25); do printf 'header\\nvalue old\\nfooter\\n' > d$d/f$f.txt; done; done",
    );
    stage
}

/// B27.
#[test]
fn accept_of_1000_files_at_once() {
    let (stage, direct) = (thousand(), thousand());
    direct.folder.sh(SCRIPT);
    let before = stage.folder.standing();
    let client = stage.client();
    let open = client.open(&stage.path("d07/f07.txt"));
    let task = delegate(&client, SCRIPT);
    until_task(&client, &task, |item| item["pending"] == 1000);
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("accepted");
    // One buffer was open, and one was changed; no other was opened.
    assert_eq!(client.requests("workspace/applyEdit").len(), 1);
    assert!(client.requests("window/showDocument").is_empty());
    assert_eq!(client.text(&open), "header\nvalue new\nfooter\n");
    client.save(&open, &stage.path("d07/f07.txt"));
    assert_eq!(stage.folder.standing(), direct.folder.standing());
    assert!(!client.requests("window/workDoneProgress/create").is_empty());
    let ends = client.notifications("$/progress");
    assert!(
        ends.iter()
            .any(|progress| progress["value"]["kind"] == "end"),
        "{ends:?}"
    );
    // It was done in one go, and goes in one go.
    let undone = client
        .command("legwork.undo", json!({ "task": task }))
        .expect("undone");
    assert_eq!(undone["hunks"], 1000);
    assert_eq!(client.text(&open), "header\nvalue old\nfooter\n");
    client.save(&open, &stage.path("d07/f07.txt"));
    assert_eq!(stage.folder.standing(), before);
    until_task(&client, &task, |item| item["pending"] == 1000);
}

/// B27: given up half way.
#[test]
fn a_cancelled_accept_says_exactly_what_is_done() {
    let stage = thousand();
    let client = stage.client();
    let task = delegate(&client, SCRIPT);
    until_task(&client, &task, |item| item["pending"] == 1000);
    let id = client.begin("legwork.acceptTask", json!({ "task": task }));
    let token = client.until("$/progress", |params| {
        let accepting =
            params["value"]["message"].is_string() && !params["token"].to_string().contains(&task);
        accepting.then(|| params["token"].clone())
    });
    client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    let answer = client.answer(id).expect("an answer");
    let done = answer["hunks"].as_u64().expect("a number");
    assert!(0 < done && done < 1000, "{done}");
    client.message("cancelled");
    // What is done, and what still waits, is what the disk says.
    until_task(&client, &task, |item| item["pending"] == 1000 - done);
    let walk = client
        .request("legwork/walk", json!({ "task": task }))
        .expect("a walk");
    let waits: BTreeSet<&str> = walk["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|item| item["uri"].as_str())
        .collect();
    assert_eq!(waits.len() as u64, 1000 - done);
    let mut written = 0;
    for (path, standing) in stage.folder.standing() {
        if standing.bytes.is_empty() {
            continue;
        }
        let uri = kit::lsp::uri(&stage.path(path.to_str().expect("text")));
        let new = standing.bytes == b"header\nvalue new\nfooter\n";
        assert_eq!(new, !waits.contains(uri.as_str()), "{uri}");
        written += u64::from(new);
    }
    assert_eq!(written, done);
    // The rest can be accepted.
    let rest: Value = client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("accepted");
    assert_eq!(rest["hunks"], 1000 - done);
}

#[test]
fn one_file_that_cannot_be_written_keeps_none_of_the_others_back() {
    let stage = Stage::with(&[("a.txt", "old\n"), ("b.txt", "old\n"), ("c.txt", "old\n")]);
    let client = stage.client();
    let task = delegate(&client, "sed -i 's/old/new/' *.txt");
    until_task(&client, &task, |item| item["pending"] == 3);
    std::fs::write(stage.path("b.txt"), "mine\n").expect("written");
    let answer = client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("two of them");
    assert_eq!(answer["hunks"], 2);
    assert_eq!(
        answer["skipped"].as_array().map(Vec::len),
        Some(1),
        "{answer}"
    );
    assert_eq!(answer["skipped"][0]["path"], "b.txt");
    let read = |path| std::fs::read_to_string(stage.path(path)).expect("a file");
    assert_eq!(
        ["a.txt", "b.txt", "c.txt"].map(read),
        ["new\n", "mine\n", "new\n"]
    );
    // Alone it is refused, and says why.
    let alone = client.command("legwork.acceptTask", json!({ "task": task }));
    let error = alone.expect_err("nothing can be accepted").to_string();
    assert!(error.contains("b.txt"), "{error}");
    assert_eq!(read("b.txt"), "mine\n");
}
