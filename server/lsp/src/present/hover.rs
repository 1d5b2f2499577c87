//! The whole hunk under the cursor.

use gen_lsp_types::{Contents, Hover, MarkupContent, MarkupKind};

use super::diagnostics::{diff_line, note, range, title};
use crate::{sheet::Spot, text::Text};

/// As Markdown. A fence is as long as it must be: the lines are anyone's.
pub(crate) fn of(spot: &Spot, text: &Text) -> Hover {
    let diff: Vec<String> = spot.lines.iter().map(diff_line).collect();
    let longest = diff
        .iter()
        .flat_map(|line| line.split(|c| c != '`'))
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let mut parts = vec![format!(
        "**Legwork** {}",
        title(spot).replace(['\\', '*', '_', '`', '<', '['], " ")
    )];
    parts.extend(note(spot).map(|note| note.replace(['<', '`'], " ")));
    if !diff.is_empty() {
        parts.push(format!("{fence}diff\n{}\n{fence}", diff.join("\n")));
    }
    Hover {
        contents: Contents::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: parts.join("\n\n"),
        }),
        range: Some(range(spot, Some(text))),
    }
}
