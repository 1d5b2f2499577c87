//! Edits for a client from replaced bytes: as small as whole lines allow, and none past the last line where it can be
//! said otherwise, because clients disagree about what an edit there does.

use std::ops::Range as Span;

use gen_lsp_types::{Range, TextEdit};
use legwork_review::Splice;

use super::{Encoding, LineEnds, Text, is_inside_ending};

/// What a client has to do so that its buffer, which is `text`, gets these splices; all ranges are of `text` as it is.
///
/// `None` if that cannot be said to a client: bytes that are not UTF-8, or splices that are not of this text, not in
/// order, or overlap. Splices that touch become one edit.
pub(crate) fn edits(text: &Text, splices: &[Splice], encoding: Encoding) -> Option<Vec<TextEdit>> {
    let mut pieces = Vec::new();
    for splice in splices {
        // Also refuses a range that cuts a character.
        text.as_str().get(splice.range.clone())?;
        if pieces
            .last()
            .is_some_and(|last: &Piece| last.old.end > splice.range.start)
        {
            return None;
        }
        push(
            &mut pieces,
            Piece {
                old: splice.range.clone(),
                new: str::from_utf8(&splice.bytes).ok()?.to_owned(),
            },
        );
    }
    Some(finish(text, pieces, encoding))
}

/// What a client has to do so that its buffer, which is `old`, becomes `new`: nothing, or one edit.
pub(crate) fn replace(old: &Text, new: &str, encoding: Encoding) -> Vec<TextEdit> {
    let whole = Piece {
        old: 0..old.as_str().len(),
        new: new.to_owned(),
    };
    finish(old, vec![whole], encoding)
}

/// A span of the old text and what stands there afterwards.
struct Piece {
    old: Span<usize>,
    new: String,
}

/// Appends a piece that does not start before the end of the last one; joins the two if they touch.
fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match pieces.last_mut() {
        Some(last) if last.old.end == piece.old.start => {
            last.old.end = piece.old.end;
            last.new.push_str(&piece.new);
        }
        _ => pieces.push(piece),
    }
}

/// `pieces` are in order and do not touch.
fn finish(text: &Text, pieces: Vec<Piece>, encoding: Encoding) -> Vec<TextEdit> {
    let mut finished = Vec::with_capacity(pieces.len());
    for mut piece in pieces {
        widen(text.as_str(), &mut piece);
        trim(text.as_str(), &mut piece);
        if !(piece.old.is_empty() && piece.new.is_empty()) {
            push(&mut finished, piece);
        }
    }
    keep_last_ending(text.as_str(), text.line_ends(), &mut finished);
    finished
        .into_iter()
        .map(|piece| {
            let start = text.position(piece.old.start, encoding);
            let end = text.position(piece.old.end, encoding);
            TextEdit::new(Range::new(start, end), piece.new)
        })
        .collect()
}

/// No client has a position between `\r` and `\n`: such a span takes in the other half.
fn widen(text: &str, piece: &mut Piece) {
    if is_inside_ending(text, piece.old.start) {
        piece.old.start -= 1;
        piece.new.insert(0, '\r');
    }
    if is_inside_ending(text, piece.old.end) {
        piece.old.end += 1;
        piece.new.push('\n');
    }
}

/// Leaves away the lines in front and behind that stay as they are. Here a lone `\r` ends a line for every client, so
/// that in a file that is one line for some, only what changes is replaced.
fn trim(text: &str, piece: &mut Piece) {
    let old = &text.as_bytes()[piece.old.clone()];
    let new = piece.new.as_bytes();
    let front = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let front = (0..=front)
        .rev()
        .find(|&at| is_line_start(old, at) && is_line_start(new, at))
        .unwrap_or_default();
    let (old, new) = (&old[front..], &new[front..]);
    let behind = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let behind = (0..=behind)
        .rev()
        .find(|&length| {
            is_line_start(old, old.len() - length) && is_line_start(new, new.len() - length)
        })
        .unwrap_or_default();
    piece.old = piece.old.start + front..piece.old.end - behind;
    piece.new.truncate(piece.new.len() - behind);
    piece.new.drain(..front);
    // Some clients make a `\n` of every lone `\r` in what they are sent: one that stays is not sent.
    let same = LineEnds::Lsp.ending_of(&text[piece.old.clone()]) == "\r"
        && LineEnds::Lsp.ending_of(&piece.new) == "\r";
    if same && !is_inside_ending(text, piece.old.end) {
        piece.old.end -= 1;
        piece.new.pop();
    }
}

/// Whether a line starts here; the start and the end of a piece are taken on trust.
fn is_line_start(bytes: &[u8], at: usize) -> bool {
    at == 0 || LineEnds::Lsp.end_at(bytes, at - 1)
}

/// Rewrites a last piece that goes up to the end of the text, so that the line ending there stays where it is. That
/// cannot be if the new text ends otherwise.
fn keep_last_ending(text: &str, line_ends: LineEnds, pieces: &mut Vec<Piece>) {
    let ending = line_ends.ending_of(text);
    while !ending.is_empty()
        && let Some(mut last) = pieces.pop_if(|last| last.old.end == text.len())
    {
        // New lines after the last one go behind its text, and lines that go take the ending before them along.
        let before = line_ends.ending_of(&text[..last.old.start]);
        let wider = last.old.start == text.len() || (last.new.is_empty() && before == ending);
        let start = last.old.start - if wider { before.len() } else { 0 };
        if wider
            && let Some(previous) = pieces
                .last_mut()
                .filter(|previous| previous.old.end >= start)
        {
            previous
                .new
                .push_str(&text[previous.old.end..last.old.start]);
            previous.new.push_str(&last.new);
            previous.old.end = last.old.end;
            continue;
        }
        last.new.insert_str(0, &text[start..last.old.start]);
        last.old.start = start;
        if line_ends.ending_of(&last.new) == ending {
            last.new.truncate(last.new.len() - ending.len());
            last.old.end -= ending.len();
        }
        pieces.push(last);
        return;
    }
}
