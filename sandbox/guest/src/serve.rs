//! Greets the host and answers its requests until it hangs up.

use std::{
    cell::{OnceCell, RefCell},
    os::fd::AsFd as _,
    rc::Rc,
    time::Instant,
};

use anyhow::Context as _;
use legwork_link::{Configure, Configured, LinkError, Open, Stats, Substream, frame, hello, mux};
use rustix::time::{ClockId, Timespec, clock_settime};
use tokio::io::AsyncWriteExt as _;

use crate::{
    boot, cgroup, collect, exec, forward::Forwarder, lay, mounts, port::Port, reap::Reaper, watch,
};

/// What requests need.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) reaper: Reaper,
    layers: RefCell<Option<Rc<mounts::Layers>>>,
    forwarder: OnceCell<Forwarder>,
}

impl Guest {
    /// Bytes that are free on the scratch disk; 0 before it is mounted.
    pub(crate) fn disk_free(&self) -> u64 {
        let layers = self.layers.borrow();
        let free = layers
            .as_ref()
            .and_then(|layers| rustix::fs::fstatvfs(&layers.scratch).ok());
        free.map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// Runs until the host closes the link.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let mut port = Port::open().await?;
    hello::ring(&mut port)
        .await
        .context("cannot greet the host")?;
    hello::expect(&mut port)
        .await
        .context("the host did not greet back")?;
    let guest = Rc::new(Guest {
        reaper: Reaper::start()?,
        layers: RefCell::default(),
        forwarder: OnceCell::new(),
    });
    let (dialer, pump) = mux::server(port, |substream| {
        let guest = Rc::clone(&guest);
        tokio::task::spawn_local(async move {
            if let Err(error) = answer(&guest, substream).await {
                boot::complain(&format!("a request failed: {error}"));
            }
        });
    });
    // It holds the dialer, so the conversation ends when the host ends it.
    let _ours = guest.forwarder.set(Forwarder::new(dialer));
    pump.await?;
    Ok(())
}

async fn answer(guest: &Guest, mut substream: Substream) -> Result<(), LinkError> {
    let Some(open) = frame::read::<Open>(&mut substream).await? else {
        return Ok(());
    };
    match open {
        Open::Configure(request) => {
            let configured = configure(guest, &request).map_err(|error| format!("{error:#}"));
            reply(&mut substream, &configured).await
        }
        Open::Exec(request) => exec::exec(guest, request, substream).await,
        Open::Collect => {
            let layers = guest.layers.borrow().clone();
            match layers {
                Some(layers) => collect::collect(layers.workspace.as_fd(), substream).await,
                None => Err(LinkError::Malformed("collect before configure".into())),
            }
        }
        Open::Watch => {
            let layers = guest.layers.borrow().clone();
            match layers {
                Some(layers) => watch::watch(layers.workspace.as_fd(), substream).await,
                None => Err(LinkError::Malformed("watch before configure".into())),
            }
        }
        Open::Lay => {
            let layers = guest.layers.borrow().clone();
            match layers {
                Some(layers) => lay::lay(layers.merged.as_fd(), substream).await,
                None => Err(LinkError::Malformed("lay before configure".into())),
            }
        }
        Open::Stats => {
            let stats = Stats {
                memory: cgroup::memory("MemTotal:").unwrap_or(0),
                memory_available: cgroup::memory("MemAvailable:").unwrap_or(0),
                disk_free: guest.disk_free(),
            };
            reply(&mut substream, &stats).await
        }
        Open::SetClock(nanos) => {
            let set = set_clock(nanos).map_err(|error| format!("{error:#}"));
            reply(&mut substream, &set).await
        }
    }
}

async fn reply<T: serde::Serialize>(
    substream: &mut Substream,
    message: &T,
) -> Result<(), LinkError> {
    frame::write(substream, message).await?;
    substream.shutdown().await?;
    Ok(())
}

fn configure(guest: &Guest, request: &Configure) -> anyhow::Result<Configured> {
    anyhow::ensure!(
        guest.layers.borrow().is_none(),
        "the guest is configured already"
    );
    let start = Instant::now();
    set_clock(request.clock)?;
    // Mixed in, not credited: the kernel's own sources decide when its pool is ready.
    std::fs::write("/dev/urandom", request.seed).context("cannot feed the random pool")?;
    let layers = mounts::enter(&request.workspace, request.tools.as_deref())?;
    guest.layers.replace(Some(Rc::new(layers)));
    // What is made from here on is the work of programs, or laid as an earlier program left it.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(request.umask & 0o777));
    cgroup::delegate();
    if let Some(forwarder) = guest.forwarder.get() {
        forwarder.listen(&request.forwards)?;
    }
    let kernel = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    Ok(Configured {
        kernel,
        micros: start.elapsed().as_micros().try_into().unwrap_or(u64::MAX),
    })
}

fn set_clock(nanos: u64) -> anyhow::Result<()> {
    let second = 1_000_000_000;
    let time = Timespec {
        tv_sec: (nanos / second).try_into()?,
        tv_nsec: (nanos % second).try_into()?,
    };
    clock_settime(ClockId::Realtime, time).context("cannot set the clock")
}
