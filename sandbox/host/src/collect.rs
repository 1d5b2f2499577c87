//! Fetches what programs changed in the workspace: all of it once, or as they go on.

use std::{future::pending, time::Duration};

use legwork_link::{Collected, Open, WatchInput, frame};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    time::timeout,
};

use crate::{
    HostError,
    listing::{Kind, Next, Order},
    sandbox::{Running, Sandbox},
};

/// How long the guest may be silent in a listing.
const SILENCE: Duration = Duration::from_secs(60);

impl Sandbox<Running> {
    /// Sends every frame of the listing but the last to `frames`, in order: data follow their file. Whoever takes the
    /// frames must bound what they add up to; when it stops taking them, the listing ends.
    ///
    /// # Errors
    ///
    /// [`HostError`] when the machine ends, breaks the protocol, or cannot read its own disk. What was sent by then is
    /// not the whole and must not be used.
    pub async fn collect(&self, frames: mpsc::Sender<Collected>) -> Result<(), HostError> {
        self.alive(async {
            let mut substream = self.open(&Open::Collect).await?;
            substream
                .flush()
                .await
                .map_err(HostError::io("talk to the guest"))?;
            listen(&mut substream, Kind::Whole, &frames).await
        })
        .await
    }

    /// Sends what stands in the workspace's upper layer to `frames`, and from then on what is another in it, in batches
    /// that [`Collected::BatchEnd`] ends: data follow their file, [`Collected::Gone`] takes one path back. Files of more
    /// than [`MAX_WATCHED`](legwork_link::MAX_WATCHED) bytes are as if they were not there. What is at a path that is
    /// sent to `skips`, and below, is not told again. Whoever takes the frames must bound what they add up to; when it
    /// stops taking them, the watch ends. So it does when the returned future is dropped.
    ///
    /// # Errors
    ///
    /// [`HostError`] when the machine ends, breaks the protocol, or there is too much to watch. It never ends otherwise.
    pub async fn watch(
        &self,
        frames: mpsc::Sender<Collected>,
        skips: mpsc::Receiver<Vec<u8>>,
    ) -> Result<(), HostError> {
        self.alive(async {
            let mut substream = self.open(&Open::Watch).await?;
            substream
                .flush()
                .await
                .map_err(HostError::io("talk to the guest"))?;
            let (mut from, to) = tokio::io::split(substream);
            tokio::select! {
                ended = listen(&mut from, Kind::Watch, &frames) => ended,
                ended = skip(to, skips) => ended,
            }
        })
        .await
    }
}

/// Takes frames, bounded and in order, until the last one.
async fn listen(
    substream: &mut (impl AsyncRead + Unpin),
    kind: Kind,
    frames: &mpsc::Sender<Collected>,
) -> Result<(), HostError> {
    let mut order = Order::new(kind);
    loop {
        let next = frame::read(substream);
        let next = if order.is_open() {
            timeout(SILENCE, next)
                .await
                .map_err(|_| HostError::Silent)??
        } else {
            next.await?
        };
        match order.take(next)? {
            Next::Done => return Ok(()),
            Next::Frame(frame) => frames.send(frame).await.map_err(|_| {
                HostError::Protocol("the listing is larger than what is taken".into())
            })?,
        }
    }
}

/// Tells the guest what is of no use. Ends only in an error.
async fn skip(
    mut to: impl AsyncWrite + Unpin,
    mut skips: mpsc::Receiver<Vec<u8>>,
) -> Result<(), HostError> {
    while let Some(path) = skips.recv().await {
        frame::write(&mut to, &WatchInput::Skip(path)).await?;
        to.flush()
            .await
            .map_err(HostError::io("talk to the guest"))?;
    }
    // Dropping the half would not close the stream, but there is nothing more to say.
    pending().await
}
