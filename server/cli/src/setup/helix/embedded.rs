//! Helix's own languages.toml, read out of its program, where it stands as text. This is the only place that knows what
//! an installed Helix does for a language: `hx --health` tells programs, not the names of servers.

use toml_edit::{Array, DocumentMut, Item, Table};

use super::defaults::plain;

#[cfg(test)]
mod tests;

/// What begins a language, on a line of its own.
const HEADER: &[u8] = b"[[language]]";

/// What else ends one.
const GRAMMAR: &[u8] = b"[[grammar]]";

/// Fewer than these are not all of them.
const FEWEST: usize = 50;

/// The longest line that is taken for text.
const LONGEST_LINE: usize = 16 * 1024;

/// One language.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) name: String,
    /// What stands in `language-servers`.
    pub(crate) servers: Array,
    /// Whether it takes files that end in `.txt`.
    pub(crate) takes_txt: bool,
}

/// The languages in a program that any file can be of; `None` if they do not stand there as they are expected to.
pub(crate) fn languages(program: &[u8]) -> Option<Vec<Language>> {
    let mut languages = Vec::new();
    for block in blocks(program) {
        let document: DocumentMut = block.parse().ok()?;
        let table = document.get("language")?.as_array_of_tables()?.get(0)?;
        languages.extend(language(table)?);
    }
    (languages.len() >= FEWEST).then_some(languages)
}

/// `Some(None)` is a language that only others use.
#[expect(
    clippy::option_option,
    reason = "what is not as expected is not the same as what is left out"
)]
fn language(table: &Table) -> Option<Option<Language>> {
    let name = table.get("name")?.as_str()?;
    let list = |key| match table.get(key) {
        None => Some(Array::new()),
        Some(item) => item.as_array().map(plain),
    };
    let types = list("file-types")?;
    if types.is_empty() && list("shebangs")?.is_empty() {
        return Some(None);
    }
    Some(Some(Language {
        name: name.to_owned(),
        servers: list("language-servers")?,
        takes_txt: takes_txt(table.get("file-types")),
    }))
}

/// Whether a list of file types has that of plain text.
pub(crate) fn takes_txt(types: Option<&Item>) -> bool {
    let types = types.and_then(Item::as_array);
    types
        .into_iter()
        .flatten()
        .any(|value| value.as_str() == Some("txt"))
}

/// The text of each language, from its header to the next.
fn blocks(program: &[u8]) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut inside = false;
    for line in program.split(|&byte| byte == b'\n') {
        if line == HEADER {
            blocks.push(String::new());
            inside = true;
        } else if line == GRAMMAR {
            inside = false;
        }
        if !inside {
            continue;
        }
        match (blocks.last_mut(), std::str::from_utf8(line)) {
            (Some(block), Ok(text)) if line.len() <= LONGEST_LINE => {
                block.push_str(text);
                block.push('\n');
            }
            // The program goes on behind its text.
            _ => inside = false,
        }
    }
    blocks
}
