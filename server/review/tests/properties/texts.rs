//! Texts to review. Most have few distinct lines, so that every line has look-alikes.

use legwork_review::{FileReview, Mode, Opened, Version};
use proptest::{collection::vec, prelude::*, sample::select};

/// A line, with whatever ends it.
fn line() -> impl Strategy<Value = &'static [u8]> {
    select(vec![
        &b"a\n"[..],
        b"a\n",
        b"b\n",
        b"\n",
        b"c\n",
        b"a\r\n",
        b"\r\n",
        b"b\rb\n",
        b"\xff\xfe\n",
    ])
}

/// A text of up to 14 lines; the last can be without an ending.
pub(crate) fn text() -> impl Strategy<Value = Vec<u8>> {
    let last = select(vec![&b""[..], b"", b"", b"a", b"b", b"\r", b"\xc3"]);
    (vec(line(), 0..14), last).prop_map(|(lines, last)| [lines.concat(), last.to_vec()].concat())
}

/// Two versions of a file: the second mostly made from the first.
pub(crate) fn versions() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let near = text().prop_flat_map(|base| {
        let edits = vec((0..16_usize, 0..3_usize, vec(line(), 0..3)), 0..5);
        (Just(base), edits).prop_map(|(base, edits)| {
            let changed = edits
                .into_iter()
                .fold(base.clone(), |text, (at, len, new)| {
                    splice(&text, at, len, &new)
                });
            (base, changed)
        })
    });
    prop_oneof![4 => near, 1 => (text(), text())]
}

/// A text with `len` lines at `at` replaced; places past the end are clamped.
pub(crate) fn splice(text: &[u8], at: usize, len: usize, new: &[&[u8]]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let at = at.min(lines.len());
    let end = (at + len).min(lines.len());
    lines.splice(at..end, new.iter().copied());
    lines.concat()
}

/// Bytes of all kinds that are still text to a reviewer.
pub(crate) fn noise() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![1_u8..=255, Just(b'\n'), Just(b'\r')], 0..60)
}

/// A review of two texts.
pub(crate) fn review(base: &[u8], agent: &[u8]) -> FileReview {
    FileReview::propose(Some(Version::regular(base)), Some(Version::regular(agent)))
}

/// Joined with its bytes.
pub(crate) fn open<'a>(review: &'a FileReview, base: &'a [u8], agent: &'a [u8]) -> Opened<'a> {
    review
        .open(Some(base), Some(agent))
        .expect("the bytes it was made from")
}

/// The bytes that stand in a file after all of these hunks were accepted one after another.
pub(crate) fn accept_each(base: &[u8], agent: &[u8], ids: &[u32]) -> (FileReview, Vec<u8>) {
    let mut review = review(base, agent);
    let mut live = base.to_vec();
    for &id in ids {
        let accepted = open(&review, base, agent)
            .accept(Some(Version::regular(&live)), &[id])
            .expect("a hunk has a place in a file that nobody else touched");
        let result = accepted.result().expect("a file").clone();
        assert_eq!(result.mode, Mode::REGULAR);
        review = accepted.review().clone();
        live = result.bytes;
    }
    (review, live)
}
