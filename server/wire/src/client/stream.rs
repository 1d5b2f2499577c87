//! Events, read from the body of an answer as they come.

use std::{
    io,
    path::{Path, PathBuf},
};

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use legwork_model::Event;

use super::sse;
use crate::WireError;

/// Events as they come.
#[derive(Debug)]
pub struct EventStream {
    socket: PathBuf,
    /// Gone after the end or an error.
    body: Option<Incoming>,
    decoder: sse::Decoder,
}

impl EventStream {
    /// The body of an answer, read as it comes from `socket`.
    pub(super) fn new(socket: PathBuf, body: Incoming) -> Self {
        Self {
            socket,
            body: Some(body),
            decoder: sse::Decoder::default(),
        }
    }

    /// The next event; `None` at the end of the stream. After an error there is nothing more: who wants to go on asks
    /// for a new stream after the last event.
    pub async fn next(&mut self) -> Option<Result<Event, WireError>> {
        loop {
            self.body.as_ref()?;
            match self.decoder.event() {
                Ok(Some(data)) => return Some(self.decode(&data)),
                Ok(None) => {}
                Err(sse::TooLarge) => {
                    return Some(self.fail(WireError::Garbled("an event is too large".to_owned())));
                }
            }
            match self.body.as_mut()?.frame().await {
                Some(Ok(frame)) => {
                    if let Some(bytes) = frame.data_ref() {
                        self.decoder.push(bytes);
                    }
                }
                Some(Err(error)) => {
                    let error = broken(&self.socket, &error);
                    return Some(self.fail(error));
                }
                None => self.body = None,
            }
        }
    }

    fn decode(&mut self, data: &[u8]) -> Result<Event, WireError> {
        match serde_json::from_slice(data) {
            Ok(event) => Ok(event),
            Err(error) => self.fail(WireError::Garbled(error.to_string())),
        }
    }

    fn fail(&mut self, error: WireError) -> Result<Event, WireError> {
        self.body = None;
        Err(error)
    }
}

/// Tells a connection that was lost from an answer that makes no sense.
pub(super) fn broken(socket: &Path, error: &hyper::Error) -> WireError {
    if error.is_parse() {
        return WireError::Garbled(error.to_string());
    }
    let cause =
        std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
    let kind = match cause {
        Some(cause) => cause.kind(),
        None if error.is_incomplete_message() || error.is_canceled() || error.is_closed() => {
            io::ErrorKind::ConnectionReset
        }
        None => io::ErrorKind::Other,
    };
    WireError::Unreachable {
        socket: socket.to_owned(),
        source: io::Error::new(kind, error.to_string()),
    }
}
