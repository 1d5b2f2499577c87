//! A user of the product: a home of their own, a daemon of their own, and the real binary.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::product;

/// A user's directories. When it is dropped the daemon is stopped, and nothing may be left of it.
#[derive(Debug)]
pub struct Home {
    dir: TempDir,
    state: Option<PathBuf>,
    programs: Option<PathBuf>,
    /// Added to, or in place of, what every command finds in its environment.
    pub environment: Vec<(String, String)>,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: String,
}

impl Home {
    /// A new user.
    ///
    /// # Panics
    ///
    /// When there is no temporary directory.
    #[expect(clippy::new_without_default, reason = "a new directory is no default")]
    pub fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("lw")
            .tempdir()
            .expect("a temporary directory");
        Self {
            dir,
            state: None,
            programs: None,
            environment: Vec::new(),
        }
    }

    /// A new user whose state is kept in a directory of the test's choice.
    pub fn with_state(state: &Path) -> Self {
        let mut home = Self::new();
        home.state = Some(state.to_owned());
        home
    }

    /// A new user with a cache of their own, who uses the `legwork` in this directory.
    pub fn with_programs(dir: PathBuf) -> Self {
        let mut home = Self::new();
        home.programs = Some(dir);
        home
    }

    /// Where `legwork` and its companions are.
    pub fn programs(&self) -> PathBuf {
        self.programs.clone().unwrap_or_else(product::bin_dir)
    }

    /// Where the cache is: the one that all tests share, unless this user's programs are others.
    pub fn cache(&self) -> PathBuf {
        match self.programs {
            Some(_) => self.dir.path().join("cache"),
            None => product::cache(),
        }
    }

    /// Where the state is.
    pub fn state(&self) -> PathBuf {
        self.state
            .clone()
            .unwrap_or_else(|| self.dir.path().join("state"))
    }

    /// Where the socket is.
    pub fn runtime(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    /// `legwork` with arguments, started in `folder`.
    pub fn command<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(self.programs().join("legwork"));
        command
            .args(arguments)
            .current_dir(folder)
            .env("LEGWORK_STATE", self.state())
            .env("LEGWORK_RUNTIME", self.runtime())
            .env("LEGWORK_CACHE", self.cache())
            .env("NO_COLOR", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs `legwork` to its end.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn legwork<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = S>,
    ) -> Ran {
        let output = self
            .command(folder, arguments)
            .output()
            .expect("legwork starts");
        Ran::from(output)
    }

    /// Runs a shell script as a task, waits for it, and gives its JSON.
    ///
    /// # Panics
    ///
    /// When there is no JSON.
    pub fn task(&self, folder: &Path, script: &str) -> Value {
        self.task_with(folder, &[], script)
    }

    /// As [`Home::task`], with options for `legwork run`.
    ///
    /// # Panics
    ///
    /// When there is no JSON.
    pub fn task_with(&self, folder: &Path, options: &[&str], script: &str) -> Value {
        let arguments = [&["run", "--json"], options, &["--", "sh", "-c", script]].concat();
        let ran = self.legwork(folder, arguments);
        ran.json()
    }

    /// Puts a shell script into the background as a task, and gives the task's id.
    ///
    /// # Panics
    ///
    /// When it is refused.
    pub fn delegate(&self, folder: &Path, script: &str) -> String {
        self.legwork(folder, ["delegate", "--", "sh", "-c", script])
            .expect(0)
            .text()
            .trim()
            .to_owned()
    }

    /// The daemon's process id, while it runs.
    pub fn daemon(&self) -> Option<i32> {
        let status = self
            .legwork(Path::new("/"), ["daemon", "status", "--json"])
            .json();
        status["status"]["pid"]
            .as_i64()
            .and_then(|pid| i32::try_from(pid).ok())
    }

    /// Waits until the task is in one of these states.
    ///
    /// # Panics
    ///
    /// When that takes more than two minutes.
    pub fn wait_for(&self, folder: &Path, id: &str, states: &[&str]) -> Value {
        let begun = Instant::now();
        loop {
            let shown = self.legwork(folder, ["show", id, "--json"]).json();
            let state = shown["detail"]["task"]["state"]
                .as_str()
                .unwrap_or("none")
                .to_owned();
            if states.contains(&state.as_str()) {
                return shown["detail"].clone();
            }
            assert!(
                begun.elapsed() < Duration::from_mins(2),
                "{id} is still {state}"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let stopped = self.legwork(Path::new("/"), ["daemon", "stop", "--force"]);
        if std::thread::panicking() {
            let log = fs::read_to_string(self.state().join("daemon.log")).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(30).collect();
            // The test harness shows this with the failure.
            #[expect(clippy::print_stderr, reason = "a failed test tells what it saw")]
            for line in tail.into_iter().rev() {
                eprintln!("daemon.log: {line}");
            }
        } else {
            assert_eq!(stopped.code, 0, "{stopped:?}");
        }
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// Its standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Its standard output as JSON.
    ///
    /// # Panics
    ///
    /// When it is none.
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("no JSON ({error}): {self:?}"),
        }
    }

    /// Asserts the exit code, and gives itself back.
    ///
    /// # Panics
    ///
    /// When it is another.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}
