//! What every test here needs: a user with a daemon and without virtual machines, a workspace, a room with editors.

use std::path::{Path, PathBuf};
use std::process::Command;

use kit::folder::Folder;
use kit::helix::Helix;
use kit::home::Home;
use kit::nvim::Nvim;
use kit::plain;
use kit::room::{Release, Room};
use kit::screen::eventually;
use serde_json::Value;
use tempfile::TempDir;

/// Both releases, oldest editors first.
pub(crate) const RELEASES: [Release; 2] = [Release::Trixie, Release::Sid];

/// Starts the server for every file, as one would without the plug-in.
const PLAIN_INIT: &str = include_str!("plain.lua");

/// The user's agent: it notes what it was told in a file of its own, and obeys two kinds of sentences.
const AGENT: &str = r#"printf '%s\n' "$LEGWORK_PROMPT" "$LEGWORK_FILE" "$LEGWORK_LINES" >> said.txt
case $LEGWORK_PROMPT in 'wait for '*) while ! test -e "${LEGWORK_PROMPT#wait for }"; do sleep 0.05; done;;
'run '*) eval "${LEGWORK_PROMPT#run }";; esac"#;

/// A user in front of an editor.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Their daemon and tasks.
    pub(crate) home: Home,
    /// Their workspace.
    pub(crate) folder: Folder,
    release: Release,
}

/// Names the row of a table that is being tried, for when it fails.
#[derive(Debug)]
pub(crate) struct Row(String);

/// From here on a failure is one of this row.
pub(crate) fn row(release: Release, name: &str) -> Row {
    Row(format!("{release:?}: {name}"))
}

impl Drop for Row {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The test harness shows this with the failure.
            #[expect(clippy::print_stderr, reason = "a failed test tells what it tried")]
            {
                eprintln!("FAILED ROW: {}", self.0);
            }
        }
    }
}

impl Stage {
    /// A workspace with these files; a daemon that is up.
    pub(crate) fn new(release: Release, files: &[(&str, &str)]) -> Self {
        let home = plain::home();
        plain::set_agent(&home, &["sh", "-c", AGENT]);
        let folder = Folder::with(files);
        home.legwork(&folder.path(), ["daemon", "start"]).expect(0);
        Self {
            home,
            folder,
            release,
        }
    }

    /// The same with real virtual machines, for tasks that are commands.
    pub(crate) fn with_machines(release: Release, files: &[(&str, &str)]) -> Self {
        let home = Home::new();
        let folder = Folder::with(files);
        home.legwork(&folder.path(), ["daemon", "start"]).expect(0);
        Self {
            home,
            folder,
            release,
        }
    }

    /// The workspace.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// The room with all that Legwork needs in it.
    pub(crate) fn room(&self) -> Room {
        let programs = self.home.programs();
        let private = self.home.runtime();
        let mut room = Room::of(self.release)
            .showing(private.parent().expect("a user's directory"))
            .showing(&programs)
            .showing(self.path());
        for (name, value) in &self.home.environment {
            room = room.with(name, value);
        }
        room.with("PATH", format!("{}:/usr/bin:/bin", programs.display()))
            .with("LEGWORK_STATE", self.home.state())
            .with("LEGWORK_RUNTIME", private)
            .with("LEGWORK_CACHE", self.home.cache())
    }

    /// Neovim with the plug-in, as its documentation says to load it, and `more` Lua behind that.
    pub(crate) fn plugin(&self, more: &str, files: &[&str]) -> Nvim {
        let plugin = checkout().join("editors/neovim");
        let init = format!(
            "vim.opt.runtimepath:prepend([[{}]])\n{more}",
            plugin.display()
        );
        Nvim::open(&self.room().showing(plugin), &self.path(), &init, files)
    }

    /// Neovim with its own language client only, and `more` Lua behind that.
    pub(crate) fn nvim(&self, more: &str, files: &[&str]) -> Nvim {
        Nvim::open(
            &self.room(),
            &self.path(),
            &format!("{PLAIN_INIT}\n{more}"),
            files,
        )
    }

    /// Helix as `legwork setup helix` sets it up, with `more` at the end of its `config.toml`.
    pub(crate) fn helix(&self, more: &str, files: &[&str]) -> Helix {
        let home = Helix::home("", "");
        self.helix_of(&self.room(), home, more, files)
    }

    /// The same, in this room and for a user who has these settings already.
    pub(crate) fn helix_of(&self, room: &Room, home: TempDir, more: &str, files: &[&str]) -> Helix {
        let setup = room
            .clone()
            .showing(home.path())
            .with("HOME", home.path())
            .command(
                &self.path(),
                ["legwork", "setup", "helix", "--languages", "rust,markdown"],
            );
        let output = Command::new(&setup[0])
            .args(&setup[1..])
            .output()
            .expect("a room");
        assert!(output.status.success(), "{output:?}");
        let config = home.path().join(".config/helix/config.toml");
        let text = std::fs::read_to_string(&config).expect("legwork wrote it");
        std::fs::write(&config, text + "\n" + more).expect("a file");
        Helix::open(room, &self.path(), home, files)
    }

    /// Runs a script as a task to its end, and gives the task's id.
    pub(crate) fn task(&self, script: &str) -> String {
        self.home.task(&self.path(), script)["task"]
            .as_str()
            .expect("a task's id")
            .to_owned()
    }

    /// Every task of the workspace, newest first.
    pub(crate) fn tasks(&self) -> Vec<Value> {
        let listed = self
            .home
            .legwork(&self.path(), ["tasks", "--all", "--json"])
            .json();
        listed.as_array().expect("a list").clone()
    }

    /// Waits for a task that was asked for in these words, and gives it.
    pub(crate) fn asked(&self, words: &str) -> Value {
        self.await_task(&format!("a task is asked for with {words:?}"), |task| {
            task["spec"]["request"]["text"] == words
        })
    }

    /// Waits until one of the tasks is as wanted.
    pub(crate) fn await_task(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        eventually(
            || format!("{what}; the tasks are {:#?}", self.tasks()),
            || self.tasks().into_iter().find(|task| wanted(task)),
        )
    }

    /// Waits until so many hunks of the task wait for a decision.
    pub(crate) fn await_pending(&self, id: &str, count: u64) {
        self.await_task(&format!("{count} hunks of {id} wait"), |task| {
            task["id"] == id && task["pending"] == count
        });
    }

    /// Waits until a file holds this text.
    pub(crate) fn await_file(&self, path: impl AsRef<Path>, text: &str) {
        let path = path.as_ref();
        let read = || std::fs::read_to_string(self.path().join(path)).unwrap_or_default();
        eventually(
            || format!("{} holds {text:?}; it holds {:?}", path.display(), read()),
            || (read() == text).then_some(()),
        );
    }
}

/// Lines `first` to `last`, each `line N`.
pub(crate) fn lines(first: u32, last: u32) -> String {
    (first..=last)
        .map(|line| format!("line {line}\n"))
        .collect()
}

/// The task's place in the request: its file and lines.
pub(crate) fn place(task: &Value) -> (String, u64, u64) {
    let place = &task["spec"]["request"]["place"];
    let line = |index: usize| place["lines"][index].as_u64().unwrap_or(0);
    (
        place["path"].as_str().unwrap_or_default().to_owned(),
        line(0),
        line(1),
    )
}

/// The root of the sources.
pub(crate) fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a package in the checkout")
        .to_owned()
}
