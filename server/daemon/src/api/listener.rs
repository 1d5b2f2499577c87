//! The socket: in a directory of the user's own, for the user's own processes.

use std::{
    io,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixListener, UnixStream},
    sync::watch,
};

/// How long to wait when the system has no room for a connection.
const BREATH: Duration = Duration::from_secs(1);

/// Lets in who runs as this user, and counts them.
#[derive(Debug)]
pub(crate) struct Guarded {
    listener: UnixListener,
    clients: watch::Sender<usize>,
}

impl Guarded {
    /// Makes the socket. `clients` follows the number of open connections.
    ///
    /// # Errors
    ///
    /// The system's, when there is something at `path` or it is too long for a socket.
    pub(crate) fn bind(path: &Path, clients: watch::Sender<usize>) -> io::Result<Self> {
        // The directory is closed to others, so nobody can be faster than the second line.
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, clients })
    }
}

impl axum::serve::Listener for Guarded {
    type Io = Client;
    type Addr = ();

    async fn accept(&mut self) -> (Client, ()) {
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(BREATH).await;
                    continue;
                }
            };
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == rustix::process::geteuid().as_raw() => {
                    self.clients.send_modify(|count| *count += 1);
                    return (
                        Client {
                            stream,
                            clients: self.clients.clone(),
                        },
                        (),
                    );
                }
                Ok(peer) => tracing::warn!(
                    uid = peer.uid(),
                    "a process of another user was turned away"
                ),
                Err(error) => {
                    tracing::warn!(%error, "a process that does not say who it is was turned away");
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection; it is counted while it lives.
#[derive(Debug)]
pub(crate) struct Client {
    stream: UnixStream,
    clients: watch::Sender<usize>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.clients.send_modify(|count| *count -= 1);
    }
}

impl AsyncRead for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Client {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
