//! Runs a program for the host: starts a process in name spaces of its own that starts it ([`crate::within`]), and
//! passes on what it writes.

use std::{cell::Cell, path::Path, process::Stdio, rc::Rc, time::Duration};

use legwork_link::{Exec, ExecEnd, ExecInput, ExecOutput, ExecStatus, LinkError, Substream, frame};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf},
    process::{ChildStdin, Command},
    sync::Mutex,
    time::sleep,
};

use crate::link::Workspace;

/// What every answer says is free.
pub(crate) const DISK_FREE: u64 = 1 << 30;

/// The first frame that the process in its name spaces gets; [`ExecInput`] frames follow.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The workspace as it is unpacked.
    pub(crate) tree: Vec<u8>,
    /// Where it is to be seen.
    pub(crate) mount: Vec<u8>,
    /// Takes an [`ExecStatus`] as a frame.
    pub(crate) result: Vec<u8>,
    /// What to run.
    pub(crate) exec: Exec,
}

/// Runs it and says how it went. A substream that the host closes ends the program.
pub(crate) async fn exec(
    workspace: &Workspace,
    request: Exec,
    substream: Substream,
) -> Result<(), LinkError> {
    use std::os::unix::ffi::OsStrExt as _;
    let (input, output) = tokio::io::split(substream);
    let sink = Rc::new(Sink {
        stream: Mutex::new(output),
        left: request.output_limit.into(),
        dropped: 0.into(),
    });
    let timeout = Duration::from_millis(request.timeout_ms);
    let result =
        tempfile::NamedTempFile::new_in(workspace.base.tree().parent().unwrap_or(Path::new("/")))?;
    // The program's own environment is in the order.
    let mut child = Command::new("unshare")
        .args(["--mount", "--pid", "--fork", "--"])
        .arg(std::env::current_exe()?)
        .arg("within")
        .env_clear()
        .env(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let order = Order {
        tree: workspace.base.tree().as_os_str().as_bytes().to_vec(),
        mount: workspace.mount.as_os_str().as_bytes().to_vec(),
        result: result.path().as_os_str().as_bytes().to_vec(),
        exec: request,
    };
    let gone = || LinkError::Io(std::io::ErrorKind::BrokenPipe.into());
    let mut control = child.stdin.take().ok_or_else(gone)?;
    frame::write(&mut control, &order).await?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let writers = [
        tokio::task::spawn_local(pump(stdout, Rc::clone(&sink), ExecOutput::Stdout)),
        tokio::task::spawn_local(pump(stderr, Rc::clone(&sink), ExecOutput::Stderr)),
    ];
    // Whatever comes first, the pipe to the other process is closed then, and everything in its name space ends.
    let timed_out = tokio::select! {
        ended = child.wait() => ended.map(|_| false)?,
        () = sleep(timeout) => true,
        () = relay(input, control) => return Ok(()),
    };
    if timed_out {
        child.wait().await?;
    }
    for writer in writers {
        // A writer does not panic, and nobody aborts it.
        let _ended = writer.await;
    }
    let said = std::fs::read(result.path())?;
    let status = if timed_out {
        ExecStatus::TimedOut
    } else if let Some(bytes) = said.get(4..) {
        frame::decode(bytes)?
    } else {
        ExecStatus::NotStarted("its name spaces could not be made: the tests run as root".into())
    };
    sink.end(status).await
}

/// Ends only when the host closes the substream.
async fn relay(mut input: ReadHalf<Substream>, mut control: ChildStdin) {
    while let Ok(Some(message)) = frame::read::<ExecInput>(&mut input).await {
        if frame::write(&mut control, &message).await.is_err() {
            // It has ended, and that will be noticed.
            std::future::pending::<()>().await;
        }
    }
}

async fn pump(
    from: Option<impl AsyncRead + Unpin>,
    sink: Rc<Sink>,
    wrap: fn(Vec<u8>) -> ExecOutput,
) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; frame::MAX_DATA];
    while let Ok(count) = from.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        let left = sink.left.get();
        let kept = usize::try_from(left).unwrap_or(usize::MAX).min(count);
        sink.left.set(left - kept as u64);
        sink.dropped.set(sink.dropped.get() + (count - kept) as u64);
        if kept > 0 && sink.send(&wrap(buffer[..kept].to_vec())).await.is_err() {
            return;
        }
    }
}

/// Where a program's output goes.
struct Sink {
    stream: Mutex<WriteHalf<Substream>>,
    left: Cell<u64>,
    dropped: Cell<u64>,
}

impl Sink {
    async fn send(&self, message: &ExecOutput) -> Result<(), LinkError> {
        let mut stream = self.stream.lock().await;
        frame::write(&mut *stream, message).await?;
        stream.flush().await?;
        Ok(())
    }

    async fn end(&self, status: ExecStatus) -> Result<(), LinkError> {
        let end = ExecEnd {
            status,
            peak_memory: 0,
            cpu_micros: 0,
            dropped: self.dropped.get(),
            disk_free: DISK_FREE,
        };
        self.send(&ExecOutput::End(end)).await?;
        self.stream.lock().await.shutdown().await?;
        Ok(())
    }
}
