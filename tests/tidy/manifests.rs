//! The members' Cargo.toml files: one place for every version, one list of lints.

use toml::{Table, Value};

use crate::{Offence, hold, tree};

const RULE: &str = "a member's Cargo.toml takes each dependency from the workspace (`workspace = true`), and its lints";

fn check(file: &str, text: &str) -> Vec<Offence> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Offence::new(file, format!("cannot be read: {error}"))],
    };
    let mut offences = Vec::new();
    let mut tables: Vec<&Table> = vec![&manifest];
    let targets = manifest.get("target").and_then(Value::as_table);
    tables.extend(
        targets
            .into_iter()
            .flat_map(Table::values)
            .filter_map(Value::as_table),
    );
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies = table.get(kind).and_then(Value::as_table);
            for (name, value) in dependencies.into_iter().flatten() {
                if !inherits(value) {
                    offences.push(Offence::new(
                        file,
                        format!("{kind}: `{name}` is not the workspace's"),
                    ));
                }
            }
        }
    }
    if !manifest.get("lints").is_some_and(inherits) {
        offences.push(Offence::new(file, "`[lints]` are not the workspace's"));
    }
    offences
}

fn inherits(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[test]
fn members_take_from_the_workspace() {
    let members: Vec<_> = tree::files()
        .into_iter()
        .filter(|file| file.ends_with("/Cargo.toml"))
        .collect();
    assert!(members.len() > 10, "{members:?}");
    let offences = members
        .iter()
        .flat_map(|file| check(file, &tree::read(file)))
        .collect();
    hold(RULE, offences);
}

#[test]
fn a_version_of_ones_own_is_an_offence() {
    let lints = "[lints]\nworkspace = true\n";
    let count = |text: &str| check("a/Cargo.toml", &format!("{lints}{text}")).len();
    assert_eq!(
        count(
            "[dependencies]\nserde.workspace = true\ntokio = { workspace = true, features = [] }"
        ),
        0
    );
    assert_eq!(count("[dependencies]\nserde = \"1\""), 1);
    assert_eq!(count("[dev-dependencies]\nx = { path = \"../x\" }"), 1);
    assert_eq!(
        count("[target.'cfg(unix)'.dependencies]\nx = { workspace = false, version = \"1\" }"),
        1
    );
    assert_eq!(check("a/Cargo.toml", "[package]\nname = \"a\"").len(), 1);
    assert_eq!(check("a/Cargo.toml", "[package").len(), 1);
}
