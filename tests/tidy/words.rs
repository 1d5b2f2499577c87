//! Words that code does not hold: lints allowed away, work left undone, programs started by a crate
//! that only computes.

use crate::tokens::{Token, lines_with, tokens};
use crate::{Offence, hold, tree};

const RULE: &str = "`#[expect(lint, reason = \"…\")]`, never `allow`; no `todo!`, `unimplemented!` or `dbg!`; \
                    index, review, model, spec, link, erofs and wire start no process";

const STARTS_NO_PROCESS: [&str; 7] = [
    "server/index/",
    "server/review/",
    "server/model/",
    "server/wire/",
    "sandbox/spec/",
    "sandbox/link/",
    "sandbox/erofs/",
];

fn check(file: &str, text: &str) -> Vec<Offence> {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(error) => return vec![Offence::new(file, error)],
    };
    let at = |line: usize, what: &str| Offence::new(format!("{file}:{line}"), what);
    let mut offences = Vec::new();
    for line in allowed(&tokens) {
        offences.push(at(line, "an `allow` attribute"));
    }
    for name in ["todo", "unimplemented", "dbg"] {
        for line in lines_with(&tokens, &[name, "!"]) {
            offences.push(at(line, &format!("`{name}!`")));
        }
    }
    // Tests may ask another program for its judgement.
    let is_test = file.contains("/tests/") || file.ends_with("/tests.rs");
    if !is_test && STARTS_NO_PROCESS.iter().any(|room| file.starts_with(room)) {
        for line in processes(&tokens) {
            offences.push(at(line, "`process::Command`"));
        }
    }
    offences
}

/// The lines of attributes that hold an `allow(`, also behind a `cfg_attr`.
fn allowed(tokens: &[Token]) -> Vec<usize> {
    let mut lines = Vec::new();
    for (index, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.text == "#")
    {
        let mut after = tokens[index + 1..]
            .iter()
            .skip_while(|token| token.text == "!")
            .peekable();
        if after.peek().is_none_or(|token| token.text != "[") {
            continue;
        }
        let mut depth = 0_i32;
        let mut previous = "";
        for inner in after {
            match inner.text.as_str() {
                "[" => depth += 1,
                "]" => depth -= 1,
                "(" if previous == "allow" => lines.push(token.line),
                _ => {}
            }
            if depth == 0 {
                break;
            }
            previous = &inner.text;
        }
    }
    lines
}

/// The lines that name `process::Command`, alone or in braces, or take all of `process`.
fn processes(tokens: &[Token]) -> Vec<usize> {
    let path = ["process", ":", ":"];
    let mut lines = Vec::new();
    for (index, window) in tokens.windows(path.len()).enumerate() {
        if !window
            .iter()
            .zip(path)
            .all(|(token, word)| token.text == word)
        {
            continue;
        }
        let mut after = tokens[index + path.len()..].iter();
        let found = match after.next().map(|token| token.text.as_str()) {
            Some("Command" | "*") => true,
            Some("{") => after
                .take_while(|token| token.text != "}")
                .any(|token| token.text == "Command" || token.text == "self"),
            _ => false,
        };
        if found {
            lines.push(window[0].line);
        }
    }
    lines
}

#[test]
fn code_keeps_to_the_words_of_the_house() {
    let offences = tree::rust()
        .iter()
        .flat_map(|(file, text)| check(file, text))
        .collect();
    hold(RULE, offences);
}

#[test]
fn each_word_is_an_offence() {
    let one = |text: &str| check("server/review/src/a.rs", text).len() == 1;
    assert!(one("#[allow(dead_code)]\nfn f() {}"));
    assert!(one("#![allow(dead_code)]"));
    assert!(one("#[cfg_attr(test, allow(dead_code))]\nfn f() {}"));
    assert!(one("fn f() { todo!() }"));
    assert!(one("fn f() { unimplemented!(\"later\") }"));
    assert!(one("use std::process::Command;"));
    assert!(one("use std::process::{Child, Command};"));
    assert!(one("use tokio::process::*;"));
    assert!(one("fn f() { std::process::Command::new(\"sh\"); }"));
}

#[test]
fn what_only_looks_like_one_is_none() {
    let none = |file: &str, text: &str| check(file, text).is_empty();
    let room = "server/review/src/a.rs";
    assert!(none(
        room,
        "// #[allow(x)] todo!()\nfn f() { \"#[allow(x)]\"; allow(1); }"
    ));
    assert!(none(
        room,
        "#[expect(dead_code, reason = \"it is\")]\nfn f() {}"
    ));
    assert!(none(
        room,
        "enum Worker { Command }\nfn id() -> u32 { std::process::id() }"
    ));
    assert!(none("server/daemon/src/a.rs", "use std::process::Command;"));
    assert!(none(
        "sandbox/erofs/tests/images/a.rs",
        "use std::process::Command;"
    ));
}
