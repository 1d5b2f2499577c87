//! A terminal of 100 columns and 30 lines with a program in it: keys go in, text comes out. It is a tmux server of its
//! own, without the user's configuration.
//!
//! Nothing here waits for ever, and what a failed wait saw is in its message.

use std::ffi::OsString;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a screen may take to show what is expected of it. Tests share two processors.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Programs take Escape and a key right after it for Alt and that key.
const AFTER_ESCAPE: Duration = Duration::from_millis(400);

const LOOK_EVERY: Duration = Duration::from_millis(40);

const CONFIGURATION: &str = "set -g status off\nset -g remain-on-exit on\nset -g default-terminal screen-256color\n\
     set -g history-limit 0\nset -g default-size 100x30\n";

/// A terminal; its program ends with it.
#[derive(Debug)]
pub struct Screen {
    dir: TempDir,
}

impl Screen {
    /// Starts a command line in a terminal.
    ///
    /// # Panics
    ///
    /// When tmux does not start, like every method here.
    pub fn open(line: &[OsString]) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("screen")
            .tempdir()
            .expect("a temporary directory");
        std::fs::write(dir.path().join("conf"), CONFIGURATION).expect("a file");
        let screen = Self { dir };
        let conf = screen.dir.path().join("conf").into_os_string();
        let mut arguments: Vec<OsString> = vec!["-f".into(), conf];
        arguments.extend(["new-session", "-d", "-x", "100", "-y", "30", "--"].map(OsString::from));
        arguments.extend(line.iter().cloned());
        screen.tmux(&arguments);
        screen
    }

    fn tmux(&self, arguments: &[OsString]) -> Output {
        let output = self
            .command()
            .args(arguments)
            .output()
            .expect("tmux is not here: run `cargo xtask setup --tests`");
        assert!(
            output.status.success(),
            "tmux {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(self.dir.path().join("socket"))
            .env_remove("TMUX");
        command
    }

    /// Presses keys, named as tmux names them (`a`, `Enter`, `Escape`, `C-r`, `Down`, `Space`), one after another.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn keys(&self, keys: &[&str]) {
        for group in keys.split_inclusive(|key| *key == "Escape") {
            let mut arguments: Vec<OsString> = vec!["send-keys".into(), "--".into()];
            arguments.extend(group.iter().map(OsString::from));
            self.tmux(&arguments);
            if group.last() == Some(&"Escape") {
                thread::sleep(AFTER_ESCAPE);
            }
        }
    }

    /// Types text as it is.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text].map(OsString::from));
    }

    /// What is to be seen, without trailing blanks.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn read(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"].map(OsString::from));
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect()
    }

    /// Waits until the screen holds `part`, and gives the screen.
    ///
    /// # Panics
    ///
    /// When it does not come in time.
    pub fn wait(&self, part: &str) -> String {
        self.wait_until(&format!("show {part:?}"), |seen| seen.contains(part))
    }

    /// Waits until the screen does not hold `part`, and gives the screen.
    ///
    /// # Panics
    ///
    /// When it stays.
    pub fn wait_gone(&self, part: &str) -> String {
        self.wait_until(&format!("stop showing {part:?}"), |seen| {
            !seen.contains(part)
        })
    }

    /// Waits until the screen is as wanted, and gives it.
    ///
    /// # Panics
    ///
    /// When it is not in time; says `what` it was to do and what is to be seen.
    pub fn wait_until(&self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let seen = self.read();
            if wanted(&seen) {
                return seen;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "the screen did not {what}; it is:\n{}",
                framed(&seen)
            );
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether the program has ended.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn has_ended(&self) -> bool {
        let output = self.tmux(&["list-panes", "-F", "#{pane_dead}"].map(OsString::from));
        output.stdout.starts_with(b"1")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if thread::panicking() {
            // The test harness shows this with the failure.
            #[expect(clippy::print_stderr, reason = "a failed test tells what it saw")]
            {
                eprintln!("{}", framed(&self.read_or_nothing()));
            }
        }
        // It fails only when the server is gone already.
        self.command().arg("kill-server").output().ok();
    }
}

impl Screen {
    fn read_or_nothing(&self) -> String {
        self.command()
            .args(["capture-pane", "-p"])
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default()
    }
}

/// Polls until `wanted` gives a value.
///
/// # Panics
///
/// When it gives none in time; `what` says what was to happen, and what is so instead.
pub fn eventually<T>(what: impl Fn() -> String, wanted: impl Fn() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = wanted() {
            return value;
        }
        assert!(begun.elapsed() < PATIENCE, "not in time: {}", what());
        thread::sleep(LOOK_EVERY);
    }
}

fn framed(screen: &str) -> String {
    screen.lines().map(|line| format!("| {line}\n")).collect()
}
