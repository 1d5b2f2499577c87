//! The house rules, as tests. Each rule is a file: a checker over plain values, a test that shows
//! that it can fail, and a test that holds it against this checkout.

mod docs;
mod edges;
mod manifests;
mod names;
mod size;
mod tokens;
mod tree;
mod unsafe_code;
mod words;

/// One breach of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Offence {
    /// A file, a file and line, or a crate.
    place: String,
    what: String,
}

impl Offence {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

/// Fails the calling test with every offender and the rule.
#[track_caller]
fn hold(rule: &str, mut offences: Vec<Offence>) {
    if offences.is_empty() {
        return;
    }
    offences.sort();
    let list: Vec<_> = offences
        .iter()
        .map(|offence| format!("  {}: {}", offence.place, offence.what))
        .collect();
    panic!("\nRule: {rule}\n{}\n", list.join("\n"));
}

#[test]
#[should_panic(expected = "Rule: be good\n  a.rs: bad")]
fn an_offence_fails_the_test() {
    hold("be good", vec![Offence::new("a.rs", "bad")]);
}
