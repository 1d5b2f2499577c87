//! A unified diff on its way to the user: byte for byte into a file or a pipe, safe and coloured on a terminal.

use std::borrow::Cow;

use crate::{output, printable::printable_bytes};

const PLAIN: &str = "\x1b[0m";
/// Lines that name files.
pub(crate) const BOLD: &str = "\x1b[1m";
/// Lines that say where a hunk is.
pub(crate) const CYAN: &str = "\x1b[36m";
pub(crate) const GREEN: &str = "\x1b[32m";
pub(crate) const RED: &str = "\x1b[31m";

/// Writes a diff to standard output as it fits who reads it.
pub(crate) fn print(diff: &[u8]) -> std::io::Result<()> {
    output::write(&shown(diff, output::is_terminal(), output::is_coloured()))
}

/// A line in a colour, or as it is.
pub(crate) fn paint(text: &str, colour: &str, coloured: bool) -> String {
    if coloured && !text.is_empty() {
        format!("{colour}{text}{PLAIN}")
    } else {
        text.to_owned()
    }
}

fn shown(diff: &[u8], terminal: bool, coloured: bool) -> Cow<'_, [u8]> {
    if !terminal {
        return Cow::Borrowed(diff);
    }
    let mut hunk = Hunk::default();
    let mut shown = String::with_capacity(diff.len() + 1024);
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let (text, end) = line
            .strip_suffix(b"\n")
            .map_or((line, ""), |text| (text, "\n"));
        let colour = hunk.colour(text);
        let text = printable_bytes(text);
        match colour {
            Some(colour) => shown.push_str(&paint(&text, colour, coloured)),
            None => shown.push_str(&text),
        }
        shown.push_str(end);
    }
    Cow::Owned(shown.into_bytes())
}

/// How many lines of the current hunk are still to come on each side. Without it a removed line `-- x` would read as the
/// name of a file.
#[derive(Debug, Default)]
struct Hunk {
    before: u64,
    after: u64,
}

impl Hunk {
    fn colour(&mut self, line: &[u8]) -> Option<&'static str> {
        if self.before == 0 && self.after == 0 {
            return match line {
                [b'@', b'@', b' ', rest @ ..] => {
                    (self.before, self.after) = lengths(rest).unwrap_or_default();
                    Some(CYAN)
                }
                [b'\\', ..] | [] => None,
                _ => Some(BOLD),
            };
        }
        match line.first() {
            Some(b'-') => {
                self.before = self.before.saturating_sub(1);
                Some(RED)
            }
            Some(b'+') => {
                self.after = self.after.saturating_sub(1);
                Some(GREEN)
            }
            Some(b'\\') => None,
            _ => {
                self.before = self.before.saturating_sub(1);
                self.after = self.after.saturating_sub(1);
                None
            }
        }
    }
}

/// The two lengths of `-a,b +c,d @@`; a length that is not there is 1.
fn lengths(header: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(header.split(|&byte| byte == b'@').next()?).ok()?;
    let mut sides = text.split_whitespace();
    let mut length = |sign| {
        let side = sides.next()?.strip_prefix(sign)?;
        side.split_once(',')
            .map_or(Some(1), |(_, length)| length.parse().ok())
    };
    Some((length('-')?, length('+')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &[u8] = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ fn\n--- not a name\n-b\n+\x1b[2J\xff\n\\ No newline at end of file\n--- a/y\n";

    #[test]
    fn a_pipe_gets_every_byte_as_it_is() {
        assert_eq!(shown(DIFF, false, false), DIFF);
    }

    #[test]
    fn a_terminal_gets_nothing_that_it_would_obey() {
        let text = String::from_utf8(shown(DIFF, true, false).into_owned()).unwrap();
        assert!(
            text.contains("+\\x1b[2J\\xff\n") && !text.contains('\u{1b}'),
            "{text}"
        );
    }

    #[test]
    fn colours_follow_the_hunks_lengths_and_not_the_looks() {
        let text = String::from_utf8(shown(DIFF, true, true).into_owned()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let colours = [BOLD, BOLD, BOLD, CYAN, RED, RED, GREEN, "\\", BOLD];
        assert_eq!(lines.len(), colours.len());
        for (line, colour) in lines.iter().zip(colours) {
            assert!(line.starts_with(colour), "{line:?}");
            assert_eq!(
                line.matches('\u{1b}').count(),
                if colour == "\\" { 0 } else { 2 },
                "{line:?}"
            );
        }
    }

    #[test]
    fn headers_without_lengths_have_one_line() {
        assert_eq!(lengths(b"-1 +1,3 @@ a @@"), Some((1, 3)));
        assert_eq!(lengths(b"-0,0 +1 @@"), Some((0, 1)));
        assert_eq!(lengths(b"+1 -1 @@"), None);
    }
}
