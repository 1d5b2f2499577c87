//! A home for the daemon that is measured, and folders to measure it on.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

/// A daemon of its own, with the release build.
#[derive(Debug)]
pub(super) struct Stage {
    legwork: PathBuf,
    home: TempDir,
}

impl Stage {
    pub(super) fn set(legwork: &Path) -> Result<Self> {
        Ok(Self {
            legwork: legwork.to_owned(),
            home: tempfile::Builder::new().prefix("lw").tempdir()?,
        })
    }

    /// The program in this home.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.legwork);
        command
            .env("LEGWORK_STATE", self.home.path().join("state"))
            .env("LEGWORK_RUNTIME", self.home.path().join("run"))
            .env("LEGWORK_CONFIG", self.home.path().join("config"));
        command
    }

    fn output(&self, folder: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
        let output = self
            .command()
            .args(arguments)
            .current_dir(folder)
            .output()
            .with_context(|| format!("cannot start {}", self.legwork.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "legwork {} failed: {said}",
            arguments.join(" ")
        );
        Ok(output.stdout)
    }

    /// Runs a shell script as a task to its end.
    pub(super) fn run(&self, folder: &Path, options: &[&str], script: &str) -> Result<Value> {
        let arguments = [&["run", "--json"], options, &["--", "sh", "-c", script]].concat();
        Ok(serde_json::from_slice(&self.output(folder, &arguments)?)?)
    }

    /// Writes the user's settings.
    pub(super) fn configure(&self, text: &str) -> Result<()> {
        let dir = self.home.path().join("config");
        fs::create_dir_all(&dir)?;
        Ok(fs::write(dir.join("config.toml"), text)?)
    }

    /// Runs a task in words to its end.
    pub(super) fn say(&self, folder: &Path, words: &str) -> Result<Value> {
        Ok(serde_json::from_slice(
            &self.output(folder, &["run", "--json", words])?,
        )?)
    }

    /// What was done in a task, one value for each step.
    pub(super) fn events(&self, id: &str) -> Result<Vec<Value>> {
        let text = self.output(Path::new("/"), &["logs", "--json", id])?;
        let lines = String::from_utf8(text)?;
        Ok(lines
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()?)
    }

    pub(super) fn delegate(&self, folder: &Path, options: &[&str], script: &str) -> Result<String> {
        let arguments = [&["delegate"], options, &["--", "sh", "-c", script]].concat();
        let id = self.output(folder, &arguments)?;
        Ok(String::from_utf8(id)?.trim().to_owned())
    }

    pub(super) fn log(&self, id: &str) -> Result<String> {
        Ok(String::from_utf8(
            self.output(Path::new("/"), &["logs", id])?,
        )?)
    }

    /// The daemon's process, started if need be.
    pub(super) fn daemon(&self) -> Result<u32> {
        self.output(Path::new("/"), &["tasks"])?;
        let status: Value =
            serde_json::from_slice(&self.output(Path::new("/"), &["daemon", "status", "--json"])?)?;
        let pid = status["status"]["pid"]
            .as_u64()
            .context("the daemon has no process id")?;
        Ok(u32::try_from(pid)?)
    }

    pub(super) fn stop(&self) -> Result<()> {
        self.output(Path::new("/"), &["daemon", "stop", "--force"])
            .map(drop)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The figures are printed; a daemon that does not stop ends by itself when it is idle.
        let _stopped = self.stop();
    }
}

/// A folder with this many files of 4,000 bytes, fifty to a directory.
pub(super) fn folder(files: usize) -> Result<TempDir> {
    let dir = tempfile::tempdir()?;
    let text = "a line of source code, more or less as long as lines are\n".repeat(70);
    for file in 0..files {
        let parent = dir.path().join(format!("d{}", file / 50));
        fs::create_dir_all(&parent)?;
        fs::write(parent.join(format!("f{}.txt", file % 50)), &text)?;
    }
    Ok(dir)
}

/// Runs a shell script on the host.
pub(super) fn sh(folder: &Path, script: &str) -> Result<()> {
    let status = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .status()?;
    ensure!(status.success(), "`{script}` failed");
    Ok(())
}
