//! The checks of the Neovim plug-in: its format, its types, and its tests on each Neovim that the tests have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::places;
use crate::setup::editors;
use crate::step;

/// A checker, as its crate and its program are called.
struct Tool {
    name: &'static str,
    version: &'static str,
    /// More words for `cargo install`.
    options: &'static [&'static str],
}

const TOOLS: [Tool; 2] = [
    Tool {
        name: "stylua",
        version: "2.6.0",
        // Nothing that an editor or a browser would need of it.
        options: &["--no-default-features"],
    },
    Tool {
        name: "emmylua_check",
        version: "0.25.1",
        options: &[],
    },
];

/// Checks the plug-in.
///
/// # Errors
/// When a checker cannot be built, finds something, or a test fails.
pub(crate) fn check() -> Result<()> {
    let plugin = places::checkout().join("editors/neovim");
    let rooms = editors::rooms()?;
    // The newest Neovim describes its own functions best.
    let [.., newest] = &rooms;
    provide()?;
    step::run(
        Command::new(tool("stylua")?)
            .arg("--check")
            .arg(".")
            .current_dir(&plugin),
    )?;
    step::run(
        Command::new(tool("emmylua_check")?)
            .args(["--warnings-as-errors", "."])
            .env("VIMRUNTIME", runtime(newest))
            .current_dir(&plugin),
    )?;
    for room in &rooms {
        step::run(
            editors::program(room, "nvim")
                .args(["--headless", "--clean", "-l", "tests/run.lua"])
                .env("VIMRUNTIME", runtime(room))
                .current_dir(&plugin),
        )?;
    }
    Ok(())
}

fn runtime(room: &Path) -> PathBuf {
    room.join("usr/share/nvim/runtime")
}

fn place() -> Result<PathBuf> {
    Ok(places::cache_dir()?.join("lua"))
}

fn tool(name: &str) -> Result<PathBuf> {
    Ok(place()?.join("bin").join(name))
}

impl Tool {
    fn stamp(&self) -> Result<PathBuf> {
        Ok(place()?.join(format!("{}.version", self.name)))
    }

    fn is_here(&self) -> bool {
        let same = |stamp| fs::read_to_string(stamp).is_ok_and(|here| here == self.version);
        self.stamp().is_ok_and(same) && tool(self.name).is_ok_and(|file| file.is_file())
    }
}

/// Builds the checkers that are not here, once for all checkouts. Optimising them would take longer than
/// running them does.
fn provide() -> Result<()> {
    let missing: Vec<_> = TOOLS.iter().filter(|tool| !tool.is_here()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let place = place()?;
    fs::create_dir_all(&place).with_context(|| format!("failed to make {}", place.display()))?;
    // What they are built from is many times as large as they are.
    let target = tempfile::tempdir_in(&place)?;
    for tool in missing {
        println!(
            "building {} {}; it takes minutes, and is done once",
            tool.name, tool.version
        );
        step::run(
            places::cargo()
                .args(["install", "--quiet", "--locked", "--force", "--profile=dev"])
                .args(tool.options)
                .arg("--root")
                .arg(&place)
                .arg(format!("{}@{}", tool.name, tool.version))
                .env("CARGO_TARGET_DIR", target.path())
                .env("CARGO_PROFILE_DEV_DEBUG", "0"),
        )
        .with_context(|| format!("{} checks the Neovim plug-in and is missing", tool.name))?;
        fs::write(tool.stamp()?, tool.version)?;
    }
    Ok(())
}
