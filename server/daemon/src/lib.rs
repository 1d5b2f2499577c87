//! The daemon: one per user. It owns the queue, the tasks, their events and the review, and is the only one that
//! writes to a workspace, and only on a decision.
//!
//! | room | what |
//! | --- | --- |
//! | `api` | the HTTP surface on the socket |
//! | `supervisor`, `queue` | what runs, and what runs next |
//! | `job`, `output` | one attempt at a task |
//! | `review` | decisions: what they write, what is left |
//! | `store` | what survives |
//! | `model` | what the built-in agent asks |
//! | `gateway`, `recipes` | what agents of others ask, and how they are installed |
//! | `door` | the socket, kept open |
//! | `instance`, `start`, `retention`, `log` | one daemon at a time, and what the last one left |

#![forbid(unsafe_code)]

mod api;
mod clock;
mod doctor;
mod door;
mod evidence;
mod gateway;
mod instance;
mod job;
mod log;
mod model;
mod output;
mod queue;
mod recipes;
mod retention;
mod review;
mod settings;
mod start;
mod store;
mod supervisor;

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use legwork_wire::PlacesError;
use legwork_workspace::{BlobError, BlobStore};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::{mpsc, oneshot, watch},
};

pub use doctor::doctor;
pub use instance::InstanceError;
pub use model::{Models, Trial, models, try_model};
pub use recipes::{KnownAgent, agents, install_agent};
pub use settings::{Settings, SettingsError};
pub use store::StoreError;

use crate::{
    api::Api,
    door::Door,
    instance::Instance,
    job::Room,
    review::Reviewer,
    store::Store,
    supervisor::{Message, Supervisor},
};

/// How long open requests may take once everything else has ended.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why a daemon did not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The directories cannot be used.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// Another daemon is there, or nobody can tell.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Contents cannot be kept.
    #[error(transparent)]
    Blobs(#[from] BlobError),
    /// The socket cannot be made.
    #[error(
        "cannot listen at {path}: {source}; set LEGWORK_RUNTIME to a short path of a directory of your own"
    )]
    Listen {
        /// Where it was to be.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something that every process may do was not possible.
    #[error("the daemon cannot be set up: {0}; check the limits of this account")]
    System(#[from] io::Error),
}

/// Runs the daemon in this process until it is stopped or has been idle for long enough. It brings its own runtime:
/// do not call it from async code. Standard input and output are not used; the log is `<state>/daemon.log`.
///
/// # Errors
///
/// [`RunError::Instance`] when a daemon is already running for these places; the others name what is in the way.
pub fn run(settings: Settings) -> Result<(), RunError> {
    settings.places.prepare()?;
    let mut instance = Instance::take(&settings.places)?;
    log::start(&settings.places.state);
    // No directory of the user's is kept busy, and no dump of this process is written into one.
    std::env::set_current_dir("/")?;
    let none = rustix::process::Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(rustix::process::Resource::Core, none).map_err(io::Error::from)?;
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        pid = std::process::id(),
        "starting"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(serve(&settings, &mut instance));
    runtime.shutdown_timeout(FAREWELL);
    match &ended {
        Ok(()) => tracing::info!("ended"),
        Err(error) => tracing::error!(%error, "ended"),
    }
    ended
}

async fn serve(settings: &Settings, instance: &mut Instance) -> Result<(), RunError> {
    let state = settings.places.state.clone();
    let (store, notice) = Store::open(&state)?;
    if let Some(notice) = notice {
        tracing::error!("{notice}");
    }
    let blobs = BlobStore::open(state.join("blobs"))?;
    let reviewer = Arc::new(Reviewer::new(store.clone(), &state, blobs.clone()));
    let room = Arc::new(Room {
        store: store.clone(),
        state: state.clone(),
        blobs,
        reviewer: Arc::clone(&reviewer),
        cache: settings.places.cache.clone(),
        places: settings.places.clone(),
        gate: Default::default(),
    });
    let waiting = start::recover(settings, &room, &reviewer)?;

    let (clients, connected) = watch::channel(0);
    let (end, ending) = watch::channel(false);
    let (messages, inbox) = mpsc::channel(64);
    let router = api::router(Api {
        store,
        supervisor: messages.clone(),
        reviewer,
        places: settings.places.clone(),
        state,
        started: clock::now(),
        concurrency: settings.concurrency.get(),
        ending: ending.clone(),
    });
    let mut door = Door::new(settings.places.clone(), router, clients, ending);
    door.open().map_err(|source| RunError::Listen {
        path: settings.places.socket(),
        source,
    })?;
    tokio::spawn(obey_signals(messages.clone())?);

    let supervisor = Supervisor::new(room, settings.concurrency.get(), settings.memory, waiting);
    tokio::select! {
        () = supervisor.run(inbox, connected, settings.idle_exit) => {}
        never = door.keep(instance, &messages) => match never {},
    }
    end.send_replace(true);
    match tokio::time::timeout(FAREWELL, door.close()).await {
        Ok(served) => served?,
        Err(_) => tracing::warn!("a request was still open and was cut off"),
    }
    Ok(())
}

/// Asked to end from outside, running tasks fail as interrupted. A terminal that is closed is no reason to end.
fn obey_signals(messages: mpsc::Sender<Message>) -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("asked to end by SIGTERM"),
                _ = interrupt.recv() => tracing::info!("asked to end by SIGINT"),
                _ = hang_up.recv() => continue,
            }
            let (reply, _nobody) = oneshot::channel();
            drop(messages.send(Message::Stop { force: true, reply }).await);
        }
    })
}
