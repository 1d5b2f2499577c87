//! Buffers that are not what the task found: unsaved, edited since, formatted.

use kit::lsp::Applies;
use serde_json::json;

use crate::stage::{Stage, accept, delegate, refused};

/// B20.
#[test]
fn document_moves_on_between_accept_and_the_edit() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i 's/b/B/' f.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    let mut landed = 0;
    for round in 0..200 {
        let before = client.text(&uri);
        let id = client.begin("legwork.accept", json!({ "hunk": hunk["hunk"] }));
        client.splice(&uri, 0..0, "\n");
        let typed = format!("\n{before}");
        match client.answer(id) {
            Ok(_) => {
                landed += 1;
                assert_eq!(client.text(&uri), typed.replace('b', "B"), "round {round}");
                client
                    .command("legwork.undo", json!({ "task": task }))
                    .expect("undone");
                assert_eq!(client.text(&uri), typed, "round {round}");
            }
            Err(error) => assert_eq!(client.text(&uri), typed, "round {round}: {error}"),
        }
        let hunk = client.hunks(&uri, 1).remove(0);
        assert_eq!(hunk["state"], "pending", "round {round}");
    }
    assert!(landed > 0, "no accept ever lands");
}

/// B20: the editor says that it refuses, and the next edit is made for the text as it is.
#[test]
fn a_refused_edit_is_made_anew_for_the_newer_text() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    delegate(&client, "sed -i 's/b/B/' f.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    client.applies(Applies::AfterTyping);
    accept(&client, &hunk).expect("accepted");
    assert_eq!(client.text(&uri), "typed\na\nB\nc\n");
    let edits = client.requests("workspace/applyEdit");
    assert_eq!(edits.len(), 2);
    for edit in &edits {
        let document = &edit["edit"]["documentChanges"][0]["textDocument"];
        assert!(
            document["version"].is_i64(),
            "an edit without a version: {document}"
        );
    }
}

#[test]
fn applied_true_is_only_maybe() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    delegate(&client, "sed -i 's/b/B/' f.txt");
    let hunk = client.hunks(&uri, 1).remove(0);
    for mode in [Applies::Never, Applies::Refusing, Applies::Failing] {
        client.applies(mode);
        let sentence = refused(accept(&client, &hunk));
        assert!(sentence.contains("f.txt"), "{mode:?}: {sentence}");
        assert_eq!(client.hunks(&uri, 1)[0]["state"], "pending", "{mode:?}");
    }
    // Slow editors are waited for: Neovim tells 150 ms later, Emacs half a second.
    client.applies(Applies::Late(500));
    accept(&client, &hunk).expect("accepted");
    assert_eq!(client.text(&uri), "a\nB\nc\n");
}

/// B34.
#[test]
fn unsaved_buffer_at_delegation_time() {
    let stage = Stage::with(&[("f.py", "v1\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.py"));
    client.set_text(&uri, "v2\ndef helper():\n    pass\n");
    delegate(&client, "grep -q helper f.py && echo 'helper()' >> f.py");
    let hunk = client.hunks(&uri, 1).remove(0);
    assert_eq!(hunk["added"], json!(["helper()"]), "v2 is the base: {hunk}");
    assert_eq!(hunk["removed"], json!([]));
    accept(&client, &hunk).expect("accepted");
    assert_eq!(client.text(&uri), "v2\ndef helper():\n    pass\nhelper()\n");
    assert_eq!(
        stage.folder.read("f.py"),
        "v1\n",
        "nothing is saved unasked"
    );
}

/// B36.
#[test]
fn format_on_save_after_the_first_accept() {
    let text = "function f(){\nreturn 'a'\n}\nfunction g(){\nreturn 'b'\n}\n";
    let stage = Stage::with(&[("q.js", text)]);
    let client = stage.client();
    let uri = client.open(&stage.path("q.js"));
    let task = delegate(&client, "sed -i -e \"s/'a'/'A'/\" -e \"s/'b'/'B'/\" q.js");
    let hunks = client.hunks(&uri, 2);
    accept(&client, &hunks[0]).expect("accepted");
    let formatted = "function f(){\n  return \"A\";\n}\nfunction g(){\n  return \"b\";\n}\n";
    client.set_text(&uri, formatted);
    client.save(&uri, &stage.path("q.js"));
    let left = client.hunks(&uri, 1).remove(0);
    assert_eq!(
        left["hunk"], hunks[1]["hunk"],
        "the formatter's changes are no hunks"
    );
    let accepted = accept(&client, &left);
    if left["state"] == "pending" {
        accepted.expect("accepted");
        let text = client.text(&uri);
        let first = "function f(){\n  return \"A\";\n}\n";
        assert!(
            text.starts_with(first) && text.contains('B'),
            "the formatter's work is undone: {text}"
        );
    } else {
        refused(accepted);
        assert_eq!(client.text(&uri), formatted);
    }
    // What was accepted stays so.
    let diff = client.request(
        "legwork/content",
        json!({ "uri": format!("legwork:/{task}/diff") }),
    );
    assert!(
        diff.expect("a diff")["text"]
            .as_str()
            .expect("a text")
            .contains("'A'")
    );
}

/// B44.
#[test]
fn the_anchor_text_exists_several_times() {
    let block = "func () {\n  open()\n  close()\n}\n\n";
    let script = "awk '/open/{n++} {if(n==4 && /close/) print \"  flush()\"; print}' dup.txt > .t && cat .t > dup.txt && rm .t";
    let changed = "func () {\n  open()\n  flush()\n  close()\n}\n\n";
    // A block more at the top, unsaved and saved; one block less.
    for (added, removed, saved) in [(1, 0, false), (1, 0, true), (0, 1, false)] {
        let stage = Stage::with(&[("dup.txt", &block.repeat(6))]);
        let client = stage.client();
        let uri = client.open(&stage.path("dup.txt"));
        delegate(&client, script);
        client.hunks(&uri, 1);
        if added > 0 {
            client.splice(&uri, 0..0, block);
        } else {
            client.splice(&uri, block.len()..2 * block.len(), "");
        }
        if saved {
            client.save(&uri, &stage.path("dup.txt"));
        }
        let moved = client.text(&uri);
        let hunk = client.hunks(&uri, 1).remove(0);
        if hunk["state"] == "conflicted" {
            refused(accept(&client, &hunk));
            assert_eq!(client.text(&uri), moved);
        } else {
            accept(&client, &hunk).expect("accepted");
            let before = 3 + added - removed;
            let wanted = [block.repeat(before), changed.to_owned(), block.repeat(2)].concat();
            assert_eq!(
                client.text(&uri),
                wanted,
                "added {added}, removed {removed}"
            );
        }
    }
}
