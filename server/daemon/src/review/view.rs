//! What a client draws.

use legwork_model::{Change, ChangeKind, Permissions, Side};
use legwork_review::{FileReview, HunkView, LineKind, LineView, Part, Placement, State};
use legwork_wire as wire;

use super::{
    ReviewError,
    sides::{Bytes, Standing},
};
use crate::store::FileRow;

/// A file with all its hunks, as they stand now.
pub(super) fn file(
    row: &FileRow,
    bytes: &Bytes,
    standing: &Standing,
) -> Result<wire::FileReview, ReviewError> {
    let opened = bytes.open(&row.review)?;
    let placements = standing.place(row, bytes, &opened);
    let mut views = opened.views();
    if let (ChangeKind::Rename { .. }, [whole]) = (&row.change.kind, &mut views[..]) {
        whole.lines = renamed(bytes)?;
    }
    let hunks = views
        .into_iter()
        .zip(placements)
        .map(|(view, placement)| hunk(view, placement));
    Ok(wire::FileReview {
        path: row.path().clone(),
        kind: row.change.kind.clone(),
        binary: row.review.is_binary(),
        sensitive: row.change.sensitive.clone(),
        summary: summary(&row.change, &row.review, opened.remarks()),
        hunks: hunks.collect(),
    })
}

/// The lines in which a file that was renamed is another than before: it is decided whole, but read by its lines.
fn renamed(bytes: &Bytes) -> Result<Vec<LineView>, ReviewError> {
    let review = FileReview::propose(bytes.before(), bytes.after());
    let before = bytes.before().map(|version| version.bytes);
    let opened = review.open(before, bytes.after().map(|version| version.bytes))?;
    Ok(opened
        .views()
        .into_iter()
        .flat_map(|view| view.lines)
        .collect())
}

fn hunk(view: HunkView, placement: Placement) -> wire::Hunk {
    let state = match (view.state, placement) {
        (State::Accepted, _) => wire::HunkState::Accepted,
        (State::Rejected, _) => wire::HunkState::Rejected,
        (State::Pending, Placement::At { .. } | Placement::Already { .. }) => {
            wire::HunkState::Pending
        }
        (State::Pending, Placement::Conflicted | Placement::Nowhere) => wire::HunkState::Conflicted,
    };
    let live = match placement {
        Placement::At { line } | Placement::Already { line } => Some(line),
        Placement::Conflicted | Placement::Nowhere => None,
    };
    let lines = view.lines.into_iter().map(|line| wire::Line {
        kind: match line.kind {
            LineKind::Context => wire::LineKind::Context,
            LineKind::Removed => wire::LineKind::Removed,
            LineKind::Added => wire::LineKind::Added,
        },
        text: line.text,
        no_newline: line.no_newline,
    });
    wire::Hunk {
        id: view.id,
        state,
        before: view.before,
        after: view.after,
        live,
        lines: lines.collect(),
    }
}

/// What the lines do not show.
pub(super) fn summary(
    change: &Change,
    review: &FileReview,
    remarks: Vec<String>,
) -> Option<String> {
    let mut parts = Vec::new();
    if let ChangeKind::Rename { from } = &change.kind {
        parts.push(format!("renamed from {from}"));
    }
    match (&change.before, &change.after) {
        (
            Some(Side::File {
                permissions: old, ..
            }),
            Some(Side::File {
                permissions: new, ..
            }),
        ) if old != new => parts.push(permissions(*old, *new)),
        (
            None,
            Some(Side::File {
                permissions: new, ..
            }),
        ) if new.is_executable() => parts.push("is executable".to_owned()),
        (
            None,
            Some(Side::File {
                permissions: new, ..
            }),
        ) if new.bits() & 0o444 != 0o444 => parts.push(format!("with permissions {new}")),
        _ => {}
    }
    if let Some(Side::Symlink { target }) = &change.after {
        parts.push(format!("a link to {target}"));
    }
    if change.after == Some(Side::Dir) {
        parts.push("an empty directory".to_owned());
    }
    let whole = review.hunks().iter().any(|hunk| hunk.part == Part::Whole);
    if let (true, Some(sizes)) = (whole && review.is_binary(), sizes(change)) {
        parts.push(sizes);
    }
    parts.extend(remarks);
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What most changes of permissions are about, in words; the others by their numbers.
fn permissions(old: Permissions, new: Permissions) -> String {
    let usual = |program: bool| match program {
        true => Permissions::PROGRAM,
        false => Permissions::PLAIN,
    };
    let is_usual = old.step(usual(old.is_executable()), usual(new.is_executable())) == new;
    match (old.is_executable(), new.is_executable()) {
        (false, true) if is_usual => "becomes executable".to_owned(),
        (true, false) if is_usual => "is not executable any more".to_owned(),
        _ => format!("permissions {old} become {new}"),
    }
}

fn sizes(change: &Change) -> Option<String> {
    let size = |side: &Option<Side>| match side {
        Some(Side::File { size, .. }) => Some(legwork_spec::ByteSize::bytes(*size)),
        _ => None,
    };
    Some(match (size(&change.before), size(&change.after)) {
        (Some(before), Some(after)) => format!("binary, {before} before and {after} now"),
        (None, Some(after)) => format!("binary, {after}"),
        (Some(before), None) => format!("binary, {before} before"),
        (None, None) => return None,
    })
}
