//! Every text beside a plain model of it: lines found by looking at all bytes, columns counted character by character.

use gen_lsp_types::{
    Range as LspRange, TextDocumentContentChangePartial, TextDocumentContentChangeWholeDocument,
    TextEdit,
};
use legwork_review::Splice;
use proptest::prelude::*;

use super::*;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];
const LINE_ENDS: [LineEnds; 2] = [LineEnds::Lsp, LineEnds::Newline];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "bc",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "é",
        "𝄞",
        "👨‍👩‍👧",
        "e\u{301}",
        "漢",
        "\u{feff}",
        "\t",
        "",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn settings() -> impl Strategy<Value = (Encoding, LineEnds)> {
    (
        prop::sample::select(ENCODINGS.to_vec()),
        prop::sample::select(LINE_ENDS.to_vec()),
    )
}

fn positions() -> impl Strategy<Value = Position> {
    let column = prop_oneof![0_u32..12, Just(u32::MAX)];
    (prop_oneof![0_u32..14, Just(u32::MAX)], column)
        .prop_map(|(line, column)| Position::new(line, column))
}

fn partial(start: Position, end: Position, text: &str) -> TextDocumentContentChangeEvent {
    let part = TextDocumentContentChangePartial {
        range: LspRange { start, end },
        text: text.to_owned(),
        ..TextDocumentContentChangePartial::default()
    };
    TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part)
}

/// As the specification says: all edits are about the text as it was.
fn edited(text: &Text, edits: &[TextEdit], encoding: Encoding) -> String {
    let mut now = text.as_str().to_owned();
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.range.start.line, edit.range.start.character));
    for edit in edits.into_iter().rev() {
        let range = text.offset(edit.range.start, encoding)..text.offset(edit.range.end, encoding);
        now.replace_range(range, &edit.new_text);
    }
    now
}

proptest! {
    #[test]
    fn a_change_leaves_the_lines_that_a_new_look_would_find(text in texts(), new in texts(), (encoding, ends) in settings(), from in positions(), to in positions()) {
        let mut changed = Text::new(text.clone(), ends);
        let (start, end) = (changed.offset(from, encoding), changed.offset(to, encoding));
        changed.apply(&[partial(from, to, &new)], encoding);
        let mut wanted = text;
        wanted.replace_range(start.min(end)..start.max(end), &new);
        let fresh = Text::new(wanted.clone(), ends);
        prop_assert_eq!(changed.as_str(), wanted.as_str());
        prop_assert_eq!(&changed.body.starts, &fresh.body.starts);
    }

    #[test]
    fn every_place_between_characters_has_a_position_and_comes_back(text in texts(), (encoding, ends) in settings()) {
        let text = Text::new(text, ends);
        for (offset, _) in text.as_str().char_indices() {
            let position = text.position(offset, encoding);
            let inside = ends == LineEnds::Lsp && is_inside_ending(text.as_str(), offset);
            prop_assert_eq!(text.offset(position, encoding), if inside { offset - 1 } else { offset });
            prop_assert_eq!(text.line_at(offset), text.as_str().as_bytes()[..offset].iter().enumerate().filter(|(index, _)| ends.end_at(text.as_str().as_bytes(), *index)).count().try_into().unwrap_or(u32::MAX));
        }
    }

    #[test]
    fn no_position_is_out_of_reach_or_inside_a_character(text in texts(), (encoding, ends) in settings(), position in positions()) {
        let text = Text::new(text, ends);
        prop_assert!(text.as_str().is_char_boundary(text.offset(position, encoding)));
    }

    #[test]
    fn edits_do_what_the_splices_say(text in texts(), new in prop::collection::vec(texts(), 3), cuts in prop::collection::vec(any::<prop::sample::Index>(), 6), (encoding, ends) in settings()) {
        let text = Text::new(text, ends);
        // Splices begin and end where lines do, as the review's do.
        let mut starts: Vec<usize> = text.as_str().match_indices('\n').map(|(index, _)| index + 1).collect();
        starts.insert(0, 0);
        starts.push(text.as_str().len());
        let mut at: Vec<usize> = cuts.iter().map(|cut| *cut.get(&starts)).collect();
        at.sort_unstable();
        let mut splices: Vec<Splice> = Vec::new();
        for (pair, new) in at.chunks(2).zip(&new) {
            if splices.last().is_none_or(|last| last.range.end < pair[0]) {
                splices.push(Splice { range: pair[0]..pair[1], bytes: new.clone().into_bytes() });
            }
        }
        let mut wanted = text.as_str().to_owned();
        for splice in splices.iter().rev() {
            wanted.replace_range(splice.range.clone(), std::str::from_utf8(&splice.bytes).unwrap());
        }
        let edits = edits(&text, &splices, encoding).unwrap();
        prop_assert_eq!(edited(&text, &edits, encoding), wanted.as_str());
        for edit in &edits {
            let past = edit.range.start.line >= text.line_count();
            prop_assert!(!past, "{edit:?} starts past the end");
        }
    }

    #[test]
    fn a_replacement_gives_the_new_text(old in texts(), new in texts(), (encoding, ends) in settings()) {
        let text = Text::new(old.clone(), ends);
        let edits = replace(&text, &new, encoding);
        prop_assert_eq!(edited(&text, &edits, encoding), new.as_str());
        prop_assert!(old != new || edits.is_empty());
    }
}

#[test]
fn several_changes_are_made_one_after_another() {
    let mut text = Text::new("one\n".to_owned(), LineEnds::Newline);
    let at = |line, column| Position::new(line, column);
    let whole = TextDocumentContentChangeWholeDocument {
        text: "a
b
"
        .to_owned(),
    };
    text.apply(
        &[
            partial(at(0, 3), at(0, 3), "\ntwo"),
            // There is a line 1 only since the change before.
            partial(at(1, 0), at(1, 3), "2"),
        ],
        Encoding::Utf16,
    );
    assert_eq!(text.as_str(), "one\n2\n");
    text.apply(
        &[
            TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole),
            partial(at(1, 1), at(1, 0), "B"),
        ],
        Encoding::Utf16,
    );
    assert_eq!(text.as_str(), "a\nB\n");
}

#[test]
fn columns_after_an_emoji_are_the_clients_own() {
    let text = Text::new("x👍y\n".to_owned(), LineEnds::Lsp);
    for (encoding, column) in [
        (Encoding::Utf8, 5),
        (Encoding::Utf16, 3),
        (Encoding::Utf32, 2),
    ] {
        assert_eq!(
            text.offset(Position::new(0, column), encoding),
            5,
            "{encoding:?}"
        );
    }
    // Inside the pair.
    assert_eq!(text.offset(Position::new(0, 2), Encoding::Utf16), 1);
}

#[test]
fn the_cheapest_offer_is_taken() {
    use PositionEncodingKind as Kind;
    assert_eq!(Encoding::negotiate(None), Encoding::Utf16);
    assert_eq!(Encoding::negotiate(Some(&[])), Encoding::Utf16);
    assert_eq!(
        Encoding::negotiate(Some(&[Kind::UTF16, Kind::UTF8])),
        Encoding::Utf8
    );
    assert_eq!(
        Encoding::negotiate(Some(&[Kind::UTF16, Kind::UTF32])),
        Encoding::Utf32
    );
    assert_eq!(
        Encoding::negotiate(Some(&[Kind::new("utf-7")])),
        Encoding::Utf16
    );
}

#[test]
fn what_comes_at_the_end_does_not_start_past_it() {
    for (text, splice, wanted) in [
        ("a\nb\n", (4..4, "c\n"), (1, "\nc")),
        ("a\r\nb\r\n", (6..6, "c\r\n"), (1, "\r\nc")),
        ("a\nb\n", (2..4, ""), (0, "")),
        ("a\nb\n", (2..4, "B\n"), (1, "B")),
    ] {
        let text = Text::new(text.to_owned(), LineEnds::Newline);
        let splice = Splice {
            range: splice.0,
            bytes: splice.1.into(),
        };
        let edits = edits(&text, &[splice], Encoding::Utf16).unwrap();
        assert_eq!(
            (edits[0].range.start.line, edits[0].new_text.as_str()),
            wanted
        );
        assert!(edits[0].range.end.line < 2, "{edits:?}");
    }
    let text = Text::new("a\n".to_owned(), LineEnds::Newline);
    assert_eq!(
        edits(
            &text,
            &[Splice {
                range: 0..2,
                bytes: vec![0xff]
            }],
            Encoding::Utf16
        ),
        None
    );
}
