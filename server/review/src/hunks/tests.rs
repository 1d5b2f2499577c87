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
