//! Fetches what programs changed in the workspace.

use std::time::Duration;

use legwork_link::{Collected, FoundKind, Open, frame};
use tokio::{io::AsyncWriteExt as _, sync::mpsc, time::timeout};

use crate::{
    HostError,
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
            let mut in_file = false;
            loop {
                let next = timeout(SILENCE, frame::read(&mut substream)).await;
                let collected = next.map_err(|_| HostError::Silent)??;
                let out_of_order = || HostError::Protocol("a listing is out of order".into());
                match &collected {
                    Some(Collected::Done) if !in_file => return Ok(()),
                    Some(Collected::Failed(reason)) => {
                        let words: String = reason
                            .chars()
                            .filter(|c| !c.is_control())
                            .take(300)
                            .collect();
                        return Err(HostError::Protocol(words));
                    }
                    Some(Collected::Found(found)) if !in_file => {
                        in_file = matches!(found.kind, FoundKind::File { .. });
                    }
                    Some(Collected::Data(_)) if in_file => {}
                    Some(Collected::EndOfFile) if in_file => in_file = false,
                    _ => return Err(out_of_order()),
                }
                if let Some(collected) = collected
                    && frames.send(collected).await.is_err()
                {
                    return Err(HostError::Protocol(
                        "the listing is larger than what is taken".into(),
                    ));
                }
            }
        })
        .await
    }
}
