//! Many substreams over the one stream: yamux, driven by one task.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, oneshot},
};
use tokio_util::compat::{Compat, FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};

use crate::LinkError;

/// One substream.
pub type Substream = Compat<yamux::Stream>;

/// Most substreams at once.
const MAX_SUBSTREAMS: usize = 64;

/// Opens substreams. The connection ends when the last one is dropped.
#[derive(Clone, Debug)]
pub struct Dialer {
    orders: mpsc::Sender<oneshot::Sender<Result<Substream, LinkError>>>,
}

impl Dialer {
    /// Opens a substream.
    ///
    /// # Errors
    ///
    /// [`LinkError::Io`] when the connection is gone.
    pub async fn open(&self) -> Result<Substream, LinkError> {
        let (reply, answer) = oneshot::channel();
        let gone = || LinkError::Io(std::io::ErrorKind::BrokenPipe.into());
        self.orders.send(reply).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// The host's end. Returns what opens substreams, and the future that moves all bytes; run it as a task. It ends when
/// the stream breaks or the dialer is dropped. Substreams that the guest opens are reset.
pub fn client<T>(stream: T) -> (Dialer, impl Future<Output = Result<(), LinkError>> + use<T>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (orders, inbox) = mpsc::channel(16);
    let connection = yamux::Connection::new(stream.compat(), config(), yamux::Mode::Client);
    let mut pump = Client {
        connection,
        inbox,
        waiting: None,
    };
    (Dialer { orders }, async move {
        poll_fn(move |context| pump.poll(context)).await
    })
}

/// The guest's end: hands each substream that the host opens to `serve`, until the stream breaks.
///
/// # Errors
///
/// [`LinkError`] when the stream breaks in the middle of something.
pub async fn server<T>(stream: T, mut serve: impl FnMut(Substream)) -> Result<(), LinkError>
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut connection = yamux::Connection::new(stream.compat(), config(), yamux::Mode::Server);
    while let Some(substream) = poll_fn(|context| connection.poll_next_inbound(context)).await {
        serve(substream.map_err(broken)?.compat());
    }
    Ok(())
}

fn config() -> yamux::Config {
    let mut config = yamux::Config::default();
    config.set_max_num_streams(MAX_SUBSTREAMS);
    config.set_max_connection_receive_window(Some(32 << 20));
    config
}

fn broken(error: yamux::ConnectionError) -> LinkError {
    match error {
        yamux::ConnectionError::Io(error) => LinkError::Io(error),
        other => LinkError::Malformed(other.to_string()),
    }
}

struct Client<T> {
    connection: yamux::Connection<Compat<T>>,
    inbox: mpsc::Receiver<oneshot::Sender<Result<Substream, LinkError>>>,
    waiting: Option<oneshot::Sender<Result<Substream, LinkError>>>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Client<T> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        loop {
            if self.waiting.is_none() {
                match Pin::new(&mut self.inbox).poll_recv(context) {
                    Poll::Ready(Some(reply)) => self.waiting = Some(reply),
                    Poll::Ready(None) => return Poll::Ready(Ok(())),
                    Poll::Pending => {}
                }
            }
            if self.waiting.is_some()
                && let Poll::Ready(opened) = self.connection.poll_new_outbound(context)
            {
                if let Some(reply) = self.waiting.take() {
                    // Whoever asked may have gone; the substream is then dropped, which resets it.
                    let _asked = reply.send(opened.map(yamux::Stream::compat).map_err(broken));
                }
                continue;
            }
            match self.connection.poll_next_inbound(context) {
                // The guest may open nothing: dropping the substream resets it.
                Poll::Ready(Some(Ok(uninvited))) => drop(uninvited),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(broken(error))),
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn substreams_do_not_block_one_another() {
        let (host, guest) = tokio::io::duplex(4096);
        let (dialer, pump) = client(host);
        tokio::spawn(pump);
        tokio::spawn(server(guest, |mut substream| {
            tokio::spawn(async move {
                let mut first = [0];
                substream.read_exact(&mut first).await.unwrap();
                // `s` stalls without reading on; anything else is echoed.
                if first == *b"s" {
                    std::future::pending::<()>().await;
                }
                let (mut from, mut to) = tokio::io::split(substream);
                tokio::io::copy(&mut from, &mut to).await.unwrap();
            });
        }));
        let mut stalled = dialer.open().await.unwrap();
        stalled.write_all(b"s").await.unwrap();
        tokio::spawn(async move {
            let endless = vec![0; 1 << 20];
            while stalled.write_all(&endless).await.is_ok() {}
        });
        let mut echo = dialer.open().await.unwrap();
        echo.write_all(b"e").await.unwrap();
        let mut back = [0; 5];
        for _ in 0..100 {
            echo.write_all(b"hello").await.unwrap();
            echo.flush().await.unwrap();
            echo.read_exact(&mut back).await.unwrap();
            assert_eq!(&back, b"hello");
        }
    }

    #[tokio::test]
    async fn garbage_ends_the_connection_with_an_error() {
        let (host, mut guest) = tokio::io::duplex(4096);
        let (_dialer, pump) = client(host);
        guest.write_all(&[0xff; 64]).await.unwrap();
        assert!(pump.await.is_err());
    }
}
