//! Names that say nothing are not given, neither to files and directories nor to modules.

use crate::tokens::{lines_with, tokens};
use crate::{Offence, hold, tree};

const EMPTY: [&str; 10] = [
    "util", "utils", "helper", "helpers", "common", "misc", "shared", "imp", "manager", "managers",
];

const RULE: &str = "no util, helpers, common, misc, shared, imp or manager: name the noun it serves; \
                    and module files are `foo.rs` beside `foo/`, never `mod.rs`";

/// Names are judged whole and by their last word, so `task_manager` is one and `common_ancestor` is
/// none.
fn says_nothing(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let last = name.rsplit(['_', '-']).next().unwrap_or_default();
    EMPTY.contains(&last)
}

fn check_path(path: &str) -> Option<Offence> {
    let parts: Vec<_> = path.split('/').collect();
    if parts.last() == Some(&"mod.rs") {
        return Some(Offence::new(path, "is a mod.rs"));
    }
    parts
        .iter()
        .map(|part| {
            part.trim_start_matches('.')
                .split('.')
                .next()
                .unwrap_or_default()
        })
        .find(|stem| says_nothing(stem))
        .map(|stem| Offence::new(path, format!("is called `{stem}`")))
}

fn check_modules(file: &str, text: &str) -> Vec<Offence> {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(error) => return vec![Offence::new(file, error)],
    };
    EMPTY
        .iter()
        .flat_map(|name| {
            lines_with(&tokens, &["mod", name])
                .into_iter()
                .map(move |line| {
                    Offence::new(format!("{file}:{line}"), format!("has a module `{name}`"))
                })
        })
        .collect()
}

#[test]
fn files_and_modules_have_names() {
    let mut offences: Vec<_> = tree::files()
        .iter()
        .filter_map(|file| check_path(file))
        .collect();
    for (file, text) in tree::rust() {
        offences.extend(check_modules(&file, &text));
    }
    hold(RULE, offences);
}

#[test]
fn empty_names_are_offences() {
    for path in [
        "server/x/src/utils.rs",
        "common/a.rs",
        "a/mod.rs",
        "a/cli_util.rs",
        "a/TaskManager/task-manager.ts",
        "editors/neovim/tests/helpers.lua",
    ] {
        assert!(check_path(path).is_some(), "{path}");
    }
    for path in [
        "server/x/src/queue.rs",
        "a/common_ancestor.rs",
        "simple/b.rs",
        ".ci/run",
    ] {
        assert!(check_path(path).is_none(), "{path}");
    }
    assert_eq!(
        check_modules("a.rs", "// mod util\nmod util { }"),
        [Offence::new("a.rs:2", "has a module `util`")]
    );
}
