//! Ranges at the edges of items, and texts that are no code.

use super::*;

mod items;

/// The symbol at the `¦` in a text, or around what is between two of them.
fn at(language: &str, marked: &str) -> Option<Symbol> {
    let places: Vec<usize> = marked.match_indices('¦').map(|(at, _)| at).collect();
    let width = '¦'.len_utf8();
    let range = match places[..] {
        [cursor] => cursor..cursor,
        [from, to] => from..to - width,
        _ => panic!("one or two marks: {marked:?}"),
    };
    enclosing(language, None, &marked.replace('¦', ""), range)
}

fn said(language: &str, marked: &str) -> Option<String> {
    at(language, marked).map(|symbol| {
        let (first, last) = symbol.lines;
        format!("{} {} {first}-{last}", symbol.kind, symbol.name)
    })
}

#[test]
fn the_innermost_item_that_holds_all_of_a_range() {
    let cases = [
        ("¦fn a() {}\nfn b() {}", Some("function a 1-1")),
        ("fn a() {}\nfn b() {}¦", Some("function b 2-2")),
        ("fn a() {}¦\nfn b() {}", Some("function a 1-1")),
        ("fn a() {}\n¦\nfn b() {}", None),
        ("fn a() {\n¦\n}", Some("function a 1-3")),
        ("mod m {\n  ¦  fn a() {}\n}", Some("function m::a 2-2")),
        ("mod m {\n¦    fn a() {}\n¦}", Some("function m::a 2-2")),
        (
            "mod m {\n    fn a() {¦}\n    fn b() {¦}\n}",
            Some("module m 1-4"),
        ),
        ("fn a() {¦}\nfn b() {¦}", None),
        ("fn a() {} \t¦ \r\nfn b() {}", Some("function a 1-1")),
        ("fn a() {} \t¦ fn b() {}", None),
        ("¦fn a() {}\r\n\r\n¦fn b() {}", Some("function a 1-1")),
        (
            "fn a() {\r\n\tlet x = \"🦀\"; ¦x;\r\n}\r\n",
            Some("function a 1-3"),
        ),
        (
            "struct A;\nimpl A { fn é(&self) { ¦ } }",
            Some("method A::é 2-2"),
        ),
    ];
    for (text, symbol) in cases {
        assert_eq!(said("rust", text).as_deref(), symbol, "{text:?}");
    }
}

#[test]
fn a_language_is_known_by_its_id_or_its_extension() {
    let by_path = |id: &str, path: &str| {
        enclosing(id, Some(Path::new(path)), "def a():\n  b\n", 9..10).map(|symbol| symbol.name)
    };
    assert_eq!(by_path("", "x.py").as_deref(), Some("a"));
    assert_eq!(by_path("plaintext", "/w/x.PY").as_deref(), Some("a"));
    assert_eq!(by_path("Python", "x").as_deref(), Some("a"));
    assert_eq!(by_path("python", "x.rs").as_deref(), Some("a"));
    assert_eq!(by_path("", "x.zig"), None);
    assert_eq!(by_path("", ""), None);
    assert_eq!(by_path("zig", ".py"), None);
}

#[test]
fn odd_ranges_and_texts_give_nothing() {
    let text = "fn a() { \"🦀\" }";
    assert_eq!(
        enclosing("rust", None, text, text.len() + 1..text.len() + 2),
        None
    );
    assert!(enclosing("rust", None, text, 3..usize::MAX).is_some());
    #[expect(clippy::reversed_empty_ranges, reason = "a client may send one")]
    let reversed = 5..3;
    assert_eq!(enclosing("rust", None, text, reversed), None);
    let crab = text.find('🦀').expect("is there");
    assert!(enclosing("rust", None, text, crab + 1..crab + 2).is_some());
    let ids = [
        "rust",
        "python",
        "javascript",
        "typescript",
        "tsx",
        "go",
        "java",
        "c",
        "cpp",
        "ruby",
        "bash",
        "markdown",
    ];
    for id in ids {
        for text in [
            "", "\n", "\0", "🦀", "((((", "}}}}", "# \n", "\"", "\u{feff}",
        ] {
            for from in 0..=text.len() {
                assert_eq!(
                    enclosing(id, None, text, from..text.len()),
                    None,
                    "{id} {text:?}"
                );
            }
        }
        let deep = "(".repeat(50_000);
        enclosing(id, None, &deep, 25_000..25_001);
        let started = Instant::now();
        let items = "mod a { ".repeat(50_000);
        enclosing(id, None, &items, items.len() - 3..items.len());
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{id}: {:?}",
            started.elapsed()
        );
        let wide = "x = 1;\n".repeat(10_000);
        enclosing(id, None, &wide, 35_000..35_001);
    }
}

#[test]
fn code_that_is_not_finished_still_has_items() {
    let cases = [
        (
            "rust",
            "impl A {\n    fn b(&self) {\n        let x = ¦\n    }\n}\n",
            "method A::b 2-4",
        ),
        (
            "python",
            "class A:\n    def b(self):\n        x = ¦\n\n    def c(self):\n        d\n",
            "method A.b 2-3",
        ),
        (
            "javascript",
            "class A {\n  b() {\n    const x = ¦;\n  }\n}\n",
            "method A.b 2-4",
        ),
        (
            "go",
            "package a\n\nfunc b() {\n\tx := ¦\n}\n",
            "function b 3-5",
        ),
        ("c", "int b(void) {\n  int x = ¦\n}\n", "function b 1-3"),
    ];
    for (language, text, symbol) in cases {
        assert_eq!(
            said(language, text).as_deref(),
            Some(symbol),
            "{language}: {text:?}"
        );
    }
}

#[test]
fn a_name_is_one_line_of_bounded_length() {
    let long = "a".repeat(5000);
    let symbol = at("rust", &format!("fn {long}() {{ ¦x }}")).expect("found");
    assert_eq!(symbol.name.len(), MAX_NAME);
    let spread = at("rust", "impl\n  From<A>\n  for\n  B<\n C>\n{ ¦ }").expect("found");
    assert_eq!(spread.name, "From<A> for B");
    let computed = at("javascript", "a = { [`b\n\tc`]() { ¦x } }").expect("found");
    assert_eq!(computed.name, "[`b c`]");
}

#[test]
fn texts_over_the_bounds_are_left() {
    let head = "fn a() { x }\n";
    let fits = head.to_owned() + &" ".repeat(MAX_TEXT - head.len());
    assert!(enclosing("rust", None, &fits, 9..10).is_some());
    assert!(enclosing("rust", None, &(fits + " "), 9..10).is_none());

    let slow = "fn a() { x(1, 2, [3]) }\n".repeat(40_000);
    let language: Language = tree_sitter_rust::LANGUAGE.into();
    let started = Instant::now();
    assert!(parse(&language, &slow, Duration::from_millis(5)).is_none());
    // The whole text takes many times that.
    assert!(
        started.elapsed() < Duration::from_millis(500),
        "{:?}",
        started.elapsed()
    );
}
