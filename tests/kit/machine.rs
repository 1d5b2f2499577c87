//! A sandbox on a small workspace, for tests of the sandbox alone.

use std::{
    fs::File,
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use legwork_erofs::{Builder, Meta};
use legwork_host::{
    Answer, Exit, HostError, HostReport, Installation, Output, Program, Running, Sandbox, Source,
    probe,
};
use legwork_spec::{ByteSize, EgressPolicy, Isolation, Limits, Root, SandboxSpec, WorkspaceDisk};
use tempfile::TempDir;

use crate::product;

/// Where the workspace is in the guest.
pub const WORKSPACE: &str = "/home/dev/project";

/// Limits that are small enough for a test: 384 MiB, 256 MiB of disk, 60 s, 1 MiB of output.
pub fn small() -> Limits {
    Limits {
        vcpus: 1,
        memory: ByteSize::mib(384),
        disk: ByteSize::mib(256),
        wall: Duration::from_mins(1),
        output: ByteSize::mib(1),
    }
}

/// A running machine with its files.
#[derive(Debug)]
pub struct Machine {
    /// The sandbox.
    pub sandbox: Sandbox<Running>,
    /// Where its own directory was made.
    pub dir: TempDir,
}

/// What a program did.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// The installation under test.
pub fn installation() -> Installation {
    Installation::within(&[&product::bin_dir()], product::cache()).expect("the product is built")
}

/// What this host can do.
pub async fn host() -> HostReport {
    probe(&installation()).await
}

/// A workspace image with `kept.txt`, `gone.txt` and `folder/deep.txt`.
///
/// # Panics
///
/// When the image cannot be written.
pub fn workspace_image(path: &Path) {
    let mut image = Builder::new(File::create(path).expect("an image")).expect("an image");
    let meta = |mode| Meta {
        mode,
        uid: 0,
        gid: 0,
        mtime: (1_700_000_000, 123_456_789),
    };
    for (path, text) in [
        ("kept.txt", "kept\n"),
        ("gone.txt", "gone\n"),
        ("folder/deep.txt", "deep\n"),
    ] {
        image
            .add_file(path.as_bytes(), meta(0o644), 5, &mut text.as_bytes())
            .expect("a file");
    }
    image.finish().expect("an image");
}

/// Declares and starts a machine.
///
/// # Errors
///
/// What the sandbox says.
pub async fn start(limits: Limits) -> Result<Machine, HostError> {
    start_with(&installation(), limits).await
}

/// As [`start`], with other parts.
///
/// # Errors
///
/// What the sandbox says.
pub async fn start_with(installation: &Installation, limits: Limits) -> Result<Machine, HostError> {
    start_answering(installation, limits, None).await
}

/// As [`start_with`], with someone who takes the guest's calls.
///
/// # Errors
///
/// What the sandbox says.
///
/// # Panics
///
/// When there is no temporary directory.
pub async fn start_answering(
    installation: &Installation,
    limits: Limits,
    answer: Option<Arc<dyn Answer>>,
) -> Result<Machine, HostError> {
    static QUEUE: OnceLock<tokio::sync::Semaphore> = OnceLock::new();
    // Emulated machines that boot at once only slow one another down.
    let turn = QUEUE
        .get_or_init(|| tokio::sync::Semaphore::new(2))
        .acquire()
        .await;
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("workspace.erofs");
    workspace_image(&image);
    let workspace = WorkspaceDisk {
        image,
        mount: WORKSPACE.into(),
        umask: 0o022,
    };
    let environment = vec![("GREETING".to_owned(), "hello there".to_owned())];
    let spec = SandboxSpec::new(
        Isolation::EmulatedOk,
        None,
        Root::Host,
        workspace,
        limits,
        EgressPolicy::Deny,
        environment,
    )
    .expect("a good spec");
    let host = probe(installation).await;
    let created = Sandbox::create(spec, installation, &host, dir.path().join("vm"), |_| {}).await?;
    let sandbox = match answer {
        Some(answer) => created.start_answering(answer).await?,
        None => created.start().await?,
    };
    drop(turn);
    Ok(Machine { sandbox, dir })
}

impl Machine {
    /// Runs a program to its end.
    ///
    /// # Errors
    ///
    /// What the sandbox says.
    pub async fn exec(&self, program: Program) -> Result<Ran, HostError> {
        let (sender, mut outputs) = tokio::sync::mpsc::channel::<Output>(16);
        let collected = async {
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            while let Some(output) = outputs.recv().await {
                match output.source {
                    Source::Stdout => stdout.extend(output.bytes),
                    Source::Stderr => stderr.extend(output.bytes),
                }
            }
            (stdout, stderr)
        };
        let (exit, (stdout, stderr)) = tokio::join!(self.sandbox.exec(program, sender), collected);
        Ok(Ran {
            exit: exit?,
            stdout,
            stderr,
        })
    }

    /// Runs a shell script.
    ///
    /// # Panics
    ///
    /// When the machine fails.
    pub async fn sh(&self, script: &str) -> Ran {
        self.exec(Program::new(["sh", "-c", script]))
            .await
            .expect("the machine lives")
    }
}

impl Ran {
    /// Its standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}
