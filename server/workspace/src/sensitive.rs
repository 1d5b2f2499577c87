//! Changes that take effect on the host by themselves: on open, on build, on commit, in CI. They are never part of a bulk
//! accept. Nor is what a reader of hunks would not see.
//!
//! | file | by what |
//! | --- | --- |
//! | `table.rs` | the path |
//! | `content.rs` | what was added to a text |
//! | `secrets.rs` | what looks like a key or a password in it |

use legwork_model::{Change, ChangeKind, Side, TreePath};

use crate::names::key;

use table::TIERS;

mod content;
mod secrets;
mod table;

pub(crate) use content::why as why_content;

/// Longer texts are not searched, in bytes: nobody reads them line by line either.
pub(crate) const LONGEST: u64 = 1 << 20;

/// A file of so many bytes is not cut to a tenth by the way: a write may have failed half way.
const LONG: u64 = 4096;

/// Why a change is sensitive, if it is.
pub(crate) fn why(change: &Change) -> Option<String> {
    let from = match &change.kind {
        ChangeKind::Rename { from } => path(from),
        _ => None,
    };
    path(&change.path)
        .or(from)
        .or_else(|| side(change))
        .map(str::to_owned)
}

fn path(path: &TreePath) -> Option<&'static str> {
    let components: Vec<_> = path.components().map(key).collect();
    let name = components.last()?;
    // A folder of the table may be two names deep.
    let folders = format!("/{}/", components.join("/"));
    let fits = |tier: &&table::Tier| {
        let dir = |dir: &&str| folders.contains(&format!("/{dir}/"));
        tier.names.contains(&name.as_ref())
            || tier.starts.iter().any(|start| name.starts_with(start))
            || tier.ends.iter().any(|end| name.ends_with(end))
            || tier.dirs.iter().any(dir)
    };
    TIERS.iter().find(fits).map(|tier| tier.why)
}

fn side(change: &Change) -> Option<&'static str> {
    let has = |side: &Option<Side>, bit| match side {
        Some(Side::File { permissions, .. }) => permissions.bits() & bit != 0,
        _ => false,
    };
    let gets = |bit| has(&change.after, bit) && !has(&change.before, bit);
    if gets(0o100) {
        return Some("it becomes executable");
    }
    if gets(0o002) {
        return Some("every user of this machine may write to it");
    }
    if let (Some(Side::File { size: was, .. }), Some(Side::File { size: is, .. })) =
        (&change.before, &change.after)
        && *was >= LONG
        && is.saturating_mul(10) < *was
    {
        return Some("nine tenths of it and more are gone");
    }
    if change.binary && change.kind == ChangeKind::Create {
        return Some("it is a new binary file");
    }
    match (&change.kind, &change.after) {
        (ChangeKind::Retype, _) => Some("something of another type takes its place"),
        (_, Some(Side::Symlink { .. })) => Some("it is a symbolic link"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_form_that_names_are_compared_in() {
        let mut all = std::collections::BTreeSet::new();
        for tier in &TIERS {
            for name in [tier.dirs, tier.names, tier.starts, tier.ends].concat() {
                assert!(all.insert(name), "{name} is there twice");
                for part in name.split('/') {
                    // The end of a beginning may be a dot, which no whole name ends in.
                    assert_eq!(
                        key(part.as_bytes()).trim_end_matches('.'),
                        part.trim_end_matches('.')
                    );
                }
            }
        }
        assert!(all.len() >= 250, "{}", all.len());
    }

    #[test]
    fn what_runs_by_itself_is_told_from_source() {
        let why = |text: &str| path(&text.parse().unwrap());
        for text in [
            ".vscode/tasks.json",
            "sub/.github/workflows/x.yml",
            "a.code-workspace",
            ".envrc",
            "x/Makefile",
            "build.rs",
            "CLAUDE.md",
            "package.json",
            ".env.local",
            "vite.config.ts",
            ".VSCode/settings.json",
            "infra/main.tf",
            "gradle/wrapper/gradle-wrapper.jar",
            "a/.config/nextest/setup.toml",
            "api/Directory.Build.props",
            ".aider.conf.yml",
            "compose.override.yml",
            "Dockerfile.prod",
        ] {
            assert!(why(text).is_some(), "{text}");
        }
        for text in [
            "src/main.rs",
            "README.md",
            "docs/makefile.md",
            "vscode/x",
            "a/env",
            "config.ts",
            "src/build/rs",
            "gradle/src/a.java",
            "wrapper/x",
            "terraform.md",
        ] {
            assert_eq!(why(text), None, "{text}");
        }
    }
}
