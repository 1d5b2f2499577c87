//! `unsafe` stands in a handful of files of one program, and each use says why it is sound.

use crate::tokens::{Token, tokens};
use crate::{Offence, hold, tree};

const ROOMS: [&str; 3] = [
    "sandbox/vmm/src/krun.rs",
    "sandbox/vmm/src/krunfw.rs",
    "sandbox/vmm/src/probe.rs",
];

const RULE: &str = "`unsafe` only in sandbox/vmm/src/{krun,krunfw,probe}.rs, each with a `// SAFETY:` comment above it";

fn check(file: &str, text: &str) -> Vec<Offence> {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(error) => return vec![Offence::new(file, error)],
    };
    let lines: Vec<&str> = text.lines().collect();
    let mut offences = Vec::new();
    for (index, token) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.text == "unsafe")
    {
        let place = format!("{file}:{}", token.line);
        if !ROOMS.contains(&file) {
            offences.push(Offence::new(place, "`unsafe` does not belong here"));
        } else if promises(&tokens[index + 1..]) && !is_argued(&lines, token.line) {
            offences.push(Offence::new(place, "no `// SAFETY:` comment above it"));
        }
    }
    offences
}

/// Whether this `unsafe` claims that something holds (a block, an impl, a foreign block), rather
/// than asking it of a caller (a function or the type of one).
fn promises(after: &[Token]) -> bool {
    !after
        .iter()
        .map(|token| token.text.as_str())
        .take_while(|word| *word != "{" && *word != "(")
        .any(|word| word == "fn")
}

/// Looks for the comment above the statement that `line` (counted from 1) belongs to.
fn is_argued(lines: &[&str], line: usize) -> bool {
    let mut above = lines[..line - 1].iter().rev().map(|line| line.trim());
    let comment = above.by_ref().find(|line| {
        line.starts_with("//") || line.is_empty() || line.ends_with([';', '{', '}', ','])
    });
    comment
        .into_iter()
        .chain(above.take_while(|line| line.starts_with("//")))
        .take_while(|line| line.starts_with("//"))
        .any(|line| line.starts_with("// SAFETY:"))
}

#[test]
fn unsafe_code_is_rare_and_argued() {
    let offences = tree::rust()
        .iter()
        .flat_map(|(file, text)| check(file, text))
        .collect();
    hold(RULE, offences);
}

#[test]
fn unsafe_elsewhere_is_an_offence() {
    let code = "// SAFETY: it is not.\nfn f() { unsafe { g() } }\n";
    assert_eq!(check("server/cli/src/main.rs", code).len(), 1);
    assert!(
        check(
            "a.rs",
            "// unsafe\n#![forbid(unsafe_code)]\nconst A: &str = \"unsafe\";"
        )
        .is_empty()
    );
}

#[test]
fn unsafe_without_a_reason_is_an_offence() {
    let room = ROOMS[0];
    assert!(check(room, "type F = unsafe extern \"C\" fn() -> u8;").is_empty());
    assert_eq!(check(room, "fn f() {\n    unsafe { g() };\n}").len(), 1);
    assert_eq!(
        check(room, "// It is fine.\nunsafe impl Send for A {}").len(),
        1
    );
    assert_eq!(
        check(
            room,
            "// SAFETY: for f.\nfn f() {}\nunsafe extern \"C\" { fn g(); }"
        )
        .len(),
        1
    );
    let argued = "fn f() {\n    // SAFETY: g takes nothing,\n    // and returns.\n    let x =\n        unsafe { g() };\n}";
    assert!(check(room, argued).is_empty());
}
