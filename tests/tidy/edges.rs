//! Which crate may depend on which: one way only, from what people see to what machines do.

use std::collections::BTreeSet;

use cargo_metadata::MetadataCommand;

use crate::{Offence, hold, tree};

/// A room and the rooms it may depend on, also in its tests. What is not listed is not allowed.
const ALLOWED: [(&str, &[&str]); 19] = [
    ("legwork-cli", &["lsp", "daemon", "wire", "model", "spec"]),
    ("legwork-lsp", &["wire", "review", "model", "spec"]),
    (
        "legwork-daemon",
        &[
            "wire",
            "agent",
            "index",
            "workspace",
            "review",
            "evidence",
            "model",
            "host",
            "egress",
            "spec",
        ],
    ),
    ("legwork-agent", &["model"]),
    ("legwork-index", &["model"]),
    ("legwork-workspace", &["model", "erofs"]),
    ("legwork-wire", &["review", "evidence", "model", "spec"]),
    ("legwork-review", &["model"]),
    ("legwork-evidence", &["model"]),
    ("legwork-model", &["spec"]),
    ("legwork-host", &["image", "egress", "link", "spec"]),
    ("legwork-image", &["spec", "erofs"]),
    ("legwork-egress", &["spec"]),
    ("legwork-vmm", &["spec"]),
    ("legwork-guest", &["link"]),
    ("legwork-link", &[]),
    ("legwork-spec", &[]),
    ("legwork-erofs", &[]),
    ("xtask", &[]),
];

/// Looks at the product from outside and may see all of it; nothing depends on it.
const OUTSIDE: &str = "legwork-tests";

/// Rooms that compute: no clock, no socket, no runtime.
const PURE: [&str; 6] = [
    "legwork-index",
    "legwork-review",
    "legwork-evidence",
    "legwork-model",
    "legwork-spec",
    "legwork-erofs",
];

const RULE: &str = "crates depend one way, as listed in tests/tidy/edges.rs; index, review, evidence, model, spec and erofs use no tokio";

/// A crate of the workspace, and all it names in any table of dependencies.
struct Room {
    name: String,
    uses: BTreeSet<String>,
}

fn check(rooms: &[Room]) -> Vec<Offence> {
    let ours: BTreeSet<&str> = rooms.iter().map(|room| room.name.as_str()).collect();
    let mut offences = Vec::new();
    for room in rooms {
        if PURE.contains(&room.name.as_str())
            && let Some(tokio) = room.uses.iter().find(|name| name.starts_with("tokio"))
        {
            offences.push(Offence::new(&room.name, format!("uses {tokio}")));
        }
        if room.name == OUTSIDE {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == room.name) else {
            offences.push(Offence::new(&room.name, "is not listed"));
            continue;
        };
        for used in room.uses.iter().filter(|name| ours.contains(name.as_str())) {
            let short = used.strip_prefix("legwork-").unwrap_or(used);
            if !allowed.contains(&short) {
                offences.push(Offence::new(
                    &room.name,
                    format!("may not depend on {used}"),
                ));
            }
        }
    }
    offences
}

#[test]
fn crates_depend_one_way() {
    let metadata = MetadataCommand::new()
        .manifest_path(tree::root().join("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .unwrap();
    let rooms: Vec<Room> = metadata
        .packages
        .iter()
        .map(|package| Room {
            name: package.name.to_string(),
            uses: package
                .dependencies
                .iter()
                .map(|dependency| dependency.name.clone())
                .collect(),
        })
        .collect();
    assert!(
        rooms
            .iter()
            .any(|room| room.name == "legwork-daemon" && room.uses.contains("legwork-wire"))
    );
    hold(RULE, check(&rooms));
}

fn room(name: &str, uses: &[&str]) -> Room {
    Room {
        name: name.to_owned(),
        uses: uses.iter().map(|name| (*name).to_owned()).collect(),
    }
}

#[test]
fn an_edge_that_is_not_listed_is_an_offence() {
    let model = || room("legwork-model", &["serde"]);
    assert!(check(&[model(), room("legwork-review", &["legwork-model"])]).is_empty());
    assert_eq!(
        check(&[model(), room("legwork-guest", &["legwork-model"])]),
        [Offence::new(
            "legwork-guest",
            "may not depend on legwork-model"
        )]
    );
    assert_eq!(
        check(&[model(), room("xtask", &["legwork-model"])]).len(),
        1
    );
    assert_eq!(
        check(&[room(OUTSIDE, &[]), room("legwork-cli", &[OUTSIDE])]).len(),
        1
    );
    assert_eq!(
        check(&[room("legwork-new", &[])]),
        [Offence::new("legwork-new", "is not listed")]
    );
    assert_eq!(
        check(&[room("legwork-spec", &["tokio-util"])]),
        [Offence::new("legwork-spec", "uses tokio-util")]
    );
}

#[test]
fn the_list_itself_has_no_circle() {
    fn reaches(from: &str, to: &str) -> bool {
        let (_, next) = ALLOWED
            .iter()
            .find(|(name, _)| *name == from)
            .expect("the list names every room it uses");
        next.iter().any(|short| {
            let name = format!("legwork-{short}");
            name == to || reaches(&name, to)
        })
    }
    for (name, _) in ALLOWED {
        assert!(!reaches(name, name), "{name} depends on itself");
    }
}
