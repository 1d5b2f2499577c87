//! A daemon that is gone, comes back, or is of another age.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    thread,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::stage::{Stage, accept, delegate, refused, until_task};

fn kill_daemon(stage: &Stage) {
    let pid = stage
        .home
        .daemon()
        .and_then(Pid::from_raw)
        .expect("a daemon runs");
    kill_process(pid, Signal::KILL).expect("it is ours");
    let gone = || fs::read_link(format!("/proc/{}/exe", pid.as_raw_nonzero())).is_err();
    while !gone() {
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn the_server_survives_the_daemon() {
    let stage = Stage::with(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    delegate(&client, "echo more | tee -a a.txt >> b.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    kill_daemon(&stage);
    // Texts go on; what was asked for starts another one.
    client.splice(&uri, 0..0, "typed\n");
    let moved = client.hunks(&uri, 1).remove(0);
    assert_eq!(moved["start"], 2);
    accept(&client, &hunk).expect("accepted");
    assert_eq!(client.text(&uri), "typed\na\nmore\n");
    // And it is told of what happens in the new one.
    let task = delegate(&client, "echo newer > c.txt");
    until_task(&client, &task, |item| item["pending"] == 1);
    assert!(stage.home.daemon().is_some());
}

#[test]
fn what_is_typed_while_the_daemon_is_gone_is_recorded_by_the_next() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\nd\ne\nf\ng\nh\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i -e 's/b/B/' -e 's/g/G/' f.txt");
    let hunks = client.hunks(&uri, 2);
    accept(&client, &hunks[0]).expect("accepted");
    kill_daemon(&stage);
    // One is taken back, the other is typed, and typed over again.
    client.replace(&uri, "B", "b");
    client.replace(&uri, "g", "G");
    client.replace(&uri, "G", "g");
    client.replace(&uri, "g", "G");
    stage
        .home
        .legwork(&stage.folder.path(), ["tasks"])
        .expect(0);
    client.until("legwork/hunks", |params| {
        let waiting = params["hunks"].as_array()?;
        (waiting.len() == 1 && waiting[0]["hunk"] == hunks[0]["hunk"]).then_some(())
    });
    until_task(&client, &task, |item| item["pending"] == 1);
    assert_eq!(client.text(&uri), "a\nb\nc\nd\ne\nf\nG\nh\n");
}

#[test]
fn the_daemon_survives_the_server() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    let task = delegate(&client, "echo more >> a.txt");
    client.hunks(&uri, 1);
    // In the middle of an accept.
    client.applies(kit::lsp::Applies::Silently);
    client.begin("legwork.acceptTask", json!({ "task": task }));
    while client.requests("workspace/applyEdit").is_empty() {
        thread::sleep(std::time::Duration::from_millis(5));
    }
    client.kill();
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    // What the dead one was about is free again after a moment.
    let begun = std::time::Instant::now();
    loop {
        match accept(&client, &client.hunks(&uri, 1)[0]) {
            Ok(_) => break,
            Err(error) => assert!(begun.elapsed().as_secs() < 45, "{error}"),
        }
        thread::sleep(std::time::Duration::from_millis(200));
    }
    assert_eq!(client.text(&uri), "a\nmore\n");
}

#[test]
fn a_daemon_that_cannot_start_is_told_in_a_sentence() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    // Where its state would be there is a file.
    fs::write(stage.home.state(), "").expect("a file");
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    let sentence = refused(client.command("legwork.delegate", json!({ "command": ["true"] })));
    assert!(sentence.len() > 20, "{sentence}");
    let hunks = client
        .request("legwork/hunks", json!({ "uri": uri }))
        .expect("hunks");
    assert_eq!(hunks["hunks"], json!([]));
    let tasks = client.request("legwork/tasks", json!({})).expect("tasks");
    assert_eq!(tasks["daemon"], "down");
    drop(client);
    fs::remove_file(stage.home.state()).expect("it is there");
}

/// Answers every request with this status and body, as a daemon of another age would.
fn other_daemon(stage: &Stage, status: &'static str, body: String) {
    let runtime = stage.home.runtime();
    fs::create_dir_all(&runtime).expect("a directory");
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let socket = runtime.join("daemon.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).expect("it is ours");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let body = body.clone();
            thread::spawn(move || {
                let mut request = [0; 4096];
                while let Ok(1..) = stream.read(&mut request) {
                    let answer = format!(
                        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
}

#[test]
fn daemons_of_another_age_are_told_in_a_sentence() {
    let refusal = |kind: &str| {
        json!({ "kind": kind, "message": "this daemon is older than the program that asks it", "hint": "run `legwork daemon stop`" }).to_string()
    };
    for (status, body) in [
        ("426 Upgrade Required", refusal("generation")),
        // Newer: what it says is not understood.
        (
            "200 OK",
            json!({ "generation": 99, "words": ["of", "the", "future"] }).to_string(),
        ),
        ("200 OK", "<html>".to_owned()),
        ("500 Internal Server Error", String::new()),
    ] {
        let stage = Stage::with(&[("a.txt", "a\n")]);
        other_daemon(&stage, status, body);
        let client = stage.client();
        let uri = client.open(&stage.path("a.txt"));
        let sentence = refused(client.command("legwork.delegate", json!({ "command": ["true"] })));
        assert!(sentence.contains("daemon"), "{status}: {sentence}");
        client
            .command("legwork.accept", Value::Null)
            .expect_err("nothing is there");
        let hunks = client
            .request("legwork/hunks", json!({ "uri": uri }))
            .expect("hunks");
        assert_eq!(hunks["hunks"], json!([]));
        drop(client);
        fs::remove_file(stage.home.runtime().join("daemon.sock")).expect("a socket");
    }
}
