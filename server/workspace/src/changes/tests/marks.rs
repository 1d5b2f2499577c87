//! What waits for a decision of its own: names that deceive, and deletions that nobody may have meant.

use super::*;
use crate::Edit;

fn why<'a>(set: &'a ChangeSet, path: &str) -> &'a str {
    let change = set
        .changes
        .iter()
        .find(|one| one.path.as_bytes() == path.as_bytes());
    let change = change.unwrap_or_else(|| panic!("{path:?} is not among {:?}", told(set)));
    change.sensitive.as_deref().unwrap_or_default()
}

#[test]
fn names_that_are_one_elsewhere_wait_for_a_decision() {
    let scene = Scene::new(&[("README", "r"), ("src/m", "m")]);
    let set = scene.set(vec![
        scene.file("readme", "x"),
        dir("SRC"),
        scene.file("SRC/f", "x"),
        scene.file("é", "1"),
        scene.file("e\u{301}", "2"),
        scene.file("other", "x"),
    ]);
    assert!(refused(&set).is_empty(), "{:?}", refused(&set));
    for path in ["readme", "SRC/f", "é", "e\u{301}"] {
        assert!(
            why(&set, path).contains("differ only in case or spelling"),
            "{path}"
        );
    }
    assert_eq!(why(&set, "other"), "");
    // A rename that changes nothing but the case has no partner any more.
    let set = scene.set(vec![gone("README"), scene.file("readme", "r")]);
    assert_eq!((told(&set).len(), why(&set, "readme")), (1, ""));
}

#[test]
fn names_that_do_not_show_what_they_are_wait_for_a_decision() {
    let scene = Scene::new(&[("of\nmine", "1")]);
    let names = [
        "new\nline",
        "\x1b[31m",
        "photo\u{202e}gpj.exe",
        "a\u{200b}b",
        "\u{feff}main.rs",
        "dir\tof/plain",
    ];
    let mut report: Vec<_> = names.iter().map(|path| scene.file(path, "x")).collect();
    report.extend([
        dir("dir\tof"),
        scene.file("of\nmine", "2"),
        scene.file(" -> ", "x"),
        scene.file("-rf", "x"),
        scene.file("👩\u{200d}🚀", "x"),
        scene.file("$(touch x)", "x"),
    ]);
    let set = scene.set(report);
    assert!(refused(&set).is_empty(), "{:?}", refused(&set));
    for path in names {
        assert!(why(&set, path).contains("hide themselves"), "{path:?}");
    }
    // What the user has is known to the user, and signs that a shell knows deceive nobody.
    for path in ["of\nmine", " -> ", "-rf", "👩\u{200d}🚀", "$(touch x)"] {
        assert_eq!(why(&set, path), "", "{path:?}");
    }
    let hidden = |text: &str| {
        text.chars()
            .any(|c| c.is_control() || legwork_model::is_hidden(c))
    };
    for change in &set.changes {
        assert!(!hidden(&change.path.to_string()), "{}", change.path);
    }
}

#[test]
fn binary_files_and_mass_deletions_are_marked() {
    let files: Vec<_> = (0..30)
        .map(|number| (format!("f{number}"), "x".to_owned()))
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let scene = Scene::new(&[&files[..], &[("b", "a\0b")]].concat());
    let set = scene.set(vec![
        scene.file("b", "text"),
        scene.file_with("new", b"\0", 0o644),
    ]);
    assert!(set.changes.iter().all(|change| change.binary));
    assert_eq!(
        set.changes[1].sensitive.as_deref(),
        Some("it is a new binary file")
    );
    let set = scene.set((0..20).map(|number| gone(&format!("f{number}"))).collect());
    assert!(set.changes.iter().all(|change| change.sensitive.is_some()));
    let set = scene.set((0..3).map(|number| gone(&format!("f{number}"))).collect());
    assert!(set.changes.iter().all(|change| change.sensitive.is_none()));
    // Of a small workspace, three files may be nearly all of it.
    let small = Scene::new(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
    let set = small.set(["a", "b", "c"].map(gone).into());
    assert_eq!(why(&set, "a"), "it is one of 3 deletions among 4 files");
    let set = small.set(["a", "b"].map(gone).into());
    assert_eq!(why(&set, "a"), "");
}

#[test]
fn a_long_file_that_was_cut_short_is_marked() {
    let long = "line\n".repeat(2000);
    let scene = Scene::new(&[("long", &long), ("short", "1\n2\n3\n")]);
    let set = scene.set(vec![scene.file("long", "line\n"), scene.file("short", "")]);
    assert_eq!(why(&set, "long"), "nine tenths of it and more are gone");
    assert_eq!(why(&set, "short"), "");
    let set = scene.set(vec![scene.file("long", &long[..2000])]);
    assert_eq!(why(&set, "long"), "");
}

#[test]
fn a_move_with_an_edit_is_one_move() {
    let text = |word: &str| -> String {
        let line = |number| format!("line {number} of {word}\n");
        (0..40).map(line).collect()
    };
    let (a, b) = (text("a"), text("b"));
    let scene = Scene::new(&[
        ("a.rs", &a),
        ("b.rs", &b),
        ("twin", &a),
        ("short", "1\n2\n"),
    ]);
    let edited = a.replace("line 7 of", "LINE 7 of");
    let set = scene.set(vec![
        gone("a.rs"),
        dir("sub"),
        scene.file("sub/c.rs", &edited),
        gone("b.rs"),
        scene.file("unlike.rs", &text("c")),
        gone("short"),
        scene.file("long", "1\n3\n"),
    ]);
    let wanted = [
        "delete b.rs",
        "create long",
        "delete short",
        "a.rs -> sub/c.rs",
        "create unlike.rs",
    ];
    assert_eq!(told(&set), wanted);
    let moved = set.get(&"sub/c.rs".parse().unwrap()).unwrap();
    let edits = Edit::accept(moved);
    assert_eq!(edits.len(), 2, "{edits:?}");
    // Of two that are equally close nobody knows which it was.
    let set = scene.set(vec![
        gone("a.rs"),
        gone("twin"),
        scene.file("c.rs", &edited),
    ]);
    assert_eq!(told(&set), ["delete a.rs", "create c.rs", "delete twin"]);
    // Unless one has the name.
    let report = vec![
        gone("a.rs"),
        gone("twin"),
        dir("d"),
        scene.file("d/twin", &edited),
    ];
    assert_eq!(told(&scene.set(report)), ["delete a.rs", "twin -> d/twin"]);
}
