//! Bytes of text: line endings, marks, encodings, the end of the file. Group A.

use crate::case::Case;

plain! {
    b03_a_lone_carriage_return = "B03";
    b12_signs_of_patterns_and_snippets = "B12";
    b13_entities_and_tags_are_data = "B13";
}

/// A case whose changed files have one hunk each.
fn one_hunk_each(id: &'static str, files: &[&str]) {
    let case = Case::new(id);
    let done = case.run();
    assert_eq!(done.paths(), files);
    for file in files {
        assert_eq!(done.hunks(file), 1, "{file}");
    }
    case.round(&done, &case.direct);
}

#[test]
fn b01_a_crlf_file_keeps_its_line_endings() {
    one_hunk_each("B01", &["win.txt"]);
}

#[test]
fn b01_other_line_endings_for_the_whole_file_are_said() {
    let case = Case::new("B01");
    let id = case.start_script("printf 'alpha\\nbeta\\nGAMMA\\ndelta\\nepsilon\\n' > win.txt");
    let done = case.wait(&id, || {});
    let summary = done.file("win.txt")["summary"].as_str().unwrap();
    assert_eq!(summary, "all line endings change from CRLF to LF");
}

#[test]
fn b02_line_endings_are_kept_line_by_line() {
    let case = Case::new("B02");
    let done = case.run();
    assert_eq!(done.hunks("mixed.txt"), 2);
    case.round(&done, &case.direct);
}

#[test]
fn b04_a_byte_order_mark_is_neither_lost_nor_made() {
    one_hunk_each("B04", &["bom.cs", "nobom.cs"]);
}

#[test]
fn b05_a_stray_byte_far_from_the_change_stays() {
    one_hunk_each("B05", &["legacy.c"]);
}

#[test]
fn b06_a_second_encoding_in_one_file_is_said() {
    let case = Case::new("B06");
    let done = case.run();
    let summary = done.file("conf.ini")["summary"].as_str().unwrap();
    assert!(summary.contains("not in UTF-8"), "{summary}");
    assert_eq!(done.file("gbk.ini")["summary"].as_str(), None);
    case.round(&done, &case.direct);
}

#[test]
fn b07_utf_16_is_carried_whole() {
    let case = Case::new("B07");
    let done = case.run();
    assert_eq!(done.file("app.reg")["binary"], true);
    assert_eq!(
        done.file("app.reg")["hunks"][0]["lines"],
        serde_json::json!([])
    );
    case.round(&done, &case.direct);
}

#[test]
fn b08_no_newline_comes_to_the_end() {
    one_hunk_each("B08", &["noeol.txt"]);
    assert_eq!(Case::new("B08").direct.bytes("noeol.txt").len(), 13);
}

#[test]
fn b09_an_appended_line_ends_the_one_before_it_first() {
    let case = Case::new("B09");
    let done = case.run();
    let hunks = done.hunks("j.txt");
    if hunks > 1 {
        case.legwork(&["accept", &done.id, "j.txt:2"]).expect(0);
        assert_eq!(case.now().bytes("j.txt"), b"hello\nworld\ntail\n");
        case.legwork(&["undo", &done.id]).expect(0);
    }
    case.round(&done, &case.direct);
}

#[test]
fn b10_blank_lines_at_the_end_survive_each_accept() {
    one_hunk_each("B10", &["tail.txt"]);
    let case = Case::new("B10");
    for round in 1..=3 {
        let id = case.start_script(&format!("sed -i '1s/$/{round}/' tail.txt"));
        let done = case.wait(&id, || {});
        case.accept(&done).expect(0);
    }
    assert_eq!(case.now().bytes("tail.txt"), b"alpha123\nbeta\n\n\n");
}

#[test]
fn b14_content_that_looks_like_a_patch() {
    one_hunk_each("B14", &["fmt.md"]);
    // The diff of such a file is one that git reads.
    let case = Case::new("B14");
    let done = case.run();
    let patch = case.legwork(&["show", &done.id, "--diff"]);
    std::fs::write(case.stage().join("patch"), &patch.stdout).unwrap();
    case.user("git init -q . && git apply ../patch && rm -rf .git");
    case.now().must_be(&case.direct, "applied by git");
}

#[test]
fn b15_tabs_and_blanks_stay_where_nothing_changed() {
    one_hunk_each("B15", &["Makefile", "hard.md"]);
}
