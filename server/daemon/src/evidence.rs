//! The card of a task beside what its changes are now: what it was made of, and whether it still tells of that.

use std::fmt::Write as _;

use legwork_evidence::{Card, Check, Edited, Part, Progress, Stamp};
use legwork_model::{ChangeKind, Digest, Side, TaskId, TaskSpec};
use legwork_review::State;
use legwork_workspace::BlobStore;

use crate::store::{Db, FileRow, StoreError};

/// Larger files are not looked at for tests, in bytes.
const LARGEST: u64 = 1 << 20;

/// A card of which nothing is known yet.
pub(crate) fn begun(spec: &TaskSpec, part: Part, rows: &[FileRow], at: i64) -> Card {
    let mut card = Card::new(part, stamp(rows), at);
    let reproduction = spec
        .reproduce
        .iter()
        .map(|command| Check::new(command, true));
    let checks = spec
        .checks
        .iter()
        .flatten()
        .map(|command| Check::new(command, false));
    card.checks = reproduction.chain(checks).collect();
    card
}

/// Says on the card of a task that nothing more comes, if it says that something does.
pub(crate) fn give_up(db: &mut Db, task: &TaskId, why: &str, at: i64) -> Result<(), StoreError> {
    match db.card(task)? {
        Some(card) if card.progress == Progress::Checking => {
            let progress = Progress::Stopped {
                why: why.to_owned(),
            };
            db.set_card(task, &Card { progress, ..card }, at)
        }
        _ => Ok(()),
    }
}

/// What the changes are now.
pub(crate) fn stamp(rows: &[FileRow]) -> Stamp {
    let (mut changes, mut accepted) = (String::new(), String::new());
    for row in rows {
        let _ok = writeln!(changes, "{:?}", row.change);
        let hunks = row.review.hunks().iter().enumerate();
        let taken = hunks.filter(|(_, hunk)| hunk.state == State::Accepted);
        let taken: Vec<usize> = taken.map(|(number, _)| number).collect();
        if !taken.is_empty() {
            let _ok = writeln!(accepted, "{} {:?} {taken:?}", row.path(), row.review.base());
        }
    }
    Stamp {
        changes: Digest::of(changes.as_bytes()),
        accepted: Digest::of(accepted.as_bytes()),
    }
}

/// Why a card does not tell of how things stand now; `None` if it does.
pub(crate) fn stale(card: &Card, rows: &[FileRow]) -> Option<String> {
    let now = stamp(rows);
    if now.changes != card.stamp.changes {
        return Some("the task changed other things since".to_owned());
    }
    let hunks = || rows.iter().flat_map(|row| row.review.hunks());
    let any = |state| hunks().any(|hunk| hunk.state == state);
    match card.part {
        Part::Accepted if now.accepted != card.stamp.accepted => {
            Some("other hunks are accepted now".to_owned())
        }
        Part::Whole if any(State::Rejected) => Some("a part was rejected".to_owned()),
        Part::Whole if any(State::Accepted) && any(State::Pending) => {
            Some("only a part is accepted".to_owned())
        }
        _ => None,
    }
}

/// Tests that the changes edit.
pub(crate) fn edited(blobs: &BlobStore, rows: &[FileRow]) -> Vec<Edited> {
    let text = |side: &Option<Side>| match side {
        Some(Side::File { digest, size, .. }) if *size <= LARGEST => {
            let bytes = blobs.get(digest).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        _ => None,
    };
    let found = rows.iter().filter_map(|row| {
        let change = &row.change;
        let path = match &change.kind {
            ChangeKind::Rename { from } => from,
            _ => row.path(),
        };
        if change.binary || matches!(change.kind, ChangeKind::Create | ChangeKind::Mode) {
            return None;
        }
        let before = text(&change.before)?;
        legwork_evidence::edited(path, &before, text(&change.after).as_deref())
    });
    found.collect()
}
