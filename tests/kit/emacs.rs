//! Emacs in a terminal, with nothing of the user's or the machine's configuration. All is keys and what is to be seen.

use std::path::Path;

use tempfile::TempDir;

use crate::room::Room;
use crate::screen::Screen;

/// Files beside the user's, and a page of greetings, are in the way.
const PLAIN: &str = "(setq make-backup-files nil auto-save-default nil create-lockfiles nil inhibit-startup-screen t)\n";

/// A running Emacs; it ends with this value.
#[derive(Debug)]
pub struct Emacs {
    /// Its terminal.
    pub screen: Screen,
    _home: TempDir,
}

impl Emacs {
    /// Starts Emacs in `folder`, with `init` (Lisp) as its whole configuration, and opens `files`.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn open(room: &Room, folder: &Path, init: &str, files: &[&str]) -> Self {
        let home = tempfile::Builder::new()
            .prefix("emacs")
            .tempdir()
            .expect("a temporary directory");
        let file = home.path().join("init.el");
        std::fs::write(&file, format!("{PLAIN}{init}")).expect("a file");
        let room = room.clone().showing(home.path()).with("HOME", home.path());
        let file = file.to_str().expect("UTF-8");
        let words = ["emacs-nox", "-nw", "-Q", "-l", file];
        let line = words.iter().chain(files);
        let screen = Screen::open(&room.command(folder, line));
        // The mode line has the state of the buffer and its name.
        screen.wait("-UU-:");
        Self {
            screen,
            _home: home,
        }
    }

    /// Calls a command by its name.
    ///
    /// # Panics
    ///
    /// When the terminal is gone.
    pub fn command(&self, name: &str) {
        self.screen.keys(&["M-x"]);
        self.screen.wait("M-x");
        self.screen.text(name);
        self.screen.keys(&["Enter"]);
    }

    /// Goes to a line, counted from 1.
    ///
    /// # Panics
    ///
    /// When the terminal is gone.
    pub fn go(&self, line: u32) {
        self.screen.keys(&["M-g", "g"]);
        self.screen.wait("Goto line");
        self.screen.text(&line.to_string());
        self.screen.keys(&["Enter"]);
    }
}
