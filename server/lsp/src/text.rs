//! The text of a buffer as its client counts it: lines, columns, changes. What to change in it is in [`edits`].
//!
//! No request can make this panic: a position that is not there is moved to the nearest one before it.

use std::{fmt, ops::Range, sync::Arc};

use gen_lsp_types::{Position, PositionEncodingKind, TextDocumentContentChangeEvent};

mod edits;
#[cfg(test)]
mod tests;

pub(crate) use edits::{edits, replace};

/// What a column counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Encoding {
    Utf8,
    Utf16,
    Utf32,
}

impl Encoding {
    /// The cheapest of those that a client offers, and the one that needs no offer if it offers none we know.
    pub(crate) fn negotiate(offered: Option<&[PositionEncodingKind]>) -> Self {
        let offered = offered.unwrap_or_default();
        [Self::Utf8, Self::Utf32]
            .into_iter()
            .find(|encoding| offered.contains(&encoding.kind()))
            .unwrap_or(Self::Utf16)
    }

    /// Its name in the protocol.
    pub(crate) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn width(self, char: char) -> usize {
        match self {
            Self::Utf8 => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// How many columns this text takes.
    fn columns(self, text: &str) -> usize {
        if self == Self::Utf8 || text.is_ascii() {
            return text.len();
        }
        text.chars().map(|char| self.width(char)).sum()
    }

    /// The offset of a column in bytes; `None` if it is past the end of the text.
    fn offset(self, text: &str, column: usize) -> Option<usize> {
        // No character takes more columns than bytes, so this is also the end of the search.
        let prefix = text.as_bytes().get(..column)?;
        if prefix.is_ascii() {
            return Some(column);
        }
        if self == Self::Utf8 {
            return Some(text.floor_char_boundary(column));
        }
        let mut reached = 0;
        for (offset, char) in text.char_indices() {
            reached += self.width(char);
            if reached > column {
                return Some(offset);
            }
        }
        (reached == column).then_some(text.len())
    }
}

/// What ends a line. `\n` and `\r\n` always do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LineEnds {
    /// A lone `\r` does too, and nothing stands between `\r` and `\n`: the protocol's rule, and VS Code's.
    Lsp,
    /// A `\r` is a character of its line and has a column: what Neovim and Helix do.
    Newline,
}

impl LineEnds {
    /// Whether a line ends with the byte at `index`.
    fn end_at(self, text: &[u8], index: usize) -> bool {
        match text.get(index) {
            Some(b'\n') => true,
            Some(b'\r') => self == Self::Lsp && text.get(index + 1) != Some(&b'\n'),
            _ => false,
        }
    }

    /// The line ending that a text ends in, or nothing.
    fn ending_of(self, text: &str) -> &str {
        let length = match text.as_bytes() {
            [.., b'\r', b'\n'] => 2,
            [.., b'\n'] => 1,
            [.., b'\r'] if self == Self::Lsp => 1,
            _ => 0,
        };
        &text[text.len() - length..]
    }
}

/// A text and where its lines start. A copy shares both until one of the two changes.
#[derive(Clone)]
pub(crate) struct Text {
    body: Arc<Body>,
    line_ends: LineEnds,
}

#[derive(Clone)]
struct Body {
    text: String,
    /// In bytes, rising; the first is 0. A text that ends in a line ending has an empty last line.
    starts: Vec<usize>,
}

impl Text {
    pub(crate) fn new(mut text: String, line_ends: LineEnds) -> Self {
        text.shrink_to_fit();
        let starts = starts(&text, line_ends);
        Self {
            body: Arc::new(Body { text, starts }),
            line_ends,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.body.text
    }

    pub(crate) fn line_ends(&self) -> LineEnds {
        self.line_ends
    }

    /// At least 1; the empty line after the last line ending counts.
    pub(crate) fn line_count(&self) -> u32 {
        counted(self.body.starts.len())
    }

    /// Where a line starts, in bytes: the end of the text for a line that is not there.
    pub(crate) fn line_start(&self, line: u32) -> usize {
        let start = usize::try_from(line)
            .ok()
            .and_then(|line| self.body.starts.get(line));
        start.copied().unwrap_or(self.as_str().len())
    }

    /// The line that holds an offset in bytes: the last one if it is past the end.
    pub(crate) fn line_at(&self, offset: usize) -> u32 {
        counted(self.index_of_line(offset))
    }

    /// The offset of a position in bytes. A line past the end is the end of the text; a column past the end of its line
    /// is the end of the line, before its ending; a column inside a character is where the character starts.
    pub(crate) fn offset(&self, position: Position, encoding: Encoding) -> usize {
        let start = self.line_start(position.line);
        let next = self.line_start(position.line.saturating_add(1)).max(start);
        let line = self.as_str().get(start..next).unwrap_or_default();
        let inside = line.len() - self.line_ends.ending_of(line).len();
        let reachable = match self.line_ends {
            LineEnds::Lsp => inside,
            LineEnds::Newline => line.strip_suffix('\n').unwrap_or(line).len(),
        };
        let column = usize::try_from(position.character).unwrap_or(usize::MAX);
        start
            + encoding
                .offset(&line[..reachable], column)
                .unwrap_or(inside)
    }

    /// The position of an offset in bytes, which is moved back to where a character starts.
    pub(crate) fn position(&self, offset: usize, encoding: Encoding) -> Position {
        let text = self.as_str();
        let mut offset = text.floor_char_boundary(offset);
        if self.line_ends == LineEnds::Lsp && is_inside_ending(text, offset) {
            offset -= 1;
        }
        let line = self.index_of_line(offset);
        let before = text.get(self.body.starts[line]..offset).unwrap_or_default();
        Position::new(counted(line), counted(encoding.columns(before)))
    }

    /// Makes the changes a client tells of, each in the text that the one before has left.
    pub(crate) fn apply(&mut self, changes: &[TextDocumentContentChangeEvent], encoding: Encoding) {
        for change in changes {
            match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    *self = Self::new(whole.text.clone(), self.line_ends);
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let start = self.offset(part.range.start, encoding);
                    let end = self.offset(part.range.end, encoding);
                    let line_ends = self.line_ends;
                    let body = Arc::make_mut(&mut self.body);
                    body.splice(start.min(end)..start.max(end), &part.text, line_ends);
                }
            }
        }
    }

    fn index_of_line(&self, offset: usize) -> usize {
        // The first line starts at 0, so at least one start is not after the offset.
        self.body
            .starts
            .partition_point(|&start| start <= offset)
            .saturating_sub(1)
    }
}

impl Body {
    /// Replaces a range that starts and ends between characters, and finds new line starts only there.
    fn splice(&mut self, range: Range<usize>, new: &str, line_ends: LineEnds) {
        self.text.replace_range(range.clone(), new);
        let end = range.start + new.len();
        // Whether a line starts at an offset hangs on the bytes at both sides: of the starts outside, none is touched.
        let first = self
            .starts
            .partition_point(|&start| start < range.start.max(1));
        let last = self
            .starts
            .partition_point(|&start| start <= range.end)
            .max(first);
        for start in &mut self.starts[last..] {
            *start = *start - range.end + end;
        }
        let bytes = self.text.as_bytes();
        let found = (range.start.saturating_sub(1)..end)
            .filter(|&index| line_ends.end_at(bytes, index))
            .map(|index| index + 1);
        drop(self.starts.splice(first..last, found));
    }
}

impl fmt::Debug for Text {
    /// Without the text, which is the user's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text")
            .field("bytes", &self.as_str().len())
            .field("lines", &self.line_count())
            .field("line_ends", &self.line_ends)
            .finish()
    }
}

fn starts(text: &str, line_ends: LineEnds) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    if line_ends == LineEnds::Lsp && bytes.contains(&b'\r') {
        starts.extend(
            (0..bytes.len())
                .filter(|&index| line_ends.end_at(bytes, index))
                .map(|index| index + 1),
        );
    } else {
        // The searcher of the standard library goes word by word.
        starts.extend(text.match_indices('\n').map(|(index, _)| index + 1));
    }
    starts.shrink_to_fit();
    starts
}

/// Whether an offset is between the two bytes of one line ending.
fn is_inside_ending(text: &str, offset: usize) -> bool {
    let (before, after) = text.as_bytes().split_at(offset.min(text.len()));
    before.ends_with(b"\r") && after.starts_with(b"\n")
}

/// The protocol counts with 32 bits; what is beyond is at their end.
fn counted(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
