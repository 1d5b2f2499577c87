//! Whether an edit breaks the syntax of a file that was in order: a parse before and after it.

use std::path::Path;

use tree_sitter::{Language, Node, Parser};

/// Longer texts are not looked at, in bytes.
const LONGEST: usize = 1 << 20;

/// The most errors that are counted.
const MOST: usize = 200;

/// What is wrong after an edit that was not wrong before; `None` if nothing is, or the language is not known.
pub(crate) fn broken(path: &str, before: &str, after: &str) -> Option<String> {
    if before.len().max(after.len()) > LONGEST {
        return None;
    }
    let language = language(path)?;
    let (were, _) = errors(&language, before)?;
    let (are, first) = errors(&language, after)?;
    let (line, what) = first?;
    (are > were).then(|| format!("line {line} would not parse any more: {what}"))
}

fn language(path: &str) -> Option<Language> {
    let extension = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    Some(match extension.as_str() {
        "rs" => tree_sitter_rust::LANGUAGE.into(),
        "py" | "pyi" => tree_sitter_python::LANGUAGE.into(),
        "js" | "mjs" | "cjs" | "jsx" => tree_sitter_javascript::LANGUAGE.into(),
        "ts" | "mts" | "cts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX.into(),
        "go" => tree_sitter_go::LANGUAGE.into(),
        "java" => tree_sitter_java::LANGUAGE.into(),
        "c" => tree_sitter_c::LANGUAGE.into(),
        "cc" | "cpp" | "cxx" | "hpp" | "hh" => tree_sitter_cpp::LANGUAGE.into(),
        "rb" => tree_sitter_ruby::LANGUAGE.into(),
        "sh" | "bash" => tree_sitter_bash::LANGUAGE.into(),
        _ => return None,
    })
}

/// How many errors there are, and where and what the first is.
fn errors(language: &Language, text: &str) -> Option<(usize, Option<(usize, String)>)> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let tree = parser.parse(text, None)?;
    let (mut count, mut first) = (0, None);
    let mut nodes = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        if count >= MOST || !(node.has_error() || node.is_missing()) {
            continue;
        }
        if node.is_error() || node.is_missing() {
            count += 1;
            let place = (node.start_position().row + 1, describe(node, text));
            if first.as_ref().is_none_or(|(line, _)| place.0 < *line) {
                first = Some(place);
            }
        }
        let mut cursor = node.walk();
        nodes.extend(node.children(&mut cursor));
    }
    Some((count, first))
}

fn describe(node: Node<'_>, text: &str) -> String {
    if node.is_missing() {
        return format!("`{}` is missing", node.kind());
    }
    let found = text.get(node.byte_range()).unwrap_or_default();
    let line = found.trim().lines().next().unwrap_or_default();
    format!("near `{}`", &line[..line.floor_char_boundary(60)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_edit_breaks_is_told() {
        let good = "fn a() -> u32 {\n    1\n}\n";
        let bad = "fn a() -> u32 {\n    (1\n}\n";
        assert!(broken("a.rs", good, bad).unwrap().starts_with("line "));
        assert_eq!(broken("a.rs", good, good), None);
        assert_eq!(broken("a.rs", bad, bad), None, "it was so before");
        assert_eq!(broken("a.txt", good, bad), None);
        assert_eq!(broken("a.rs", "", good), None);
        for (path, good, bad) in [
            (
                "a.py",
                "def f():\n    return 1\n",
                "def f(:\n    return 1\n",
            ),
            ("a.ts", "let a: number = 1;\n", "let a: number = ;{\n"),
            (
                "a.go",
                "package a\nfunc f() {}\n",
                "package a\nfunc f( {}\n",
            ),
            ("a.sh", "if true; then echo; fi\n", "if true; then echo\n"),
        ] {
            assert!(broken(path, good, bad).is_some(), "{path}");
            assert_eq!(broken(path, bad, good), None, "{path}");
        }
    }
}
