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

/// The lines of a text, each from its first byte up to its ending.
fn lines(text: &str, ends: LineEnds) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let (mut lines, mut start) = (Vec::new(), 0);
    for (index, byte) in bytes.iter().enumerate() {
        let crlf = *byte == b'\n' && index > 0 && bytes[index - 1] == b'\r';
        let lone = *byte == b'\r' && bytes.get(index + 1) != Some(&b'\n');
        if *byte == b'\n' || (lone && ends == LineEnds::Lsp) {
            lines.push(start..if crlf { index - 1 } else { index });
            start = index + 1;
        }
    }
    lines.push(start..bytes.len());
    lines
}

/// Where a client finds a position; `None` if it has none like it.
fn found(text: &str, position: Position, (encoding, ends): (Encoding, LineEnds)) -> Option<usize> {
    let line = lines(text, ends).get(position.line as usize).cloned()?;
    let mut column = 0;
    for (offset, char) in text[line.clone()].char_indices() {
        if column == position.character as usize {
            return Some(line.start + offset);
        }
        column += match encoding {
            Encoding::Utf8 => char.to_string().len(),
            Encoding::Utf16 => char.to_string().encode_utf16().count(),
            Encoding::Utf32 => 1,
        };
    }
    (column == position.character as usize).then_some(line.end)
}

/// As the specification says: all edits are about the text as it was, and none overlaps another.
fn edited(text: &str, edits: &[TextEdit], settings: (Encoding, LineEnds)) -> String {
    let (mut now, mut done) = (String::new(), 0);
    for edit in edits {
        let place = |position| found(text, position, settings);
        let start = place(edit.range.start).expect("a start that clients have");
        let end = place(edit.range.end).expect("an end that clients have");
        assert!(done <= start && start <= end, "{edits:?}");
        now.push_str(&text[done..start]);
        now.push_str(&edit.new_text);
        done = end;
    }
    now + &text[done..]
}

/// No edit starts in the empty line behind the last line ending, and none ends there unless that ending must go.
fn check_end(text: &str, edits: &[TextEdit], after: &str, settings: (Encoding, LineEnds)) {
    let ending = settings.1.ending_of(text);
    let inside = text.len() - ending.len();
    let stays = !after.is_empty() && settings.1.ending_of(after) == ending;
    for edit in edits {
        let start = found(text, edit.range.start, settings).unwrap();
        let end = found(text, edit.range.end, settings).unwrap();
        assert!(start <= inside, "{edit:?} starts past the last line");
        assert!(!stays || end <= inside, "{edit:?} ends past the last line");
    }
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
        let lines = lines(text.as_str(), ends);
        prop_assert_eq!(text.line_count() as usize, lines.len());
        for offset in 0..=text.as_str().len() {
            let line = lines.iter().rposition(|line| line.start <= offset).unwrap();
            prop_assert_eq!(text.line_at(offset) as usize, line);
            prop_assert_eq!(text.line_start(text.line_at(offset)), lines[line].start);
            let position = text.position(offset, encoding);
            prop_assert_eq!(position.line as usize, line);
            if !text.as_str().is_char_boundary(offset) {
                prop_assert_eq!(position, text.position(offset - 1, encoding));
            } else if offset <= lines[line].end {
                prop_assert_eq!(found(text.as_str(), position, (encoding, ends)), Some(offset));
                prop_assert_eq!(text.offset(position, encoding), offset);
            } else {
                // Between the halves of a line ending: a place for those who see a character in each.
                let back = text.offset(position, encoding);
                prop_assert_eq!(back, if ends == LineEnds::Lsp { lines[line].end } else { offset });
            }
        }
    }

    #[test]
    fn no_position_is_out_of_reach_or_inside_a_character(text in texts(), (encoding, ends) in settings(), position in positions()) {
        let text = Text::new(text, ends);
        let offset = text.offset(position, encoding);
        prop_assert!(text.as_str().is_char_boundary(offset));
        if let Some(found) = found(text.as_str(), position, (encoding, ends)) {
            prop_assert_eq!(offset, found);
        }
        let lines = lines(text.as_str(), ends);
        if position.character == u32::MAX || position.line as usize >= lines.len() {
            prop_assert_eq!(offset, lines.get(position.line as usize).map_or(text.as_str().len(), |line| line.end));
        }
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
        for (pair, mut new) in at.chunks(2).zip(new) {
            if new.ends_with('\r') && pair[1] < text.as_str().len() {
                // Else it makes one line ending with what follows.
                new.push('\n');
            }
            if splices.last().is_none_or(|last| last.range.end <= pair[0]) {
                splices.push(Splice { range: pair[0]..pair[1], bytes: new.into_bytes() });
            }
        }
        let mut wanted = text.as_str().to_owned();
        for splice in splices.iter().rev() {
            wanted.replace_range(splice.range.clone(), std::str::from_utf8(&splice.bytes).unwrap());
        }
        let edits = edits(&text, &splices, encoding).unwrap();
        prop_assert_eq!(edited(text.as_str(), &edits, (encoding, ends)), wanted.as_str());
        check_end(text.as_str(), &edits, &wanted, (encoding, ends));
    }

    #[test]
    fn splices_of_any_kind_are_refused_or_done(text in texts(), new in prop::collection::vec(prop_oneof![texts().prop_map(String::into_bytes), Just(vec![0xe9])], 3), mut cuts in prop::collection::vec(0_usize..20, 6), sorted in prop::bool::weighted(0.9), (encoding, ends) in settings()) {
        if sorted {
            cuts.sort_unstable();
        }
        let splices: Vec<Splice> = cuts.chunks(2).zip(new).map(|(pair, bytes)| Splice { range: pair[0]..pair[1], bytes }).collect();
        let mut sound = splices.is_sorted_by(|one, next| one.range.end <= next.range.start);
        let mut wanted = text.clone();
        for splice in splices.iter().rev() {
            sound &= text.get(splice.range.clone()).is_some() && std::str::from_utf8(&splice.bytes).is_ok();
            if sound {
                wanted.replace_range(splice.range.clone(), std::str::from_utf8(&splice.bytes).unwrap());
            }
        }
        let edits = edits(&Text::new(text.clone(), ends), &splices, encoding);
        prop_assert_eq!(edits.is_some(), sound);
        if let Some(edits) = edits {
            prop_assert_eq!(edited(&text, &edits, (encoding, ends)), wanted);
        }
    }

    #[test]
    fn a_replacement_gives_the_new_text(old in texts(), new in texts(), (encoding, ends) in settings()) {
        let text = Text::new(old.clone(), ends);
        let edits = replace(&text, &new, encoding);
        prop_assert_eq!(edited(&old, &edits, (encoding, ends)), new.as_str());
        prop_assert!(old != new || edits.is_empty());
        check_end(&old, &edits, &new, (encoding, ends));
    }
}

#[test]
fn several_changes_are_made_one_after_another() {
    let mut text = Text::new("one\n".to_owned(), LineEnds::Newline);
    let at = |line, column| Position::new(line, column);
    let whole = TextDocumentContentChangeWholeDocument {
        text: "a\nb\n".to_owned(),
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

#[test]
fn in_a_file_of_lone_carriage_returns_only_what_changes_is_replaced() {
    for (text, new, lsp, newline) in [
        ("a\rb\rc\r\n", "a\rB\rc\r\n", (1, 0, 1), (0, 2, 3)),
        ("x\na\rb\r\nc\n", "x\nA\rb\r\nc\n", (1, 0, 1), (1, 0, 1)),
        ("a\rb", "a\rB", (1, 0, 1), (0, 2, 3)),
        ("a\rb\r", "a\rB\r", (1, 0, 1), (0, 2, 3)),
    ] {
        for (ends, wanted) in [(LineEnds::Lsp, lsp), (LineEnds::Newline, newline)] {
            let edits = replace(&Text::new(text.to_owned(), ends), new, Encoding::Utf16);
            let edit = edits.first().unwrap();
            let LspRange { start, end } = edit.range;
            assert_eq!(start.line, end.line);
            assert_eq!(
                (start.line, start.character, end.character),
                wanted,
                "{text:?}"
            );
            assert!(["A", "B"].contains(&edit.new_text.as_str()), "{edit:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_stays_where_it_is() {
    let text = Text::new("\u{feff}é\nb\n".to_owned(), LineEnds::Lsp);
    let edits = replace(&text, "\u{feff}é\nB\n", Encoding::Utf16);
    assert_eq!(edits[0].range.start, Position::new(1, 0));
    assert_eq!(text.offset(Position::new(0, 1), Encoding::Utf16), 3);
}
