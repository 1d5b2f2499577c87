//! What this process gives up before a guest exists.
//!
//! Here: it dies with its supervisor, can gain no privilege, leaves no core dump and holds nothing it inherited but the
//! three standard streams, not even an environment. Not here yet: what it may still open and call.

use std::fs::File;
use std::os::fd::RawFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Resource, Rlimit, Signal};

/// Ties the life of this process (and of the program it becomes) to `supervisor`.
///
/// The kernel sends the signal when the *thread* that started this process ends, so the supervisor must start it from
/// a thread that lives as long as the machine may.
pub(crate) fn die_with(supervisor: u32) -> Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .context("cannot ask the kernel to end this machine with its supervisor")?;
    // Asked after the signal is armed: a supervisor that died before that is seen here, one that dies later sends it.
    let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    if i64::from(parent) != i64::from(supervisor) {
        bail!(
            "the supervisor (process {supervisor}) is gone, process {parent} is the parent now: not starting the machine"
        );
    }
    Ok(())
}

/// Gives up privileges, core dumps and inherited descriptors.
pub(crate) fn drop_inheritance() -> Result<()> {
    rustix::thread::set_no_new_privs(true).context("cannot set no_new_privs")?;
    let nothing = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, nothing).context("cannot forbid core dumps")?;
    for descriptor in
        inherited().context("cannot list the inherited file descriptors in /proc/self/fd")?
    {
        // EBADF is the descriptor that listed the others.
        nix::unistd::close(descriptor).ok();
    }
    Ok(())
}

/// Makes sure that this process has no environment, by starting its program anew without one when it has.
///
/// Removing variables would leave them in memory, where a guest that breaks out reads them.
pub(crate) fn drop_environment() -> Result<()> {
    if std::env::vars_os().next().is_none() {
        return Ok(());
    }
    let error = Command::new("/proc/self/exe")
        .args(std::env::args_os().skip(1))
        .env_clear()
        .exec();
    Err(error).context("cannot start anew without an environment")
}

/// Refuses a standard input that cannot be the link.
pub(crate) fn require_stream_socket() -> Result<()> {
    let kind = rustix::net::sockopt::socket_type(std::io::stdin())
        .context("standard input must be the link, a connected Unix stream socket")?;
    if kind != rustix::net::SocketType::STREAM {
        bail!(
            "standard input must be the link, a connected Unix stream socket, and is a socket of another type"
        );
    }
    Ok(())
}

/// Replaces standard input by `/dev/null`.
pub(crate) fn silence_stdin() -> Result<()> {
    let null = File::open("/dev/null").context("cannot open /dev/null")?;
    rustix::stdio::dup2_stdin(&null).context("cannot put /dev/null in the place of standard input")
}

/// Open descriptors above the standard streams; at this point no value of this program owns one.
fn inherited() -> std::io::Result<Vec<RawFd>> {
    let mut descriptors = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.parse::<RawFd>().ok());
        descriptors.extend(number.filter(|number| *number > 2));
    }
    Ok(descriptors)
}
