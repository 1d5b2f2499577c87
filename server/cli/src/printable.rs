//! Text that others wrote, made safe for a terminal: nothing in it can move the cursor, colour, reorder or hide.

use std::{borrow::Cow, fmt::Write as _};

/// Escapes control characters and those that reorder text. A tab stays.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\t')
}

/// As [`printable`], for text of several lines.
pub(crate) fn printable_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\t' || c == '\n')
}

/// As [`printable`], for bytes; those that are not UTF-8 are escaped too.
pub(crate) fn printable_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ok = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// A command as it could be typed into a shell, safe to show.
pub(crate) fn command(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    printable(&words.join(" ")).into_owned()
}

/// A word as it could be typed into a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || "-_=+.,/:@%^~".contains(c)
            || (!c.is_ascii() && !c.is_whitespace())
    };
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Cuts a line that is wider than the terminal.
pub(crate) fn cut(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) if line.chars().count() > columns => Cow::Owned(
            line.chars()
                .take(columns.saturating_sub(1))
                .chain(['…'])
                .collect(),
        ),
        _ => Cow::Borrowed(line),
    }
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let unsafe_here = |c: char| (c.is_control() && !stays(c)) || reorders(c);
    if !text.contains(unsafe_here) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ok = match c {
            c if !unsafe_here(c) => escaped.write_char(c),
            c if c.is_ascii() => write!(escaped, "\\x{:02x}", u32::from(c)),
            c => write!(escaped, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    Cow::Owned(escaped)
}

/// Marks of bidirectional text, with which a line can read otherwise than it is, and line separators.
fn reorders(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_colours_or_reorders_gets_through() {
        for (text, shown) in [
            ("plain ü 字\t.", "plain ü 字\t."),
            ("\u{1b}]0;x\u{7}", "\\x1b]0;x\\x07"),
            ("a\rb\nc", "a\\x0db\\x0ac"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("if (\u{202e}x", "if (\\u{202e}x"),
            ("\u{7f}", "\\x7f"),
        ] {
            assert_eq!(printable(text), shown);
        }
        assert_eq!(printable_lines("a\nb\r\n"), "a\nb\\x0d\n");
        assert_eq!(printable_bytes(b"\xff ok\x1b"), "\\xff ok\\x1b");
    }

    #[test]
    fn commands_are_shown_as_they_can_be_typed() {
        let argv = |words: &[&str]| {
            command(
                &words
                    .iter()
                    .map(|&word| word.to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(argv(&["make", "-j2", "CC=gcc"]), "make -j2 CC=gcc");
        assert_eq!(
            argv(&["sh", "-c", "echo 'hi' > x"]),
            r"sh -c 'echo '\''hi'\'' > x'"
        );
        assert_eq!(argv(&["", "a\nb"]), r"'' 'a\x0ab'");
    }

    #[test]
    fn lines_are_cut_at_characters() {
        assert_eq!(cut("überlang", Some(4)), "übe…");
        assert_eq!(cut("über", Some(4)), "über");
        assert_eq!(cut("überlang", None), "überlang");
    }
}
