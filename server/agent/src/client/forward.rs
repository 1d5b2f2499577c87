//! A request that somebody else has written, sent on as it is, and its answer as it comes.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use legwork_model::Provider;
use reqwest::header::{CONTENT_TYPE, HeaderValue};

use super::{ModelClient, chain};
use crate::{failure::ModelError, gateway::provider_path};

/// The longest name of a kind of answer that is passed on, in bytes.
const LONGEST_KIND: usize = 100;

/// An answer that has begun.
pub(crate) struct Begun<S> {
    /// Its content type.
    pub(crate) kind: HeaderValue,
    /// Its first bytes.
    pub(crate) first: Bytes,
    /// What comes behind them.
    pub(crate) rest: S,
}

impl ModelClient {
    /// What is spoken with it.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// How long it may be silent.
    pub(crate) fn idle(&self) -> Duration {
        self.idle
    }

    /// Sends a body as it is, and waits for the beginning of the answer.
    pub(crate) async fn forward(
        &self,
        body: Bytes,
        betas: Option<HeaderValue>,
    ) -> Result<Begun<impl Stream<Item = reqwest::Result<Bytes>> + Unpin + Send + use<>>, ModelError>
    {
        let mut request = self
            .http
            .post(format!("{}/{}", self.base, provider_path(self.provider)))
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(betas) = betas {
            request = request.header("anthropic-beta", betas);
        }
        let response = self.send(request).await?;
        let kind = response.headers().get(CONTENT_TYPE).cloned();
        let kind = kind.filter(|kind| kind.len() <= LONGEST_KIND);
        let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
        let mut rest = response.bytes_stream();
        let first = tokio::time::timeout(self.idle, rest.next()).await;
        match first {
            Ok(Some(Ok(first))) => Ok(Begun { kind, first, rest }),
            Ok(Some(Err(error))) => Err(self.redacted(ModelError::Cut(chain(&error)))),
            Ok(None) => Err(ModelError::Cut("it is empty".into())),
            Err(_) => Err(ModelError::Silent(self.idle.as_secs())),
        }
    }
}
