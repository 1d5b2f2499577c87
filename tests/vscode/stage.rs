//! What every test here needs: a user with a daemon, a workspace, and VS Code for it.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError, mpsc},
    time::{Duration, Instant},
};

use kit::{folder::Folder, home::Home, model::Model, plain, product, screen::eventually};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long the editor's server may take to listen, and the whole of a test to be driven.
const STARTS: Duration = Duration::from_mins(2);
const DRIVES: Duration = Duration::from_mins(6);

/// An editor and its browser take two gigabytes: one at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A user in front of VS Code.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Their daemon and tasks.
    pub(crate) home: Home,
    /// Their workspace.
    pub(crate) folder: Folder,
    /// The program that the extension is told to start.
    pub(crate) named: PathBuf,
    /// Whether the editor asks whom to trust.
    pub(crate) asks_for_trust: bool,
    data: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Stage {
    /// A workspace with these files, a user without virtual machines, and the command that is their agent.
    pub(crate) fn new(files: &[(&str, &str)], agent: &str) -> Self {
        let home = plain::home();
        plain::set_agent(&home, &["sh", "-c", agent]);
        Self::of(home, files)
    }

    /// A workspace with these files, and a user with real virtual machines.
    pub(crate) fn with_machines(files: &[(&str, &str)]) -> Self {
        Self::of(Home::new(), files)
    }

    /// A workspace with these files, and a user without virtual machines whose agent asks this model
    /// and is checked by `check.sh`.
    pub(crate) fn with_model(files: &[(&str, &str)], model: &Model) -> Self {
        let home = plain::home();
        let dir = home.cache().join("config");
        fs::create_dir_all(&dir).expect("a directory");
        let url = model.url();
        let text = format!(
            "[model]\nprovider = \"anthropic\"\nurl = \"{url}\"\nname = \"fake\"\n[check]\ncommands = [\"sh check.sh\"]\n"
        );
        fs::write(dir.join("config.toml"), text).expect("a file");
        Self::of(home, files)
    }

    fn of(home: Home, files: &[(&str, &str)]) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Folder::with(files);
        home.legwork(&folder.path(), ["daemon", "start"]).expect(0);
        let server = home.programs().canonicalize().expect("it is there");
        Self {
            named: server.join("legwork"),
            home,
            folder,
            asks_for_trust: false,
            data: tempfile::Builder::new()
                .prefix("code")
                .tempdir()
                .expect("a temporary directory"),
            _turn: turn,
        }
    }

    /// The workspace.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// Starts the editor, and does in it what the file of that name says; `more` is what the file is told.
    ///
    /// # Panics
    ///
    /// When it does not come about; the pictures that were taken are then of worth.
    pub(crate) fn drive(&self, name: &str, more: &Value) {
        let editor = self.start();
        let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("vscode")
            .join(name);
        fs::create_dir_all(&pictures).expect("a directory");
        let told = json!({
            "url": editor.url,
            "folder": self.path(),
            "pictures": pictures,
            "server": self.home.programs().join("legwork"),
            "more": more,
        });
        let extension = checkout().join("vscode-extension");
        let mut driver = Command::new(node())
            .arg("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON")
            .arg(format!("tests/editor/{name}.ts"))
            .current_dir(extension)
            .env("LEGWORK_STAGE", told.to_string())
            .env("CHROMIUM", chromium())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .expect("node starts");
        let said = [
            lines(driver.stdout.take().expect("a pipe")),
            lines(driver.stderr.take().expect("a pipe")),
        ];
        let mut driver = Group(driver);
        let status = driver.end(DRIVES);
        drop(driver);
        let said: Vec<String> = said.iter().flat_map(mpsc::Receiver::iter).collect();
        // The test harness shows this with a failure, and figures with `--nocapture`.
        #[expect(clippy::print_stdout, reason = "a test tells what was seen")]
        for line in &said {
            println!("{name}: {line}");
        }
        assert!(
            status == Some(0),
            "{name} ended with {status:?}; see the pictures in {}; the editor said {:#?}",
            pictures.display(),
            editor.said.try_iter().collect::<Vec<_>>()
        );
    }

    fn start(&self) -> Editor {
        let data = self.data.path();
        let set = |file: &str, value: Value| {
            let file = data.join(file);
            fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
            fs::write(file, value.to_string()).expect("a file");
        };
        set(
            "Machine/settings.json",
            json!({ "legwork.server.path": self.named }),
        );
        set(
            "User/settings.json",
            json!({
                "files.autoSave": "off",
                "chat.disableAIFeatures": true,
                "workbench.startupEditor": "none",
                "workbench.tips.enabled": false,
                "comments.openView": "never",
                "editor.minimap.enabled": false,
                "security.workspace.trust.startupPrompt": "never",
                "workbench.secondarySideBar.defaultVisibility": "hidden",
            }),
        );
        let mut command = code_server();
        command
            .args(["--auth", "none", "--bind-addr", "127.0.0.1:0"])
            .args(["--disable-telemetry", "--disable-update-check"])
            .arg("--user-data-dir")
            .arg(data)
            .arg("--extensions-dir")
            .arg(extensions());
        if !self.asks_for_trust {
            command.arg("--disable-workspace-trust");
        }
        command
            .current_dir(self.path())
            .env("LEGWORK_STATE", self.home.state())
            .env("LEGWORK_RUNTIME", self.home.runtime())
            .env("LEGWORK_CACHE", self.home.cache())
            .envs(self.home.environment.iter().cloned())
            .env("HOME", data)
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let mut child = command.spawn().expect("node starts");
        let said = lines(child.stdout.take().expect("a pipe"));
        let group = Group(child);
        let begun = Instant::now();
        let mut before = Vec::new();
        loop {
            let left = STARTS.saturating_sub(begun.elapsed());
            let line = said
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("the editor's server does not listen: {before:#?}"));
            if let Some((_, url)) = line.split_once("HTTP server listening on ") {
                return Editor {
                    url: url.trim().to_owned(),
                    said,
                    _group: group,
                };
            }
            before.push(line);
        }
    }

    /// Every task of the workspace, newest first.
    pub(crate) fn tasks(&self) -> Vec<Value> {
        let listed = self
            .home
            .legwork(&self.path(), ["tasks", "--all", "--json"])
            .json();
        listed.as_array().expect("a list").clone()
    }

    /// Runs a script as a task to its end, and gives the task's id.
    pub(crate) fn task(&self, script: &str) -> String {
        self.home.task(&self.path(), script)["task"]
            .as_str()
            .expect("a task's id")
            .to_owned()
    }

    /// Waits until so many hunks of the newest task wait for a decision.
    pub(crate) fn await_pending(&self, count: u64) {
        eventually(
            || format!("{count} hunks wait; the tasks are {:#?}", self.tasks()),
            || (self.tasks()[0]["pending"] == count).then_some(()),
        );
    }
}

/// The editor's server; it ends with this value.
#[derive(Debug)]
struct Editor {
    url: String,
    said: mpsc::Receiver<String>,
    _group: Group,
}

/// A process and all that it started; they end with this value.
#[derive(Debug)]
struct Group(Child);

impl Group {
    /// Waits for its end, and gives its exit code; none when it takes longer or a signal ended it.
    fn end(&mut self, within: Duration) -> Option<i32> {
        let begun = Instant::now();
        while begun.elapsed() < within {
            if let Some(status) = self.0.try_wait().expect("a child") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let pid = i32::try_from(self.0.id()).expect("a process id");
        if let Some(pid) = rustix::process::Pid::from_raw(pid) {
            rustix::process::kill_process_group(pid, rustix::process::Signal::KILL).ok();
        }
        self.0.wait().ok();
    }
}

fn lines(from: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// The root of the sources.
fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("a package in the checkout")
        .to_owned()
}

const SETUP: &str = "run `cargo xtask setup --tests`";

fn node() -> PathBuf {
    let file = product::cache().join("vscode/node/node_modules/node/bin/node");
    assert!(file.is_file(), "{} is not there: {SETUP}", file.display());
    file
}

fn chromium() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join("chromium"))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("chromium is not there: {SETUP}"))
        .into_os_string()
}

fn code_server() -> Command {
    let place = product::cache().join("vscode/editor");
    assert!(
        place.join(".legwork-editor").is_file(),
        "VS Code is not whole in {}: {SETUP}",
        place.display()
    );
    let mut command = Command::new(node());
    command.arg(place.join("node_modules/code-server/out/node/entry.js"));
    command
}

/// A directory in which the extension is installed, as it was packaged.
fn extensions() -> &'static Path {
    static DIR: OnceLock<TempDir> = OnceLock::new();
    DIR.get_or_init(|| {
        let packed = checkout().join("vscode-extension/dist/legwork.vsix");
        assert!(
            packed.is_file(),
            "{} is not there: run `npm ci && npm run package` in vscode-extension, or the tests through `cargo xtask test`",
            packed.display()
        );
        let dir = tempfile::tempdir().expect("a temporary directory");
        let output = code_server()
            .arg("--extensions-dir")
            .arg(dir.path())
            .arg("--user-data-dir")
            .arg(dir.path().join("data"))
            .arg("--install-extension")
            .arg(packed)
            .env("HOME", dir.path())
            .output()
            .expect("node starts");
        assert!(output.status.success(), "{output:?}");
        dir
    })
    .path()
}
