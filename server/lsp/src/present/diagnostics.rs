//! Hunks as diagnostics: what every client can draw.

use gen_lsp_types::{Code, Diagnostic, DiagnosticSeverity, Message, Position, Range};
use legwork_review::{LineKind, LineView};
use serde_json::json;

use crate::{
    session::Shown,
    sheet::{Spot, Stand},
    text::Text,
};

/// A diagnostic shows so many lines of its hunk; the hover shows all.
const LINES: usize = 12;

/// All hunks of a file. Information: a hint is skipped by VS Code's list, and a warning would be a lie.
pub(crate) fn of(shown: &Shown, text: Option<&Text>) -> Vec<Diagnostic> {
    let spots = &shown.sheet.spots;
    spots
        .iter()
        .enumerate()
        .map(|(index, spot)| Diagnostic {
            range: range(spot, text),
            severity: Some(DiagnosticSeverity::Information),
            code: Some(Code::String(format!(
                "{}.{}",
                spot.name.task.short(),
                spot.name.number
            ))),
            source: Some("legwork".to_owned()),
            message: Message::String(message(spot, index + 1, spots.len())),
            data: Some(json!({ "hunk": spot.name.to_string() })),
            ..Diagnostic::default()
        })
        .collect()
}

/// The lines that are replaced. A range past the end is drawn in odd places, so an insertion there is at the last line.
pub(crate) fn range(spot: &Spot, text: Option<&Text>) -> Range {
    let last = text.map_or(u32::MAX, |text| text.line_count().saturating_sub(1));
    let at = |line: u32| Position {
        line: line.min(last),
        character: 0,
    };
    Range {
        start: at(spot.start),
        end: at(spot.end),
    }
}

fn message(spot: &Spot, number: usize, of: usize) -> String {
    let mut lines = vec![format!("hunk {number}/{of} ({})", title(spot))];
    lines.extend(note(spot));
    let change: Vec<String> = spot
        .lines
        .iter()
        .filter(|line| line.kind != LineKind::Context)
        .map(diff_line)
        .collect();
    let room = LINES.saturating_sub(lines.len());
    if change.len() > room {
        let shown = room.saturating_sub(1);
        lines.extend_from_slice(&change[..shown]);
        lines.push(format!("… {} more lines", change.len() - shown));
    } else {
        lines.extend(change);
    }
    lines.join("\n")
}

/// What the task is called, short enough for one line.
pub(crate) fn title(spot: &Spot) -> String {
    let mut title: String = spot.title.chars().take(60).collect();
    if title.len() < spot.title.len() {
        title.push('…');
    }
    title
}

/// What is to be known of a hunk beside its lines.
pub(crate) fn note(spot: &Spot) -> Option<String> {
    let mut notes = Vec::new();
    match spot.stand {
        Stand::Pending => {}
        Stand::Already => notes.push("this text is here already".to_owned()),
        Stand::Conflicted => {
            notes.push("conflict: these lines were changed here since the task began".to_owned());
        }
    }
    match spot.whole {
        Some("created") => notes.push("a new file".to_owned()),
        Some("deleted") => notes.push("the file is deleted".to_owned()),
        _ => {}
    }
    notes.extend(spot.summary.clone());
    notes.extend(
        spot.sensitive
            .as_ref()
            .map(|why| format!("to be accepted by itself: {why}")),
    );
    notes.extend(spot.moved.clone());
    if spot.running {
        notes.push("the task goes on, this may still change".to_owned());
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

pub(crate) fn diff_line(line: &LineView) -> String {
    let sign = match line.kind {
        LineKind::Context => ' ',
        LineKind::Removed => '-',
        LineKind::Added => '+',
    };
    format!("{sign}{}", line.text)
}
