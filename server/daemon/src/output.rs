//! What a command wrote, as text that is safe to print: kept up to a limit, counted beyond it.

use legwork_model::Stream;

/// Bytes that are judged at once.
const PIECE: usize = 4 << 10;

/// Turns the bytes of both streams into text, piece by piece.
#[derive(Debug)]
pub(crate) struct Printer {
    /// Bytes that may still be kept.
    left: u64,
    dropped: u64,
    stdout: Pending,
    stderr: Pending,
}

/// What the last piece of a stream ended in the middle of.
#[derive(Debug, Default)]
struct Pending {
    /// The beginning of a character; three bytes at the most.
    bytes: Vec<u8>,
    /// A carriage return that may belong to a line feed.
    carriage_return: bool,
}

impl Printer {
    /// Keeps `limit` bytes of both streams together.
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            left: limit,
            dropped: 0,
            stdout: Pending::default(),
            stderr: Pending::default(),
        }
    }

    /// The text of the next bytes of a stream; empty when nothing of them can be shown (yet). What is longer as text than
    /// as bytes is counted as text: a flood of zeros must not become five floods in the store.
    pub(crate) fn print(&mut self, stream: Stream, bytes: &[u8]) -> String {
        let pending = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let mut all = String::new();
        for piece in bytes.chunks(PIECE) {
            let room = usize::try_from(self.left)
                .unwrap_or(usize::MAX)
                .min(piece.len());
            let (kept, rest) = piece.split_at(room);
            let text = pending.print(kept);
            let taken = text.len().max(kept.len()) as u64;
            self.left = self.left.saturating_sub(taken);
            self.dropped += rest.len() as u64;
            all.push_str(&text);
        }
        all
    }

    /// What both streams ended in the middle of.
    pub(crate) fn end(&mut self) -> [(Stream, String); 2] {
        [
            (Stream::Stdout, self.stdout.end()),
            (Stream::Stderr, self.stderr.end()),
        ]
    }

    /// Bytes beyond the limit.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

impl Pending {
    fn print(&mut self, bytes: &[u8]) -> String {
        let mut whole = std::mem::take(&mut self.bytes);
        whole.extend_from_slice(bytes);
        let mut text = String::with_capacity(whole.len());
        let mut chunks = whole.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for character in chunk.valid().chars() {
                self.push(&mut text, character);
            }
            let broken = chunk.invalid();
            if broken.is_empty() {
                continue;
            }
            if chunks.peek().is_none() && may_go_on(broken) {
                self.bytes = broken.to_vec();
            } else {
                self.push(&mut text, char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    fn end(&mut self) -> String {
        let mut text = String::new();
        if !std::mem::take(&mut self.bytes).is_empty() {
            self.push(&mut text, char::REPLACEMENT_CHARACTER);
        }
        if std::mem::take(&mut self.carriage_return) {
            text.push('\n');
        }
        text
    }

    /// A carriage return ends a line, alone or with a line feed: nothing is ever overwritten on a screen.
    fn push(&mut self, text: &mut String, character: char) {
        if std::mem::take(&mut self.carriage_return) {
            text.push('\n');
            if character == '\n' {
                return;
            }
        }
        match character {
            '\r' => self.carriage_return = true,
            '\n' | '\t' => text.push(character),
            hidden if hidden.is_control() || is_directional(hidden) => {
                text.extend(hidden.escape_unicode());
            }
            plain => text.push(plain),
        }
    }
}

/// Whether bytes are the beginning of a character whose other bytes may still come.
fn may_go_on(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Characters that change the order in which others are shown: a line could read as another one.
fn is_directional(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(pieces: &[&[u8]], limit: u64) -> (String, u64) {
        let mut printer = Printer::new(limit);
        let mut text = String::new();
        for piece in pieces {
            text.push_str(&printer.print(Stream::Stdout, piece));
        }
        for (_, end) in printer.end() {
            text.push_str(&end);
        }
        (text, printer.dropped())
    }

    #[test]
    fn text_is_kept_and_what_would_command_a_terminal_is_shown() {
        assert_eq!(all(&["grün\tja\n".as_bytes()], 100).0, "grün\tja\n");
        assert_eq!(all(&[b"\x1b]0;title\x07"], 100).0, "\\u{1b}]0;title\\u{7}");
        assert_eq!(all(&[b"10%\r20%\r", b"\nend\r"], 100).0, "10%\n20%\nend\n");
        assert_eq!(all(&[b"\xff\xfeok"], 100).0, "\u{fffd}\u{fffd}ok");
        assert_eq!(all(&["a\u{202e}b".as_bytes()], 100).0, "a\\u{202e}b");
        assert_eq!(all(&[b"12345", b"678"], 6), ("123456".to_owned(), 2));
    }

    proptest! {
        #[test]
        fn how_the_bytes_are_cut_makes_no_difference(
            bytes in proptest::collection::vec(prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(0xc3), Just(0xa4)], 0..60),
            cuts in proptest::collection::vec(0_usize..60, 0..6),
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let (text, _) = all(&pieces, 1000);
            prop_assert_eq!(&text, &all(&[&bytes], 1000).0);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
