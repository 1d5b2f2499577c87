//! What goes amiss between an editor and the server: no message at all, requests that are given up, edits that land elsewhere.

use std::time::{Duration, Instant};

use kit::lsp::{Applies, Client};
use serde_json::json;

use crate::stage::{Stage, accept, delegate, is_alive};

fn framed(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// B26: and nothing but frames on standard output, whatever is logged.
#[test]
fn malformed_messages_are_answered_and_survived() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let mut setup = stage.setup();
    setup.environment = [("RUST_LOG", "trace"), ("LEGWORK_LOG", "trace")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let client = Client::with(&stage.home, &setup);
    let uri = client.open(&stage.path("a.txt"));
    for body in [
        "{",
        "",
        "[]",
        "null",
        "3",
        "\"text\"",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"id\":900,\"method\":\"shutdown\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":901}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"shutdown\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":902,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":903,\"result\":null}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":[1]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\",\"params\":{\"textDocument\":{\"uri\":\"\",\"version\":1},\"contentChanges\":[]}}",
        "ü\u{0}",
    ] {
        client.bytes(&framed(body));
        is_alive(&client, &uri);
    }
    for bytes in [
        &b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}"
            [..],
        b"Content-Length: 4\r\n\r\n\xff\xfe\xff\xfe",
    ] {
        client.bytes(bytes);
        is_alive(&client, &uri);
    }
    // A guest that prints control bytes does not reach standard output either.
    delegate(
        &client,
        "printf 'Content-Length: 5\\r\\n\\r\\nhello\\033[2J\\000'; echo b >> a.txt",
    );
    client.hunks(&uri, 1);
    is_alive(&client, &uri);
}

#[test]
fn every_request_that_is_given_up_ends_at_once_and_costs_nothing() {
    let stage = Stage::with(&[("a.txt", "one\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    delegate(&client, "echo two >> a.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    // An editor that does not answer makes an accept slow.
    client.applies(Applies::Silently);
    let argument = json!({ "hunk": hunk["hunk"] });
    let asked: Vec<i64> = (0..8)
        .map(|_| client.begin("legwork.accept", argument.clone()))
        .collect();
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    for id in &asked {
        client.cancel(*id);
    }
    let cancelled = asked
        .into_iter()
        .filter(|id| {
            client
                .answer(*id)
                .is_err_and(|error| error["code"] == -32800)
        })
        .count();
    assert_eq!(cancelled, 8);
    assert!(begun.elapsed() < Duration::from_secs(2));
    // The hunk waits as before, and can be accepted.
    client.applies(Applies::Honestly);
    let hunk = client.hunks(&uri, 1).remove(0);
    assert_eq!(hunk["state"], "pending");
    accept(&client, &hunk).expect("accepted");
    assert_eq!(client.text(&uri), "one\ntwo\n");
}

/// B20: an editor that applies an edit to another text than it was made for.
#[test]
fn an_edit_that_lands_in_the_wrong_place_is_no_accept() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    delegate(&client, "sed -i 's/b/B/' f.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    client.applies(Applies::BlindlyAfterTyping);
    // The edit hits line `a`. What stands there then is the user's to see; nothing is taken for accepted that is not.
    match accept(&client, &hunk) {
        Ok(_) => {
            let text = client.text(&uri);
            assert!(!text.contains("\nb\n"), "accepted, and not done: {text}");
        }
        Err(_) => {
            client.hunks(&uri, 1);
        }
    }
}
