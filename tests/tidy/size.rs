//! No file of code is longer than one can hold in mind.

use crate::{Offence, hold, tree};

const LONGEST: usize = 500;

const CODE: [&str; 11] = [
    "rs", "ts", "tsx", "js", "mjs", "cjs", "lua", "el", "sh", "py", "toml",
];

const RULE: &str = "a file of code has at most 500 lines; give part of it a room of its own";

fn check(file: &str, text: &str) -> Option<Offence> {
    let lines = text.lines().count();
    (lines > LONGEST).then(|| Offence::new(file, format!("{lines} lines")))
}

#[test]
fn files_are_short() {
    let offences = tree::files()
        .iter()
        .filter(|file| tree::has_extension(file, &CODE))
        .filter_map(|file| check(file, &tree::read(file)))
        .collect();
    hold(RULE, offences);
}

#[test]
fn line_501_is_an_offence() {
    assert!(check("a.rs", &"x\n".repeat(500)).is_none());
    assert_eq!(
        check("a.rs", &"x\n".repeat(501)),
        Some(Offence::new("a.rs", "501 lines"))
    );
}
