//! The socket by which clients come in, kept where they look for it. A system takes a user's runtime directory away when
//! the last session ends, and the daemon may have tasks to go on with.

use std::{convert::Infallible, io, os::unix::fs::MetadataExt as _, path::Path, time::Duration};

use axum::Router;
use legwork_wire::Places;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinSet,
};

use crate::{api::Guarded, instance::Instance, supervisor::Message};

/// How often it is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// Lets clients in.
#[derive(Debug)]
pub(crate) struct Door {
    places: Places,
    router: Router,
    clients: watch::Sender<usize>,
    ending: watch::Receiver<bool>,
    /// Which file the socket is.
    socket: Option<(u64, u64)>,
    /// One for each socket there was: connections through an older one go on.
    servers: JoinSet<io::Result<()>>,
}

impl Door {
    pub(crate) fn new(
        places: Places,
        router: Router,
        clients: watch::Sender<usize>,
        ending: watch::Receiver<bool>,
    ) -> Self {
        Self {
            places,
            router,
            clients,
            ending,
            socket: None,
            servers: JoinSet::new(),
        }
    }

    /// Makes the socket and answers what comes through it, until the daemon is ending.
    ///
    /// # Errors
    ///
    /// As [`Guarded::bind`].
    pub(crate) fn open(&mut self) -> io::Result<()> {
        let path = self.places.socket();
        let socket = Guarded::bind(&path, self.clients.clone())?;
        self.socket = identity(&path);
        let mut told = self.ending.clone();
        let farewell = async move { drop(told.wait_for(|ending| *ending).await) };
        let server = axum::serve(socket, self.router.clone()).with_graceful_shutdown(farewell);
        self.servers.spawn(server.into_future());
        Ok(())
    }

    /// Opens it anew whenever it is gone; has the daemon end when its state is gone, since nothing it does can be kept.
    pub(crate) async fn keep(
        &mut self,
        instance: &mut Instance,
        messages: &mpsc::Sender<Message>,
    ) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            if !instance.has_state() {
                tracing::error!("the state directory is gone: ending");
                let (reply, _nobody) = oneshot::channel();
                drop(messages.send(Message::Stop { force: true, reply }).await);
                return std::future::pending().await;
            }
            if self.socket.is_some() && identity(&self.places.socket()) == self.socket {
                continue;
            }
            match instance
                .move_in()
                .map_err(io::Error::other)
                .and_then(|()| self.open())
            {
                Ok(()) => tracing::info!("the socket was gone, and is there again"),
                Err(error) => tracing::warn!(%error, "the socket is gone"),
            }
        }
    }

    /// Waits until everybody was answered, once the daemon is ending.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) async fn close(mut self) -> io::Result<()> {
        while let Some(server) = self.servers.join_next().await {
            match server {
                Ok(served) => served?,
                Err(error) => tracing::error!(%error, "a server was lost"),
            }
        }
        Ok(())
    }
}

/// Which file is at a path.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
