//! The daemon as this server sees it: it may be gone, come back, be older or newer.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures::future::BoxFuture;
use legwork_wire::{Client, ErrorKind, WireError};
use tokio::sync::Notify;

use crate::failure::Failure;

/// Finds the daemon, and starts it when there is none and `start` is set. The sentence says why not.
pub type Connect = Arc<dyn Fn(bool) -> BoxFuture<'static, Result<Client, String>> + Send + Sync>;

/// Speaks to it.
#[derive(Clone)]
pub(crate) struct Daemon {
    connect: Connect,
    /// One that answered; each call has a connection of its own, so that this is only a name.
    known: Arc<Mutex<Option<Client>>>,
    found: Arc<Notify>,
}

impl fmt::Debug for Daemon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Daemon").finish_non_exhaustive()
    }
}

impl Daemon {
    pub(crate) fn new(connect: Connect) -> Self {
        Self {
            connect,
            known: Arc::default(),
            found: Arc::default(),
        }
    }

    /// A daemon that answers; it is started for this if there is none.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        let client = (self.connect)(true).await.map_err(Failure::new)?;
        self.remember(Some(client.clone()));
        self.found.notify_one();
        Ok(client)
    }

    /// A daemon that runs, if one did when it was last spoken to.
    pub(crate) async fn running(&self) -> Option<Client> {
        let known = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if known.is_some() {
            return known;
        }
        let client = (self.connect)(false).await.ok()?;
        self.remember(Some(client.clone()));
        Some(client)
    }

    /// It went away.
    pub(crate) fn lost(&self) {
        self.remember(None);
    }

    /// Waits until [`Daemon::client`] gave one.
    pub(crate) async fn found(&self) {
        self.found.notified().await;
    }

    fn remember(&self, client: Option<Client>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }
}

/// Whether the daemon does not know what is asked: it is older than this server.
pub(crate) fn is_older(error: &WireError) -> bool {
    matches!(error, WireError::Refused(body) if body.kind == ErrorKind::Generation)
}
