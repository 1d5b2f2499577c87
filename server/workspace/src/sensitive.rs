//! Changes that take effect on the host by themselves: on open, on build, on commit, in CI. They are never part of a bulk
//! accept.
//!
//! A first, short table. Names are compared as [`crate::names::key`] sees them.

use legwork_model::{Change, ChangeKind, Side, TreePath};

use crate::names::key;

const EDITOR: &str = "an editor runs it";
const SHELL: &str = "a shell runs it";
const BUILD: &str = "it runs on build";
const GIT: &str = "it runs or acts on git commands";
const CI: &str = "it runs in CI or on deploy";
const AGENT: &str = "it instructs agents";

/// Directories: everything in them, at any depth.
const DIRS: [(&str, &str); 18] = [
    (".vscode", EDITOR),
    (".idea", EDITOR),
    (".zed", EDITOR),
    (".helix", EDITOR),
    (".devcontainer", EDITOR),
    (".cargo", BUILD),
    (".mvn", BUILD),
    (".yarn", BUILD),
    (".husky", GIT),
    (".githooks", GIT),
    (".github", CI),
    (".gitlab", CI),
    (".circleci", CI),
    (".claude", AGENT),
    (".cursor", AGENT),
    (".codex", AGENT),
    (".gemini", AGENT),
    (".legwork", AGENT),
];

/// Whole names, in any directory.
const NAMES: [(&str, &str); 55] = [
    (".devcontainer.json", EDITOR),
    (".nvim.lua", EDITOR),
    (".exrc", EDITOR),
    (".vimrc", EDITOR),
    (".dir-locals.el", EDITOR),
    (".neoconf.json", EDITOR),
    (".envrc", SHELL),
    (".env", SHELL),
    (".tool-versions", SHELL),
    ("mise.toml", SHELL),
    ("flake.nix", SHELL),
    ("shell.nix", SHELL),
    (".bashrc", SHELL),
    (".profile", SHELL),
    (".zshrc", SHELL),
    ("build.rs", BUILD),
    ("cargo.toml", BUILD),
    ("rust-toolchain", BUILD),
    ("rust-toolchain.toml", BUILD),
    ("package.json", BUILD),
    (".npmrc", BUILD),
    (".pnpmfile.cjs", BUILD),
    ("pyproject.toml", BUILD),
    ("setup.py", BUILD),
    ("setup.cfg", BUILD),
    ("conftest.py", BUILD),
    ("sitecustomize.py", BUILD),
    ("tox.ini", BUILD),
    ("noxfile.py", BUILD),
    ("gemfile", BUILD),
    ("rakefile", BUILD),
    ("build.gradle", BUILD),
    ("build.gradle.kts", BUILD),
    ("settings.gradle", BUILD),
    ("pom.xml", BUILD),
    ("cmakelists.txt", BUILD),
    ("meson.build", BUILD),
    ("makefile", BUILD),
    ("gnumakefile", BUILD),
    ("justfile", BUILD),
    ("composer.json", BUILD),
    (".gitattributes", GIT),
    (".gitmodules", GIT),
    (".gitignore", GIT),
    (".lfsconfig", GIT),
    (".pre-commit-config.yaml", GIT),
    ("lefthook.yml", GIT),
    (".gitlab-ci.yml", CI),
    ("jenkinsfile", CI),
    ("dockerfile", CI),
    ("docker-compose.yml", CI),
    ("claude.md", AGENT),
    ("agents.md", AGENT),
    ("gemini.md", AGENT),
    (".mcp.json", AGENT),
];

/// Ends of names.
const ENDS: [(&str, &str); 9] = [
    (".code-workspace", EDITOR),
    (".sublime-project", EDITOR),
    (".pth", BUILD),
    (".config.js", BUILD),
    (".config.cjs", BUILD),
    (".config.mjs", BUILD),
    (".config.ts", BUILD),
    (".gemspec", BUILD),
    (".tf", CI),
];

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
    let find = |table: &[(&str, &'static str)], fits: &dyn Fn(&str) -> bool| {
        table
            .iter()
            .find(|(name, _)| fits(name))
            .map(|(_, why)| *why)
    };
    let mut components: Vec<_> = path.components().map(key).collect();
    let name = components.pop()?;
    let dir = components
        .iter()
        .chain([&name])
        .find_map(|part| find(&DIRS, &|dir| dir == part));
    dir.or_else(|| find(&NAMES, &|known| known == name))
        .or_else(|| find(&ENDS, &|end| name.ends_with(end)))
        .or_else(|| name.starts_with(".env.").then_some(SHELL))
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
        ] {
            assert_eq!(why(text), None, "{text}");
        }
    }
}
