//! The first process of a program's own name spaces: puts the unpacked workspace where the program expects it, starts
//! the program, and ends when it ends or when nobody listens any more. Everything that the program started ends with it.

use std::{
    ffi::OsStr,
    fs, io,
    os::{fd::AsFd as _, unix::ffi::OsStrExt as _},
    path::Path,
    process::{ExitStatus, Stdio},
};

use anyhow::Context as _;
use legwork_link::{Exec, ExecInput, ExecStatus, frame};
use rustix::{
    mount::{MountFlags, mount, mount_bind},
    process::{Pid, Signal, kill_process_group},
};
use tokio::{
    io::AsyncWriteExt as _,
    net::unix::pipe,
    process::{Child, ChildStdin, Command},
};

use crate::program::Order;

/// Obeys the frames on standard input.
pub(crate) fn run() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let stdin = std::io::stdin().as_fd().try_clone_to_owned()?;
        let mut control = pipe::Receiver::from_owned_fd(stdin)?;
        let order: Order = frame::read(&mut control).await?.context("no order")?;
        let status = match start(&order) {
            Ok(child) => finish(child, &mut control).await,
            Err(reason) => Some(ExecStatus::NotStarted(reason)),
        };
        if let Some(status) = status {
            fs::write(OsStr::from_bytes(&order.result), frame::encode(&status)?)?;
        }
        Ok(())
    })
}

fn start(order: &Order) -> Result<Child, String> {
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    mount_bind(text(&order.tree), text(&order.mount))
        .map_err(|errno| format!("the workspace cannot be put into its place: {errno}"))?;
    mount("proc", "/proc", "proc", MountFlags::empty(), None)
        .map_err(|errno| format!("/proc cannot be made: {errno}"))?;
    let Exec {
        argv,
        environment,
        directory,
        ..
    } = &order.exec;
    let (program, arguments) = argv.split_first().ok_or("no program is named")?;
    let directory = text(directory);
    if !Path::new(&directory).is_dir() {
        return Err(format!("there is no directory {}", directory.display()));
    }
    let variables = environment
        .iter()
        .map(|(name, value)| (text(name), text(value)));
    Command::new(text(program))
        .args(arguments.iter().map(|argument| text(argument)))
        .env_clear()
        .envs(variables)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| {
            let shown = text(program);
            let shown = shown.display();
            match error.kind() {
                io::ErrorKind::NotFound => format!("there is no program `{shown}` in the guest"),
                io::ErrorKind::PermissionDenied => format!("{shown} may not be executed"),
                _ => format!("{shown} cannot be executed: {error}"),
            }
        })
}

/// `None` when nobody listens any more.
async fn finish(mut child: Child, control: &mut pipe::Receiver) -> Option<ExecStatus> {
    let stdin = child.stdin.take();
    let pid = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    tokio::select! {
        ended = child.wait() => Some(ended.map_or_else(|error| ExecStatus::NotStarted(error.to_string()), status)),
        () = obey(control, stdin, pid) => None,
    }
}

fn status(ended: ExitStatus) -> ExecStatus {
    use std::os::unix::process::ExitStatusExt as _;
    match ended.code() {
        Some(code) => ExecStatus::Exited(code),
        None => ExecStatus::Signaled(ended.signal().unwrap_or(0)),
    }
}

/// Ends only when the other end is closed.
async fn obey(control: &mut pipe::Receiver, mut stdin: Option<ChildStdin>, pid: Option<Pid>) {
    while let Ok(Some(message)) = frame::read::<ExecInput>(control).await {
        match message {
            ExecInput::Stdin(bytes) => {
                if let Some(pipe) = &mut stdin
                    && pipe.write_all(&bytes).await.is_err()
                {
                    stdin = None;
                }
            }
            ExecInput::StdinEnd => stdin = None,
            ExecInput::Signal(number) => {
                if let (Some(pid), Some(signal)) = (pid, Signal::from_named_raw(number)) {
                    // It may have ended just now.
                    let _gone = kill_process_group(pid, signal);
                }
            }
        }
    }
}
