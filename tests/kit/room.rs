//! Runs programs in a room: a directory with the programs of another Debian release, which `cargo xtask setup --tests`
//! makes. A program in a room sees the room's programs and libraries, the machine's `/proc` and `/dev`, and the
//! directories that the test shows it, at the same paths.
//!
//! All mounts are made in a mount namespace of that program's own, so they are gone with it, whatever it dies of.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::product;

/// Builds the room's root on a tmpfs and enters it. Arguments: the room, the directories to show, those behind
/// [`UNWRITABLE`] so that nobody in the room can write there, `--`, the directory to start in, assignments for the
/// environment, the program and its arguments.
const ENTER: &str = include_str!("room/enter.sh");

/// Stands before a path that is absolute.
const UNWRITABLE: &str = "unwritable:";

/// A release of Debian whose editors can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// Neovim 0.10, Helix 25.01.
    Trixie,
    /// Neovim 0.12, Helix 25.07, Emacs 30.
    Sid,
}

/// What a program is to be given in a room.
#[derive(Debug, Clone)]
pub struct Room {
    root: PathBuf,
    shown: Vec<PathBuf>,
    unwritable: Vec<PathBuf>,
    environment: Vec<(OsString, OsString)>,
}

impl Room {
    /// The room of that release.
    ///
    /// # Panics
    ///
    /// When there is none: a test of an editor cannot say anything then.
    pub fn of(release: Release) -> Self {
        let name = match release {
            Release::Trixie => "trixie",
            Release::Sid => "sid",
        };
        let root = product::cache().join("editors").join(name);
        assert!(
            root.join(".legwork-room").is_file(),
            "there are no editors in {}: run `cargo xtask setup --tests`",
            root.display()
        );
        Self {
            root,
            shown: Vec::new(),
            unwritable: Vec::new(),
            environment: Vec::new(),
        }
        .with("PATH", "/usr/bin:/bin")
        .with("LANG", "C.UTF-8")
        .with("TERM", "screen-256color")
        .with("SHELL", "/bin/sh")
    }

    /// Shows a directory, to be read and written, at its own path.
    #[must_use]
    pub fn showing(mut self, directory: impl Into<PathBuf>) -> Self {
        self.shown.push(directory.into());
        // A directory must be there before what is shown below it.
        self.shown.sort();
        self.shown.dedup();
        self
    }

    /// Shows a file or a directory so that it cannot be written, also where what is around it can be.
    #[must_use]
    pub fn showing_unwritable(mut self, path: impl Into<PathBuf>) -> Self {
        self.unwritable.push(path.into());
        self
    }

    /// Sets a variable; nothing else of the test's own environment reaches the program.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let name = name.into();
        self.environment.retain(|(known, _)| *known != name);
        self.environment.push((name, value.into()));
        self
    }

    /// The command line that runs a program in the room, in `folder`, which is shown as well.
    pub fn command<S: AsRef<OsStr>>(
        &self,
        folder: &Path,
        program: impl IntoIterator<Item = S>,
    ) -> Vec<OsString> {
        let room = self.clone().showing(folder);
        let mut line: Vec<OsString> = vec!["unshare".into(), "--mount".into()];
        if !rustix::process::geteuid().is_root() {
            line.push("--map-root-user".into());
        }
        line.extend(["sh", "-c", ENTER, "enter"].map(OsString::from));
        line.push(room.root.into());
        line.extend(room.shown.into_iter().map(OsString::from));
        for path in room.unwritable {
            let mut word = OsString::from(UNWRITABLE);
            word.push(path);
            line.push(word);
        }
        line.push("--".into());
        line.push(folder.into());
        for (name, value) in room.environment {
            let mut assignment = name;
            assignment.push("=");
            assignment.push(value);
            line.push(assignment);
        }
        line.extend(program.into_iter().map(|word| word.as_ref().to_owned()));
        line
    }
}
