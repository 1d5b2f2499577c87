//! The events of one task from a number on, to its end, over as many connections and daemons as it takes.

use std::time::Duration;

use legwork_model::Event;
use legwork_wire::{Client, EventStream, Places, WireError};

use crate::{failure::Failure, start};

/// How often in a row a broken stream is taken up again.
const TRIES: u32 = 8;

/// Follows one task.
#[derive(Debug)]
pub(crate) struct Follow<'a> {
    places: &'a Places,
    client: Client,
    task: String,
    after: u64,
    stream: Option<EventStream>,
    tries: u32,
}

impl<'a> Follow<'a> {
    /// Follows `task` from its first event on.
    pub(crate) fn new(places: &'a Places, client: Client, task: &str) -> Self {
        Self {
            places,
            client,
            task: task.to_owned(),
            after: 0,
            stream: None,
            tries: 0,
        }
    }

    /// The daemon that was heard last.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The next event; `None` when the task is over and everything was told. Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            let heard = match &mut self.stream {
                Some(stream) => stream.next().await,
                None => match self.client.task_events(&self.task, self.after).await {
                    Ok(stream) => {
                        self.stream = Some(stream);
                        continue;
                    }
                    Err(error) => Some(Err(error)),
                },
            };
            match heard {
                Some(Ok(event)) => {
                    self.tries = 0;
                    self.after = event.seq;
                    return Ok(Some(event));
                }
                Some(Err(error @ WireError::Unreachable { .. })) => {
                    self.again(error.into()).await?;
                }
                Some(Err(error)) => return Err(error.into()),
                None => {
                    // A daemon that ends closes its streams in order; only the task itself says that it is over.
                    self.stream = None;
                    match self.client.task(&self.task).await {
                        Ok(detail)
                            if detail.task.state.is_over() && detail.last_event <= self.after =>
                        {
                            return Ok(None);
                        }
                        Ok(detail) if detail.task.state.is_over() && self.tries > 0 => {
                            return Ok(None);
                        }
                        Ok(_) => {
                            self.again(Failure::host(
                                "the daemon tells nothing more of the task",
                                "",
                            ))
                            .await?;
                        }
                        Err(error) => self.again(error.into()).await?,
                    }
                }
            }
        }
    }

    /// Waits a moment and looks for a daemon; gives up with `failure` after some tries.
    async fn again(&mut self, failure: Failure) -> Result<(), Failure> {
        self.stream = None;
        self.tries += 1;
        if self.tries > TRIES {
            return Err(failure);
        }
        tokio::time::sleep(Duration::from_millis(20) * 2_u32.pow(self.tries)).await;
        self.client = start::connect(self.places).await?;
        Ok(())
    }
}
