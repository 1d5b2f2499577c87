//! Columns, lines past the end, and changes one after the other.

use kit::lsp::{Client, Encoding};
use serde_json::json;

use crate::stage::{Stage, accept, delegate, seen};

const LINE: &str = "let s = \"🎉👨\u{200d}👩\u{200d}👧🇩🇪e\u{301}漢\" + name;\n";

/// B16.
#[test]
fn columns_after_astral_characters() {
    for (offered, encoding) in [
        ("utf-8", Encoding::Utf8),
        ("utf-16", Encoding::Utf16),
        ("utf-32", Encoding::Utf32),
    ] {
        let stage = Stage::with(&[("e.ts", LINE)]);
        let client = Client::with(&stage.home, &stage.setup().offering(&[offered]));
        assert_eq!(client.server["capabilities"]["positionEncoding"], offered);
        let uri = client.open(&stage.path("e.ts"));
        // Right behind an emoji, between the parts of a family, behind an accent.
        for before in ["🎉", "👨\u{200d}", "e\u{301}", "漢"] {
            let at = client.text(&uri).find(before).expect("it is there") + before.len();
            client.splice(&uri, at..at, "é");
        }
        let typed = client.text(&uri);
        delegate(&client, "sed -i 's/name;/title;/' e.ts");
        let hunk = client.hunks(&uri, 1).remove(0);
        assert_eq!((&hunk["start"], &hunk["end"]), (&json!(0), &json!(1)));
        accept(&client, &hunk).expect("accepted");
        assert_eq!(
            client.text(&uri),
            typed.replace("name;", "title;"),
            "{offered}"
        );
        // Past the end of a line is its end; inside of a character is before or behind it, but not in it.
        let past = json!({ "line": 0, "character": 10_000 });
        client.change(
            &uri,
            &[json!({ "range": { "start": past, "end": past }, "text": "!" })],
        );
        assert!(client.text(&uri).ends_with("title;!\n"));
        assert_eq!(seen(&client, "e.ts"), client.text(&uri));
        assert_eq!(
            encoding.offset(&typed, &json!({ "line": 0, "character": 0 })),
            0
        );
    }
}

/// B16: what no client should send, and some do.
#[test]
fn a_column_inside_of_a_surrogate_pair_breaks_nothing() {
    let stage = Stage::with(&[("e.txt", "🎉b\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("e.txt"));
    let inside = json!({ "line": 0, "character": 1 });
    let change = json!({ "range": { "start": inside, "end": inside }, "text": "x" });
    client.notify(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [change] }),
    );
    let text = seen(&client, "e.txt");
    assert!(text == "x🎉b\n" || text == "🎉xb\n", "{text:?}");
}

/// B17.
#[test]
fn position_encoding_negotiation() {
    let stage = Stage::with(&[("e.ts", LINE)]);
    let setup = stage.setup();
    let mut silent = setup.clone();
    silent
        .capabilities
        .as_object_mut()
        .expect("an object")
        .remove("general");
    let clients = [
        (setup.clone().offering(&["utf-8"]), &["utf-8"][..]),
        (setup.offering(&["utf-16", "utf-8"]), &["utf-16", "utf-8"]),
        (silent, &["utf-16"]),
    ]
    .map(|(setup, offered)| {
        let client = Client::with(&stage.home, &setup);
        let chosen = &client.server["capabilities"]["positionEncoding"];
        let chosen = chosen.as_str().unwrap_or("utf-16");
        assert!(offered.contains(&chosen), "{chosen} of {offered:?}");
        client
    });
    let uris = clients
        .each_ref()
        .map(|client| client.open(&stage.path("e.ts")));
    delegate(&clients[0], "sed -i 's/name;/title;/' e.ts");
    // Accepted in the client with the last encoding, where columns count another way.
    let hunk = clients[2].hunks(&uris[2], 1).remove(0);
    accept(&clients[2], &hunk).expect("accepted");
    assert_eq!(clients[2].text(&uris[2]), LINE.replace("name;", "title;"));
    // The others see that it is decided, and their buffers are their own.
    for index in [0, 1] {
        clients[index].hunks(&uris[index], 0);
        assert_eq!(clients[index].text(&uris[index]), LINE);
    }
}

/// B19.
#[test]
fn several_changes_in_one_did_change() {
    let stage = Stage::with(&[("a.txt", "one\ntwo\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("a.txt"));
    let range = |from: (u32, u32), to: (u32, u32)| json!({ "start": { "line": from.0, "character": from.1 }, "end": { "line": to.0, "character": to.1 } });
    client.change(
        &uri,
        &[
            json!({ "range": range((2, 0), (2, 0)), "text": "three\nfour\n" }),
            // Valid only after the first.
            json!({ "range": range((3, 0), (3, 4)), "text": "FOUR" }),
            json!({ "range": range((0, 0), (1, 0)), "text": "" }),
        ],
    );
    assert_eq!(client.text(&uri), "two\nthree\nFOUR\n");
    assert_eq!(seen(&client, "a.txt"), "two\nthree\nFOUR\n");
    client.change(
        &uri,
        &[
            json!({ "range": range((0, 0), (1, 0)), "text": "lost\n" }),
            json!({ "text": "all new\n" }),
            json!({ "range": range((0, 0), (0, 3)), "text": "ALL" }),
        ],
    );
    assert_eq!(seen(&client, "a.txt"), "ALL new\n");
}

/// B22.
#[test]
fn edit_at_or_past_the_last_line() {
    let stage = Stage::with(&[
        ("with.txt", "a\nb\n"),
        ("without.txt", "a\nb"),
        ("empty.txt", ""),
    ]);
    let client = stage.client();
    let names = ["with.txt", "without.txt", "empty.txt"];
    let uris = names.map(|name| client.open(&stage.path(name)));
    let script = "printf 'a\\nb\\nc\\n' > with.txt; printf 'a\\nb\\nc' > without.txt; printf 'c\\n' > empty.txt";
    delegate(&client, script);
    let wanted = ["a\nb\nc\n", "a\nb\nc", "c\n"];
    for (uri, wanted) in uris.iter().zip(wanted) {
        let lines = client.text(uri).matches('\n').count();
        let hunk = client.hunks(uri, 1).remove(0);
        accept(&client, &hunk).expect("accepted");
        assert_eq!(client.text(uri), wanted, "{uri}");
        let edits = client.requests("workspace/applyEdit");
        let edit = &edits.last().expect("an edit")["edit"]["documentChanges"][0]["edits"][0];
        let start = edit["range"]["start"]["line"].as_u64().expect("a line");
        assert!(start <= lines as u64, "{edit} starts past the end");
    }
    assert_eq!(
        stage.folder.read("with.txt"),
        "a\nb\n",
        "nothing is saved unasked"
    );
}
