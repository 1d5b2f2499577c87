//! Messages are taken in the order in which they come, and requests that are given up are given up.

use std::time::{Duration, Instant};

use kit::lsp::{Applies, Client};
use serde_json::json;

use crate::stage::{Stage, delegate};

/// The number of the step that the first line asks for, as the server sees it.
fn asked(client: &Client, id: i64) -> u32 {
    let actions = client.answer(id).expect("actions").to_string();
    let (_, rest) = actions
        .split_once("step ")
        .expect("the line asks for something");
    let (number, _) = rest.split_once('.').expect("a whole line");
    number.parse().expect("a number")
}

fn ask(client: &Client, uri: &str) -> i64 {
    let start = json!({ "line": 0, "character": 0 });
    let params = json!({
        "textDocument": { "uri": uri }, "range": { "start": start, "end": start }, "context": { "diagnostics": [] },
    });
    client.ask("textDocument/codeAction", params)
}

#[test]
fn no_request_sees_an_older_text() {
    let stage = Stage::with(&[("a.sh", "# TODO step 0.\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.sh"));
    let mut requests = Vec::new();
    for step in 1..=2000 {
        client.replace(
            &uri,
            &format!("step {}.", step - 1),
            &format!("step {step}."),
        );
        requests.push((ask(&client, &uri), step));
    }
    let stale = requests
        .into_iter()
        .filter(|(id, wanted)| asked(&client, *id) < *wanted)
        .count();
    assert_eq!(stale, 0);
}

#[test]
fn texts_are_taken_while_an_accept_waits_for_the_editor() {
    let stage = Stage::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    let other = client.open(&stage.path("b.txt"));
    delegate(&client, "echo two >> a.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    client.applies(Applies::Late(1000));
    let waiting = client.begin("legwork.accept", json!({ "hunk": hunk["hunk"] }));
    let begun = Instant::now();
    client.splice(&other, 0..0, "# TODO step 1.\n");
    assert_eq!(asked(&client, ask(&client, &other)), 1);
    assert!(begun.elapsed() < Duration::from_millis(900));
    client.answer(waiting).expect("accepted");
    assert_eq!(client.text(&uri), "one\ntwo\n");
}
