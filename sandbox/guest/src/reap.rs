//! The one reaper. PID 1 inherits every orphan; whoever waits for a program of its own must not lose its status to
//! somebody else's wait, so only this file waits.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use rustix::process::{WaitOptions, wait};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
}

/// Knows who waits for which process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaper {
    waiting: Rc<RefCell<BTreeMap<i32, oneshot::Sender<Ended>>>>,
}

impl Reaper {
    /// Starts reaping.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let reaper = Self::default();
        let mut children = signal(SignalKind::child())?;
        let this = reaper.clone();
        tokio::task::spawn_local(async move {
            while children.recv().await.is_some() {
                this.reap();
            }
        });
        Ok(reaper)
    }

    /// Tells when this child ends. Must be called before the next `await` after it was started, so that its end cannot
    /// be reaped unheard.
    pub(crate) fn watch(&self, pid: i32) -> oneshot::Receiver<Ended> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().insert(pid, sender);
        receiver
    }

    fn reap(&self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let ended = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Ended::Exited(code),
                (_, Some(signal)) => Ended::Signaled(signal),
                _ => continue,
            };
            if let Some(waiter) = self
                .waiting
                .borrow_mut()
                .remove(&pid.as_raw_nonzero().get())
            {
                // Who waited may have been dropped with its substream.
                let _heard = waiter.send(ended);
            }
        }
    }
}
