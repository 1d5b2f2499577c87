//! The beginning and the end of a text that may be endless.

use std::collections::VecDeque;

/// Keeps the first and the last bytes of what comes, and counts the rest.
#[derive(Debug)]
pub(crate) struct Clip {
    each: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Clip {
    /// Keeps `each` bytes at both ends.
    pub(crate) fn new(each: usize) -> Self {
        Self {
            each,
            head: Vec::new(),
            tail: VecDeque::new(),
            left_out: 0,
        }
    }

    /// Takes more.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = (self.each - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // What would be pushed out again is not put in.
        let skipped = rest.len().saturating_sub(self.each);
        self.tail.extend(&rest[skipped..]);
        let surplus = self.tail.len().saturating_sub(self.each);
        self.tail.drain(..surplus);
        self.left_out += (skipped + surplus) as u64;
    }

    /// As text, with a line in the place of what was left out.
    pub(crate) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.left_out == 0 {
            return String::from_utf8_lossy(&[self.head.as_slice(), &tail].concat()).into_owned();
        }
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&tail);
        // A character that was cut is no character that was broken.
        let cut = char::REPLACEMENT_CHARACTER;
        format!(
            "{}\n[... {} bytes left out here; ask for less, or write it to a file and look at parts of it ...]\n{}",
            head.trim_end_matches(cut),
            self.left_out,
            tail.trim_start_matches(cut)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b123_both_ends_are_kept_and_the_rest_is_counted() {
        let mut clip = Clip::new(4);
        clip.push(b"ab");
        clip.push(b"cdef");
        assert_eq!((clip.text().as_str(), clip.left_out), ("abcdef", 0));
        for piece in [&b"ghij"[..], b"", b"0123456789"] {
            clip.push(piece);
        }
        assert_eq!(clip.left_out, 12);
        assert!(
            clip.text().starts_with("abcd\n[... 12 bytes left out")
                && clip.text().ends_with("]\n6789")
        );
        let mut clip = Clip::new(3);
        clip.push("üüüüü".as_bytes());
        assert!(
            !clip.text().contains(char::REPLACEMENT_CHARACTER),
            "{}",
            clip.text()
        );
    }
}
