//! VS Code for the tests: code-server, which is VS Code in a browser, in the version that
//! `tests/vscode/editor` pins with all that it consists of. Its native parts are built here, which takes minutes and
//! is done once for all checkouts.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::apt;
use crate::places;
use crate::vscode;

/// Holds the lock file it was made from; written last, so what has none is not whole.
const STAMP: &str = ".legwork-editor";

/// What names it and pins its parts.
const FILES: [&str; 2] = ["package.json", LOCK];
const LOCK: &str = "package-lock.json";

/// Where it starts.
const ENTRY: &str = "node_modules/code-server/out/node/entry.js";

/// Whether it is whole, and of the version that is pinned.
pub(super) fn is_here() -> bool {
    let same = || -> Result<bool> {
        let place = place()?;
        let made_from = fs::read(place.join(STAMP))?;
        Ok(made_from == fs::read(recipe().join(LOCK))? && place.join(ENTRY).is_file())
    };
    same().unwrap_or(false)
}

/// Makes it anew, beside the old one until it is whole. Needs no root.
///
/// # Errors
/// When the registry does not have its parts, or one cannot be built.
pub(super) fn provide() -> Result<()> {
    let place = place()?;
    let dir = place.parent().context("a cache is a directory")?;
    fs::create_dir_all(dir).with_context(|| format!("failed to make {}", dir.display()))?;
    let draft = tempfile::Builder::new().prefix("draft-").tempdir_in(dir)?;
    for file in FILES {
        fs::copy(recipe().join(file), draft.path().join(file))?;
    }
    apt::say("building code-server; it takes minutes, and is done once");
    let node = vscode::node()?;
    apt::quiet(
        vscode::npm(&node)?
            .args(["ci", "--no-audit", "--no-fund"])
            .current_dir(draft.path()),
    )
    .context("the tests of the VS Code extension run in code-server")?;
    fs::copy(recipe().join(LOCK), draft.path().join(STAMP))?;
    if place.exists() {
        fs::remove_dir_all(&place)
            .with_context(|| format!("failed to remove {}", place.display()))?;
    }
    fs::rename(draft.keep(), &place)?;
    apt::say(&format!("{} has code-server", place.display()));
    Ok(())
}

fn recipe() -> PathBuf {
    places::checkout().join("tests/vscode/editor")
}

fn place() -> Result<PathBuf> {
    Ok(places::cache_dir()?.join("vscode/editor"))
}
