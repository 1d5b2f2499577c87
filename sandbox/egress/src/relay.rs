//! Moves bytes between the guest and an allowed host, both ways, and counts them.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    time::{Instant, timeout},
};

/// How long a connection may be open with nothing moving either way.
const IDLE: Duration = Duration::from_mins(10);

const BUFFER: usize = 64 << 10;

/// What was moved, and when last.
#[derive(Debug)]
pub(crate) struct Traffic {
    pub(crate) up: AtomicU64,
    pub(crate) down: AtomicU64,
    began: Instant,
    /// Milliseconds after that.
    last: AtomicU64,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        Self {
            up: AtomicU64::new(0),
            down: AtomicU64::new(0),
            began: Instant::now(),
            last: AtomicU64::new(0),
        }
    }

    pub(crate) fn time(&self) -> Duration {
        self.began.elapsed()
    }

    fn moved(&self, count: &AtomicU64, bytes: usize) {
        count.fetch_add(bytes as u64, Relaxed);
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(now, Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.began
            .elapsed()
            .saturating_sub(Duration::from_millis(self.last.load(Relaxed)))
            >= IDLE
    }
}

/// Moves until both sides have closed their half, one breaks, or nothing has moved for long. The guest is read to its own end
/// only if `tunnel`; else `up` bytes of it, and its half of the other side stays open.
pub(crate) async fn relay<G, H>(
    guest: &mut G,
    host: &mut H,
    body: Option<u64>,
    traffic: &Traffic,
) -> io::Result<()>
where
    G: AsyncRead + AsyncWrite + Unpin,
    H: AsyncRead + AsyncWrite + Unpin,
{
    let (from_guest, mut to_guest) = tokio::io::split(guest);
    let (from_host, mut to_host) = tokio::io::split(host);
    let up = async {
        let limited = from_guest.take(body.unwrap_or(u64::MAX));
        copy(limited, &mut to_host, &traffic.up, traffic).await?;
        if body.is_none() {
            to_host.shutdown().await?;
        }
        Ok(())
    };
    let down = async {
        copy(from_host, &mut to_guest, &traffic.down, traffic).await?;
        to_guest.shutdown().await
    };
    if body.is_some() {
        // The answer's end is the end, whether or not all of the body was wanted.
        let up = async {
            match up.await {
                Ok(()) => std::future::pending().await,
                Err::<(), io::Error>(error) => error,
            }
        };
        return tokio::select! {
            ended = down => ended,
            error = up => Err(error),
        };
    }
    tokio::try_join!(up, down).map(drop)
}

async fn copy<R, W>(mut from: R, to: &mut W, count: &AtomicU64, traffic: &Traffic) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; BUFFER];
    loop {
        let read = match timeout(IDLE, from.read(&mut buffer)).await {
            Ok(read) => read?,
            // The other direction may be all that is in use.
            Err(_) if !traffic.is_idle() => continue,
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        };
        if read == 0 {
            return Ok(());
        }
        let write = async {
            to.write_all(&buffer[..read]).await?;
            to.flush().await
        };
        timeout(IDLE, write).await??;
        traffic.moved(count, read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_moves_ends_and_one_way_is_enough() {
        let (mut guest, _silent) = tokio::io::duplex(64);
        let (mut host, _quiet) = tokio::io::duplex(64);
        let traffic = Traffic::new();
        let ended = relay(&mut guest, &mut host, None, &traffic).await;
        assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(traffic.time() < 2 * IDLE + Duration::from_secs(1));

        let (mut guest, mut client) = tokio::io::duplex(64);
        let (mut host, mut server) = tokio::io::duplex(64);
        tokio::spawn(async move {
            for _ in 0..10 {
                tokio::time::sleep(IDLE / 2).await;
                server.write_all(b"x").await.unwrap();
            }
            server.shutdown().await.unwrap();
        });
        let traffic = Traffic::new();
        let (ended, heard) = tokio::join!(relay(&mut guest, &mut host, None, &traffic), async {
            let mut heard = Vec::new();
            client.read_to_end(&mut heard).await.unwrap();
            client.shutdown().await.unwrap();
            heard.len()
        });
        assert!(ended.is_ok() && heard == 10);
        assert_eq!(traffic.down.load(Relaxed), 10);
    }
}
