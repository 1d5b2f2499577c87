//! The walk through a review, and how it looks.

use legwork_model::{ChangeKind, Digest, TaskId};
use legwork_wire::{Decide, FileReview, Hunk, HunkState, Line, LineKind, Review};

use super::{
    draw,
    walk::{Key, Step, Walk},
};

/// A pending hunk that replaces line 10.
pub(crate) fn hunk(id: u32) -> Hunk {
    let line = |kind, text: &str| Line {
        kind,
        text: text.to_owned(),
        no_newline: false,
    };
    let lines = vec![
        line(LineKind::Context, "before"),
        line(LineKind::Removed, "old"),
        line(LineKind::Added, "new \u{202e}"),
        line(LineKind::Added, "more"),
    ];
    Hunk {
        id,
        state: HunkState::Pending,
        before: (10, 1),
        after: (12, 2),
        live: Some(10),
        lines,
    }
}

/// A modified file.
pub(crate) fn file(path: &str, hunks: Vec<Hunk>) -> FileReview {
    let path = path.parse().unwrap();
    FileReview {
        path,
        kind: ChangeKind::Modify,
        binary: false,
        sensitive: None,
        summary: None,
        hunks,
    }
}

/// `a` with two pending hunks and an accepted one between them; `b`, sensitive, with one.
pub(crate) fn review() -> Review {
    let mut a = file("a", vec![hunk(1), hunk(2), hunk(3)]);
    a.hunks[1].state = HunkState::Accepted;
    let mut b = file("b", vec![hunk(1)]);
    b.sensitive = Some("runs on build".to_owned());
    Review {
        moved: None,
        task: TaskId::random(),
        digest: Digest::of(b"1"),
        files: vec![a, b],
    }
}

fn at(walk: &Walk) -> Option<(String, u32, (usize, usize))> {
    walk.current()
        .map(|spot| (spot.file.path.to_string(), spot.hunk.id, spot.number))
}

fn picks(decide: &Decide) -> Vec<(String, Option<u32>)> {
    decide
        .picks
        .iter()
        .map(|pick| (pick.path.to_string(), pick.hunk))
        .collect()
}

/// What the daemon would answer: these hunks are decided.
fn decided(review: &Review, decide: &Decide, state: HunkState, digest: &[u8]) -> Review {
    let mut review = review.clone();
    assert_eq!(
        decide.digest,
        Some(review.digest),
        "a decision binds to what was shown"
    );
    for pick in &decide.picks {
        let file = review
            .files
            .iter_mut()
            .find(|file| file.path == pick.path)
            .unwrap();
        let hunk = file
            .hunks
            .iter_mut()
            .find(|hunk| Some(hunk.id) == pick.hunk)
            .unwrap();
        hunk.state = state;
    }
    review.digest = Digest::of(digest);
    review
}

#[test]
fn each_hunk_that_waits_is_asked_about_once() {
    let mut review = review();
    let mut walk = Walk::new(review.clone());
    assert_eq!(at(&walk), Some(("a".to_owned(), 1, (1, 3))));
    let Step::Accept(decide) = walk.press(Key::Accept) else {
        panic!()
    };
    assert_eq!(picks(&decide), [("a".to_owned(), Some(1))]);
    review = decided(&review, &decide, HunkState::Accepted, b"2");
    walk.renew(review.clone());
    assert_eq!(at(&walk), Some(("a".to_owned(), 3, (2, 3))));
    assert_eq!(walk.press(Key::Skip), Step::Next);
    assert_eq!(at(&walk), Some(("b".to_owned(), 1, (3, 3))));
    let Step::Reject(decide) = walk.press(Key::Reject) else {
        panic!()
    };
    assert_eq!(picks(&decide), [("b".to_owned(), Some(1))]);
    walk.renew(decided(&review, &decide, HunkState::Rejected, b"3"));
    assert_eq!(at(&walk), None);
    assert_eq!(walk.waiting(), 1);
    assert_eq!(walk.press(Key::Accept), Step::End);
}

#[test]
fn the_rest_of_a_file_names_each_hunk_and_never_everything() {
    let mut review = review();
    let mut walk = Walk::new(review.clone());
    let Step::Accept(decide) = walk.press(Key::AcceptFile) else {
        panic!()
    };
    assert_eq!(
        picks(&decide),
        [("a".to_owned(), Some(1)), ("a".to_owned(), Some(3))]
    );
    assert!(!decide.include_sensitive);

    walk.press(Key::Skip);
    let Step::Reject(decide) = walk.press(Key::RejectFile) else {
        panic!()
    };
    assert_eq!(
        picks(&decide),
        [("a".to_owned(), Some(3))],
        "a skipped hunk is not decided on"
    );

    for hunk in [0, 2] {
        review.files[0].hunks[hunk].state = HunkState::Conflicted;
    }
    let mut walk = Walk::new(review);
    assert!(matches!(walk.press(Key::AcceptFile), Step::Nothing(_)));
    let Step::Reject(decide) = walk.press(Key::RejectFile) else {
        panic!()
    };
    assert_eq!(picks(&decide).len(), 2);
}

#[test]
fn a_decision_that_was_refused_leaves_the_hunk_where_it_is() {
    let mut walk = Walk::new(review());
    walk.press(Key::Accept);
    walk.renew(review());
    assert_eq!(at(&walk), Some(("a".to_owned(), 1, (1, 3))));
}

#[test]
fn other_keys_decide_nothing() {
    let mut walk = Walk::new(review());
    for byte in 0..=u8::MAX {
        let step = walk.clone().press(Key::of(byte));
        let decides = matches!(step, Step::Accept(_) | Step::Reject(_));
        assert_eq!(decides, b"ynad".contains(&byte), "{byte}");
    }
    assert_eq!(walk.press(Key::Help), Step::Help);
    assert_eq!(walk.press(Key::Quit), Step::End);
    assert_eq!(at(&walk), Some(("a".to_owned(), 1, (1, 3))));
}

#[test]
fn a_hunk_is_drawn_with_its_file_place_and_nothing_a_terminal_would_obey() {
    let mut review = review();
    review.files[0].hunks[0].live = Some(14);
    review.files[0].hunks[0].lines[3].no_newline = true;
    let walk = Walk::new(review);
    assert_eq!(
        draw::spot(&walk.current().unwrap(), false),
        "a (modified)\n@@ -9,2 +11,3 @@ hunk 1, line 14 in your file now\n before\n-old\n+new \\u{202e}\n+more\n\
         \\ No newline at end of file\n"
    );
    let coloured = draw::spot(&walk.current().unwrap(), true);
    assert!(
        coloured.contains("\u{1b}[31m-old\u{1b}[0m\n")
            && coloured.contains("\u{1b}[32m+more\u{1b}[0m\n")
    );
}

#[test]
fn a_new_file_begins_behind_line_zero() {
    let mut review = review();
    let hunk = &mut review.files[0].hunks[0];
    (hunk.before, hunk.after, hunk.live) = ((1, 0), (1, 2), Some(1));
    hunk.lines.drain(..2);
    let walk = Walk::new(review);
    let text = draw::spot(&walk.current().unwrap(), false);
    assert!(text.contains("@@ -0,0 +1,2 @@ hunk 1\n"), "{text}");
}

#[test]
fn what_has_no_lines_is_drawn_by_its_summary() {
    let mut review = review();
    let file = &mut review.files[0];
    file.summary = Some("becomes executable".to_owned());
    file.sensitive = Some("new executable".to_owned());
    file.kind = ChangeKind::Mode;
    file.hunks = vec![Hunk {
        lines: vec![],
        state: HunkState::Conflicted,
        ..hunk(1)
    }];
    let walk = Walk::new(review);
    assert_eq!(
        draw::spot(&walk.current().unwrap(), false),
        "a (mode changed)\nbecomes executable\nsensitive: new executable\nin conflict: your file was changed at the same \
         place\n"
    );
}
