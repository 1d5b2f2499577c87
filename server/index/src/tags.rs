//! The tags of one file: what it defines, what it refers to, what it imports, and the words in it.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::{
    imports, language,
    language::{Grammar, Item, Name},
    packages::{self, Package},
    words,
};

/// Longer texts are not looked at, in bytes.
pub const LONGEST: usize = 1 << 20;

/// How long a parse may take.
const MAX_PARSE: Duration = Duration::from_millis(500);

/// The most definitions, references and imports of a file.
const MOST: (usize, usize, usize) = (1_000, 2_000, 500);

/// The most words of a file.
const MOST_WORDS: usize = 2_000;

/// The longest name, and the longest line that is shown of a definition, in bytes.
const LONGEST_NAME: usize = 100;
const LONGEST_LINE: usize = 110;

/// Text whose lines are longer than this in the mean was made by a program.
const LONGEST_MEAN: usize = 300;

/// How far a declarator is followed to the name inside it.
const MOST_NEST: usize = 32;

/// What is known of one file by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags {
    /// In the order of the text.
    pub(crate) definitions: Vec<Definition>,
    /// Names that it refers to, as numbers, and how often; sorted.
    pub(crate) references: Vec<(u32, u16)>,
    /// What it imports, as it says it.
    pub(crate) imports: Vec<String>,
    /// The words of what it defines, as numbers; sorted.
    pub(crate) named: Vec<u32>,
    /// All its words, as numbers; sorted.
    pub(crate) words: Vec<u32>,
    /// What it says of a package, if that is what it is for.
    pub(crate) package: Option<Package>,
}

/// Something that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its line, from 1.
    pub line: u32,
    /// That line, without blanks around it, and cut.
    pub text: String,
}

impl Tags {
    /// The tags of a text. The path says the language; a text in none has only words. What is no text, too long, or was made
    /// by a program has nothing.
    pub fn of(path: &str, bytes: &[u8]) -> Self {
        let mut tags = Self::default();
        if bytes.len() > LONGEST || bytes.contains(&0) {
            return tags;
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return tags;
        };
        tags.package = packages::read(path, text);
        if is_passed_over(path) || text.len() / (text.lines().count() + 1) > LONGEST_MEAN {
            return tags;
        }
        if let Some(grammar) = language::of(path)
            && let Some(tree) = parse(grammar, text)
        {
            tags.collect(grammar, &tree, text);
        }
        tags.count_words(text);
        tags
    }

    fn collect(&mut self, grammar: &'static Grammar, tree: &Tree, text: &str) {
        let mut references: BTreeMap<u32, u16> = BTreeMap::new();
        let mut functions: Vec<usize> = Vec::new();
        let mut cursor = tree.walk();
        'walk: loop {
            let node = cursor.node();
            while functions
                .last()
                .is_some_and(|end| *end <= node.start_byte())
            {
                functions.pop();
            }
            if node.is_named() {
                self.definition(grammar, node, text, functions.is_empty());
                let import = grammar
                    .imports
                    .iter()
                    .find(|(kind, _)| *kind == node.kind());
                if let Some((_, import)) = import {
                    imports::take(*import, node, text, &mut self.imports);
                    self.imports.truncate(MOST.2);
                }
                if grammar.functions.contains(&node.kind()) {
                    functions.push(node.end_byte());
                }
                if node.child_count() == 0
                    && is_identifier(node.kind())
                    && let Some(name) = text.get(node.byte_range())
                    && (2..=LONGEST_NAME).contains(&name.len())
                {
                    let name = words::hash(name);
                    if references.len() < MOST.1 || references.contains_key(&name) {
                        let count = references.entry(name).or_default();
                        *count = count.saturating_add(1);
                    }
                }
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'walk;
                }
            }
        }
        // A name that is only said where it is defined is not referred to.
        for definition in &self.definitions {
            let name = words::hash(&definition.name);
            if let Some(count) = references.get_mut(&name) {
                *count -= 1;
                if *count == 0 {
                    references.remove(&name);
                }
            }
        }
        self.references = references.into_iter().collect();
        self.imports.sort();
        self.imports.dedup();
    }

    fn definition(&mut self, grammar: &'static Grammar, node: Node<'_>, text: &str, is_top: bool) {
        if self.definitions.len() >= MOST.0 {
            return;
        }
        let item = grammar.items.iter().find(|item| {
            item.node == node.kind()
                && item
                    .has
                    .is_none_or(|field| node.child_by_field_name(field).is_some())
        });
        let Some(item) = item.filter(|item| is_top || !item.is_top) else {
            return;
        };
        let Some(name) = name(item, node) else { return };
        let Some(said) = text.get(name.byte_range()) else {
            return;
        };
        let said = said.trim_matches(['"', '\'']);
        if !(1..=LONGEST_NAME).contains(&said.len()) || said.contains(char::is_whitespace) {
            return;
        }
        let row = name.start_position().row;
        // The whole line, for what stands before the name on it (`export`, `pub`) is worth seeing.
        let start = text[..name.start_byte()].rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..].lines().next().unwrap_or_default().trim();
        let line = line.trim_end_matches(['{', ' ', ':']);
        self.definitions.push(Definition {
            name: said.to_owned(),
            line: u32::try_from(row + 1).unwrap_or(u32::MAX),
            text: line[..line.floor_char_boundary(LONGEST_LINE)].to_owned(),
        });
    }

    fn count_words(&mut self, text: &str) {
        for definition in &self.definitions {
            words::each(&definition.name, |word| self.named.push(words::hash(word)));
        }
        self.named.sort_unstable();
        self.named.dedup();
        let mut all = Vec::new();
        words::each(text, |word| all.push(words::hash(word)));
        all.sort_unstable();
        all.dedup();
        all.truncate(MOST_WORDS);
        self.words = all;
    }
}

/// Whether a name says that programs made the file: a lock file, a bundle.
pub(crate) fn is_passed_over(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_lock = name.strip_suffix(".lock").is_some();
    is_lock
        || ["package-lock.json", "pnpm-lock.yaml", "go.sum"].contains(&name)
        || name.contains(".min.")
}

fn parse(grammar: &Grammar, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&(grammar.language)()).ok()?;
    let started = Instant::now();
    let mut in_time = |_: &_| {
        if started.elapsed() > MAX_PARSE {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut read = |byte: usize, _| text.as_bytes().get(byte..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

fn is_identifier(kind: &str) -> bool {
    kind.ends_with("identifier") || kind == "constant" || kind == "word"
}

fn name<'tree>(item: &Item, node: Node<'tree>) -> Option<Node<'tree>> {
    match item.name {
        Name::Field(field) => {
            let name = node.child_by_field_name(field)?;
            // `a, b = …` and `const { a } = …` have a pattern there.
            (name.named_child_count() == 0).then_some(name)
        }
        Name::Declarator => {
            let mut is_wanted = node.kind() != "declaration";
            let mut name = node.child_by_field_name("declarator")?;
            for _ in 0..MOST_NEST {
                is_wanted |= name.kind() == "function_declarator";
                let inside = name
                    .child_by_field_name("declarator")
                    .or_else(|| match name.kind() {
                        "reference_declarator" | "parenthesized_declarator" => name.named_child(0),
                        "qualified_identifier" => name.child_by_field_name("name"),
                        _ => None,
                    });
                match inside {
                    Some(inside) => name = inside,
                    None => break,
                }
            }
            (is_wanted && name.named_child_count() == 0).then_some(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defined(path: &str, text: &str) -> Vec<String> {
        let tags = Tags::of(path, text.as_bytes());
        tags.definitions
            .into_iter()
            .map(|definition| definition.name)
            .collect()
    }

    fn imported(path: &str, text: &str) -> Vec<String> {
        Tags::of(path, text.as_bytes()).imports
    }

    #[test]
    fn every_language_has_its_definitions() {
        for (path, text, names) in [
            (
                "a.rs",
                "pub const A: u8 = 1;\nstruct S;\nimpl S { fn m(&self) { const B: u8 = 1; } }\nmacro_rules! mm { () => {} }\nmod t { fn f() {} }\nmod other;",
                "A S m mm t f",
            ),
            (
                "a.py",
                "LIMIT = 3\na, b = 1, 2\nclass C:\n    x = 1\n    def m(self):\n        y = 2\n",
                "LIMIT C m",
            ),
            (
                "a.js",
                "export const a = 1, f = () => { const inner = 1; };\nexport default class K { m() {} }\nfunction g() {}\nconst { x } = a;",
                "a f K m g",
            ),
            (
                "a.ts",
                "export interface I { m(): void }\nexport type T = string;\nenum E { A }\nabstract class B {}\nnamespace N {}",
                "I m T E B N",
            ),
            (
                "a.tsx",
                "export function View(): JSX.Element { return <p/>; }",
                "View",
            ),
            (
                "a.go",
                "package a\nconst K = 1\ntype S struct{}\nfunc (s *S) M() { var x = 1; _ = x }\nfunc F() {}\n",
                "K S M F",
            ),
            (
                "A.java",
                "class A { A() {} void m() {} }\ninterface I {}\nenum E { X }\nrecord R(int x) {}",
                "A A m I E R",
            ),
            (
                "a.c",
                "#define MAX 3\n#define F(x) x\nint f(int x);\nstatic int *g(void) { int local; return 0; }\nstruct s { int a; };\nstruct s v;\ntypedef int t;\n",
                "MAX F f g s t",
            ),
            (
                "a.cpp",
                "namespace n { class K { void m(); }; }\nvoid n::K::m() {}\ntemplate<class T> T id(T t) { return t; }",
                "n K m id",
            ),
            (
                "a.rb",
                "module M\n  class C\n    def m; end\n    def self.s; end\n  end\nend\n",
                "M C m s",
            ),
            ("a.sh", "f() { echo; }\nfunction g { f; }\n", "f g"),
        ] {
            assert_eq!(defined(path, text).join(" "), names, "{path}");
        }
    }

    #[test]
    fn every_language_has_its_imports() {
        for (path, text, wanted) in [
            (
                "a.rs",
                "use crate::a::{b, c::D};\nuse x::*;\nmod m;\nmod n {}",
                "crate::a::b crate::a::c::D self::m x",
            ),
            (
                "a.py",
                "import os, a.b as c\nfrom .x import y\nfrom . import z\nfrom p.q import (r, s)\n",
                ".x .x.y .z a.b os p.q p.q.r p.q.s",
            ),
            (
                "a.ts",
                "import x from './x';\nimport type { T } from \"@acme/ui\";\nexport * from '../y';\nexport const q = 'no';\nconst z = require('z'); await import('./w');",
                "../y ./w ./x @acme/ui z",
            ),
            (
                "a.go",
                "package a\nimport (\n\t\"fmt\"\n\tq \"example.com/m/q\"\n)\n",
                "example.com/m/q fmt",
            ),
            (
                "A.java",
                "import a.b.C;\nimport static a.b.D.e;\nimport x.y.*;\nclass A {}",
                "a.b.C a.b.D.e x.y",
            ),
            (
                "a.c",
                "#include \"x/y.h\"\n#include <stdio.h>\n",
                "stdio.h x/y.h",
            ),
            (
                "a.rb",
                "require 'json'\nrequire_relative '../lib/a'\nputs 'no'\n",
                "../lib/a json",
            ),
            (
                "a.sh",
                ". ./lib.sh\nsource \"$DIR/more.sh\"\necho no.sh\n",
                "./lib.sh /more.sh",
            ),
        ] {
            assert_eq!(imported(path, text).join(" "), wanted, "{path}");
        }
    }

    #[test]
    fn a_definition_has_its_line_and_a_name_said_elsewhere_is_a_reference() {
        let tags = Tags::of(
            "a.py",
            b"import x\n\ndef total(a):\n    return x.grand(a)\n",
        );
        let total = &tags.definitions[0];
        assert_eq!((total.line, total.text.as_str()), (3, "def total(a)"));
        let refers = |name: &str| {
            tags.references
                .iter()
                .any(|(hash, _)| *hash == words::hash(name))
        };
        assert!(refers("grand") && !refers("total"));
    }

    #[test]
    fn what_is_no_text_or_made_by_a_program_has_nothing() {
        let long = format!("let x = {};", "1+".repeat(4_000));
        for (path, bytes) in [
            ("a.rs", b"fn a() {}\0".as_slice()),
            ("a.rs", b"fn \xff() {}"),
            ("a.js", long.as_bytes()),
            ("a.min.js", b"function a() {}"),
            ("Cargo.lock", b"name = \"x\""),
        ] {
            assert_eq!(Tags::of(path, bytes), Tags::default(), "{path}");
        }
        assert_eq!(Tags::of("a.rs", &vec![b'\n'; LONGEST + 1]), Tags::default());
        assert!(!Tags::of("notes.md", b"The totals").words.is_empty());
    }
}
