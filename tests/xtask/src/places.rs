//! Where things are: the checkout, cargo's target directory, the cache, programs on the path.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Directories that hold system programs but are often missing from a user's `PATH` on Debian.
const SYSTEM_DIRS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The root of this checkout.
pub(crate) fn checkout() -> PathBuf {
    // `cargo run` sets the variable; the value baked in serves a binary started by hand.
    let package = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.ancestors().nth(2).unwrap_or(&package).to_path_buf()
}

/// Cargo's target directory, wherever the user's configuration puts it.
///
/// # Errors
/// When `cargo metadata` fails or says nothing of it.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version=1"])
        .output()
        .context("failed to start cargo")?;
    if !output.status.success() {
        bail!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .context("cargo metadata names no target directory")
}

/// The directory for what can be fetched or made again: `$LEGWORK_CACHE`, else
/// `$XDG_CACHE_HOME/legwork`, else `~/.cache/legwork`.
///
/// # Errors
/// When none of the variables, nor `HOME`, is set, or the directory is not absolute.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let dir = set("LEGWORK_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|dir| dir.join("legwork")))
        .or_else(|| set("HOME").map(|dir| dir.join(".cache/legwork")))
        .context("neither LEGWORK_CACHE, XDG_CACHE_HOME nor HOME is set; set LEGWORK_CACHE")?;
    if dir.is_relative() {
        bail!(
            "the cache is set to {}; it must be an absolute path",
            dir.display()
        );
    }
    Ok(dir)
}

/// A program by name, looked for where a shell would and in the system's own directories.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(SYSTEM_DIRS.iter().map(PathBuf::from))
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Cargo in the checkout, without what the outer `cargo run` put into the environment: build
/// scripts that watch those variables would run again at every call.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(checkout());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}
