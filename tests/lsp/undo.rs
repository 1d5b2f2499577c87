//! What was decided is taken back, by the editor's own undo or by ours.

use serde_json::json;

use crate::stage::{Stage, accept, delegate, reject, until_task};

/// B37.
#[test]
fn undo_after_accept() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\nd\ne\nf\ng\nh\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i -e 's/b/B/' -e 's/g/G/' f.txt");
    let hunks = client.hunks(&uri, 2);
    for hunk in &hunks {
        accept(&client, hunk).expect("accepted");
    }
    client.hunks(&uri, 0);
    // The editor's undo takes the last one back.
    client.replace(&uri, "G", "g");
    let back = client.hunks(&uri, 1).remove(0);
    assert_eq!(
        (&back["hunk"], &back["state"]),
        (&hunks[1]["hunk"], &json!("pending"))
    );
    until_task(&client, &task, |item| item["pending"] == 1);
    // The user types on; what is undone now is the first hunk and nothing else.
    client.splice(&uri, 0..0, "mine\n");
    client.replace(&uri, "B", "b");
    client.hunks(&uri, 2);
    assert_eq!(client.text(&uri), "mine\na\nb\nc\nd\ne\nf\ng\nh\n");
    // In another session of the editor it is as it was.
    drop(client);
    let client = stage.client();
    let uri = client.open_as(&uri, "mine\na\nb\nc\nd\ne\nf\ng\nh\n");
    for hunk in client.hunks(&uri, 2) {
        accept(&client, &hunk).expect("accepted");
    }
    assert_eq!(client.text(&uri), "mine\na\nB\nc\nd\ne\nf\nG\nh\n");
}

/// B37: with the command, beside the user's own later edits.
#[test]
fn legwork_undo_takes_the_hunk_out_and_nothing_else() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    delegate(&client, "sed -i 's/b/B/' f.txt");
    accept(&client, &client.hunks(&uri, 1)[0]).expect("accepted");
    let end = client.text(&uri).len();
    client.splice(&uri, end..end, "mine\n");
    client.command("legwork.undo", json!(null)).expect("undone");
    assert_eq!(client.text(&uri), "a\nb\nc\nmine\n");
    assert_eq!(client.hunks(&uri, 1)[0]["state"], "pending");
}

#[test]
fn what_is_taken_back_is_what_was_decided_last() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\nd\ne\nf\ng\nh\n"), ("g.txt", "x\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(
        &client,
        "sed -i -e 's/b/B/' -e 's/g/G/' f.txt; echo y > g.txt",
    );
    let hunks = client.hunks(&uri, 2);
    accept(&client, &hunks[0]).expect("accepted");
    reject(&client, &hunks[1]).expect("rejected");
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("what is left");
    assert_eq!(stage.folder.read("g.txt"), "y\n");
    let text = || client.text(&uri);
    let undo = || client.command("legwork.undo", json!({ "task": task }));
    undo().expect("the file on disk");
    assert_eq!(
        (stage.folder.read("g.txt"), text()),
        ("x\n".to_owned(), "a\nB\nc\nd\ne\nf\ng\nh\n".to_owned())
    );
    undo().expect("the rejected hunk");
    assert_eq!(client.hunks(&uri, 1)[0]["hunk"], hunks[1]["hunk"]);
    assert_eq!(text(), "a\nB\nc\nd\ne\nf\ng\nh\n");
    undo().expect("the accepted hunk");
    client.hunks(&uri, 2);
    assert_eq!(text(), "a\nb\nc\nd\ne\nf\ng\nh\n");
    let error = undo().expect_err("nothing is left to take back");
    assert!(error.to_string().contains("undo"), "{error}");
}

#[test]
fn what_was_accepted_and_not_saved_waits_again_when_its_buffer_is_given_up() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\nd\ne\nf\ng\nh\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i -e 's/b/B/' -e 's/g/G/' f.txt");
    let hunks = client.hunks(&uri, 2);
    accept(&client, &hunks[0]).expect("accepted");
    client.save(&uri, &stage.path("f.txt"));
    accept(&client, &hunks[1]).expect("accepted");
    until_task(&client, &task, |item| item["pending"] == 0);
    client.close(&uri);
    until_task(&client, &task, |item| item["pending"] == 1);
    let uri = client.open(&stage.path("f.txt"));
    let waits = client.hunks(&uri, 1).remove(0);
    assert_eq!(waits["hunk"], hunks[1]["hunk"]);
    accept(&client, &waits).expect("accepted");
    client.save(&uri, &stage.path("f.txt"));
    client.close(&uri);
    // What is on disk stays accepted, and what a later visit does not touch does too.
    let uri = client.open(&stage.path("f.txt"));
    client.hunks(&uri, 0);
    client.close(&uri);
    client.hunks(&client.open(&stage.path("f.txt")), 0);
    until_task(&client, &task, |item| item["pending"] == 0);
    assert_eq!(stage.folder.read("f.txt"), "a\nB\nc\nd\ne\nf\nG\nh\n");
}

/// B38.
#[test]
fn undo_and_redo_do_not_accept_things() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i 's/b/B/' f.txt");
    client.hunks(&uri, 1);
    client.splice(&uri, 0..0, "x");
    for _ in 0..3 {
        client.splice(&uri, 0..1, "");
        client.splice(&uri, 0..0, "x");
    }
    client.command("legwork.next", json!(null)).expect("shown");
    client.command("legwork.prev", json!(null)).expect("shown");
    let params =
        json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 0 } });
    client
        .request("textDocument/hover", params)
        .expect("a hover");
    assert_eq!(client.hunks(&uri, 1)[0]["state"], "pending");
    assert_eq!(client.text(&uri), "xa\nb\nc\n");
    assert!(client.requests("workspace/applyEdit").is_empty());
    until_task(&client, &task, |item| item["pending"] == 1);
}

/// B39.
#[test]
fn reject_in_a_file_the_user_has_edited_since() {
    let stage = Stage::with(&[("a.txt", "a\n")]);
    let client = stage.client();
    let task = delegate(&client, "echo new > new.txt");
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("accepted");
    assert_eq!(stage.folder.read("new.txt"), "new\n");
    stage.folder.write("new.txt", "new\nmine\n");
    // The rollback is refused or leaves the user's line.
    let undone = client.command("legwork.undo", json!({ "task": task }));
    assert!(
        stage.folder.read("new.txt").contains("mine\n"),
        "{undone:?}"
    );
    // So is it when the file is open by then.
    let uri = client.open(&stage.path("new.txt"));
    let _undone = client.command("legwork.undo", json!({ "task": task }));
    let _rejected = client.command("legwork.rejectTask", json!({ "task": task }));
    assert!(client.text(&uri).contains("mine\n"));
    assert!(stage.folder.read("new.txt").contains("mine\n"));
}

/// B43.
#[test]
fn rejected_text_stays_readable() {
    let stage = Stage::with(&[("dir/f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("dir/f.txt"));
    let task = delegate(&client, "sed -i 's/b/B/' dir/f.txt");
    reject(&client, &client.hunks(&uri, 1)[0]).expect("rejected");
    client.hunks(&uri, 0);
    let text = |what: &str| {
        let uri = format!("legwork:/{task}/{what}");
        let content = client.request("legwork/content", json!({ "uri": uri }));
        content.unwrap_or_else(|error| panic!("{error}"))["text"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert!(
        text("diff").contains("+B"),
        "the diff tells what was rejected"
    );
    assert_eq!(text("base/dir/f.txt"), "a\nb\nc\n");
    // It can be had again.
    client
        .command("legwork.undo", json!({ "task": task }))
        .expect("undone");
    assert_eq!(text("proposed/dir/f.txt"), "a\nB\nc\n");
    accept(&client, &client.hunks(&uri, 1)[0]).expect("accepted");
    assert_eq!(client.text(&uri), "a\nB\nc\n");
}

/// B37: the editor is started again between the accept and the undo. The user's edits of before and after it stay, and a
/// file that is open is not changed on the disk.
#[test]
fn an_accept_of_another_session_is_taken_back() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\nd\ne\n"), ("g.txt", "x\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i 's/b/B/; s/d/D/' f.txt; echo y > g.txt");
    client.splice(&uri, 0..0, "mine\n");
    accept(&client, &client.hunks(&uri, 2)[0]).expect("accepted");
    let end = client.text(&uri).len();
    client.splice(&uri, end..end, "later\n");
    client.save(&uri, &stage.path("f.txt"));
    drop(client);

    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    assert_eq!(client.text(&uri), "mine\na\nB\nc\nd\ne\nlater\n");
    client.hunks(&uri, 1);
    client.splice(&uri, 0..0, "still mine\n");
    client.command("legwork.undo", json!(null)).expect("undone");
    assert_eq!(
        client.text(&uri),
        "still mine\nmine\na\nb\nc\nd\ne\nlater\n"
    );
    assert_eq!(stage.folder.read("f.txt"), "mine\na\nB\nc\nd\ne\nlater\n");
    client.hunks(&uri, 2);
    until_task(&client, &task, |item| item["pending"] == 3);

    // All at once, and one of the files is closed by then: that one is the daemon's to write.
    client
        .command("legwork.acceptTask", json!({ "task": task }))
        .expect("accepted");
    client.save(&uri, &stage.path("f.txt"));
    assert_eq!(stage.folder.read("g.txt"), "y\n");
    drop(client);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    until_task(&client, &task, |item| item["pending"] == 0);
    client.hunks(&uri, 0);
    client.command("legwork.undo", json!(null)).expect("undone");
    until_task(&client, &task, |item| item["pending"] == 3);
    assert_eq!(
        client.text(&uri),
        "still mine\nmine\na\nb\nc\nd\ne\nlater\n"
    );
    assert_eq!(stage.folder.read("g.txt"), "x\n");
    assert!(
        stage.folder.read("f.txt").contains("B\n"),
        "it is not saved"
    );
}
