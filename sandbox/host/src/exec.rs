//! Runs a program in the guest.

use std::{path::PathBuf, time::Duration};

use legwork_link::{Exec, ExecInput, ExecOutput, ExecStatus, LinkError, Open, frame};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    time::timeout,
};

use crate::{
    HostError,
    sandbox::{Running, Sandbox},
};

/// How long after a program's time is up the guest may take to say so.
const GRACE: Duration = Duration::from_secs(15);

/// A program to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Program and arguments; the program is looked up in the guest's `PATH`.
    pub argv: Vec<String>,
    /// Added to the sandbox's own environment.
    pub environment: Vec<(String, String)>,
    /// What it reads from its standard input, which ends behind it.
    pub stdin: Vec<u8>,
    /// Absolute directory in the guest; the workspace if absent.
    pub directory: Option<PathBuf>,
    /// Ends earlier than the sandbox's limit, if given.
    pub timeout: Option<Duration>,
}

impl Program {
    /// A program in the workspace.
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            stdin: Vec::new(),
            directory: None,
            timeout: None,
        }
    }
}

/// Where output was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Something that a program wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Where.
    pub source: Source,
    /// What; at most 64 KiB.
    pub bytes: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// How.
    pub status: ExitStatus,
    /// The scratch disk is all but full: whatever went wrong, that is why.
    pub disk_full: bool,
    /// Most memory at once in bytes, as the guest tells it.
    pub peak_memory: u64,
    /// Processor time, as the guest tells it.
    pub cpu: Duration,
    /// Bytes of output beyond the limit, as the guest tells it.
    pub dropped: u64,
}

/// How a program ended, in one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// It did not start; why, as the guest says it.
    NotStarted(String),
    /// Its time was up.
    TimedOut,
    /// The guest's memory was used up.
    OutOfMemory,
}

impl Sandbox<Running> {
    /// Runs a program to its end. What it writes goes to `output`; dropping the returned future kills it.
    ///
    /// # Errors
    ///
    /// [`HostError`] when the machine ends, breaks the protocol, or does not answer. A program that fails is no error.
    pub async fn exec(
        &self,
        program: Program,
        output: mpsc::Sender<Output>,
    ) -> Result<Exit, HostError> {
        let limits = self.spec().limits();
        let time = program
            .timeout
            .map_or(limits.wall, |own| own.min(limits.wall));
        let bytes = |text: &str| text.as_bytes().to_vec();
        let directory = program
            .directory
            .as_deref()
            .unwrap_or(&self.spec().workspace().mount);
        let pairs = self.spec().environment().iter().chain(&program.environment);
        let defaults =
            defaults().filter(|(name, _)| !pairs.clone().any(|(given, _)| given == name));
        let request = Exec {
            argv: program
                .argv
                .iter()
                .map(|argument| bytes(argument))
                .collect(),
            environment: defaults
                .map(|(name, value)| (bytes(name), bytes(value)))
                .chain(
                    pairs
                        .clone()
                        .map(|(name, value)| (bytes(name), bytes(value))),
                )
                .collect(),
            directory: std::os::unix::ffi::OsStrExt::as_bytes(directory.as_os_str()).to_vec(),
            timeout_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            output_limit: limits.output.as_bytes(),
        };
        let conversation = self.converse(request, program.stdin, output);
        self.alive(async {
            timeout(time + GRACE, conversation)
                .await
                .map_err(|_| HostError::Silent)?
        })
        .await
    }

    async fn converse(
        &self,
        request: Exec,
        stdin: Vec<u8>,
        output: mpsc::Sender<Output>,
    ) -> Result<Exit, HostError> {
        let limit = request.output_limit;
        let open = Open::Exec(request);
        if let Err(LinkError::TooLong { length, limit }) = frame::encode(&open) {
            let status = ExitStatus::NotStarted(format!(
                "its arguments and environment are {length} bytes long, and {limit} are the most: put the text into a file"
            ));
            return Ok(Exit {
                status,
                disk_full: false,
                peak_memory: 0,
                cpu: Duration::ZERO,
                dropped: 0,
            });
        }
        let substream = self.open(&open).await?;
        let (mut from, to) = tokio::io::split(substream);
        tokio::select! {
            exit = self.hear(&mut from, limit, output) => exit,
            // A program need not read all that it is given: it may write first, or end.
            error = feed(to, &stdin) => Err(error),
        }
    }

    /// Takes what the program writes, until it ends.
    async fn hear(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        limit: u64,
        output: mpsc::Sender<Output>,
    ) -> Result<Exit, HostError> {
        let (mut kept, mut surplus) = (limit, 0);
        loop {
            let (source, mut bytes) = match frame::read(from).await? {
                Some(ExecOutput::Stdout(bytes)) => (Source::Stdout, bytes),
                Some(ExecOutput::Stderr(bytes)) => (Source::Stderr, bytes),
                Some(ExecOutput::End(end)) => {
                    let reserve = (self.spec().limits().disk.as_bytes() / 100).max(1 << 20);
                    return Ok(Exit {
                        status: match end.status {
                            ExecStatus::Exited(code) => ExitStatus::Exited(code),
                            ExecStatus::Signaled(signal) => ExitStatus::Signaled(signal),
                            ExecStatus::NotStarted(reason) => {
                                ExitStatus::NotStarted(printable(&reason))
                            }
                            ExecStatus::TimedOut => ExitStatus::TimedOut,
                            ExecStatus::OutOfMemory => ExitStatus::OutOfMemory,
                        },
                        disk_full: end.disk_free < reserve,
                        peak_memory: end.peak_memory,
                        cpu: Duration::from_micros(end.cpu_micros),
                        dropped: end.dropped.saturating_add(surplus),
                    });
                }
                None => {
                    return Err(HostError::Protocol(
                        "it hung up before the program ended".into(),
                    ));
                }
            };
            // The guest keeps to the limit by itself, unless it is not ours any more.
            let room = usize::try_from(kept).unwrap_or(usize::MAX).min(bytes.len());
            surplus += (bytes.len() - room) as u64;
            kept -= room as u64;
            bytes.truncate(room);
            // Whoever listened may have gone; the program goes on.
            let _heard = output.send(Output { source, bytes }).await;
        }
    }
}

/// Hands the program its input and ends it: what asks a question must see that nobody is there, not wait. Ends only in an
/// error.
async fn feed(mut to: impl AsyncWrite + Unpin, stdin: &[u8]) -> HostError {
    let fed = async {
        for piece in stdin.chunks(frame::MAX_DATA) {
            frame::write(&mut to, &ExecInput::Stdin(piece.to_vec())).await?;
        }
        frame::write(&mut to, &ExecInput::StdinEnd).await?;
        to.flush().await.map_err(HostError::io("talk to the guest"))
    };
    match fed.await {
        Ok(()) => std::future::pending().await,
        // The program may have ended meanwhile; whoever listens knows better, and soon.
        Err(error) => {
            tokio::time::sleep(Duration::from_secs(5)).await;
            error
        }
    }
}

/// What a program finds in its environment unless it is told otherwise.
fn defaults() -> impl Iterator<Item = (&'static str, &'static str)> {
    [
        // Nobody is there to edit either: what asks for a text gets the one it had.
        ("EDITOR", "true"),
        ("GIT_EDITOR", "true"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("HOME", "/root"),
        ("LANG", "C.UTF-8"),
        ("LOGNAME", "root"),
        ("PAGER", "cat"),
        (
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
        ("SHELL", "/bin/sh"),
        ("TERM", "dumb"),
        ("TMPDIR", "/tmp"),
        ("USER", "root"),
    ]
    .into_iter()
}

/// One line of at most 300 characters, none of them a control character.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}
