//! Names that must be escaped, links, and files that come and go.

use std::{fs, os::unix::fs::symlink};

use kit::lsp::{Client, Setup, uri};
use serde_json::{Value, json};

use crate::stage::{Stage, accept, begin, delegate, refused, until_state, until_task};

const NAMES: [&str; 9] = [
    "[slug].tsx",
    "c#/x.cs",
    "100%.md",
    "%23.txt",
    "a b.txt",
    "q?.txt",
    "a+b.txt",
    "ü.txt",
    "~tmp",
];

/// Escapes only what cannot be left.
fn sparing(path: &std::path::Path) -> String {
    let path = path.to_str().expect("text");
    let escaped = path
        .replace('%', "%25")
        .replace('#', "%23")
        .replace('?', "%3F")
        .replace(' ', "%20");
    format!("file://{escaped}")
}

/// Escapes everything, in small letters, as some do.
fn eager(path: &std::path::Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let all = path.to_str().expect("text").bytes();
    let escaped: Vec<String> = all
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02x}")
            }
        })
        .collect();
    format!("file://{}", escaped.concat())
}

/// B23.
#[test]
fn paths_that_need_uri_escaping() {
    let files = NAMES.map(|name| (name, "old\n"));
    for form in [uri, sparing, eager] {
        let stage = Stage::with(&files);
        let client = stage.client();
        let uris = NAMES.map(|name| client.open_as(&form(&stage.path(name)), "old\n"));
        let script: Vec<String> = NAMES
            .iter()
            .map(|name| format!("echo new > './{name}'"))
            .collect();
        delegate(&client, &script.join(";"));
        for uri in &uris {
            let hunk = client.hunks(uri, 1).remove(0);
            accept(&client, &hunk).unwrap_or_else(|error| panic!("{uri}: {error}"));
            assert_eq!(client.text(uri), "new\n", "{uri}");
        }
        // No other buffer is opened: each edit names the document as the client does.
        let edits = client.requests("workspace/applyEdit");
        let named: Vec<&Value> = edits
            .iter()
            .map(|edit| &edit["edit"]["documentChanges"][0]["textDocument"]["uri"])
            .collect();
        assert_eq!(named, uris.iter().collect::<Vec<_>>());
    }
}

/// B24.
#[test]
fn workspace_opened_through_a_symlinked_path() {
    let stage = Stage::with(&[("f.txt", "one\n")]);
    let outside = tempfile::tempdir().expect("a directory");
    let link = outside.path().join("link");
    symlink(stage.folder.path(), &link).expect("a link");
    let client = Client::with(&stage.home, &Setup::full(&link));
    let other = stage.client();
    let through = client.open(&link.join("f.txt"));
    client.splice(&through, 0..0, "unsaved\n");
    let task = delegate(&client, "cat f.txt; echo two >> f.txt");
    let log = client
        .request("legwork/log", json!({ "task": task }))
        .expect("a log");
    assert_eq!(log["text"], "unsaved\none\n");
    let hunk = client.hunks(&through, 1).remove(0);
    // The other editor opened the folder itself, and has the same task.
    until_task(&other, &task, |item| item["state"] == "ready");
    let walk = client.request("legwork/walk", json!({})).expect("a walk");
    assert_eq!(walk["items"][0]["uri"], through.as_str());
    accept(&client, &hunk).expect("accepted");
    assert_eq!(client.text(&through), "unsaved\none\ntwo\n");
    until_task(&other, &task, |item| item["pending"] == 0);
}

/// B25.
#[test]
fn client_without_resource_operations_or_document_changes() {
    let files = [("keep.txt", "a\n"), ("old.txt", "b\n"), ("gone.txt", "c\n")];
    let script = "mkdir -p new/deep; echo n > new/deep/file.txt; mv old.txt renamed.txt; rm gone.txt; echo A > keep.txt";
    let direct = Stage::with(&files);
    direct.folder.sh(script);
    let stage = Stage::with(&files);
    let client = Client::with(&stage.home, &Setup::bare(&stage.folder.path()));
    let keep = client.open(&stage.path("keep.txt"));
    let task = delegate(&client, script);
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("accepted");
    assert_eq!(client.text(&keep), "A\n");
    let edits = client.requests("workspace/applyEdit");
    assert_eq!(edits.len(), 1);
    assert!(edits[0]["edit"]["documentChanges"].is_null(), "{edits:?}");
    assert!(client.requests("window/workDoneProgress/create").is_empty());
    assert!(client.requests("workspace/configuration").is_empty());
    client.save(&keep, &stage.path("keep.txt"));
    assert_eq!(stage.folder.standing(), direct.folder.standing());
}

/// B46.
#[test]
fn new_file_of_the_task_exists_by_now() {
    let stage = Stage::with(&[("a.txt", "base\n")]);
    let client = stage.client();
    let outside = tempfile::tempdir().expect("a directory");
    let target = outside.path().join("elsewhere");
    let place = stage.path("notes/todo.md");
    fs::create_dir(stage.path("notes")).expect("a folder");
    for variant in ["file", "folder", "dangling link"] {
        let task = delegate(
            &client,
            "mkdir -p notes; rm -rf notes/*; echo 'from task' > notes/todo.md",
        );
        match variant {
            "file" => fs::write(&place, "mine\n").expect("a file"),
            "folder" => stage.folder.write("notes/todo.md/mine.txt", "mine\n"),
            _ => symlink(&target, &place).expect("a link"),
        }
        let before = stage.folder.standing();
        let answer = client.command("legwork.acceptTask", json!({ "task": task }));
        assert!(
            answer.is_err(),
            "{variant}: {answer:?}: {:?}",
            fs::read_to_string(&place)
        );
        let sentence = refused(answer);
        assert!(sentence.contains("notes/todo.md"), "{variant}: {sentence}");
        assert_eq!(stage.folder.standing(), before, "{variant}");
        assert!(!target.exists(), "written through the link");
        client
            .command("legwork.rejectTask", json!({ "task": task }))
            .expect("rejected");
        assert_eq!(stage.folder.standing(), before, "{variant}");
        stage.folder.sh("rm -rf notes/todo.md");
    }
}

/// B47.
#[test]
fn user_deleted_renamed_or_moved_the_file_meanwhile() {
    let lines: String = (1..=30).map(|number| format!("{number}\n")).collect();
    for (act, wanted) in [
        ("git mv src/a.rs src/b.rs", None),
        ("rm src/a.rs", None),
        ("git checkout -q other", Some("fifteen")),
    ] {
        let stage = Stage::with(&[("src/a.rs", &lines)]);
        stage.folder.sh(
            "git init -q -b main .; git config user.name t; git config user.email t@example.com; git add -A; git commit -qm base; \
             git checkout -q -b other; sed -i 's/^15$/fifteen/' src/a.rs; git commit -qam other; git checkout -q main",
        );
        let client = stage.client();
        let task = delegate(&client, "sed -i 's/^20$/twenty/' src/a.rs");
        stage.folder.sh(act);
        let before = stage.folder.standing();
        let shown = stage
            .home
            .legwork(&stage.folder.path(), ["show", &task])
            .expect(0)
            .text();
        assert_eq!(shown.contains("(other) now"), wanted.is_some(), "{shown}");
        if wanted.is_some() {
            // The hunk is marked too, for whoever looks at it from now on.
            let client = stage.client();
            let uri = client.open(&stage.path("src/a.rs"));
            client.hunks(&uri, 1);
            let hover = client.request(
                "textDocument/hover",
                json!({ "textDocument": { "uri": uri }, "position": { "line": 19, "character": 0 } }),
            );
            let hover = hover.expect("a hover").to_string();
            assert!(hover.contains("(main), and the workspace is at"), "{hover}");
        }
        let answer = client.command("legwork.acceptTask", json!({ "task": task }));
        match wanted {
            Some(word) => {
                answer.expect("accepted");
                let text = stage.folder.read("src/a.rs");
                assert!(text.contains(word) && text.contains("twenty"), "{text}");
            }
            None => {
                refused(answer);
                assert_eq!(stage.folder.standing(), before, "{act}");
            }
        }
    }
}

/// B40.
#[test]
fn reject_of_a_file_that_the_task_deleted_and_wrote_again() {
    let stage = Stage::with(&[
        ("a.txt", "original\n"),
        ("dir/x.txt", "x\n"),
        ("dir/y.txt", "y\n"),
    ]);
    let client = stage.client();
    let before = stage.folder.standing();
    let uri = client.open(&stage.path("a.txt"));
    let task = delegate(
        &client,
        "rm a.txt; echo rewritten > a.txt; rm -r dir; mkdir dir; echo X > dir/x.txt; echo y > dir/y.txt",
    );
    let hunk = client.hunks(&uri, 1).remove(0);
    assert_eq!(hunk["whole"], Value::Null, "one modified file: {hunk}");
    let walk = client.request("legwork/walk", json!({})).expect("a walk");
    let mut files: Vec<&str> = walk["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|item| item["uri"].as_str())
        .collect();
    files.sort_unstable();
    assert_eq!(
        files,
        [uri.clone(), kit::lsp::uri(&stage.path("dir/x.txt"))]
    );
    client
        .command("legwork.rejectTask", json!({ "task": task }))
        .expect("rejected");
    client.hunks(&uri, 0);
    assert_eq!(stage.folder.standing(), before);
    assert_eq!(client.text(&uri), "original\n");
}

/// A file that the task renames is renamed by the daemon; its buffer's text is not lost.
#[test]
fn a_renamed_file_with_unsaved_text_keeps_the_text() {
    let stage = Stage::with(&[("old.txt", "one\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("old.txt"));
    let task = begin(&client, "mv old.txt new.txt");
    until_state(&client, &task, &["ready"]);
    client.splice(&uri, 0..0, "unsaved\n");
    // Either it is refused, or it is done and the buffer stays as it is.
    let answer = client.command("legwork.acceptTask", json!({ "task": task }));
    assert_eq!(client.text(&uri), "unsaved\none\n", "{answer:?}");
    if answer.is_err() {
        assert_eq!(stage.folder.read("old.txt"), "one\n");
    }
}
