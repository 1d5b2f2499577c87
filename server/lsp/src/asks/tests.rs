//! Forms that ask for something, forms that do not, and texts that were made to be slow.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use AskKind::{Mention, Todo};

/// What is asked at each line of a text, with the lines of the asking.
fn asked(text: &str, line: u32) -> Option<(AskKind, String, (u32, u32))> {
    at_line(text, line).map(|ask| (ask.kind, ask.text, ask.lines))
}

#[test]
fn one_line_asks_in_the_comment_of_any_language() {
    let cases = [
        // Mentions.
        ("// @legwork do this", Mention, "do this"),
        ("\t/// @Legwork: do this", Mention, "do this"),
        ("//! @LEGWORK, do this", Mention, "do this"),
        ("# @legwork do this", Mention, "do this"),
        ("#@legwork do this", Mention, "do this"),
        ("-- @legwork do this", Mention, "do this"),
        (";; @legwork do this", Mention, "do this"),
        ("% @legwork do this", Mention, "do this"),
        ("/* @legwork do this */", Mention, "do this"),
        ("/** @legwork do this */", Mention, "do this"),
        ("{/* @legwork do this */}", Mention, "do this"),
        ("<p>a</p> <!-- @legwork do this -->", Mention, "do this"),
        ("    \"\"\"@legwork do this\"\"\"", Mention, "do this"),
        ("    r'''@legwork do this'''", Mention, "do this"),
        ("' @legwork do this", Mention, "do this"),
        ("\" @legwork do this", Mention, "do this"),
        ("@legwork do this", Mention, "do this"),
        ("- [ ] @legwork do this", Mention, "do this"),
        ("12. @legwork do this", Mention, "do this"),
        ("let a = b; // @legwork do this", Mention, "do this"),
        ("let a = b;// @legwork do this", Mention, "do this"),
        ("a = b  # @legwork do this", Mention, "do this"),
        ("select 1 -- @legwork do this", Mention, "do this"),
        ("if c == '\"' { // @legwork do this", Mention, "do this"),
        ("f(\"http://a\") // @legwork do this", Mention, "do this"),
        ("// please, @legwork do this", Mention, "do this"),
        ("// TODO @legwork do this", Mention, "do this"),
        ("/* @legwork do this", Mention, "do this"),
        ("/* a */ b(); // @legwork do this", Mention, "do this"),
        (
            "/* a */ b(); /* @legwork do this */ c();",
            Mention,
            "do this",
        ),
        (
            "// @legwork — do\u{a0}this \t 🦀 now\r",
            Mention,
            "do this 🦀 now",
        ),
        // To-dos.
        ("// TODO do this", Todo, "do this"),
        ("// TODO: do this", Todo, "do this"),
        ("//TODO:do this", Todo, "do this"),
        ("// TODO(ann): do this", Todo, "do this"),
        ("// TODO(ann) do this", Todo, "do this"),
        ("// FIXME - do this", Todo, "do this"),
        ("# XXX! do this", Todo, "! do this"),
        ("/* HACK: do this */", Todo, "do this"),
        ("<!-- TODO do this -->", Todo, "do this"),
        ("x(); // TODO do this", Todo, "do this"),
        ("x = 1 # FIXME: do this", Todo, "do this"),
        ("// Fast. TODO: do this", Todo, "do this"),
        ("// a TODOLIST, then TODO: do this", Todo, "do this"),
        ("TODO: do this", Todo, "do this"),
        ("TODO do this", Todo, "do this"),
        ("* TODO do this", Todo, "do this"),
        ("## TODO do this", Todo, "do this"),
        ("// TODO: a FIXME: b", Todo, "a FIXME: b"),
    ];
    for (text, kind, said) in cases {
        assert_eq!(
            asked(text, 0),
            Some((kind, said.to_owned(), (1, 1))),
            "{text:?}"
        );
    }
}

#[test]
fn words_that_ask_for_nothing() {
    let cases = [
        "",
        "\n",
        "// mastodon@legwork.example",
        "// see mastodon@legwork for news",
        "// @legwork.example says",
        "// @legworker do this",
        "import x from \"@legwork/client\"",
        "// import @legwork/client",
        "@legwork(do) class A",
        "send(\"ask @legwork for it\")",
        "let a = \"// @legwork do this\";",
        "let a = \"# TODO: do this\";",
        "glob(\"src/*\"); x @legwork y",
        "https://a.example/@legwork do",
        "// @legwork",
        "// @legwork:  */",
        "// TODO",
        "/* TODO: */",
        "// TODO(ann):",
        "TODO",
        "// TODOLIST: do this",
        "// MY_TODO: do this",
        "// TODO_ITEMS: do this",
        "// TODOs: do this",
        "// todo: do this",
        "// Fixme: do this",
        "// a list of TODO items",
        "TODO = 1",
        "TODO(\"Not yet implemented\")",
        "fun a() = TODO(\"Not yet implemented\")",
        "    TODO,",
        "match a { TODO => b }",
        "#[doc = \"TODO: a\"]",
        "'TODO: a', 'b'",
        "x = 5 % TODO_MAX",
        "--i;",
    ];
    for text in cases {
        assert_eq!(asked(text, 0), None, "{text:?}");
    }
    assert_eq!(asked("// @legwork do this", 1), None);
    assert_eq!(asked("// @legwork do this", u32::MAX), None);
}

/// Text, cursor lines from 0 that give the ask, the ask, and its lines from 1.
type Block<'a> = (&'a str, &'a [u32], AskKind, &'a str, (u32, u32));

const BLOCKS: &[Block] = &[
    (
        "a\n// @legwork do\n// this\nb",
        &[1, 2],
        Mention,
        "do this",
        (2, 3),
    ),
    (
        "\t# @legwork do\r\n\t#\r\n\t# this\r\n",
        &[0, 1, 2],
        Mention,
        "do this",
        (1, 3),
    ),
    (
        "// TODO: do\n// this\n//\n// Not that.\n",
        &[0, 1, 2, 3],
        Todo,
        "do this",
        (1, 2),
    ),
    (
        "// Says what.\n// TODO: do this\n",
        &[0, 1],
        Todo,
        "do this",
        (2, 2),
    ),
    (
        "// @legwork do this\n/// Not that.\nfn a() {}",
        &[0],
        Mention,
        "do this",
        (1, 1),
    ),
    (
        "// TODO: not that\n// FIXME: do\n// this",
        &[1, 2],
        Todo,
        "do this",
        (2, 3),
    ),
    (
        "// TODO: do this\n// FIXME: not that",
        &[0],
        Todo,
        "do this",
        (1, 1),
    ),
    (
        "/*\n * @legwork do\n * this\n */\nx",
        &[0, 1, 2, 3],
        Mention,
        "do this",
        (2, 3),
    ),
    (
        "/** @legwork do\n    this */ x",
        &[0, 1],
        Mention,
        "do this",
        (1, 2),
    ),
    (
        "/*\n@legwork do\n\n*this* now */",
        &[0, 1, 2, 3],
        Mention,
        "do *this* now",
        (2, 4),
    ),
    (
        "<!--\n@legwork do\nthis\n-->\n",
        &[0, 1, 2, 3],
        Mention,
        "do this",
        (2, 3),
    ),
    (
        "def a():\n    \"\"\"Says.\n\n    TODO: do\n    this\n    \"\"\"\n    b",
        &[1, 2, 3, 4, 5],
        Todo,
        "do this",
        (4, 5),
    ),
    (
        "a(); // TODO: do\n     // this\n// Not that.\n",
        &[0, 1],
        Todo,
        "do this",
        (1, 2),
    ),
    (
        "a(); // TODO: do this\n// Not that.\n",
        &[0],
        Todo,
        "do this",
        (1, 1),
    ),
    (
        "a(); // Not that.\n// TODO: do this\n",
        &[1],
        Todo,
        "do this",
        (2, 2),
    ),
    (
        "@legwork do this\nnot that",
        &[0],
        Mention,
        "do this",
        (1, 1),
    ),
    (
        "x(\"/*\");\n// @legwork do this\ny(\"*/\");",
        &[1],
        Mention,
        "do this",
        (2, 2),
    ),
    (
        "// see src/**/*.rs\n// @legwork do this\n",
        &[0, 1],
        Mention,
        "do this",
        (2, 2),
    ),
    (
        "ls src/*\n# TODO: do this\nls */a\n",
        &[1],
        Todo,
        "do this",
        (2, 2),
    ),
    (
        "/* never closed\n\n// @legwork do this\nx",
        &[2],
        Mention,
        "do this",
        (3, 3),
    ),
    (
        "/* a */\n/* TODO: do this */\n/* b */",
        &[1],
        Todo,
        "do this",
        (2, 2),
    ),
    (
        "\"\"\"a\"\"\"\n# TODO: do this\n\"\"\"b\"\"\"",
        &[1],
        Todo,
        "do this",
        (2, 2),
    ),
];

#[test]
fn the_cursor_may_stand_on_any_line_of_a_comment() {
    for (text, cursors, kind, said, lines) in BLOCKS {
        for line in *cursors {
            assert_eq!(
                asked(text, *line),
                Some((*kind, (*said).to_owned(), *lines)),
                "{text:?} at {line}"
            );
        }
        for line in (0..10).filter(|line| !cursors.contains(line)) {
            if let Some((_, other, _)) = asked(text, line) {
                assert_ne!(other, *said, "{text:?} at {line}");
            }
        }
    }
}

#[test]
fn long_asks_are_cut_and_long_texts_are_left() {
    let long = format!("// @legwork {}", "é🦀 ".repeat(5000));
    let text = at_line(&long, 0).expect("asks").text;
    assert!(
        (MAX_ASK - 1..=MAX_ASK).contains(&text.chars().count()),
        "{}",
        text.chars().count()
    );
    let word = format!("// @legwork {}", "a".repeat(100_000));
    assert_eq!(at_line(&word, 0).expect("asks").text.len(), MAX_ASK);
    let many = "// @legwork do this\n".to_owned() + &"// and that\n".repeat(10_000);
    assert!(at_line(&many, 0).expect("asks").text.chars().count() <= MAX_ASK);
    let fits = format!("// @legwork do this\n{}", "x".repeat(MAX_TEXT - 20));
    assert!(at_line(&fits, 0).is_some());
    assert!(at_line(&(fits + "x"), 0).is_none());
}

#[test]
fn a_text_made_to_be_slow_is_not() {
    let units = [
        "TODO(",
        "// TODO(",
        "@",
        " @legwork",
        "/*",
        " /* ",
        "/* */ ",
        "\"\"\"",
        "''' ",
        "\"",
        "# ",
        "<!-- ",
        "1. TODO",
        "//",
        "\n",
        "// TODO\n",
        "/*\n",
        "\"\"\"\n",
        " // a\n",
    ];
    for unit in units {
        let text = unit.repeat(MAX_TEXT / 8 / unit.len());
        let started = Instant::now();
        for line in [0, 1000, 20_000] {
            at_line(&text, line);
        }
        // Far above what it takes without optimisation, far below what the square would.
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{unit:?}: {:?}",
            started.elapsed()
        );
    }
}

proptest! {
    #[test]
    fn any_text_gives_one_short_line_inside_it(
        parts in prop::collection::vec(prop::sample::select(vec![
            "//", "#", "/*", "*/", "<!--", "-->", "\"\"\"", "'''", "'", "\"", " ", "\t", "\n", "\r\n", "\r",
            "@legwork", "TODO", "(a)", ":", "do", "é", "🦀", "--", ";", "%", "*", "!", "[", "\0",
        ]), 0..40),
        line in 0_u32..12,
    ) {
        let text = parts.concat();
        if let Some(ask) = at_line(&text, line) {
            let count = u32::try_from(text.lines().count()).expect("few lines");
            prop_assert!(1 <= ask.lines.0 && ask.lines.0 <= ask.lines.1 && ask.lines.1 <= count);
            prop_assert!(!ask.text.is_empty() && ask.text.trim() == ask.text);
            prop_assert!(!ask.text.contains(char::is_control));
        }
    }
}
