//! From the bytes that a command writes to the tests that it tells of. Bounded in every direction.

use crate::{
    results::Tests,
    runners::{Runners, clean},
};

/// Output beyond this many bytes is not read.
pub const MAX_OUTPUT: usize = 8 << 20;

/// The longest line that is looked at, in bytes.
const LONGEST_LINE: usize = 64 << 10;

/// Bytes of the end of the output that are kept as they came.
const TAIL: usize = 4 << 10;

/// Reads what one command writes.
#[derive(Debug, Default)]
pub struct Reader {
    read: usize,
    /// What was begun on standard output and on standard error.
    begun: [Vec<u8>; 2],
    runners: Runners,
    tail: Vec<u8>,
}

impl Reader {
    /// Takes what came on standard output, or on standard error.
    pub fn push(&mut self, is_error: bool, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(TAIL)..];
        self.tail.extend_from_slice(kept);
        if self.tail.len() > 4 * TAIL {
            self.tail.drain(..self.tail.len() - TAIL);
        }
        let room = (MAX_OUTPUT - self.read).min(bytes.len());
        if room < bytes.len() {
            self.runners.tests.partial = true;
        }
        self.read += room;
        for piece in bytes[..room].split_inclusive(|&byte| byte == b'\n') {
            let begun = &mut self.begun[usize::from(is_error)];
            let fits = (LONGEST_LINE - begun.len()).min(piece.len());
            begun.extend_from_slice(&piece[..fits]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(begun);
                self.line(&line);
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        self.runners.line(clean(&text).trim_end());
    }

    /// The tests, and the end of what was written. The end is as it came, but is UTF-8.
    pub fn finish(mut self) -> (Tests, String) {
        for stream in 0..self.begun.len() {
            let line = std::mem::take(&mut self.begun[stream]);
            self.line(&line);
        }
        let tail = &self.tail[self.tail.len().saturating_sub(TAIL)..];
        let tail = String::from_utf8_lossy(tail).into_owned();
        (self.runners.finish(), tail)
    }
}
