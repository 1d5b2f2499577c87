//! Lays what an earlier machine left into one in which nothing was run yet.

use std::time::Duration;

use legwork_link::{LayInput, Open, frame};
use tokio::{io::AsyncWriteExt as _, sync::mpsc, time::timeout};

use crate::{
    HostError,
    sandbox::{Running, Sandbox},
};

/// How long the guest may take for all of it.
const LONGEST: Duration = Duration::from_secs(300);

impl Sandbox<Running> {
    /// Makes the workspace as `frames` tell, until their sender is dropped: what goes first, then folders, then links and
    /// files. [`LayInput::Done`] is added here. What was laid is then found by [`Sandbox::collect`], like any change.
    ///
    /// # Errors
    ///
    /// [`HostError`] when the machine ends, breaks the protocol, or cannot make it so.
    pub async fn lay(&self, frames: mpsc::Receiver<LayInput>) -> Result<(), HostError> {
        let laid = timeout(LONGEST, self.alive(self.told(frames))).await;
        laid.map_err(|_| HostError::Silent)?
    }

    async fn told(&self, mut frames: mpsc::Receiver<LayInput>) -> Result<(), HostError> {
        let mut substream = self.open(&Open::Lay).await?;
        while let Some(input) = frames.recv().await {
            frame::write(&mut substream, &input).await?;
        }
        frame::write(&mut substream, &LayInput::Done).await?;
        substream
            .flush()
            .await
            .map_err(HostError::io("talk to the guest"))?;
        let answer: Option<Result<(), String>> = frame::read(&mut substream).await?;
        answer
            .ok_or_else(|| HostError::Protocol("it hung up".into()))?
            .map_err(HostError::Protocol)
    }
}
