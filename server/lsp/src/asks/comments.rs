//! Which lines are one comment, told from the marks that most languages share. A mark is believed
//! where a comment could begin, not inside words, addresses and quotes; that is enough to find
//! what a person wrote to be found, and it is not a lexer.

/// Marks that make the rest of a line a comment. Longer runs (`///`, `##`) are marks of their own.
const LINE: [&str; 5] = ["//", "#", "--", ";", "%"];
/// What opens a comment of many lines, and what closes it.
const BLOCK: [(&str, &str); 4] = [
    ("/*", "*/"),
    ("<!--", "-->"),
    ("\"\"\"", "\"\"\""),
    ("'''", "'''"),
];
/// How many lines of a comment are looked at on each side of the asked one.
const MAX_LINES: usize = 200;

/// The words of a comment, or of one line that is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comment<'a> {
    /// Line number (from 0) and words of each line, without the marks.
    pub(super) lines: Vec<(usize, &'a str)>,
    /// Whether it is a plain line, which may as well be code.
    pub(super) plain: bool,
}

/// The comments that a line is in, and the line itself as a plain one, most likely first.
pub(super) fn at<'a>(text: &'a str, lines: &[&'a str], line: usize) -> Vec<Comment<'a>> {
    let Some(here) = lines.get(line) else {
        return Vec::new();
    };
    let mut found = blocks(text, lines, line);
    found.extend(run(lines, line));
    found.push(Comment {
        lines: vec![(line, here.trim())],
        plain: true,
    });
    found
}

/// A line's comment: where its mark begins, the mark, and what follows.
struct Marked<'a> {
    column: usize,
    mark: &'a str,
    body: &'a str,
}

/// The comments of many lines (or in one line, between marks) that touch a line.
fn blocks<'a>(text: &'a str, lines: &[&'a str], wanted: usize) -> Vec<Comment<'a>> {
    let mut found = Vec::new();
    // Where a kind of block is known not to close any more.
    let mut open_ended = [false; BLOCK.len()];
    let (mut line, mut column) = (0, 0);
    while line <= wanted {
        let Some(here) = lines.get(line) else { break };
        let Some((start, kind)) = opened(here, column) else {
            (line, column) = (line + 1, 0);
            continue;
        };
        let (open, close) = BLOCK[kind];
        let body = start + open.len();
        // Lines are parts of the text: the distance is a place in it.
        let offset = |line: &str, at: usize| line.as_ptr() as usize - text.as_ptr() as usize + at;
        let ends = if open_ended[kind] {
            None
        } else {
            text.get(offset(here, body)..)
                .and_then(|rest| rest.find(close))
        };
        let Some(length) = ends else {
            // Still being typed: the rest of the line is the comment.
            open_ended[kind] = true;
            if line == wanted {
                found.push(block(lines, wanted, (line, body), (line, here.len())));
            }
            (line, column) = (line + 1, 0);
            continue;
        };
        let end = offset(here, body) + length;
        let (mut last, mut rest) = (line, end);
        while let Some(on) = lines.get(last) {
            let begins = offset(on, 0);
            if end <= begins + on.len() {
                rest = end - begins;
                break;
            }
            last += 1;
        }
        if last >= wanted {
            found.push(block(lines, wanted, (line, body), (last, rest)));
        }
        (line, column) = (last, rest + close.len());
    }
    found
}

/// Where a block next opens in a line, from a column on, and which of them it is.
fn opened(line: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    let mut quoted = false;
    let marks = bytes
        .iter()
        .enumerate()
        .skip(from)
        .filter(|(_, byte)| b"/<\"'#".contains(byte));
    for (at, _) in marks {
        let before = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .copied();
        let rest = bytes.get(at..)?;
        // `"""` follows a letter in `r"""`, and never is inside a quote of its own kind.
        let block = BLOCK
            .iter()
            .enumerate()
            .find(|(_, (open, _))| rest.starts_with(open.as_bytes()));
        match block {
            Some((kind, (open, _))) if open.starts_with(['"', '\'']) => return Some((at, kind)),
            Some((kind, _)) if !quoted && may_follow(before) => return Some((at, kind)),
            _ => {}
        }
        if rest.starts_with(b"\"") && !is_char(before, rest) {
            quoted = !quoted;
        }
        let slashes = rest.starts_with(b"//") && may_follow(before);
        let hash = rest.starts_with(b"# ") && before.is_none_or(|b| b.is_ascii_whitespace());
        if !quoted && (slashes || hash) {
            return None;
        }
    }
    None
}

/// Whether a comment may begin after a byte: not in a word, an address or a pattern of paths.
fn may_follow(before: Option<u8>) -> bool {
    before.is_none_or(|b| b.is_ascii_whitespace() || b"{}()[],;=>".contains(&b))
}

/// Whether the quote that `rest` begins with is a character (`'"'`) or has a backslash before it.
fn is_char(before: Option<u8>, rest: &[u8]) -> bool {
    before == Some(b'\\') || (before == Some(b'\'') && rest.get(1) == Some(&b'\''))
}

/// The lines of a block between two places (line and byte in it), without what decorates them.
fn block<'a>(
    lines: &[&'a str],
    wanted: usize,
    from: (usize, usize),
    to: (usize, usize),
) -> Comment<'a> {
    let first = from.0.max(wanted.saturating_sub(MAX_LINES));
    let last = to.0.min(wanted.saturating_add(MAX_LINES));
    let body = (first..=last).filter_map(|number| {
        let line = lines.get(number)?;
        let start = if number == from.0 { from.1 } else { 0 };
        let end = if number == to.0 { to.1 } else { line.len() };
        let body = line.get(start..end)?.trim();
        let plain = body.trim_start_matches(['*', '!']);
        let decorated = plain.is_empty() || plain.starts_with([' ', '\t', '@']) || number == from.0;
        Some((number, if decorated { plain.trim_start() } else { body }))
    });
    Comment {
        lines: body.collect(),
        plain: false,
    }
}

/// The lines with the same mark around a line, or the comment behind its code.
fn run<'a>(lines: &[&'a str], wanted: usize) -> Option<Comment<'a>> {
    let here = lines.get(wanted)?;
    let (mark, behind) = match whole(here) {
        Some(marked) => (marked.mark, None),
        None => {
            let marked = trailing(here)?;
            (marked.mark, Some(marked))
        }
    };
    let same = |number: usize| {
        let marked = whole(lines.get(number)?)?;
        (marked.mark == mark).then_some(marked)
    };
    let mut body = Vec::new();
    let mut first = None;
    if let Some(marked) = behind {
        first = Some(marked.column);
        body.push((wanted, marked.body));
    } else {
        let mut top = wanted;
        while let Some(above) = top
            .checked_sub(1)
            .filter(|above| wanted - above <= MAX_LINES)
        {
            if same(above).is_none() {
                break;
            }
            top = above;
        }
        // The comment may have begun behind the code above, if it goes on right under it.
        if let Some(above) = top.checked_sub(1)
            && let (Some(begun), Some(next)) =
                (lines.get(above).and_then(|line| trailing(line)), same(top))
            && begun.mark == mark
            && begun.column == next.column
        {
            first = Some(begun.column);
            body.push((above, begun.body));
        }
        body.extend((top..=wanted).filter_map(|number| Some((number, same(number)?.body))));
    }
    for below in wanted + 1..=wanted.saturating_add(MAX_LINES) {
        match same(below) {
            Some(next) if first.is_none_or(|column| column == next.column) => {
                body.push((below, next.body));
            }
            _ => break,
        }
    }
    Some(Comment {
        lines: body,
        plain: false,
    })
}

/// The comment that a whole line is.
fn whole(line: &str) -> Option<Marked<'_>> {
    let said = line.trim();
    let column = line.len() - line.trim_start().len();
    for mark in LINE {
        if said.starts_with(mark) {
            let mut length = said.len() - said.trim_start_matches(mark.as_bytes()[0] as char).len();
            if mark == "//" && said.get(length..).is_some_and(|rest| rest.starts_with('!')) {
                length += 1;
            }
            let (mark, body) = said.split_at_checked(length)?;
            // `#[attribute]` and `#!/bin/sh` are none.
            if mark.starts_with('#') && body.starts_with(['[', '!']) {
                return None;
            }
            return Some(Marked {
                column,
                mark,
                body: body.trim(),
            });
        }
    }
    // `'` of Basic and `"` of Vim: a quoted line of code looks like one, but for the second quote.
    ["'", "\""].into_iter().find_map(|mark| {
        let body = said.strip_prefix(mark)?;
        (body.starts_with([' ', '\t']) && !body.contains(mark)).then(|| Marked {
            column,
            mark,
            body: body.trim(),
        })
    })
}

/// The comment behind the code of a line.
fn trailing(line: &str) -> Option<Marked<'_>> {
    let bytes = line.as_bytes();
    let mut quoted = false;
    let marks = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| b"/#-;%\"".contains(byte));
    for (at, _) in marks {
        let before = at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .copied();
        let rest = bytes.get(at..)?;
        if rest.starts_with(b"\"") && !is_char(before, rest) {
            quoted = !quoted;
        }
        if quoted {
            continue;
        }
        let mark = LINE
            .into_iter()
            .find(|mark| rest.starts_with(mark.as_bytes()));
        let Some(mark) = mark else { continue };
        let spaced = before.is_some_and(|b| b.is_ascii_whitespace());
        let apart = rest
            .get(mark.len())
            .is_none_or(|b| b.is_ascii_whitespace() || *b == b'@' || b.is_ascii_uppercase());
        let begins = if mark == "//" {
            may_follow(before)
        } else {
            spaced && apart
        };
        if begins {
            let marked = whole(line.get(at..)?)?;
            return Some(Marked {
                column: at,
                ..marked
            });
        }
    }
    None
}
