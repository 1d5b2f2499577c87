//! The item around a place in a text: the function, type, module or section a task is about when
//! the user points at nothing smaller. What each language calls an item is in [`languages`];
//! headings of Markdown are in [`headings`]. Nothing is cached: a tree lives for one question.

mod headings;
mod languages;

use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::time::{Duration, Instant};

use tree_sitter::{Language, Node, ParseOptions, Parser, Tree};

use languages::{Grammar, Item, Name};

/// Texts over this many bytes are not looked at.
const MAX_TEXT: usize = 1 << 20;
/// A parse may take this long: the question is asked while the user waits for a menu.
const MAX_PARSE: Duration = Duration::from_millis(100);
/// Names are cut to this many characters.
const MAX_NAME: usize = 200;
/// How far a declarator or a wrapper is followed to the name inside it.
const MAX_NEST: usize = 32;

/// A named item of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// In one word, as the language says it: "function", "method", "struct", "section"…
    pub(crate) kind: &'static str,
    /// As the user would say it, with the types and modules around it: `Parser::next`.
    pub(crate) name: String,
    /// First and last line, from 1.
    pub(crate) lines: (u32, u32),
}

/// The innermost item with a name that holds all of the bytes `at`, blanks at their ends left out.
///
/// `language` is an LSP language id or an editor's file type; the extension of `path` is asked
/// when it is not known. `None` if there is no such item, for a language without a grammar, for a
/// text over 1 MiB, and for one that takes over 100 ms to parse.
pub(crate) fn enclosing(
    language: &str,
    path: Option<&Path>,
    text: &str,
    at: Range<usize>,
) -> Option<Symbol> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let at = trimmed(text, at)?;
    match languages::of(language, path)? {
        languages::Kind::Markdown => headings::enclosing(text, at),
        languages::Kind::Code(grammar) => {
            let tree = parse(&(grammar.language)(), text, MAX_PARSE)?;
            innermost(grammar, &tree, text, at)
        }
    }
}

/// The range without blanks at its ends, so that whole lines selected with their line break, or a
/// cursor in front of an item's first word, are inside the item. `None` for a range that is none.
fn trimmed(text: &str, at: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = at.end.min(bytes.len());
    let inside = bytes.get(at.start..end)?;
    let Some(first) = inside.iter().position(|b| !b.is_ascii_whitespace()) else {
        return Some(at_word(bytes, at.start));
    };
    let last = inside.iter().rposition(|b| !b.is_ascii_whitespace())?;
    Some(at.start + first..at.start + last + 1)
}

/// A cursor in the indentation of a line stands for the line's first word, and one in the blanks
/// at its end for the end of the last: no item holds those blanks for certain.
fn at_word(bytes: &[u8], cursor: usize) -> Range<usize> {
    let (before, after) = bytes.split_at(cursor);
    let blank = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r');
    let left = before.iter().rev().take_while(blank).count();
    let right = after.iter().take_while(blank).count();
    let begins = before
        .iter()
        .rev()
        .nth(left)
        .is_none_or(|byte| *byte == b'\n');
    let ends = after.get(right).is_none_or(|byte| *byte == b'\n');
    let at = match (begins, ends) {
        (true, false) => cursor + right,
        (false, true) => cursor - left,
        _ => cursor,
    };
    at..at
}

fn parse(language: &Language, text: &str, within: Duration) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    let started = Instant::now();
    let mut in_time = |_: &_| {
        if started.elapsed() > within {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut read = |byte: usize, _| text.as_bytes().get(byte..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// An item on the way down to the range.
struct Found {
    node: usize,
    item: &'static Item,
    /// The name alone.
    name: String,
    /// The name as what is inside says it; for an `impl` block that is the type.
    outer: String,
    kind: &'static str,
    /// Whether it or something around it is a function.
    in_function: bool,
    lines: (u32, u32),
}

fn innermost(
    grammar: &'static Grammar,
    tree: &Tree,
    text: &str,
    at: Range<usize>,
) -> Option<Symbol> {
    let mut around: Vec<Found> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if let Some(found) = found(grammar, node, text, &around) {
            around.push(found);
        }
        // The last child that holds the range: where two meet at the cursor, the one after it.
        let mut inside = None;
        if cursor.goto_first_child() {
            loop {
                let child = cursor.node();
                if child.start_byte() > at.start {
                    break;
                }
                if child.end_byte() >= at.end {
                    inside = Some(child);
                }
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        match inside {
            Some(child) => cursor.reset(child),
            None => break,
        }
    }
    let (last, outside) = around.split_last()?;
    Some(Symbol {
        kind: last.kind,
        name: qualified(grammar, last, outside),
        lines: last.lines,
    })
}

/// The name with those of the types and modules directly around it. A function around it is not
/// said: nobody calls a local function by its caller's name.
fn qualified(grammar: &Grammar, last: &Found, outside: &[Found]) -> String {
    let join = |item: &Item| {
        if item.join.is_empty() {
            grammar.join
        } else {
            item.join
        }
    };
    let mut name = last.name.clone();
    let mut joint = join(last.item);
    let around = outside.iter().rev().take_while(|found| found.item.holds);
    for outer in around.take(MAX_NEST) {
        name = format!("{}{joint}{name}", outer.outer);
        joint = join(outer.item);
    }
    clean(&name)
}

fn found(grammar: &'static Grammar, node: Node, text: &str, around: &[Found]) -> Option<Found> {
    let named = if grammar.wrappers.contains(&node.kind()) {
        unwrapped(grammar, node)?
    } else {
        node
    };
    let item = item(grammar, named)?;
    if around.last().is_some_and(|found| found.node == named.id()) {
        return None;
    }
    let in_function = around.last().is_some_and(|found| found.in_function);
    if item.top && in_function {
        return None;
    }
    let (name, outer) = name(item, named, text)?;
    let in_type = around
        .last()
        .is_some_and(|found| found.item.holds && !found.item.is_module());
    Some(Found {
        node: named.id(),
        item,
        name,
        outer,
        kind: if item.kind == "function" && in_type {
            "method"
        } else {
            item.kind
        },
        in_function: in_function || !item.holds,
        lines: lines(node),
    })
}

/// The one item in a node that adds only words around it (`export`, a decorator, `template<…>`).
fn unwrapped<'tree>(grammar: &'static Grammar, node: Node<'tree>) -> Option<Node<'tree>> {
    let mut node = node;
    for _ in 0..MAX_NEST {
        let mut cursor = node.walk();
        let mut inside = node.named_children(&mut cursor).filter(|child| {
            grammar.wrappers.contains(&child.kind()) || item(grammar, *child).is_some()
        });
        let only = inside.next()?;
        if inside.next().is_some() {
            return None;
        }
        if !grammar.wrappers.contains(&only.kind()) {
            return Some(only);
        }
        node = only;
    }
    None
}

fn item(grammar: &'static Grammar, node: Node) -> Option<&'static Item> {
    // Keywords are nodes too, and some have the kind of the item they begin.
    if !node.is_named() {
        return None;
    }
    grammar.items.iter().find(|item| {
        item.node == node.kind()
            && item.has.is_none_or(|(field, kinds)| {
                let child = node.child_by_field_name(field);
                child.is_some_and(|child| kinds.is_empty() || kinds.contains(&child.kind()))
            })
    })
}

/// The item's name, and the name for what is inside it.
fn name(item: &Item, node: Node, text: &str) -> Option<(String, String)> {
    let said = |node: Node| {
        let name = clean(text.get(node.byte_range())?.trim_matches(['"', '\'']));
        (!name.is_empty()).then_some(name)
    };
    let name = match item.name {
        Name::Field(field) => said(node.child_by_field_name(field)?)?,
        Name::Declarator => said(declared(node)?)?,
        Name::Impl => {
            let of = said(bare(node.child_by_field_name("type")?))?;
            return Some(match node.child_by_field_name("trait") {
                Some(of_trait) => (format!("{} for {of}", said(of_trait)?), of),
                None => (of.clone(), of),
            });
        }
        Name::Method => {
            let name = said(node.child_by_field_name("name")?)?;
            let receiver = node.child_by_field_name("receiver")?;
            match receiver
                .named_child(0)
                .and_then(|receiver| receiver.child_by_field_name("type"))
                .and_then(|of| said(bare(of)))
            {
                Some(of) => format!("{of}.{name}"),
                None => name,
            }
        }
    };
    Some((name.clone(), name))
}

/// A type without its pointer and its parameters.
fn bare(node: Node) -> Node {
    let mut node = node;
    for _ in 0..MAX_NEST {
        let inside = match node.kind() {
            "generic_type" => node.child_by_field_name("type"),
            "pointer_type" | "parenthesized_type" => node.named_child(0),
            _ => None,
        };
        match inside {
            Some(inside) => node = inside,
            None => break,
        }
    }
    node
}

/// What a C declaration declares, if it is a function or a type. A pointer to a function is
/// neither.
fn declared(node: Node) -> Option<Node> {
    let mut function = node.kind() == "type_definition";
    let mut node = node.child_by_field_name("declarator")?;
    for _ in 0..MAX_NEST {
        function |= node.kind() == "function_declarator" || node.kind() == "operator_cast";
        let inside = match node.kind() {
            // `operator bool()`: what follows `operator` is the name.
            "operator_cast" => None,
            "reference_declarator" => node.named_child(0),
            "parenthesized_declarator" if node.child_by_field_name("declarator").is_none() => {
                let inside = node.named_child(0)?;
                if inside.kind() == "pointer_declarator" {
                    return None;
                }
                Some(inside)
            }
            _ => node.child_by_field_name("declarator"),
        };
        match inside {
            Some(inside) => node = inside,
            None => break,
        }
    }
    function.then_some(node)
}

/// The lines of a node, from 1. A node that ends with its line's break ends on that line.
fn lines(node: Node) -> (u32, u32) {
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row {
        end.row
    } else {
        end.row + 1
    };
    // Rows are below MAX_TEXT.
    let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
    (line(start.row + 1), line(last))
}

/// A name on one line, cut to a length a menu can show.
fn clean(name: &str) -> String {
    let mut said = String::new();
    for word in name.split_whitespace() {
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(word);
    }
    match said.char_indices().nth(MAX_NAME) {
        Some((end, _)) => said[..end].to_owned(),
        None => said,
    }
}

#[cfg(test)]
mod tests;
