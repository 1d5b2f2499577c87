//! How a hunk under review looks.

use std::fmt::Write as _;

use legwork_wire::{FileReview, Hunk, HunkState, LineKind};

use super::walk::Spot;
use crate::{
    diff::{BOLD, CYAN, GREEN, RED, paint},
    printable::printable,
    verdict,
};

/// What the keys do.
pub(crate) const HELP: &str = "\
y  accept this hunk: it is written to your file now
n  reject this hunk
a  accept the rest of this file (but hunks in conflict)
d  reject the rest of this file
s  skip this hunk: decide later
q  leave; what was decided stays decided
?  this help
";

/// A hunk below its file's name.
pub(crate) fn spot(spot: &Spot<'_>, coloured: bool) -> String {
    format!(
        "{}{}",
        header(spot.file, coloured),
        hunk(spot.hunk, coloured)
    )
}

/// The question.
pub(crate) fn prompt(spot: &Spot<'_>) -> String {
    let (number, total) = spot.number;
    format!(
        "[{number}/{total}] [y]es accept, [n]o reject, [a]ccept rest of file, [d] reject rest of file, [s]kip, [q]uit, ? "
    )
}

fn header(file: &FileReview, coloured: bool) -> String {
    let mut text = paint(
        &format!("{} ({})", file.path, verdict::change(&file.kind)),
        BOLD,
        coloured,
    );
    text.push('\n');
    if let Some(summary) = &file.summary {
        text.push_str(&printable(summary));
        text.push('\n');
    }
    if let Some(reason) = &file.sensitive {
        text.push_str(&paint(
            &format!("sensitive: {}", printable(reason)),
            RED,
            coloured,
        ));
        text.push('\n');
    }
    text
}

fn hunk(hunk: &Hunk, coloured: bool) -> String {
    let mut text = String::new();
    if hunk.state == HunkState::Conflicted {
        text.push_str(&paint(
            "in conflict: your file was changed at the same place",
            RED,
            coloured,
        ));
        text.push('\n');
    }
    if hunk.lines.is_empty() {
        return text;
    }
    text.push_str(&paint(&place(hunk), CYAN, coloured));
    text.push('\n');
    for line in &hunk.lines {
        let (sign, colour) = match line.kind {
            LineKind::Context => (' ', ""),
            LineKind::Removed => ('-', RED),
            LineKind::Added => ('+', GREEN),
        };
        let shown = format!("{sign}{}", printable(&line.text));
        text.push_str(&paint(&shown, colour, coloured && !colour.is_empty()));
        text.push('\n');
        if line.no_newline {
            text.push_str("\\ No newline at end of file\n");
        }
    }
    text
}

fn place(hunk: &Hunk) -> String {
    let count = |side| {
        hunk.lines
            .iter()
            .filter(|line| line.kind == LineKind::Context || line.kind == side)
            .count()
    };
    let leading = hunk
        .lines
        .iter()
        .take_while(|line| line.kind == LineKind::Context)
        .count();
    // A side without lines is placed behind the line before it, as in every unified diff.
    let start = |first: u32, lines: usize| {
        u64::from(first).saturating_sub(leading as u64 + u64::from(lines == 0))
    };
    let (before, after) = (count(LineKind::Removed), count(LineKind::Added));
    let mut text = format!(
        "@@ -{},{} +{},{} @@ hunk {}",
        start(hunk.before.0, before),
        before,
        start(hunk.after.0, after),
        after,
        hunk.id
    );
    if let Some(live) = hunk.live.filter(|live| *live != hunk.before.0) {
        // Writing to a string does not fail.
        let _ok = write!(text, ", line {live} in your file now");
    }
    text
}
