//! Hunks and tasks in any order.

use serde_json::{Value, json};

use crate::stage::{Stage, accept, delegate, refused, reject, until_state, until_task};

fn base() -> String {
    (1..=50).map(|number| format!("line {number}\n")).collect()
}

/// The base with some of the three hunks.
fn with(chosen: [bool; 3]) -> String {
    let mut text = base();
    if chosen[0] {
        text = text.replace("line 5\n", "line 5\nnew a\nnew b\nnew c\n");
    }
    if chosen[1] {
        text = text.replace("line 20\nline 21\n", "");
    }
    if chosen[2] {
        text = text.replace("line 40\n", "LINE 40\n");
    }
    text
}

/// B31.
#[test]
fn hunks_accepted_and_rejected_in_every_order() {
    let stage = Stage::with(&[("f.txt", &base())]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(
        &client,
        "sed -i -e '5a new a\\nnew b\\nnew c' -e '20,21d' -e '40s/line/LINE/' f.txt",
    );
    let names: Vec<Value> = client.hunks(&uri, 3);
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for order in orders {
        for bits in 0..8_u8 {
            let chosen = [0, 1, 2].map(|bit| bits & 1 << bit != 0);
            for hunk in order {
                let decide = if chosen[hunk] { accept } else { reject };
                decide(&client, &names[hunk])
                    .unwrap_or_else(|error| panic!("{order:?} {chosen:?}: {error}"));
            }
            client.hunks(&uri, 0);
            assert_eq!(client.text(&uri), with(chosen), "{order:?} {chosen:?}");
            // And back again, one after the other.
            for _ in order {
                client
                    .command("legwork.undo", json!({ "task": task }))
                    .expect("undone");
            }
            client.hunks(&uri, 3);
            assert_eq!(client.text(&uri), base(), "{order:?} {chosen:?}");
        }
    }
    assert_eq!(stage.folder.read("f.txt"), base());
}

/// A task's hunk among those of a file.
fn hunk_of<'h>(hunks: &'h [Value], task: &str) -> &'h Value {
    let mut hunks = hunks.iter();
    hunks.find(|hunk| hunk["task"] == task).expect("a hunk")
}

/// B32.
#[test]
fn two_tasks_change_one_file() {
    let lines: String = (1..=10).map(|number| format!("{number}\n")).collect();
    let stage = Stage::with(&[("f.txt", &lines)]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let tasks = ["2s/2/two/", "8s/8/eight/", "2s/2/zwei/"]
        .map(|script| delegate(&client, &format!("sed -i '{script}' f.txt")));
    let hunks = client.hunks(&uri, 3);
    let of = |task: &String| hunk_of(&hunks, task);
    for task in &tasks[..2] {
        accept(&client, of(task)).expect("accepted");
    }
    let wanted = lines.replace("2\n", "two\n").replace("8\n", "eight\n");
    assert_eq!(client.text(&uri), wanted);
    let left = client.hunks(&uri, 1).remove(0);
    assert_eq!(
        (&left["task"], &left["state"]),
        (&json!(tasks[2]), &json!("conflicted"))
    );
    refused(accept(&client, &left));
    assert_eq!(client.text(&uri), wanted);
}

/// B33.
#[test]
fn touching_hunks_of_two_tasks() {
    let lines: String = (1..=10).map(|number| format!("{number}\n")).collect();
    let stage = Stage::with(&[("f.txt", &lines)]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let tasks = ["5a first", "6d", "5a third"]
        .map(|script| delegate(&client, &format!("sed -i '{script}' f.txt")));
    let hunks = client.hunks(&uri, 3);
    let of = |task: &String| hunk_of(&hunks, task);
    accept(&client, of(&tasks[0])).expect("accepted");
    assert!(client.text(&uri).contains("5\nfirst\n6\n"));
    // Each of the others lands whole, or is refused; no line is lost or doubled.
    let answers = [1, 2].map(|index| accept(&client, of(&tasks[index])));
    let [deleted, third] = answers.each_ref().map(Result::is_ok);
    let text = client.text(&uri);
    assert_eq!(text.contains("\n6\n"), !deleted, "{text} {answers:?}");
    assert_eq!(text.matches("first\n").count(), 1, "{text}");
    assert_eq!(
        text.matches("third\n").count(),
        usize::from(third),
        "{text}"
    );
    for number in [5, 7] {
        assert_eq!(text.matches(&format!("\n{number}\n")).count(), 1, "{text}");
    }
}

/// B41.
#[test]
fn reject_all_in_a_later_task_keeps_what_was_accepted_earlier() {
    let stage = Stage::with(&[("f.txt", &base()), ("g.txt", "g\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let first = delegate(&client, "sed -i '5s/line/FIRST/' f.txt; echo more >> g.txt");
    client
        .command("legwork.acceptTask", json!({ "task": first }))
        .expect("accepted");
    until_state(&client, &first, &["done"]);
    let after_first = (client.text(&uri), stage.folder.read("g.txt"));
    let second = delegate(
        &client,
        "sed -i -e '5s/FIRST/SECOND/' -e '30d' f.txt; echo most >> g.txt",
    );
    client.hunks(&uri, 2);
    client
        .command("legwork.rejectTask", json!({ "task": second }))
        .expect("rejected");
    client.hunks(&uri, 0);
    assert_eq!((client.text(&uri), stage.folder.read("g.txt")), after_first);
    until_task(&client, &second, |item| item["pending"] == 0);
}

/// B42.
#[test]
fn rejected_hunks_stay_rejected() {
    let stage = Stage::with(&[("f.txt", &base()), ("kept.txt", "kept\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(
        &client,
        "sed -i -e '5s/line/A/' -e '30s/line/B/' f.txt; rm kept.txt",
    );
    let hunks = client.hunks(&uri, 2);
    reject(&client, &hunks[0]).expect("rejected");
    accept(&client, &hunks[1]).expect("accepted");
    let argument = json!({ "uri": kit::lsp::uri(&stage.path("kept.txt")) });
    client
        .command("legwork.rejectFile", argument)
        .expect("rejected");
    until_state(&client, &task, &["done"]);
    let wanted = client.text(&uri);
    assert!(
        wanted.contains("B 30") && !wanted.contains("A 5"),
        "{wanted}"
    );
    let settled = |client: &kit::lsp::Client, uri: &str| {
        client.hunks(uri, 0);
        assert_eq!(client.text(uri), wanted);
        until_task(client, &task, |item| item["pending"] == 0);
        assert_eq!(stage.folder.read("kept.txt"), "kept\n");
    };
    settled(&client, &uri);
    // Nor do they come back with another daemon and another editor.
    client.save(&uri, &stage.path("f.txt"));
    drop(client);
    stage
        .home
        .legwork(&stage.folder.path(), ["daemon", "stop"])
        .expect(0);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    settled(&client, &uri);
    // What is done next begins with what was accepted, and without what was not.
    let next = delegate(
        &client,
        "grep -c 'A 5' f.txt; grep -c 'B 30' f.txt; cat kept.txt",
    );
    let log = client.request("legwork/log", json!({ "task": next }));
    assert_eq!(log.expect("a log")["text"], "0\n1\nkept\n");
}
