//! Hunks as data: what is cut, decided, stored and opened again.

use legwork_model::TreePath;

use super::*;
use crate::Version;

fn review(base: &[u8], agent: &[u8]) -> FileReview {
    FileReview::propose(Some(Version::regular(base)), Some(Version::regular(agent)))
}

#[test]
fn only_pending_hunks_are_decided_and_decisions_can_be_reopened() {
    let review = review(b"a\nb\nc\n", b"A\nb\nC\n");
    assert_eq!(review.pending(), [1, 2]);
    let rejected = review.reject(&[2]).unwrap();
    assert_eq!(rejected.pending(), [1]);
    assert_eq!(
        rejected.reject(&[1, 2]),
        Err(DecideError::Decided {
            id: 2,
            state: State::Rejected
        })
    );
    assert_eq!(rejected.reject(&[3]), Err(DecideError::Unknown { id: 3 }));
    assert_eq!(rejected.reopen(&[2]), Ok(review));
}

#[test]
fn the_digest_follows_the_pending_hunks() {
    let path = TreePath::from_bytes(b"a").unwrap();
    let other = TreePath::from_bytes(b"b").unwrap();
    let first = review(b"a\nb\nc\n", b"A\nb\nC\n");
    let of = |path: &TreePath, review: &FileReview| digest([(path, review)]);
    let shown = of(&path, &first);
    assert_eq!(shown, of(&path, &review(b"a\nb\nc\n", b"A\nb\nC\n")));
    assert_ne!(shown, of(&other, &first));
    assert_ne!(shown, of(&path, &first.reject(&[1]).unwrap()));
    assert_ne!(
        of(&path, &first.reject(&[2]).unwrap()),
        of(&path, &first.reject(&[1]).unwrap())
    );
    assert_ne!(shown, of(&path, &review(b"a\nb\nc\n", b"A\nb\nD\n")));
    // A file with nothing pending does not count.
    let done = first.reject(&[1, 2]).unwrap();
    assert_eq!(digest([(&path, &done)]), digest([]));
}

#[test]
fn a_review_survives_storage() {
    let first = review(b"a\nb\nc\n", b"A\nb\nC\n").reject(&[1]).unwrap();
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<FileReview>(&text).unwrap(), first);
}

#[test]
fn a_hunk_without_a_place_is_shown_where_its_lines_were() {
    let numbers =
        |from: u32, to: u32| -> String { (from..=to).map(|n| format!("{n}\n")).collect() };
    let base = numbers(1, 20);
    let agent = base
        .replace("\n5\n", "\nfive\n")
        .replace("\n12\n13\n", "\nx\n")
        .replace("\n18\n", "\neighteen\n");
    let review = review(base.as_bytes(), agent.as_bytes());
    let opened = review
        .open(Some(base.as_bytes()), Some(agent.as_bytes()))
        .unwrap();
    let near = |live: &str| opened.near(Some(Version::regular(live.as_bytes())));
    assert_eq!(near(&base), [Some(5), Some(12), Some(18)]);
    let above = format!("new\nnew\n{base}");
    assert_eq!(near(&above), [Some(7), Some(14), Some(20)]);
    // Two lines on top; 5 is another, 11 to 14 are gone, 17 to 19 are one line.
    let live = "a\nb\n".to_owned()
        + &numbers(1, 4)
        + "mine\n"
        + &numbers(6, 10)
        + &numbers(15, 16)
        + "mine\n20\n";
    assert_eq!(near(&live), [Some(7), Some(13), Some(16)]);
    assert_eq!(near(""), [Some(1), Some(1), Some(1)]);
    assert_eq!(opened.near(None), [None, None, None]);
}
