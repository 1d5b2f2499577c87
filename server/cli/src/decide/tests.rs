//! Names and what they mean.

use super::*;
use crate::review::tests::{file, hunk, review};

fn place(directory: &str) -> Place {
    Place {
        workspace: "/w".into(),
        directory: directory.into(),
    }
}

fn named(name: impl AsRef<OsStr>, directory: &str, review: &Review) -> String {
    match picks(&[name.as_ref().to_owned()], &place(directory), review) {
        Ok(picks) => match picks.as_slice() {
            [] => "everything".to_owned(),
            [Pick { path, hunk: None }] => path.to_string(),
            [
                Pick {
                    path,
                    hunk: Some(hunk),
                },
            ] => format!("{path} hunk {hunk}"),
            more => panic!("{more:?}"),
        },
        Err(failure) => {
            assert_eq!(failure.kind.code(), 2);
            format!("{} ({})", failure.message, failure.hint)
        }
    }
}

#[test]
fn names_are_told_from_where_the_user_stands() {
    let mut review = review();
    review
        .files
        .push(file("src/deep/x.rs", vec![hunk(1), hunk(4)]));
    for (name, directory, meant) in [
        ("a", "", "a"),
        ("./a", "", "a"),
        ("a:2", "", "a hunk 2"),
        ("/w/a:2", "elsewhere", "a hunk 2"),
        ("x.rs", "src/deep", "src/deep/x.rs"),
        ("../../a", "src/deep", "a"),
        ("deep", "src", "src/deep"),
        (".", "src", "src"),
        (".", "", "everything"),
        ("src/deep/x.rs:4", "", "src/deep/x.rs hunk 4"),
    ] {
        assert_eq!(
            named(name, directory, &review),
            meant,
            "{name} from {directory}"
        );
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let review = review();
    assert_eq!(
        named("zzz", "", &review),
        "the task changed nothing at `zzz` (it changed a, b)"
    );
    assert_eq!(
        named("a", "src", &review),
        "the task changed nothing at `a` (it changed a, b)"
    );
    assert_eq!(
        named("a:9", "", &review),
        "`a` has no hunk 9 (its hunks are 1, 2, 3)"
    );
    assert_eq!(
        named("/etc/passwd", "", &review),
        "`/etc/passwd` is not in the task's workspace /w (it changed a, b)"
    );
    assert_eq!(
        named(".:1", "", &review),
        "the task changed nothing at `.:1` (it changed a, b)"
    );
    assert!(named("", "src", &review).starts_with("the task changed nothing at ``"));
}

#[test]
fn one_name_that_is_wrong_refuses_all() {
    let names = ["a".into(), "zzz".into()];
    assert!(picks(&names, &place(""), &review()).is_err());
    let names = ["a".into(), "b".into()];
    assert_eq!(picks(&names, &place(""), &review()).unwrap().len(), 2);
    assert_eq!(picks(&[], &place(""), &review()).unwrap(), []);
}

#[test]
fn odd_names_have_a_plain_and_an_escaped_spelling() {
    let mut review = review();
    review.files = vec![
        file("a:1", vec![hunk(1)]),
        file(r"\xff\x0a", vec![hunk(7)]),
        file(r"back\x5cslash", vec![hunk(1)]),
    ];
    assert_eq!(named("a:1", "", &review), "a:1");
    assert_eq!(named("a:1:1", "", &review), "a:1 hunk 1");
    assert_eq!(
        named(OsStr::from_bytes(b"\xff\n"), "", &review),
        r"\xff\x0a"
    );
    assert_eq!(
        named(OsStr::from_bytes(b"\xff\n:7"), "", &review),
        r"\xff\x0a hunk 7"
    );
    assert_eq!(named(r"\xff\x0a:7", "", &review), r"\xff\x0a hunk 7");
    assert_eq!(named(r"back\slash", "", &review), r"back\x5cslash");
    assert_eq!(
        named(r"back\x5cslash:1", "", &review),
        r"back\x5cslash hunk 1"
    );
}

#[test]
fn a_renamed_file_answers_to_both_names() {
    let mut review = review();
    let mut renamed = file("new", vec![hunk(1)]);
    renamed.kind = ChangeKind::Rename {
        from: "old".parse().unwrap(),
    };
    review.files = vec![renamed];
    assert_eq!(named("old:1", "", &review), "new hunk 1");
}
