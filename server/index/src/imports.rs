//! What a node imports, as the language says it: a module, a path, a header.

use tree_sitter::Node;

/// How an import is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Import {
    /// `use a::{b, c}`: each path by itself.
    Rust,
    /// `mod a;`, said as `self::a`.
    RustModule,
    /// `import a, b as c`.
    Python,
    /// `from a import b`: the module, and the name as a module in it.
    PythonFrom,
    /// One quoted text below it.
    Quoted,
    /// `require("a")` and `import("a")`.
    Required,
    /// `import a.b.C;`.
    Java,
    /// `#include "a.h"`.
    Include,
    /// `require 'a'` and `require_relative 'a'`, the latter said as `./a`.
    Ruby,
    /// `. a` and `source a`; what a variable holds is left out.
    Shell,
}

/// The longest import, in bytes.
const LONGEST: usize = 300;

/// The most paths of one `use`.
const MOST: usize = 64;

pub(crate) fn take(import: Import, node: Node<'_>, text: &str, into: &mut Vec<String>) {
    let said = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let field = |name: &str| node.child_by_field_name(name).map(said);
    let mut found: Vec<String> = Vec::new();
    match import {
        Import::Rust => {
            if let Some(argument) = field("argument") {
                expand(argument, &mut found);
            }
        }
        Import::RustModule => {
            if node.child_by_field_name("body").is_none()
                && let Some(name) = field("name")
            {
                found.push(format!("self::{name}"));
            }
        }
        Import::Python => {
            let mut cursor = node.walk();
            for name in node.children_by_field_name("name", &mut cursor) {
                let name = name.child_by_field_name("name").unwrap_or(name);
                found.push(said(name).to_owned());
            }
        }
        Import::PythonFrom => {
            let module = field("module_name").unwrap_or_default().to_owned();
            let mut cursor = node.walk();
            for name in node.children_by_field_name("name", &mut cursor).take(MOST) {
                let name = said(name.child_by_field_name("name").unwrap_or(name));
                let dot = if module.ends_with('.') { "" } else { "." };
                found.push(format!("{module}{dot}{name}"));
            }
            if !module.ends_with('.') {
                found.push(module);
            }
        }
        Import::Quoted => {
            if let Some(source) = field("source").or_else(|| field("path")) {
                found.push(unquoted(source).to_owned());
            }
        }
        Import::Required => {
            if matches!(field("function"), Some("require" | "import"))
                && let Some(argument) = node
                    .child_by_field_name("arguments")
                    .and_then(|arguments| arguments.named_child(0))
                    .filter(|argument| argument.kind() == "string")
            {
                found.push(unquoted(said(argument)).to_owned());
            }
        }
        Import::Java => {
            let path = said(node)
                .trim_start_matches("import")
                .trim()
                .trim_end_matches(';')
                .trim();
            let path = path.trim_start_matches("static ").trim();
            found.push(path.trim_end_matches(".*").to_owned());
        }
        Import::Include => {
            if let Some(path) = field("path") {
                found.push(path.trim_matches(['"', '<', '>']).to_owned());
            }
        }
        Import::Ruby => {
            let method = field("method").unwrap_or_default();
            if matches!(method, "require" | "require_relative" | "load")
                && let Some(argument) = node
                    .child_by_field_name("arguments")
                    .and_then(|arguments| arguments.named_child(0))
                    .filter(|argument| argument.kind() == "string")
            {
                let path = unquoted(said(argument));
                let is_bare = method == "require_relative" && !path.starts_with('.');
                found.push(if is_bare {
                    format!("./{path}")
                } else {
                    path.to_owned()
                });
            }
        }
        Import::Shell => {
            if matches!(field("name"), Some("." | "source"))
                && let Some(path) = field("argument")
            {
                let path = unquoted(path);
                // `$DIR/a.sh` and `$(dirname "$0")/a.sh` end in what is known.
                let path = match path.rfind(['}', ')', '$']) {
                    Some(at) => &path[at..][path[at..].find('/').unwrap_or(path.len() - at)..],
                    None => path,
                };
                found.push(path.to_owned());
            }
        }
    }
    let is_path =
        |path: &String| (1..=LONGEST).contains(&path.len()) && !path.contains(['\n', '\0']);
    into.extend(found.into_iter().filter(is_path));
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

/// `a::{b, c::{d, e}}` as `a::b`, `a::c::d` and `a::c::e`.
fn expand(argument: &str, found: &mut Vec<String>) {
    let mut prefixes = vec![String::new()];
    let mut part = String::new();
    let mut flush = |part: &mut String, prefix: &str| {
        let path = part.split(" as ").next().unwrap_or_default().trim();
        let whole = format!("{prefix}{path}");
        let whole = whole
            .trim_end_matches("::*")
            .trim_end_matches("::self")
            .to_owned();
        if !path.is_empty() && found.len() < MOST {
            found.push(whole);
        }
        part.clear();
    };
    for c in argument
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
    {
        let prefix = prefixes.last().cloned().unwrap_or_default();
        match c {
            '{' => {
                let deeper = format!("{prefix}{}", part.trim());
                part.clear();
                if deeper.len() > LONGEST || prefixes.len() > MOST {
                    return;
                }
                prefixes.push(deeper);
            }
            '}' => {
                flush(&mut part, &prefix);
                prefixes.pop();
            }
            ',' => flush(&mut part, &prefix),
            c => part.push(c),
        }
    }
    let prefix = prefixes.last().cloned().unwrap_or_default();
    flush(&mut part, &prefix);
}
