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

/// Most substreams at once, whoever opened them. The host answers at most [`MAX_CALLS`](crate::MAX_CALLS) of the guest's, so
/// half of them are always its own to open.
const MAX_SUBSTREAMS: usize = 128;

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
/// the stream breaks or the dialer is dropped. Each substream that the guest opens is given to `called`; to drop it is to
/// reset it.
pub fn client<T>(
    stream: T,
    called: impl FnMut(Substream),
) -> (Dialer, impl Future<Output = Result<(), LinkError>>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    end(stream, yamux::Mode::Client, called)
}

/// The guest's end: as [`client`], with each substream that the host opens given to `serve`.
pub fn server<T>(
    stream: T,
    serve: impl FnMut(Substream),
) -> (Dialer, impl Future<Output = Result<(), LinkError>>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    end(stream, yamux::Mode::Server, serve)
}

fn end<T>(
    stream: T,
    mode: yamux::Mode,
    inbound: impl FnMut(Substream),
) -> (Dialer, impl Future<Output = Result<(), LinkError>>)
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (orders, inbox) = mpsc::channel(16);
    let mut pump = Pump {
        connection: yamux::Connection::new(stream.compat(), config(), mode),
        inbox,
        waiting: None,
        inbound,
    };
    (Dialer { orders }, async move {
        poll_fn(move |context| pump.poll(context)).await
    })
}

fn config() -> yamux::Config {
    let mut config = yamux::Config::default();
    // The order counts: each number is checked against the other, at 256 KiB a substream.
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

struct Pump<T, F> {
    connection: yamux::Connection<Compat<T>>,
    inbox: mpsc::Receiver<oneshot::Sender<Result<Substream, LinkError>>>,
    waiting: Option<oneshot::Sender<Result<Substream, LinkError>>>,
    inbound: F,
}

impl<T: AsyncRead + AsyncWrite + Unpin, F: FnMut(Substream)> Pump<T, F> {
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
                Poll::Ready(Some(Ok(substream))) => (self.inbound)(substream.compat()),
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
        let (dialer, pump) = client(host, drop);
        tokio::spawn(pump);
        let (_guest, pump) = server(guest, |mut substream| {
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
        });
        tokio::spawn(pump);
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
        let (_dialer, pump) = client(host, drop);
        guest.write_all(&[0xff; 64]).await.unwrap();
        assert!(pump.await.is_err());
    }

    #[tokio::test]
    async fn both_sides_open_and_half_a_close_is_half_a_close() {
        let (host, guest) = tokio::io::duplex(4096);
        let (called, mut calls) = mpsc::unbounded_channel();
        let (_host, pump) = client(host, move |substream| {
            called.send(substream).unwrap();
        });
        tokio::spawn(pump);
        let (dialer, pump) = server(guest, drop);
        tokio::spawn(pump);
        let mut ours = dialer.open().await.unwrap();
        ours.write_all(b"a question").await.unwrap();
        ours.shutdown().await.unwrap();
        let mut theirs = calls.recv().await.unwrap();
        let mut heard = String::new();
        theirs.read_to_string(&mut heard).await.unwrap();
        assert_eq!(heard, "a question");
        // The asking half is closed; the answering one is not.
        let answer = vec![7; 1 << 20];
        let said = answer.clone();
        tokio::spawn(async move {
            theirs.write_all(&said).await.unwrap();
            theirs.shutdown().await.unwrap();
        });
        let mut back = Vec::new();
        ours.read_to_end(&mut back).await.unwrap();
        assert!(back == answer);
    }

    #[tokio::test]
    async fn a_dropped_call_ends_for_the_one_who_called() {
        let (host, guest) = tokio::io::duplex(4096);
        let (_host, pump) = client(host, drop);
        tokio::spawn(pump);
        let (dialer, pump) = server(guest, drop);
        tokio::spawn(pump);
        for _ in 0..MAX_SUBSTREAMS * 3 {
            let mut refused = dialer.open().await.unwrap();
            // The write may be done before the reset comes, or not.
            let _written = refused.write_all(b"hello").await;
            let _flushed = refused.flush().await;
            let mut back = Vec::new();
            // A reset reads as an end or as an error, never as bytes or as silence.
            let _ended = refused.read_to_end(&mut back).await;
            assert!(back.is_empty());
        }
    }
}
