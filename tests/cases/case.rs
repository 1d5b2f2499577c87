//! One case: its tree, the command run directly on a copy, and the same command as a task.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use kit::home::{Home, Ran};
use serde_json::Value;
use tempfile::TempDir;

use crate::oracle::{Git, Picture, stamps};

/// A case, ready to run.
#[derive(Debug)]
pub(crate) struct Case {
    id: &'static str,
    /// A bash script that builds the tree below its first argument.
    setup: String,
    /// The command.
    pub(crate) script: String,
    stage: TempDir,
    pub(crate) home: Home,
    /// As the tree was set up.
    pub(crate) base: Picture,
    /// What the command makes of it, run directly.
    pub(crate) direct: Picture,
    /// Variables for the command, here and in the guest.
    variables: Vec<(&'static str, &'static str)>,
    /// Options for `legwork delegate`.
    pub(crate) options: Vec<String>,
}

/// A task that is over.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) id: String,
    /// `legwork show --json`.
    pub(crate) shown: Value,
    /// `legwork show --manifest --json`.
    pub(crate) manifest: Value,
}

impl Case {
    /// Sets the tree up, runs the command directly, and sets it up once more at the same place: some trees know where they
    /// are.
    pub(crate) fn new(id: &'static str) -> Self {
        Self::with(id, &[])
    }

    /// As [`Case::new`], with variables for tree and command.
    pub(crate) fn with(id: &'static str, variables: &[(&'static str, &'static str)]) -> Self {
        Self::unrun(id, variables).directly()
    }

    /// A tree and a command that were made up.
    pub(crate) fn made(setup: String, script: String) -> Self {
        Self::of("made", setup, script, &[]).directly()
    }

    fn directly(self) -> Self {
        let mut case = self;
        case.run_directly();
        case.direct = case.now();
        case.reset();
        case.base = case.now();
        case
    }

    /// As [`Case::with`], for a command that must not run here: `direct` stays as the base.
    pub(crate) fn unrun(id: &'static str, variables: &[(&'static str, &'static str)]) -> Self {
        let file = |name: &str| {
            let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/trees");
            fs::read_to_string(trees.join(id).join(name)).expect("a file of the case")
        };
        Self::of(id, file("setup.sh"), file("task.sh"), variables)
    }

    fn of(
        id: &'static str,
        setup: String,
        script: String,
        variables: &[(&'static str, &'static str)],
    ) -> Self {
        let stage = tempfile::Builder::new()
            .prefix("case")
            .tempdir()
            .expect("a temporary directory");
        let mut case = Self {
            id,
            setup,
            script,
            stage,
            home: Home::new(),
            base: Picture::default(),
            direct: Picture::default(),
            variables: variables.to_vec(),
            options: Vec::new(),
        };
        case.set_up();
        case.base = case.now();
        case.direct = case.base.clone();
        case
    }

    /// Where everything of the case is.
    pub(crate) fn stage(&self) -> PathBuf {
        self.stage
            .path()
            .canonicalize()
            .expect("it is there")
            .join("x")
    }

    /// The workspace.
    pub(crate) fn path(&self) -> PathBuf {
        self.stage().join("ws").canonicalize().expect("it is there")
    }

    /// What stands in the workspace now, without version control.
    pub(crate) fn now(&self) -> Picture {
        Picture::of(&self.path(), Git::Without)
    }

    fn set_up(&self) {
        let output = Command::new("bash")
            .args(["-c", &self.setup, "setup"])
            .arg(self.stage.path().join("x"))
            .envs(self.variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("bash");
        assert!(output.status.success(), "{}: {output:?}", self.id);
    }

    fn run_directly(&self) {
        let mut child = Command::new("sh")
            .args(["-c", &self.script])
            .current_dir(self.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").expect("PATH is set"))
            .env("HOME", self.stage().join("home"))
            .envs(self.variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("sh");
        child.wait().expect("sh ends");
        // What it left in the background ends with it, as in the guest.
        if let Some(group) =
            rustix::process::Pid::from_raw(child.id().try_into().expect("a process id"))
        {
            let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// Sets the tree up anew.
    pub(crate) fn reset(&self) {
        self.sh("chmod -R u+rwx x; rm -rf x");
        self.set_up();
    }

    /// Does something as the user, beside the workspace.
    pub(crate) fn sh(&self, script: &str) {
        let status = Command::new("sh")
            .args(["-c", script])
            .current_dir(self.stage.path())
            .status()
            .expect("sh");
        assert!(status.success(), "{script}");
    }

    /// Does something as the user, in the workspace.
    pub(crate) fn user(&self, script: &str) {
        let status = Command::new("sh")
            .args(["-ec", script])
            .current_dir(self.path())
            .env("HOME", self.stage().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .expect("sh");
        assert!(status.success(), "{script}");
    }

    /// `legwork` in the workspace.
    pub(crate) fn legwork(&self, arguments: &[&str]) -> Ran {
        self.home.legwork(&self.path(), arguments)
    }

    /// Starts the command as a task.
    pub(crate) fn start(&self) -> String {
        self.start_script(&self.script)
    }

    /// Starts another command as a task.
    pub(crate) fn start_script(&self, script: &str) -> String {
        let workspace = self.path();
        let mut arguments = vec!["delegate", "-C", workspace.to_str().expect("UTF-8")];
        arguments.extend(self.options.iter().map(String::as_str));
        let variables: Vec<String> = self
            .variables
            .iter()
            .map(|(name, value)| format!("--env={name}={value}"))
            .collect();
        arguments.extend(variables.iter().map(String::as_str));
        arguments.extend(["--", "sh", "-c", script]);
        self.legwork(&arguments).expect(0).text().trim().to_owned()
    }

    /// Runs the command as a task to its end. Nothing of the tree is touched meanwhile, not even a time.
    pub(crate) fn run(&self) -> Done {
        let before = stamps(&self.path());
        let id = self.start();
        let done = self.wait(&id, || {
            assert_eq!(stamps(&self.path()), before, "{}: touched", self.id);
        });
        assert_eq!(stamps(&self.path()), before, "{}: touched", self.id);
        self.now().must_be(&self.base, "the task is over");
        done
    }

    /// Waits for the end of a task.
    pub(crate) fn wait(&self, id: &str, look: impl Fn()) -> Done {
        let begun = Instant::now();
        loop {
            look();
            let shown = self.legwork(&["show", id, "--json"]).json();
            let state = shown["detail"]["task"]["state"].as_str().unwrap_or("none");
            if ["ready", "ended"].contains(&state) {
                let manifest = self.legwork(&["show", id, "--manifest", "--json"]);
                return Done {
                    id: id.to_owned(),
                    manifest: serde_json::from_slice(&manifest.stdout).unwrap_or_default(),
                    shown,
                };
            }
            assert!(
                begun.elapsed() < Duration::from_mins(5),
                "{}: still {state}",
                self.id
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Accepts everything, also what waits for a decision of its own.
    pub(crate) fn accept(&self, done: &Done) -> Ran {
        self.legwork(&["accept", &done.id, "--include-sensitive"])
    }

    /// What version control keeps for itself below the workspace, to the byte.
    pub(crate) fn repositories(&self) -> Picture {
        let mut all = Picture::of(&self.path(), Git::With);
        let seen = self.now();
        all.0.retain(|path, _| !seen.0.contains_key(path));
        all
    }

    /// The whole round: the tree is as `wanted` after an accept, and as before after an undo and after a reject. What
    /// version control keeps for itself stays as it is.
    pub(crate) fn round(&self, done: &Done, wanted: &Picture) {
        let repositories = self.repositories();
        self.accept(done).expect(0);
        self.repositories().must_be(&repositories, "accepted");
        self.now().must_be(wanted, "accepted");
        self.legwork(&["undo", &done.id]).expect(0);
        self.now().must_be(&self.base, "taken back");
        self.legwork(&["reject", &done.id]).expect(0);
        self.now().must_be(&self.base, "rejected");
    }

    /// The round of a case of which nothing but the oracle need be said.
    pub(crate) fn plain(id: &'static str) {
        let case = Self::new(id);
        let done = case.run();
        case.round(&done, &case.direct);
        done.refuses(&[]);
    }
}

impl Done {
    /// The changed paths, sorted.
    pub(crate) fn paths(&self) -> Vec<&str> {
        let files = self.shown["review"]["files"].as_array().expect("a list");
        files
            .iter()
            .map(|file| file["path"].as_str().expect("a text"))
            .collect()
    }

    /// The change at a path.
    pub(crate) fn file(&self, path: &str) -> &Value {
        let files = self.shown["review"]["files"].as_array().expect("a list");
        files
            .iter()
            .find(|file| file["path"] == path)
            .unwrap_or_else(|| panic!("{path} is not among {:?}", self.paths()))
    }

    /// Number of hunks at a path.
    pub(crate) fn hunks(&self, path: &str) -> usize {
        self.file(path)["hunks"].as_array().expect("a list").len()
    }

    /// What is refused, sorted.
    pub(crate) fn refused(&self) -> Vec<&str> {
        let refused = self.shown["detail"]["refused"].as_array().expect("a list");
        refused
            .iter()
            .map(|refused| refused["path"].as_str().expect("a text"))
            .collect()
    }

    /// Asserts what is refused.
    #[track_caller]
    pub(crate) fn refuses(&self, paths: &[&str]) {
        assert_eq!(self.refused(), paths, "{}", self.shown["detail"]["refused"]);
    }

    /// What stays outside of the guest, with the reason.
    pub(crate) fn left_out(&self) -> Vec<(&str, &str)> {
        self.manifest["left_out"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|out| {
                (
                    out["path"].as_str().expect("a text"),
                    out["reason"].as_str().expect("a text"),
                )
            })
            .collect()
    }

    /// All notices in one text.
    pub(crate) fn notices(&self) -> String {
        self.shown["detail"]["notices"].to_string()
    }
}
