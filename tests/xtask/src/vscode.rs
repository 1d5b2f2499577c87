//! The checks of the VS Code extension: its types, its style, its unit tests, and that it can be packaged.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::places;
use crate::step;

/// How the names of the tests begin that need an editor.
pub(crate) const TESTS: &str = "in_code_server::";

/// Its tests are TypeScript, which older ones do not run.
const NODE: &str = "node@24";

/// Checks the extension.
///
/// # Errors
/// When npm is missing, a checker finds something, or a test fails.
pub(crate) fn check() -> Result<()> {
    let node = node()?;
    let extension = places::checkout().join("vscode-extension");
    let run = |words: &[&str]| step::run(npm(&node)?.args(words).current_dir(&extension));
    run(&["ci", "--no-audit", "--no-fund"])?;
    for script in ["check", "test", "package"] {
        run(&["run", script])?;
    }
    Ok(())
}

/// The directory of a Node that is new enough, fetched once for all checkouts.
///
/// # Errors
/// When npm is missing or the registry does not have it.
pub(crate) fn node() -> Result<PathBuf> {
    let place = places::cache_dir()?.join("vscode/node");
    let bin = place.join("node_modules/node/bin");
    if !bin.join("node").is_file() {
        fs::create_dir_all(&place)
            .with_context(|| format!("failed to make {}", place.display()))?;
        step::run(
            Command::new("npm")
                .args(["install", "--prefix"])
                .arg(&place)
                .arg(NODE),
        )
        .context("npm fetches what checks the VS Code extension; install npm")?;
    }
    Ok(bin)
}

/// npm, run by that Node and with it for all that it starts.
///
/// # Errors
/// When the `PATH` cannot be made.
pub(crate) fn npm(node: &Path) -> Result<Command> {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs = std::iter::once(node.to_owned()).chain(env::split_paths(&path));
    let mut npm = Command::new("npm");
    npm.env("PATH", env::join_paths(dirs)?);
    Ok(npm)
}
