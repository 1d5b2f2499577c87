//! Files: modes, links, names, types, sizes. Group D.

use serde_json::json;

use crate::case::Case;

plain! {
    b58_a_name_that_is_not_utf_8 = "B58";
    b59_a_name_in_another_normal_form = "B59";
}

#[test]
fn b52_the_mode_is_kept_and_its_change_is_a_change() {
    let case = Case::new("B52");
    let done = case.run();
    assert_eq!(done.paths(), ["new.sh", "run.sh", "secret", "tool.sh"]);
    assert_eq!(done.file("tool.sh")["kind"]["type"], "mode");
    case.round(&done, &case.direct);
}

#[test]
fn b53_a_link_stays_a_link() {
    let case = Case::new("B53");
    let done = case.run();
    assert_eq!(done.paths(), ["cur", "dangling", "docs/AGENTS.md"]);
    assert!(done.file("cur")["summary"].as_str().unwrap().contains("v2"));
    case.round(&done, &case.direct);
}

#[test]
fn b55_a_rename_by_case_alone() {
    let case = Case::new("B55");
    let done = case.run();
    assert_eq!(done.paths(), ["README.md", "src/x.txt"]);
    assert_eq!(
        done.file("README.md")["kind"],
        json!({"type": "rename", "from": "Readme.md"})
    );
    case.round(&done, &case.direct);
}

#[test]
fn b56_names_that_are_one_elsewhere() {
    let case = Case::new("B56");
    let done = case.run();
    done.refuses(&[]);
    for path in ["Data.txt", "data.txt", "é.txt", "e\u{301}.txt"] {
        let why = done.file(path)["sensitive"].as_str().unwrap_or_default();
        assert!(
            why.contains("differ only in case or spelling"),
            "{path}: {why}"
        );
    }
    // They wait for a decision of their own.
    case.legwork(&["accept", &done.id]).expect(0);
    for path in ["Data.txt", "data.txt"] {
        assert!(!case.path().join(path).exists(), "{path}");
    }
    case.legwork(&["undo", &done.id]).expect(0);
    case.round(&done, &case.direct);
}

#[test]
fn b57_hostile_names() {
    let case = Case::new("B57");
    let done = case.run();
    done.refuses(&[]);
    assert_eq!(
        done.file("c -> d")["kind"],
        json!({"type": "create"}),
        "it has another content"
    );
    // Nothing of a name reaches a terminal as it is.
    let shown = case.legwork(&["show", &done.id]).text();
    assert!(shown.contains("new\\x0aline"), "{shown}");
    case.round(&done, &case.direct);
    assert!(!case.now().0.contains_key(b"pwned".as_slice()));
}

#[test]
fn b60_binary_files_are_decided_whole() {
    let case = Case::new("B60");
    let done = case.run();
    assert_eq!(done.paths(), ["data.bin", "logo.png", "new.ico", "old.dat"]);
    for path in done.paths() {
        let file = done.file(path);
        assert_eq!(
            (&file["binary"], done.hunks(path)),
            (&json!(true), 1),
            "{path}"
        );
        assert_eq!(file["hunks"][0]["lines"], json!([]), "{path}");
        assert!(
            file["summary"].as_str().unwrap().contains("binary"),
            "{file}"
        );
    }
    case.round(&done, &case.direct);
}

#[test]
fn b62_empty_emptied_and_removed_are_three_things() {
    let case = Case::new("B62");
    let done = case.run();
    let kind = |path| done.file(path)["kind"]["type"].as_str().unwrap();
    assert_eq!(
        ["pkg/__init__.py", "a.txt", "b.txt", "void"].map(kind),
        ["create", "modify", "delete", "create"]
    );
    case.legwork(&["reject", &done.id, "a.txt"]).expect(0);
    case.legwork(&["undo", &done.id]).expect(0);
    case.round(&done, &case.direct);
}

#[test]
fn b63_folders_come_and_go_with_what_is_in_them() {
    let case = Case::new("B63");
    let done = case.run();
    // What an ignore rule names was never in the guest, so nothing the task did can take it away.
    let wanted = case
        .direct
        .clone()
        .with(&case.base, "old")
        .without("old/x.txt");
    case.round(&done, &wanted);
}

#[test]
fn b64_files_folders_and_links_take_each_others_place() {
    let case = Case::new("B64");
    let done = case.run();
    // Part of it has room, or it says what it lacks and writes nothing.
    for part in ["conf/main", "lib", "app.cfg"] {
        let half = case.legwork(&["accept", &done.id, part]);
        if half.code == 0 {
            case.legwork(&["undo", &done.id]).expect(0);
        } else {
            assert!(half.stderr.contains(part), "{half:?}");
        }
        case.now().must_be(&case.base, part);
    }
    case.round(&done, &case.direct);
}

#[test]
fn b65_moves_are_told_as_moves() {
    let case = Case::new("B65");
    let done = case.run();
    for (to, from) in [("sub/b.rs", "a.rs"), ("n/1", "m/1"), ("n/2", "m/2")] {
        assert_eq!(
            done.file(to)["kind"],
            json!({"type": "rename", "from": from})
        );
    }
    let lines = done.file("sub/b.rs")["hunks"][0]["lines"].to_string();
    assert!(
        lines.contains("twenty") && !lines.contains("\"7\""),
        "{lines}"
    );
    case.round(&done, &case.direct);
}

#[test]
fn b66_long_lines_and_large_files() {
    let case = Case::new("B66");
    let done = case.run();
    assert_eq!(done.paths(), ["all.txt", "big.log", "one.json"]);
    assert_eq!(done.hunks("one.json"), 1);
    case.round(&done, &case.direct);
}

#[test]
fn b57_new_names_that_do_not_show_what_they_are() {
    let case = Case::new("B57");
    let script = "printf x > \"$(printf 'one\\ntwo')\"; printf x > \"$(printf 'photo\\342\\200\\256gpj.exe')\"; printf x > plain";
    let id = case.start_script(script);
    let done = case.wait(&id, || {});
    done.refuses(&[]);
    let odd = ["one\\x0atwo", "photo\\xe2\\x80\\xaegpj.exe"];
    assert_eq!(done.paths(), [odd[0], odd[1], "plain"]);
    for path in odd {
        let why = done.file(path)["sensitive"].as_str().unwrap_or_default();
        assert!(why.contains("hide themselves"), "{path}: {why}");
    }
    // They wait for a decision of their own.
    case.legwork(&["accept", &done.id]).expect(0);
    case.now()
        .without("plain")
        .must_be(&case.base, "a bulk accept");
    case.legwork(&["accept", &done.id, odd[0], odd[1]])
        .expect(0);
    assert_eq!(case.now().bytes("one\ntwo"), b"x");
    assert_eq!(case.now().bytes("photo\u{202e}gpj.exe"), b"x");
}

#[test]
fn b64_a_link_becomes_a_folder_with_files_in_it() {
    let setup = "mkdir -p \"$1/home\" \"$1/ws/d\"; cd \"$1/ws\"; echo x > d/x; ln -s d l; echo f > f; ln -s f k; mkdir e; echo x > e/x";
    let script = "rm l k; mkdir l k; echo new > l/x; echo new > k/y; rm -r e; ln -s d e";
    let case = Case::made(setup.to_owned(), script.to_owned());
    let done = case.run();
    for file in done.shown["review"]["files"].as_array().unwrap() {
        assert_eq!(file["hunks"][0]["state"], "pending", "{file}");
    }
    case.round(&done, &case.direct);
    // One of it alone has no room, and says so.
    let case = Case::made(setup.to_owned(), script.to_owned());
    let done = case.run();
    let alone = case.legwork(&["accept", &done.id, "l/x"]).expect(1);
    assert!(alone.stderr.contains("l/x"), "{alone:?}");
    case.now().must_be(&case.base, "no room");
}
