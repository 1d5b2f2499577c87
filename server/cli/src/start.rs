//! Finding the daemon, and starting it when there is none. What it does once it runs is not here.

use std::{
    fs::File,
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use legwork_wire::{Client, ErrorKind, Places, WireError};
use tokio::time::{Instant, sleep};

use crate::{
    failure::Failure,
    printable::{printable, printable_bytes},
};

/// How long a daemon may take until it answers.
const DEADLINE: Duration = Duration::from_secs(10);

/// The first and the longest pause between two looks.
const PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// How many of the last lines of a log are shown.
const TAIL: usize = 8;

/// Connects to the daemon; starts it if there is none.
pub(crate) async fn connect(places: &Places) -> Result<Client, Failure> {
    match reach(places).await {
        Ok(client) => Ok(client),
        Err(error) if is_absent(&error) => start(places).await,
        Err(error) => Err(error.into()),
    }
}

/// Connects to the daemon, if one answers: the socket of a process that is just ending still takes connections.
pub(crate) async fn reach(places: &Places) -> Result<Client, WireError> {
    let client = Client::connect(places).await?;
    client.status().await?;
    Ok(client)
}

/// Whether the error says that no daemon runs: no socket, one that a dead daemon left behind, or a daemon that is ending.
pub(crate) fn is_absent(error: &WireError) -> bool {
    match error {
        WireError::Unreachable { source, .. } => matches!(
            source.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::BrokenPipe
        ),
        // The only conflict that a question for its status can meet: it is ending.
        WireError::Refused(body) => body.kind == ErrorKind::Conflict,
        WireError::Garbled(_) => false,
    }
}

async fn start(places: &Places) -> Result<Client, Failure> {
    places.prepare()?;
    let mut child = spawn(places)?;
    let deadline = Instant::now() + DEADLINE;
    let mut pause = PAUSE.0;
    loop {
        // Looked at before the socket: a daemon that ended after it had answered is still a daemon that was there.
        let ended = child.try_wait().ok().flatten();
        match reach(places).await {
            Ok(client) => return Ok(client),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error.into()),
        }
        match ended {
            Some(status) if !status.success() => return Err(ended_early(places, status)),
            // It found another one, which answers soon, or is ending and makes room.
            Some(_) => child = spawn(places)?,
            None => {}
        }
        if Instant::now() >= deadline {
            return Err(silent(places));
        }
        sleep(pause).await;
        pause = (pause * 3 / 2).min(PAUSE.1);
    }
}

/// Starts this very program as the daemon, with nothing of the terminal: it leaves the session by itself.
fn spawn(places: &Places) -> Result<Child, Failure> {
    let failed = |error: io::Error| {
        Failure::host(
            format!("cannot start the daemon: {error}"),
            "look at the state folder, or install legwork again",
        )
    };
    let program = this_program().map_err(failed)?;
    let words = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(last_words(places))
        .map_err(failed)?;
    Command::new(program)
        .args(["daemon", "start", "--foreground", "--detached"])
        // It must not hold a folder that the user may want to unmount.
        .current_dir(&places.state)
        .envs(FRUGAL)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(words)
        .spawn()
        .map_err(failed)
}

/// Makes glibc's allocator (mallopt(3)) give memory back: the daemon is at rest most of its life, and a capture of a large
/// workspace should not show in its size for the rest of it.
const FRUGAL: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "65536"),
    ("MALLOC_TRIM_THRESHOLD_", "131072"),
];

/// The file of this program, also after it was replaced by another version.
fn this_program() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let replaced = program
        .to_str()
        .and_then(|path| path.strip_suffix(" (deleted)"));
    Ok(match replaced {
        Some(path) if !program.exists() => PathBuf::from(path),
        _ => program,
    })
}

/// What the daemon said before it had a log.
fn last_words(places: &Places) -> PathBuf {
    places.state.join("daemon.err")
}

/// The daemon says why on its standard error, as every command does: one sentence and perhaps a hint.
fn ended_early(places: &Places, status: ExitStatus) -> Failure {
    let words = tail(&last_words(places));
    let mut lines = words.iter().map(String::as_str);
    match lines.next().and_then(|line| line.strip_prefix("legwork: ")) {
        Some(sentence) => {
            let hint = lines
                .next()
                .and_then(|line| line.trim().strip_prefix("hint: "))
                .unwrap_or_default();
            Failure::host(format!("the daemon does not start: {sentence}"), hint)
        }
        None => Failure::host(format!("the daemon ended at once ({status})"), said(places)),
    }
}

fn silent(places: &Places) -> Failure {
    Failure::host(
        format!("the daemon does not answer within {} s", DEADLINE.as_secs()),
        said(places),
    )
}

fn said(places: &Places) -> String {
    let log = places.state.join("daemon.log");
    for path in [last_words(places), log.clone()] {
        let lines = tail(&path);
        if !lines.is_empty() {
            return format!(
                "{} ends with\n    {}",
                printable(&path.display().to_string()),
                lines.join("\n    ")
            );
        }
    }
    format!(
        "it left no word in {}",
        printable(&log.display().to_string())
    )
}

/// The last lines of a file, safe to show; none if it cannot be read.
fn tail(path: &Path) -> Vec<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let start = file.metadata()?.len().saturating_sub(16 << 10);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let lines: Vec<String> = bytes
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
        .map(printable_bytes)
        .collect();
    lines[lines.len().saturating_sub(TAIL)..].to_vec()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn places(dir: &Path) -> Places {
        Places {
            state: dir.into(),
            runtime: dir.into(),
            cache: dir.into(),
            config: dir.into(),
        }
    }

    #[test]
    fn a_daemon_that_cannot_start_has_its_own_words_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        let failed = ExitStatus::from_raw(3 << 8);
        std::fs::write(
            last_words(&places),
            "legwork: the disk is full\n  hint: make room\n",
        )
        .unwrap();
        let failure = ended_early(&places, failed);
        assert_eq!(
            failure.message,
            "the daemon does not start: the disk is full"
        );
        assert_eq!(failure.hint, "make room");
        std::fs::write(last_words(&places), "thread main panicked\n").unwrap();
        let failure = ended_early(&places, failed);
        assert!(
            failure
                .hint
                .ends_with("ends with\n    thread main panicked"),
            "{}",
            failure.hint
        );
    }

    #[test]
    fn the_end_of_the_log_is_shown_when_there_are_no_last_words() {
        let dir = tempfile::tempdir().unwrap();
        let places = places(dir.path());
        assert!(silent(&places).hint.contains("left no word"));
        let log: String = (0..5000).map(|n| format!("line {n}\u{1b}\n")).collect();
        std::fs::write(dir.path().join("daemon.log"), log).unwrap();
        let hint = silent(&places).hint;
        assert!(
            hint.ends_with("line 4999\\x1b")
                && hint.contains("line 4992\\x1b")
                && !hint.contains("4991"),
            "{hint}"
        );
    }
}
