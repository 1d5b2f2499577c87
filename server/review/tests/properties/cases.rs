//! Single inputs that went wrong in other programs.

use legwork_review::{
    AcceptError, DecideError, FileReview, LineKind, Mode, Part, Placement, State, UndoError,
    Version, undo,
};

use crate::texts::{accept_each, open, review};

/// Accepts everything into a live file.
fn accept_all(base: &[u8], agent: &[u8], live: &[u8]) -> Result<Vec<u8>, AcceptError> {
    let first = review(base, agent);
    open(&first, base, agent)
        .accept(Some(Version::regular(live)), &first.pending())
        .map(|accepted| accepted.result().unwrap().bytes.clone())
}

fn placements(base: &[u8], agent: &[u8], live: &[u8]) -> Vec<Placement> {
    let first = review(base, agent);
    open(&first, base, agent).place(Some(Version::regular(live)))
}

#[test]
fn a_line_that_gets_a_follower_is_ended_first() {
    let live = b"hello\nworld!\n".as_slice();
    assert_eq!(
        accept_all(b"hello\nworld", b"hello\nworld\ntail\n", b"hello\nworld").unwrap(),
        b"hello\nworld\ntail\n"
    );
    assert_eq!(
        accept_all(b"a\nb\n", b"a\nb\nc\n", b"a\nb").unwrap(),
        b"a\nb\nc"
    );
    assert!(accept_all(b"a\nb\n", b"a\nb\nc\n", b"a\nB").is_err());
    // The agent ends its text in the middle of a line, and the user has gone on below.
    assert_eq!(
        accept_all(b"a\nb\n", b"a\nB", b"a\nb\nmine\n").unwrap(),
        b"a\nB\nmine\n"
    );
    assert_eq!(
        accept_all(b"a\r\nb\r\n", b"a\r\nB", b"a\r\nb\r\nmine\r\n").unwrap(),
        b"a\r\nB\r\nmine\r\n"
    );
    assert!(accept_all(b"hello\nworld", b"hello\nworld\ntail\n", live).is_err());
}

#[test]
fn an_editor_that_adds_the_final_newline_makes_no_conflict() {
    assert_eq!(accept_all(b"a\nb", b"A\nB", b"a\nb\n").unwrap(), b"A\nB\n");
    assert_eq!(
        accept_all(b"a\nb", b"a\nb\nc", b"a\nb\n").unwrap(),
        b"a\nb\nc\n"
    );
    assert_eq!(accept_all(b"a\nb\n", b"a\nB\n", b"a\nb").unwrap(), b"a\nB");
    assert_eq!(accept_all(b"a\nb\n", b"A\nb\n", b"a\nb").unwrap(), b"A\nb");
}

#[test]
fn only_the_changed_line_of_a_crlf_file_is_a_hunk() {
    let base = b"\xef\xbb\xbfone\r\ntwo\rtwo\r\nthree \xe9\r\n";
    let agent = b"\xef\xbb\xbfone\r\ntwo\rTWO\r\nthree \xe9\r\n";
    let first = review(base, agent);
    assert_eq!(first.hunks().len(), 1);
    let views = open(&first, base, agent).views();
    assert_eq!((views[0].before, views[0].after), ((2, 1), (2, 1)));
    let texts: Vec<(LineKind, &str)> = views[0]
        .lines
        .iter()
        .map(|line| (line.kind, line.text.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            (LineKind::Context, "\\u{feff}one"),
            (LineKind::Removed, "two\\rtwo"),
            (LineKind::Added, "two\\rTWO"),
            (LineKind::Context, "three \\xe9"),
        ]
    );
    assert_eq!(accept_all(base, agent, base).unwrap(), agent);
    // A line whose ending alone changes shows it.
    let views = open(&review(b"a\r\n", b"a\n"), b"a\r\n", b"a\n").views();
    assert_eq!(views[0].lines[0].text, "a\\r");
    assert_eq!(views[0].lines[1].text, "a");
}

#[test]
fn look_alikes_conflict_and_are_never_guessed() {
    let block = "{\n}\n";
    let base = block.repeat(6);
    let agent = format!("{}{}{}", block.repeat(3), "{\nnew\n}\n", block.repeat(2));
    let more = block.repeat(7);
    let fewer = block.repeat(5);
    for live in [more, fewer] {
        assert_eq!(
            placements(base.as_bytes(), agent.as_bytes(), live.as_bytes()),
            [Placement::Conflicted]
        );
    }
    // A block of another kind above moves it.
    let live = format!("top\n{base}");
    assert_eq!(
        placements(base.as_bytes(), agent.as_bytes(), live.as_bytes()),
        [Placement::At { line: 9 }]
    );
    assert_eq!(
        placements(b"a\nx\nb\n", b"a\ny\nb\n", b"a\nx\nx\nb\n"),
        [Placement::Conflicted]
    );
}

#[test]
fn the_users_own_edits_inside_a_hunk_are_told_apart() {
    let (base, agent) = (b"fn a\nx\ny\nz\nend\n", b"fn a\nx\nY\nz\nend\n");
    let at = |live: &[u8]| placements(base, agent, live)[0];
    assert_eq!(at(b"1\n2\nfn a\nx\ny\nz\nend\n"), Placement::At { line: 5 });
    assert_eq!(at(b"fn a\nx\nmine\nz\nend\n"), Placement::Conflicted);
    assert_eq!(at(b"fn a\nx\nY\nz\nend\n"), Placement::Already { line: 3 });
    assert_eq!(at(b"fn a\nX\nY\nZ\nend\n"), Placement::Already { line: 3 });
    assert_eq!(at(b"end\n"), Placement::Conflicted);
    assert_eq!(at(b""), Placement::Conflicted);
    // Its neighbour changed, the line itself did not.
    assert_eq!(at(b"fn a\nX\ny\nz\nend\n"), Placement::At { line: 3 });
    // A deletion that the user made too, and one that became a replacement.
    assert_eq!(
        placements(b"a\nb\nc\n", b"a\nc\n", b"a\nc\n"),
        [Placement::Already { line: 2 }]
    );
    assert_eq!(
        placements(b"a\nb\nc\n", b"a\nc\n", b"a\nB\nc\n"),
        [Placement::Conflicted]
    );
    // An insertion beside a line that is gone, and beside one that is another now.
    assert_eq!(
        placements(b"a\nc\n", b"a\nb\nc\n", b"c\n"),
        [Placement::At { line: 1 }]
    );
    assert_eq!(
        placements(b"a\nc\n", b"a\nb\nc\n", b"A\nc\n"),
        [Placement::Conflicted]
    );
    // Two insertions at one point.
    assert_eq!(
        placements(b"a\nc\n", b"a\nb\nc\n", b"a\nB\nc\n"),
        [Placement::Conflicted]
    );
}

#[test]
fn the_same_line_elsewhere_is_not_the_hunk() {
    assert_eq!(
        placements(b"a\nb\nc\n", b"a\n}\nc\n", b"a\nQ\nc\n}\n"),
        [Placement::Conflicted]
    );
}

#[test]
fn what_was_done_in_part_is_not_done_twice() {
    for (base, agent) in [
        // The last line is written again between others, and has got an ending.
        (&b"c\na\nb\n\na"[..], &b"a\nc\na\n\n\na\na\na\r\n"[..]),
        (
            b"b\nb\nb\nb\nb\na\nb\na\na\r\nb\na\n\n\n",
            b"a\na\na\na\r\na\nc\nc\nc\na\na\r\nb\na\n",
        ),
    ] {
        for typed in review(base, agent).pending() {
            let (_, done) = accept_each(base, agent, &[typed]);
            assert_eq!(accept_all(base, agent, &done).unwrap(), agent, "{typed}");
            // What the user wrote elsewhere may make it unclear, and then it is a conflict.
            for (live, wanted) in [
                ([b"mine\n", &done[..]].concat(), [b"mine\n", agent].concat()),
                (
                    [&done[..], b"\nmine\n"].concat(),
                    [agent, b"\nmine\n"].concat(),
                ),
            ] {
                if let Ok(result) = accept_all(base, agent, &live) {
                    assert_eq!(
                        String::from_utf8_lossy(&result),
                        String::from_utf8_lossy(&wanted),
                        "{typed}"
                    );
                }
            }
        }
    }
}

#[test]
fn accepted_hunks_are_found_where_they_stand() {
    let (base, agent) = (b"a\nb\nc\nd\ne\n", b"a\nB\nB\nc\nD\ne\n");
    let first = review(base, agent);
    let accepted = open(&first, base, agent)
        .accept(Some(Version::regular(base)), &[1])
        .unwrap();
    let now = accepted.review().clone();
    let place = |live: &[u8]| open(&now, base, agent).place(Some(Version::regular(live)));
    assert_eq!(
        place(b"0\na\nB\nB\nc\nd\ne\n"),
        [Placement::At { line: 3 }, Placement::At { line: 6 }]
    );
    assert_eq!(
        place(b"a\nB\nX\nc\nd\ne\n"),
        [Placement::Nowhere, Placement::At { line: 5 }]
    );
    assert_eq!(
        open(&now, base, agent)
            .accept(Some(Version::regular(base)), &[1])
            .unwrap_err(),
        AcceptError::Decide(DecideError::Decided {
            id: 1,
            state: State::Accepted
        })
    );
    let rejected = now.reject(&[2]).unwrap();
    assert_eq!(
        open(&rejected, base, agent).place(Some(Version::regular(agent)))[1],
        Placement::Nowhere
    );
}

#[test]
fn files_that_came_or_went_meanwhile_conflict() {
    let file = Version::regular(b"a\nb\n");
    let created = FileReview::propose(None, Some(file));
    let opened = created.open(None, Some(file.bytes)).unwrap();
    assert_eq!(
        opened.place(Some(Version::regular(b"mine"))),
        [Placement::Conflicted]
    );
    assert_eq!(opened.place(Some(file)), [Placement::Already { line: 1 }]);
    assert_eq!(opened.place(None), [Placement::At { line: 1 }]);
    let link = Version {
        bytes: file.bytes,
        mode: Mode::Symlink,
    };
    assert_eq!(opened.place(Some(link)), [Placement::Conflicted]);
    assert_eq!(opened.views()[0].lines.len(), 2);

    let deleted = FileReview::propose(Some(file), None);
    let opened = deleted.open(Some(file.bytes), None).unwrap();
    assert_eq!(
        opened.place(Some(Version::regular(b"a\nb\nmine\n"))),
        [Placement::Conflicted]
    );
    assert_eq!(opened.accept(Some(file), &[1]).unwrap().result(), None);
    assert!(!opened.accept(None, &[1]).unwrap().changes_live());

    let changed = review(b"a\n", b"b\n");
    let opened = open(&changed, b"a\n", b"b\n");
    let link = Version {
        bytes: b"a\n",
        mode: Mode::Symlink,
    };
    for live in [None, Some(link), Some(Version::regular(b"a\n\0"))] {
        assert_eq!(opened.place(live), [Placement::Conflicted]);
        assert_eq!(
            opened.accept(live, &[1]).unwrap_err(),
            AcceptError::Conflicted { ids: vec![1] }
        );
    }
}

#[test]
fn the_executable_bit_is_a_hunk_of_its_own() {
    let base = Version::regular(b"a\n");
    let agent = Version {
        bytes: b"b\n",
        mode: Mode::EXECUTABLE,
    };
    let first = FileReview::propose(Some(base), Some(agent));
    let parts: Vec<Part> = first.hunks().iter().map(|hunk| hunk.part).collect();
    assert_eq!(parts, [Part::Lines, Part::Mode]);
    let opened = first.open(Some(base.bytes), Some(agent.bytes)).unwrap();
    let lines = opened.accept(Some(base), &[1]).unwrap();
    assert_eq!(
        lines.result().unwrap().as_version(),
        Version::regular(b"b\n")
    );
    let bit = opened.accept(Some(base), &[2]).unwrap();
    assert_eq!(
        bit.result().unwrap().as_version(),
        Version {
            bytes: b"a\n",
            mode: Mode::EXECUTABLE
        }
    );
    let both = opened.accept(Some(base), &[2, 1]).unwrap();
    assert_eq!(
        (both.ids(), both.result().unwrap().as_version()),
        (&[1, 2][..], agent)
    );
    // A file that is executable by now stays so when lines are accepted.
    let live = Version {
        bytes: b"a\n",
        mode: Mode::EXECUTABLE,
    };
    assert_eq!(
        opened
            .accept(Some(live), &[1])
            .unwrap()
            .result()
            .unwrap()
            .as_version(),
        agent
    );
    assert_eq!(opened.place(Some(live))[1], Placement::Already { line: 1 });
    // Binary content and its bit are decided together.
    let binary = Version {
        bytes: b"\0",
        mode: Mode::EXECUTABLE,
    };
    let whole = FileReview::propose(Some(base), Some(binary));
    assert!(whole.is_whole() && whole.is_binary());
    assert_eq!(whole.pending(), [1]);
    assert!(
        whole.open(Some(base.bytes), Some(b"\0")).unwrap().views()[0]
            .lines
            .is_empty()
    );
}

#[test]
fn an_undo_never_takes_what_is_the_users() {
    let file = Version::regular(b"a\n");
    let grown = Version::regular(b"a\nmine\n");
    assert_eq!(undo(None, Some(file), Some(file)), Ok(None));
    assert_eq!(undo(None, Some(file), None), Ok(None));
    assert_eq!(
        undo(None, Some(file), Some(grown)),
        Err(UndoError::Replaced)
    );
    assert_eq!(undo(Some(file), None, None), Ok(Some(file.to_content())));
    assert_eq!(
        undo(Some(file), None, Some(grown)),
        Err(UndoError::Replaced)
    );
    let (before, after) = (Version::regular(b"a\nb\n"), Version::regular(b"a\nB\n"));
    assert_eq!(
        undo(
            Some(before),
            Some(after),
            Some(Version::regular(b"a\nBB\n"))
        ),
        Err(UndoError::Changed)
    );
    assert_eq!(
        undo(
            Some(before),
            Some(after),
            Some(Version::regular(b"a\r\nB\r\nc\r\n"))
        ),
        Ok(Some(Version::regular(b"a\r\nb\r\nc\r\n").to_content()))
    );
    // The bit goes back, unless it was set by hand since.
    let set = Version {
        bytes: b"a\nb\n",
        mode: Mode::EXECUTABLE,
    };
    let moved = Version {
        bytes: b"0\na\nb\n",
        mode: Mode::EXECUTABLE,
    };
    assert_eq!(
        undo(Some(before), Some(set), Some(moved)),
        Ok(Some(Version::regular(b"0\na\nb\n").to_content()))
    );
    assert_eq!(
        undo(
            Some(before),
            Some(after),
            Some(Version {
                bytes: after.bytes,
                ..set
            })
        )
        .unwrap()
        .unwrap()
        .mode,
        Mode::EXECUTABLE
    );
}

#[test]
fn changes_of_the_whole_file_are_told_in_words() {
    let remarks = |base: &[u8], agent: &[u8]| {
        let first = review(base, agent);
        open(&first, base, agent).remarks()
    };
    assert!(remarks(b"a\nb\n", b"a\nB\nc\n").is_empty());
    assert_eq!(
        remarks(b"a\r\nb\r\n", b"a\nB\n"),
        ["all line endings change from CRLF to LF"]
    );
    assert_eq!(
        remarks(b"a\r\nb\r\n", b"a\r\nB\n"),
        ["the file ended its lines with CRLF and has mixed line endings now"]
    );
    assert_eq!(
        remarks(b"\xef\xbb\xbfa\n", b"a"),
        [
            "the byte order mark is gone",
            "the last line lost its line ending"
        ]
    );
    assert_eq!(
        remarks(
            "line\n".repeat(100).as_bytes(),
            "line\n".repeat(3).as_bytes()
        ),
        ["97 of 100 lines are gone: see that the file was not cut short"]
    );
    assert_eq!(
        remarks(b"a\n", b"\xe9\n"),
        ["the text is not valid UTF-8 any more"]
    );
    assert_eq!(
        remarks(b"\xe9\na\n", b"\xe9\na\n\xc3\xbc\n"),
        ["the file is not in UTF-8, and new lines in UTF-8 were added to it"]
    );
}
