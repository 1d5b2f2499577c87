//! Sections of a Markdown text, by its headings. Plain text is enough: a grammar for Markdown
//! would be two, for blocks and for what is in them.

use std::ops::Range;

use super::{Symbol, clean};

struct Heading<'a> {
    /// From 0.
    line: u32,
    level: usize,
    name: &'a str,
}

/// The innermost section that holds the bytes.
pub(super) fn enclosing(text: &str, at: Range<usize>) -> Option<Symbol> {
    let lines: Vec<&str> = text.lines().collect();
    let headings = headings(&lines);
    let line_of = |byte: usize| {
        let breaks = text
            .as_bytes()
            .iter()
            .take(byte)
            .filter(|b| **b == b'\n')
            .count();
        u32::try_from(breaks).ok()
    };
    let (from, to) = (line_of(at.start)?, line_of(at.end)?);
    headings
        .iter()
        .enumerate()
        .rev()
        .find_map(|(place, heading)| {
            let end = headings
                .get(place + 1..)?
                .iter()
                .find(|next| next.level <= heading.level)
                .map_or(u32::try_from(lines.len()).ok()?, |next| next.line);
            // The last line of a text may be the empty one after its last break.
            let last = end.max(heading.line + 1);
            let holds = heading.line <= from && (to < last || end as usize == lines.len());
            if !holds || heading.name.is_empty() {
                return None;
            }
            let blank = lines
                .get(heading.line as usize..last as usize)?
                .iter()
                .rev()
                .take_while(|line| line.trim().is_empty())
                .count();
            Some(Symbol {
                kind: "section",
                name: clean(heading.name),
                lines: (
                    heading.line + 1,
                    last.saturating_sub(u32::try_from(blank).ok()?),
                ),
            })
        })
}

fn headings<'a>(lines: &[&'a str]) -> Vec<Heading<'a>> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    // Front matter is not text, and its end would underline its last line.
    let matter = match lines.first() {
        Some(first) if first.trim_end() == "---" => lines
            .iter()
            .skip(1)
            .position(|line| line.trim_end() == "---")
            .map_or(0, |end| end + 2),
        _ => 0,
    };
    let mut before = "";
    for (number, line) in (0_u32..).zip(lines).skip(matter) {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let said = line.trim();
        let code = indent > 3 || line.starts_with('\t');
        let mark = fence_of(said).filter(|_| !code);
        match (fence, mark) {
            (Some(open), mark) => {
                // Closed by at least as many of the same marks, with nothing after them.
                if mark.is_some_and(|mark| mark.starts_with(open) && mark.len() == said.len()) {
                    fence = None;
                }
                before = "";
                continue;
            }
            (None, Some(mark)) => {
                fence = Some(mark);
                before = "";
                continue;
            }
            (None, None) => {}
        }
        if code {
            before = "";
            continue;
        }
        let level = said.len() - said.trim_start_matches('#').len();
        let rest = said.get(level..).unwrap_or_default();
        if (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t'])) {
            found.push(Heading {
                line: number,
                level,
                name: closed(rest),
            });
            before = "";
            continue;
        }
        if let (Some(level), Some(line)) = (underline(said), number.checked_sub(1))
            && !before.is_empty()
        {
            found.push(Heading {
                line,
                level,
                name: before,
            });
            before = "";
            continue;
        }
        let quote_or_list = said.starts_with(['>', '|', '-', '*', '+']);
        before = if quote_or_list { "" } else { said };
    }
    found
}

/// The marks that open or close a fence.
fn fence_of(said: &str) -> Option<&str> {
    ['`', '~'].into_iter().find_map(|mark| {
        let marks = said.len() - said.trim_start_matches(mark).len();
        let info = said.get(marks..)?;
        (marks >= 3 && !(mark == '`' && info.contains('`'))).then(|| said.get(..marks))?
    })
}

fn underline(said: &str) -> Option<usize> {
    if said.is_empty() {
        return None;
    }
    match said {
        said if said.bytes().all(|b| b == b'=') => Some(1),
        said if said.bytes().all(|b| b == b'-') => Some(2),
        _ => None,
    }
}

/// A heading's text without the marks that may close it.
fn closed(rest: &str) -> &str {
    let rest = rest.trim();
    let open = rest.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open.trim()
    } else {
        rest
    }
}
