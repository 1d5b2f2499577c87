//! Every module says what lives in it.

use crate::{Offence, hold, tree};

const RULE: &str =
    "a Rust file begins with `//!` and a sentence: what lives here, and what does not";

/// Shorter than this it says nothing.
const FEWEST_LETTERS: usize = 12;

fn check(file: &str, text: &str) -> Option<Offence> {
    let opening = || text.lines().map_while(|line| line.strip_prefix("//!"));
    if opening().next().is_none() {
        return Some(Offence::new(file, "does not begin with `//!`"));
    }
    let letters = opening()
        .flat_map(str::chars)
        .filter(|c| c.is_alphabetic())
        .count();
    (letters < FEWEST_LETTERS).then(|| Offence::new(file, "its `//!` says nothing"))
}

#[test]
fn modules_begin_with_their_purpose() {
    let offences = tree::rust()
        .iter()
        .filter_map(|(file, text)| check(file, text))
        .collect();
    hold(RULE, offences);
}

#[test]
fn a_silent_module_is_an_offence() {
    assert!(check("a.rs", "use b;\n//! Late.\n").is_some());
    assert!(check("a.rs", "//! (room)\n").is_some());
    assert!(check("a.rs", "//! The queue, and nothing else.\n").is_none());
    assert!(check("a.rs", "//! Queue.\n//!\n//! And nothing else.\n").is_none());
}
