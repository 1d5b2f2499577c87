//! Helix in a terminal. It has no RPC: all is keys and what is to be seen.

use std::path::Path;

use tempfile::TempDir;

use crate::room::Room;
use crate::screen::Screen;

/// A running Helix; it ends with this value.
#[derive(Debug)]
pub struct Helix {
    /// Its terminal.
    pub screen: Screen,
    _home: TempDir,
}

impl Helix {
    /// A home directory with these texts as the user's `config.toml` and `languages.toml`.
    ///
    /// # Panics
    ///
    /// When it cannot be made.
    pub fn home(config: &str, languages: &str) -> TempDir {
        let dir = tempfile::Builder::new()
            .prefix("helix")
            .tempdir()
            .expect("a temporary directory");
        let place = dir.path().join(".config/helix");
        std::fs::create_dir_all(&place).expect("a folder");
        std::fs::write(place.join("config.toml"), config).expect("a file");
        std::fs::write(place.join("languages.toml"), languages).expect("a file");
        dir
    }

    /// Starts Helix in `folder` as a user with this home, and opens `files`.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn open(room: &Room, folder: &Path, home: TempDir, files: &[&str]) -> Self {
        let room = room.clone().showing(home.path()).with("HOME", home.path());
        let line = ["hx", "-v"].iter().chain(files);
        let screen = Screen::open(&room.command(folder, line));
        // The mode stands in the status line.
        screen.wait(" NOR ");
        Self {
            screen,
            _home: home,
        }
    }

    /// Types a command line, such as `:w`.
    ///
    /// # Panics
    ///
    /// When the terminal is gone.
    pub fn command(&self, line: &str) {
        self.screen.keys(&["Escape"]);
        self.screen.text(line);
        self.screen.keys(&["Enter"]);
    }

    /// Goes to a line, counted from 1.
    ///
    /// # Panics
    ///
    /// When the terminal is gone.
    pub fn go(&self, line: u32) {
        self.command(&format!(":{line}"));
    }

    /// Opens the menu of code actions and takes the entry with these words, which must be the one `down` steps below the
    /// first.
    ///
    /// # Panics
    ///
    /// When no entry has these words.
    pub fn act(&self, words: &str, down: usize) {
        self.screen.keys(&["Space", "a"]);
        self.screen.wait(words);
        for _ in 0..down {
            self.screen.keys(&["Down"]);
        }
        self.screen.keys(&["Enter"]);
    }
}
