//! What no client should send, and some do. Whatever it is, the server says what is wrong with it and goes on.

use kit::lsp::{Client, Setup};
use serde_json::{Value, json};

use crate::stage::{Stage, accept, delegate, is_alive, refused, seen};

/// B26: `shutdown` before anything else, `exit` without it, and the end of input.
#[test]
fn early_and_rude_ends_leave_no_process() {
    let stage = Stage::with(&[]);
    let setup = stage.setup();
    let client = Client::raw(&stage.home, &setup);
    let early = client.request("shutdown", Value::Null);
    assert!(early.is_err(), "{early:?}");
    client.notify("exit", Value::Null);
    drop(client);
    let client = Client::raw(&stage.home, &setup);
    let error = client
        .request("textDocument/hover", json!({}))
        .expect_err("it is not initialized");
    assert_eq!(error["code"], -32002);
    drop(client);
    let mut client = Client::raw(&stage.home, &setup);
    client.initialize(&setup).expect("it is taken");
    let again = client.initialize(&setup);
    assert!(again.is_err(), "{again:?}");
}

#[test]
fn unknown_methods_commands_and_arguments_are_named() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    let error = client
        .request("legwork/none", json!({}))
        .expect_err("no such method");
    assert_eq!(error["code"], -32601);
    client.notify("legwork/none", json!({}));
    client.notify("$/none", json!({}));
    let sentence = refused(client.command("legwork.none", Value::Null));
    assert!(sentence.contains("legwork.none"), "{sentence}");
    for (command, argument) in [
        ("legwork.delegate", json!({})),
        ("legwork.delegate", json!({ "text": "" })),
        ("legwork.delegate", json!({ "text": "a", "command": ["b"] })),
        ("legwork.delegate", json!({ "command": [] })),
        ("legwork.delegate", json!({ "command": "sh" })),
        ("legwork.delegate", json!({ "command": [1] })),
        (
            "legwork.delegate",
            json!({ "command": ["true"], "unknown": 1 }),
        ),
        (
            "legwork.delegate",
            json!({ "command": ["true"], "uri": "http://x/y" }),
        ),
        (
            "legwork.delegate",
            json!({ "command": ["true"], "uri": "\u{0}" }),
        ),
        ("legwork.accept", json!({ "hunk": "no hunk" })),
        ("legwork.accept", json!({ "hunk": "aaaaaaaaaaaa:1:a.txt" })),
        (
            "legwork.accept",
            json!({ "hunk": "aaaaaaaaaaaa:99999999999999999999:a.txt" }),
        ),
        (
            "legwork.accept",
            json!({ "hunk": "aaaaaaaaaaaa:1:../../etc/passwd" }),
        ),
        ("legwork.accept", json!({ "task": "none" })),
        ("legwork.accept", Value::Null),
        ("legwork.reject", json!({ "uri": uri })),
        ("legwork.accept", json!([[], [], 3])),
        ("legwork.cancel", json!({ "task": 3 })),
        ("legwork.undo", json!({ "task": "" })),
        ("legwork.next", json!({ "line": -1 })),
        (
            "legwork.next",
            json!({ "uri": uri, "line": 4_294_967_296_u64 }),
        ),
    ] {
        let sentence = refused(client.command(command, argument.clone()));
        assert!(
            sentence.len() > 10 && !sentence.contains('\n'),
            "{command} {argument}: {sentence:?}"
        );
    }
    // Words, and no agent to read them.
    let sentence = refused(client.command("legwork.delegate", json!({ "text": "do it" })));
    assert!(sentence.contains("agent"), "{sentence}");
    for (method, params) in [
        ("legwork/log", json!({ "task": "none" })),
        ("legwork/content", json!({ "uri": "legwork:/" })),
        ("legwork/content", json!({ "uri": "file:///etc/passwd" })),
        (
            "legwork/content",
            json!({ "uri": "legwork:/none/base/%2e%2e/x" }),
        ),
        ("legwork/hunks", json!({})),
        (
            "textDocument/hover",
            json!({ "textDocument": { "uri": uri } }),
        ),
        ("workspace/executeCommand", json!({})),
    ] {
        let answer = client.request(method, params.clone());
        assert!(answer.is_err(), "{method} {params}: {answer:?}");
    }
    is_alive(&client, &uri);
}

#[test]
fn ranges_past_the_end_are_clamped() {
    let stage = Stage::with(&[("a.txt", "one\ntwo\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    let at = |line: u64, character: u64| json!({ "line": line, "character": character });
    let far = at(2_147_483_647, 2_147_483_647);
    client.change(
        &uri,
        &[json!({ "range": { "start": far, "end": far }, "text": "end\n" })],
    );
    assert_eq!(client.text(&uri), "one\ntwo\nend\n");
    client.change(
        &uri,
        &[json!({ "range": { "start": at(1, 99), "end": far }, "text": "!\n" })],
    );
    assert_eq!(client.text(&uri), "one\ntwo!\n");
    assert_eq!(seen(&client, "a.txt"), "one\ntwo!\n");
    // The wrong way round.
    let change = json!({ "range": { "start": at(1, 2), "end": at(0, 1) }, "text": "x" });
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 9 }, "contentChanges": [change] }),
    );
    client
        .request("legwork/hunks", json!({ "uri": uri }))
        .expect("hunks");
    for range in [
        json!({ "start": far, "end": far }),
        json!({ "start": at(5, 0), "end": at(1, 0) }),
    ] {
        let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
        client
            .request("textDocument/codeAction", params)
            .expect("actions");
        let params = json!({ "textDocument": { "uri": uri }, "position": range["start"] });
        client
            .request("textDocument/hover", params)
            .expect("a hover");
        let argument = json!({ "command": ["true"], "uri": uri, "range": range });
        client
            .command("legwork.delegate", argument)
            .expect("a task");
    }
}

#[test]
fn versions_may_jump_and_documents_may_be_unknown() {
    let stage = Stage::with(&[("a.txt", "one\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    for version in [4, 4000, 4000, 7, -3] {
        client.change_to(
            &uri,
            Some(version),
            &[json!({ "text": format!("version {version}\n") })],
        );
        is_alive(&client, &uri);
        assert_eq!(seen(&client, "a.txt"), format!("version {version}\n"));
    }
    // Never opened, closed twice, opened twice.
    let other = kit::lsp::uri(&stage.path("b.txt"));
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": other, "version": 1 }, "contentChanges": [{ "text": "x" }] }),
    );
    client.notify(
        "textDocument/didSave",
        json!({ "textDocument": { "uri": other } }),
    );
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": other } }),
    );
    client.notify(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": other } }),
    );
    client.open_as(&uri, "again\n");
    assert_eq!(seen(&client, "a.txt"), "again\n");
    delegate(&client, "echo more >> a.txt");
    accept(&client, &client.hunks(&uri, 1)[0]).expect("accepted");
    assert_eq!(client.text(&uri), "again\nmore\n");
}

#[test]
fn files_that_are_not_utf_8_are_left_to_the_daemon() {
    let stage = Stage::with(&[]);
    stage.folder.write("latin.txt", b"caf\xe9\nnext\n");
    let client = stage.client();
    let task = delegate(&client, "LC_ALL=C sed -i 's/next/NEXT/' latin.txt");
    // Not open: written as bytes.
    let walk = client.request("legwork/walk", json!({})).expect("a walk");
    let hunk = walk["items"][0].clone();
    assert_eq!(hunk["task"], task.as_str());
    accept(&client, &hunk).expect("accepted");
    assert_eq!(
        std::fs::read(stage.path("latin.txt")).expect("a file"),
        b"caf\xe9\nNEXT\n"
    );
    // Open, as an editor that guessed the encoding shows it: not one byte is lost, whatever is said.
    let uri = client.open_as(&kit::lsp::uri(&stage.path("latin.txt")), "café\nNEXT\n");
    let task = delegate(&client, "LC_ALL=C sed -i 's/NEXT/last/' latin.txt");
    let before = std::fs::read(stage.path("latin.txt")).expect("a file");
    let answer = client.command("legwork.acceptTask", json!({ "task": task }));
    assert_eq!(
        std::fs::read(stage.path("latin.txt")).expect("a file"),
        before,
        "{answer:?}"
    );
    let text = client.text(&uri);
    assert!(text == "café\nNEXT\n" || text == "café\nlast\n", "{text:?}");
}

#[test]
fn a_client_that_says_nothing_of_itself_has_everything() {
    let stage = Stage::with(&[("a.txt", "a\nb\n")]);
    let mut setup = Setup::bare(&stage.folder.path());
    setup.name = String::new();
    let client = Client::with(&stage.home, &setup);
    let uri = client.open(&stage.path("a.txt"));
    delegate(&client, "sed -i 's/b/B/' a.txt");
    let diagnostic = client.until_of("textDocument/publishDiagnostics", &uri, |params| {
        params["diagnostics"].get(0).cloned()
    });
    assert_eq!(diagnostic["severity"], 3);
    let params = json!({ "textDocument": { "uri": uri }, "range": diagnostic["range"], "context": { "diagnostics": [diagnostic] } });
    let actions = client
        .request("textDocument/codeAction", params)
        .expect("actions");
    let actions = actions.as_array().expect("a list");
    assert!(!actions.is_empty() && actions.len() <= 6, "{actions:?}");
    for action in actions {
        assert!(action["edit"].is_null(), "only commands: {action}");
    }
    client.command("legwork.next", Value::Null).expect("a hunk");
    client
        .command("legwork.accept", Value::Null)
        .expect("accepted");
    assert_eq!(client.text(&uri), "a\nB\n");
    for request in [
        "client/registerCapability",
        "workspace/configuration",
        "window/showDocument",
        "workspace/codeLens/refresh",
    ] {
        assert!(
            client.requests(request).is_empty(),
            "{request} was not offered"
        );
    }
}

#[test]
fn options_that_make_no_sense_are_told_and_left_out() {
    for options in [
        json!({ "legwork": { "ui": { "hunks": 3, "tasks": true, "content": "x" } } }),
        json!({ "legwork": { "agent": { "command": "sh" } } }),
        json!({ "legwork": [] }),
        json!({ "legwork": { "ui": [] } }),
    ] {
        let stage = Stage::with(&[("a.txt", "a\n")]);
        let mut setup = stage.setup();
        setup.options = options;
        let client = Client::with(&stage.home, &setup);
        client.message("initializationOptions");
        let uri = client.open(&stage.path("a.txt"));
        is_alive(&client, &uri);
    }
}

/// B26: what is logged, and what a guest prints, is not on standard output.
#[test]
fn log_lines_on_stdout_break_the_protocol() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let mut setup = stage.setup();
    setup.environment = [("RUST_LOG", "trace"), ("LEGWORK_LOG", "trace")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let client = Client::with(&stage.home, &setup);
    let uri = client.open(&stage.path("a.txt"));
    // Lengths count bytes: what is told of this is not ASCII.
    delegate(
        &client,
        "printf 'Content-Length: 5\\r\\n\\r\\nhello\\033[2J\\000'; echo 'ü漢🎉' >> a.txt",
    );
    let hunk = client.hunks(&uri, 1).remove(0);
    assert_eq!(hunk["added"], json!(["ü漢🎉"]));
    // Messages that are JSON and no message of the protocol.
    for body in [
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didChange\",\"params\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didOpen\",\"params\":[1]}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/didClose\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":903,\"result\":null}",
    ] {
        client.bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        is_alive(&client, &uri);
    }
}
