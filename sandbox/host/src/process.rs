//! The process of a virtual machine: started so that it dies with us, killed for sure, waited for once.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::ExitStatusExt as _},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{OnceLock, mpsc},
    thread,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::{
    net::unix::pipe,
    sync::{oneshot, watch},
};

use crate::tail::Tail;

/// A running, or ended, machine process. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    pidfd: OwnedFd,
    exit: watch::Receiver<Option<ExitStatus>>,
    console: Tail,
    words: Tail,
}

impl Process {
    /// Starts `command` with `link` as its standard input and both outputs followed.
    pub(crate) async fn spawn(mut command: Command, link: OwnedFd) -> io::Result<Self> {
        command
            .stdin(Stdio::from(link))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_for_life(command).await?;
        let pid = i32::try_from(child.id())
            .ok()
            .and_then(Pid::from_raw)
            .ok_or(io::ErrorKind::InvalidData)?;
        // Nobody has waited for it yet, so the number still means this process.
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        let (console, words) = (Tail::default(), Tail::default());
        if let Some(stdout) = child.stdout.take() {
            tokio::spawn(
                console
                    .clone()
                    .follow(pipe::Receiver::from_owned_fd(stdout.into())?),
            );
        }
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(
                words
                    .clone()
                    .follow(pipe::Receiver::from_owned_fd(stderr.into())?),
            );
        }
        let (ended, exit) = watch::channel(None);
        thread::Builder::new()
            .name("vm-wait".into())
            .stack_size(128 * 1024)
            .spawn(move || {
                if let Ok(status) = child.wait() {
                    ended.send_replace(Some(status));
                }
            })?;
        Ok(Self {
            pidfd,
            exit,
            console,
            words,
        })
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) -> String {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await.map(|status| *status) {
            Ok(Some(status)) => told(status),
            _ => "its end was lost".into(),
        }
    }

    /// Kills it and waits until it is gone.
    pub(crate) async fn kill(&self) {
        self.signal();
        self.ended().await;
    }

    /// The end of the guest's console and of the process's own words.
    pub(crate) fn last_words(&self) -> String {
        let (words, console) = (self.words.last_lines(4), self.console.last_lines(4));
        [words, console]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" | ")
    }

    fn signal(&self) {
        // It may have ended by itself.
        let _gone = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal();
    }
}

/// How a process ended, and what that means where only we can know.
fn told(status: ExitStatus) -> String {
    if status.signal() == Some(Signal::SYS.as_raw()) {
        format!("{status}: its jail ended it, for a system call that no machine makes")
    } else {
        status.to_string()
    }
}

type Order = (Command, oneshot::Sender<io::Result<Child>>);

/// Spawns from a thread that lives as long as this process. The machine asks the kernel to be killed when its parent
/// *thread* ends, and the threads of an async runtime come and go.
async fn spawn_for_life(command: Command) -> io::Result<Child> {
    static ORDERS: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    let orders = match ORDERS.get() {
        Some(orders) => orders,
        None => {
            let (orders, inbox) = mpsc::channel::<Order>();
            // Two first callers may both come here; the thread of the one that is not kept ends at once, unused.
            if ORDERS.set(orders).is_ok() {
                thread::Builder::new()
                    .name("vm-spawn".into())
                    .spawn(move || {
                        for (mut command, reply) in inbox {
                            // If nobody waits for it any more the child is dropped; the machine then ends for want of a
                            // link.
                            let _asked = reply.send(command.spawn());
                        }
                    })?;
            }
            ORDERS.get().ok_or(io::ErrorKind::NotFound)?
        }
    };
    let (reply, spawned) = oneshot::channel();
    orders
        .send((command, reply))
        .map_err(|_| io::ErrorKind::BrokenPipe)?;
    spawned.await.map_err(|_| io::ErrorKind::BrokenPipe)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_by_the_jail_is_told_as_one() {
        assert!(told(ExitStatus::from_raw(31)).contains("its jail ended it"));
        assert!(!told(ExitStatus::from_raw(9)).contains("jail"));
        assert!(!told(ExitStatus::from_raw(31 << 8)).contains("jail"));
    }
}
