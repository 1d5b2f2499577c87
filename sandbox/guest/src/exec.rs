//! Runs a program: starts it in its own control group, streams what it writes, ends it in time.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    path::Path,
    process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    rc::Rc,
    time::Duration,
};

use legwork_link::{Exec, ExecEnd, ExecInput, ExecOutput, ExecStatus, LinkError, Substream, frame};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf},
    net::unix::pipe,
    sync::{Mutex, oneshot},
    time::{sleep, timeout},
};

use crate::{
    cgroup::Cgroup,
    reap::{Ended, Reaper},
    serve::Guest,
};

/// How long the rest of a program's output is waited for after its end.
const DRAIN: Duration = Duration::from_secs(2);

/// Runs it and says how it went. A substream that the host closes ends the program.
pub(crate) async fn exec(
    guest: &Guest,
    request: Exec,
    substream: Substream,
) -> Result<(), LinkError> {
    let (input, output) = tokio::io::split(substream);
    let output = Rc::new(Sink {
        stream: Mutex::new(output),
        left: request.output_limit.into(),
        dropped: 0.into(),
    });
    let group = match Cgroup::create() {
        Ok(group) => group,
        Err(error) => {
            return output
                .end(
                    guest,
                    not_started(format!("no control group: {error}")),
                    None,
                )
                .await;
        }
    };
    let mut child = match start(&request, &group, &guest.reaper) {
        Ok(child) => child,
        Err(reason) => return output.end(guest, not_started(reason), None).await,
    };
    let writers = [
        tokio::task::spawn_local(pump(child.stdout, Rc::clone(&output), ExecOutput::Stdout)),
        tokio::task::spawn_local(pump(child.stderr, Rc::clone(&output), ExecOutput::Stderr)),
    ];
    let status = tokio::select! {
        ended = &mut child.ended => match ended {
            Ok(Ended::Exited(code)) => ExecStatus::Exited(code),
            Ok(Ended::Signaled(signal)) => ExecStatus::Signaled(signal),
            Err(_) => not_started("its end was lost".into()),
        },
        () = sleep(Duration::from_millis(request.timeout_ms)) => ExecStatus::TimedOut,
        // The host gave it up: nobody is left to be told.
        () = obey(input, child.stdin, child.pid) => return Ok(()),
    };
    // What it left running in the background ends with it; that also closes the pipes.
    group.kill();
    for mut writer in writers {
        if timeout(DRAIN, &mut writer).await.is_err() {
            writer.abort();
        }
    }
    let killed = !matches!(status, ExecStatus::Exited(0) | ExecStatus::TimedOut);
    let status = if killed && group.usage().out_of_memory {
        ExecStatus::OutOfMemory
    } else {
        status
    };
    output.end(guest, status, Some(&group)).await
}

struct Child {
    pid: Pid,
    ended: oneshot::Receiver<Ended>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

fn not_started(reason: String) -> ExecStatus {
    ExecStatus::NotStarted(reason)
}

fn start(request: &Exec, group: &Cgroup, reaper: &Reaper) -> Result<Child, String> {
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let Some((program, arguments)) = request.argv.split_first() else {
        return Err("no program is named".into());
    };
    let directory = Path::new(OsStr::from_bytes(&request.directory));
    if !directory.is_dir() {
        return Err(format!("there is no directory {}", directory.display()));
    }
    let mut command = Command::new(text(program));
    command
        .args(arguments.iter().map(|argument| text(argument)))
        .env_clear()
        .envs(
            request
                .environment
                .iter()
                .map(|(name, value)| (text(name), text(value))),
        )
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let started = group
        .within(|| command.spawn())
        .map_err(|error| format!("no control group: {error}"))?;
    let mut child = started.map_err(|error| explain(&text(program), directory, &error))?;
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or("it has no process id")?;
    let ended = reaper.watch(pid.as_raw_nonzero().get());
    Ok(Child {
        pid,
        ended,
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
    })
}

/// The system says "no such file" for a missing interpreter too.
fn explain(program: &OsString, directory: &Path, error: &io::Error) -> String {
    let shown = program.display();
    let exists = program.as_bytes().contains(&b'/') && directory.join(program).exists();
    match error.kind() {
        io::ErrorKind::NotFound if exists => {
            format!("{shown} is there, but not the interpreter or loader it asks for")
        }
        io::ErrorKind::NotFound => format!("there is no program `{shown}` in the guest"),
        io::ErrorKind::PermissionDenied => format!("{shown} may not be executed"),
        _ => format!("{shown} cannot be executed: {error}"),
    }
}

/// Hands the host's input to the program. Ends only when the host closes the substream.
async fn obey(mut input: ReadHalf<Substream>, stdin: Option<ChildStdin>, pid: Pid) {
    let mut stdin = stdin.and_then(|stdin| pipe::Sender::from_owned_fd(stdin.into()).ok());
    loop {
        match frame::read::<ExecInput>(&mut input).await {
            Ok(Some(ExecInput::Stdin(bytes))) => {
                if let Some(pipe) = &mut stdin
                    && pipe.write_all(&bytes).await.is_err()
                {
                    stdin = None;
                }
            }
            Ok(Some(ExecInput::StdinEnd)) => stdin = None,
            Ok(Some(ExecInput::Signal(number))) => {
                if let Some(signal) = Signal::from_named_raw(number) {
                    // It may have ended just now.
                    let _gone = kill_process_group(pid, signal);
                }
            }
            Ok(None) | Err(_) => return,
        }
    }
}

async fn pump(
    from: Option<impl Into<std::os::fd::OwnedFd>>,
    sink: Rc<Sink>,
    wrap: fn(Vec<u8>) -> ExecOutput,
) {
    let Some(from) = from else { return };
    let Ok(pipe) = pipe::Receiver::from_owned_fd(from.into()) else {
        return;
    };
    sink.copy(pipe, wrap).await;
}

/// Where a program's output goes.
struct Sink {
    stream: Mutex<WriteHalf<Substream>>,
    left: std::cell::Cell<u64>,
    dropped: std::cell::Cell<u64>,
}

impl Sink {
    async fn copy(&self, mut from: impl AsyncRead + Unpin, wrap: fn(Vec<u8>) -> ExecOutput) {
        let mut buffer = vec![0; frame::MAX_DATA];
        while let Ok(count) = from.read(&mut buffer).await {
            if count == 0 {
                return;
            }
            let left = self.left.get();
            let kept = usize::try_from(left).unwrap_or(usize::MAX).min(count);
            self.left.set(left - kept as u64);
            self.dropped.set(self.dropped.get() + (count - kept) as u64);
            if kept > 0 && self.send(&wrap(buffer[..kept].to_vec())).await.is_err() {
                return;
            }
        }
    }

    async fn send(&self, message: &ExecOutput) -> Result<(), LinkError> {
        let mut stream = self.stream.lock().await;
        frame::write(&mut *stream, message).await?;
        stream.flush().await?;
        Ok(())
    }

    async fn end(
        &self,
        guest: &Guest,
        status: ExecStatus,
        group: Option<&Cgroup>,
    ) -> Result<(), LinkError> {
        let usage = group.map(Cgroup::usage).unwrap_or_default();
        let end = ExecEnd {
            status,
            peak_memory: usage.peak_memory,
            cpu_micros: usage.cpu_micros,
            dropped: self.dropped.get(),
            disk_free: guest.disk_free(),
        };
        self.send(&ExecOutput::End(end)).await?;
        self.stream.lock().await.shutdown().await?;
        Ok(())
    }
}
