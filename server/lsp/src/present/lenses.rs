//! Buttons above each hunk, where the client draws code lenses.

use gen_lsp_types::{CodeLens, Command};
use serde_json::json;

use super::diagnostics::range;
use crate::{
    session::Shown,
    sheet::{Spot, Stand},
    text::Text,
};

/// All of a file.
pub(crate) fn of(shown: &Shown, text: &Text) -> Vec<CodeLens> {
    let spots = &shown.sheet.spots;
    let mut lenses = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let mut place = range(spot, Some(text));
        place.end = place.start;
        let mut button = |title: String, command: &str, arguments| {
            lenses.push(CodeLens {
                range: place,
                command: Some(Command {
                    title,
                    tooltip: None,
                    command: command.to_owned(),
                    arguments,
                }),
                data: None,
            });
        };
        let hunk = Some(vec![json!({ "hunk": spot.name.to_string() })]);
        if spot.stand != Stand::Conflicted {
            button("Accept".to_owned(), "legwork.accept", hunk.clone());
        }
        button("Reject".to_owned(), "legwork.reject", hunk);
        button(label(spot, index + 1, spots.len()), "legwork.next", None);
    }
    lenses
}

fn label(spot: &Spot, number: usize, of: usize) -> String {
    let what = if spot.stand == Stand::Conflicted {
        "conflict"
    } else {
        "hunk"
    };
    format!("{what} {number}/{of}")
}
