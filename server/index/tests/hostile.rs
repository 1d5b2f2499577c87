//! Repositories may be anybody's: whatever stands in a file, there are tags, an index and a map, in bounded time.

use std::{fmt::Write as _, time::Duration, time::Instant};

use legwork_index::{Index, Kept, Key, MapOptions, Query, Source, Tags};
use legwork_model::Digest;

const ENDS: [&str; 18] = [
    "rs", "py", "js", "ts", "tsx", "go", "java", "c", "h", "cpp", "rb", "sh", "md", "json", "toml",
    "mod", "x", "",
];

/// A bound that only what grows with the square of a text, or does not end, is over.
const PATIENCE: Duration = Duration::from_mins(2);

fn build(files: &[(String, Vec<u8>)]) -> Index {
    let sources: Vec<Source> = files
        .iter()
        .map(|(path, bytes)| Source {
            path: path.clone(),
            key: Key::new(path, &Digest::of(bytes)),
        })
        .collect();
    let (index, kept, read) = Index::build(&sources, &Kept::default(), &|at| {
        files.get(at).map(|(_, bytes)| bytes.clone())
    });
    assert_eq!(read, files.len());
    let (again, _, read) = Index::build(&sources, &Kept::read(&kept.bytes()), &|_| None);
    assert_eq!(
        (again.len(), read),
        (index.len(), 0),
        "what is kept is not read again"
    );
    index
}

#[test]
fn random_bytes_and_torn_texts_have_tags_and_a_map() {
    let mut random = fastrand::Rng::with_seed(7);
    let text = include_str!("hostile.rs");
    let mut files = Vec::new();
    for end in ENDS {
        for round in 0..12 {
            let bytes: Vec<u8> = match round % 3 {
                0 => (0..random.usize(..4_000)).map(|_| random.u8(..)).collect(),
                1 => (0..random.usize(..4_000))
                    .map(|_| {
                        random
                            .choice(b"(){}[]<>\"'`;:,.=#/*\\ \nuse import fn def class")
                            .copied()
                            .unwrap()
                    })
                    .collect(),
                _ => {
                    let mut bytes = text.as_bytes().to_vec();
                    for _ in 0..50 {
                        let at = random.usize(..bytes.len());
                        bytes[at] = random.u8(b' '..b'~');
                    }
                    bytes
                }
            };
            files.push((format!("d{round}/f.{end}"), bytes));
        }
    }
    for name in [
        "Cargo.toml",
        "package.json",
        "go.mod",
        "pyproject.toml",
        "a.gemspec",
    ] {
        files.push((
            name.to_owned(),
            b"{\"name\": \"\", [package]\nname = \"/../\"\nmodule ///\n".to_vec(),
        ));
    }
    let index = build(&files);
    for place in [
        None,
        Some("d0/f.rs".to_owned()),
        Some("../../etc/passwd".to_owned()),
    ] {
        let query = Query {
            text: "use import `fn` class ../../x \u{1b}[2J".to_owned(),
            place,
            more: String::new(),
        };
        let map = index.map(&query, MapOptions::default());
        assert!(!map.is_empty() && map.len() <= 1_500 * 7 / 2);
    }
    assert!(index.chain("d0/f.rs", "d1/f.rs").is_ok());
    assert!(index.named("\0").definitions.is_empty());
}

#[test]
fn deep_and_wide_texts_end() {
    let begun = Instant::now();
    for (end, open, close) in [
        ("rs", "{", "}"),
        ("rs", "use a::{", "};"),
        ("py", "(", ")"),
        ("py", "lambda: ", ""),
        ("js", "()=>", "1"),
        ("ts", "<A", ">"),
        ("go", "func(){", "}"),
        ("java", "class A{", "}"),
        ("c", "*(", ")"),
        ("cpp", "namespace a{", "}"),
        ("rb", "def a;", "end;"),
        ("sh", "$(", ")"),
    ] {
        // With line ends, or it would be taken for what a program made.
        let deep = format!(
            "{}\n{}",
            format!("{open}\n").repeat(30_000),
            format!("{close}\n").repeat(30_000)
        );
        let _tags = Tags::of(&format!("a.{end}"), deep.as_bytes());
    }
    let mut wide = String::new();
    for n in 0..30_000 {
        let _ = writeln!(wide, "import m{n}\ndef f{n}(): pass");
    }
    let _tags = Tags::of("a.py", wide.as_bytes());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

#[test]
fn a_thousand_packages_that_import_each_other_end() {
    let begun = Instant::now();
    let mut files = Vec::new();
    for n in 0..1_000 {
        files.push((
            format!("p{n}/package.json"),
            format!("{{\"name\": \"@x/p{n}\"}}").into_bytes(),
        ));
        let imports: String = (0..100)
            .map(|m| format!("import {{ same }} from '@x/p{}';\n", (n + m) % 1_000))
            .collect();
        files.push((
            format!("p{n}/src/index.ts"),
            format!("{imports}export const same = 1;\n").into_bytes(),
        ));
    }
    let index = build(&files);
    let chain = index
        .chain("p0/src/index.ts", "p999/src/index.ts")
        .unwrap()
        .unwrap();
    assert_eq!(chain.0.len(), 12, "each imports the ninety-nine after it");
    let map = index.map(
        &Query {
            text: "same".to_owned(),
            ..Query::default()
        },
        MapOptions::default(),
    );
    assert!(map.contains("src/index.ts"));
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}
