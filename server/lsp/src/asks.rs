//! What a text itself asks for: `@legwork …` and `TODO` in comments and plain lines. Which lines
//! are one comment is in [`comments`], since that needs no grammar and so works in any language.

mod comments;

use comments::Comment;

/// Texts over this many bytes are not looked at.
const MAX_TEXT: usize = 1 << 20;
/// What is asked is cut to this many characters.
const MAX_ASK: usize = 2000;
/// The longest name in `TODO(name)`, in bytes.
const MAX_OWNER: usize = 60;
/// The longest number and box of a list, in bytes.
const MAX_BULLET: usize = 16;

const MENTION: &str = "@legwork";
const TODO: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];
const CLOSERS: [&str; 4] = ["*/", "-->", "\"\"\"", "'''"];

/// Something to do, said in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    /// What is asked, on one line, without the word that marks it.
    pub(crate) text: String,
    /// First and last line of the asking, from 1.
    pub(crate) lines: (u32, u32),
    pub(crate) kind: AskKind,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskKind {
    /// `@legwork`, in any case.
    Mention,
    /// Nobody by name: `TODO`, `FIXME`, `XXX` or `HACK`, in capitals.
    Todo,
}

/// What is asked in the comment or plain line at `line` (from 0).
///
/// Of several in one comment it is the one that the line belongs to: the nearest that begins on it
/// or above, else the first. A mention goes on to the end of its comment, a to-do to the first
/// empty line in it. `None` where nothing is asked, for words without anything after them, and for
/// texts over 1 MiB.
pub(crate) fn at_line(text: &str, line: u32) -> Option<Ask> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let line = usize::try_from(line).ok()?;
    comments::at(text, &lines, line)
        .iter()
        .find_map(|comment| in_comment(comment, line))
}

fn in_comment(comment: &Comment, line: usize) -> Option<Ask> {
    let mut best = None;
    for (place, (number, body)) in comment.lines.iter().enumerate() {
        let Some(tag) = tag(body, comment) else {
            continue;
        };
        if best.is_none() || *number <= line {
            best = ask(comment, place, &tag).or(best);
        }
    }
    best
}

/// A word that asks, in one line of a comment.
struct Tag<'a> {
    kind: AskKind,
    /// What follows on the line.
    rest: &'a str,
}

fn ask(comment: &Comment, place: usize, first: &Tag) -> Option<Ask> {
    let from = comment.lines.get(place)?.0;
    let mut text = String::new();
    let mut last = from;
    push_words(&mut text, stripped(first.rest));
    for (number, body) in comment.lines.iter().skip(place + 1) {
        let body = stripped(body);
        let over = text.len() > 4 * MAX_ASK || (body.is_empty() && first.kind == AskKind::Todo);
        if over || tag(body, comment).is_some() {
            break;
        }
        if !body.is_empty() {
            push_words(&mut text, body);
            last = *number;
        }
    }
    if let Some((end, _)) = text.char_indices().nth(MAX_ASK) {
        text.truncate(end);
        text.truncate(text.trim_end().len());
    }
    let from_one = |line: usize| u32::try_from(line + 1).ok();
    (!text.is_empty()).then_some(Ask {
        text,
        lines: (from_one(from)?, from_one(last)?),
        kind: first.kind,
    })
}

/// Adds the words of a line, as far as the text has room for them.
fn push_words(text: &mut String, line: &str) {
    for word in line.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if text.len() > 4 * MAX_ASK {
            return;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        // A word may be as long as the text; more of it than is kept is not copied.
        text.extend(word.chars().take(MAX_ASK));
    }
}

/// A line without what closes its comment.
fn stripped(line: &str) -> &str {
    let mut line = line.trim();
    while let Some(open) = CLOSERS.iter().find_map(|closer| line.strip_suffix(closer)) {
        line = open.trim_end();
    }
    line
}

fn tag<'a>(body: &'a str, comment: &Comment) -> Option<Tag<'a>> {
    let rest = mention(body, comment).map(|rest| (AskKind::Mention, rest));
    let (kind, rest) = rest.or_else(|| todo(body, comment).map(|rest| (AskKind::Todo, rest)))?;
    let rest = rest.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | ',' | '-' | '–' | '—')
    });
    Some(Tag { kind, rest })
}

/// What follows `@legwork` in a line.
fn mention<'a>(body: &'a str, comment: &Comment) -> Option<&'a str> {
    body.match_indices('@').find_map(|(at, _)| {
        let (before, word) = (body.get(..at)?, body.get(at..)?);
        let name = word.get(..MENTION.len())?;
        let rest = word.get(MENTION.len()..)?;
        let begins = if comment.plain {
            is_start(before)
        } else {
            before.is_empty() || before.ends_with([' ', '\t', '('])
        };
        // Not `@legwork.example`, `@legwork/package`, `@legworker` nor `@legwork(call)`.
        let ends = rest.is_empty()
            || rest.starts_with(|c: char| c.is_whitespace() || matches!(c, ':' | ','));
        (name.eq_ignore_ascii_case(MENTION) && begins && ends).then_some(rest)
    })
}

/// What follows `TODO` or one of its like in a line.
fn todo<'a>(body: &'a str, comment: &Comment) -> Option<&'a str> {
    let found = TODO.iter().filter_map(|word| {
        body.match_indices(word).find_map(|(at, word)| {
            let (before, rest) = (body.get(..at)?, body.get(at + word.len()..)?);
            let starts = is_start(before);
            let (owner, rest) = owner(rest);
            let marked = owner || rest.starts_with(':');
            let spaced = rest.is_empty() || rest.starts_with(char::is_whitespace);
            let fits = if comment.plain {
                // `TODO = 1` is code.
                let said = rest.trim_start().starts_with(char::is_alphanumeric);
                starts && (marked || (spaced && said))
            } else if starts {
                marked || spaced || rest.starts_with(['!', '-', ','])
            } else {
                // In the middle of a sentence the word alone may be what the sentence is about.
                before.ends_with([' ', '\t', '(', '[']) && marked
            };
            fits.then_some((at, rest))
        })
    });
    found.min_by_key(|(at, _)| *at).map(|(_, rest)| rest)
}

/// Takes the `(name)` after a to-do, and says whether there was one.
fn owner(rest: &str) -> (bool, &str) {
    let named = rest
        .starts_with('(')
        .then(|| rest.bytes().take(MAX_OWNER).position(|b| b == b')'));
    match named
        .flatten()
        .and_then(|end| rest.split_at_checked(end + 1))
    {
        Some((name, rest)) if !name.contains('"') => (true, rest),
        _ => (false, rest),
    }
}

/// Whether nothing but marks of a list or a box stand before a word.
fn is_start(before: &str) -> bool {
    let before = before.trim();
    if before.len() > MAX_BULLET {
        return false;
    }
    let boxed = before.strip_suffix("[ ]").map_or(before, str::trim_end);
    let numbered = boxed.trim_end_matches(['.', ')']);
    let number = numbered.len() < boxed.len() && numbered.bytes().all(|b| b.is_ascii_digit());
    boxed.is_empty() || number || matches!(boxed, "-" | "*" | "+" | "•" | "(" | "[")
}

#[cfg(test)]
mod tests;
