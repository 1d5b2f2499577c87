//! Text synchronisation in wire order.
//!
//! The framework calls its service for each message in the order of the wire, but runs the handlers side by side, so that
//! a change whose handler waits for anything may be overtaken by the request that was sent after it. This outermost
//! service applies changes of text when it is *called*; whatever comes later on the wire sees them.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::{self, BoxFuture, FutureExt as _};
use serde::de::DeserializeOwned;
use tower_lsp_server::jsonrpc::{Request, Response};
use tower_service::Service;

use crate::session::Session;

/// Goes around everything else.
#[derive(Debug)]
pub(crate) struct Ingress<S> {
    inner: S,
    session: Arc<Session>,
}

impl<S> Ingress<S> {
    pub(crate) fn new(inner: S, session: Arc<Session>) -> Self {
        Self { inner, session }
    }

    /// Does what has to be done in order; gives back what is for the others.
    fn take(&self, request: Request) -> Option<Request> {
        if request.id().is_some() {
            return Some(request);
        }
        let session = &self.session;
        match request.method() {
            "textDocument/didOpen" => params(request, |params| session.opened(params)),
            "textDocument/didChange" => params(request, |params| session.changed(params)),
            "textDocument/didClose" => params(request, |params| session.closed(&params)),
            "textDocument/didSave" => params(request, |params| session.saved(&params)),
            "window/workDoneProgress/cancel" => {
                params(request, |params| session.progress_cancelled(params));
            }
            _ => return Some(request),
        }
        None
    }
}

/// What is no such notification is of no use to anyone.
fn params<T: DeserializeOwned>(request: Request, take: impl FnOnce(T)) {
    let (method, _, params) = request.into_parts();
    match serde_json::from_value(params.unwrap_or_default()) {
        Ok(params) => take(params),
        Err(error) => tracing::warn!(%method, %error, "a notification could not be understood"),
    }
}

impl<S> Service<Request> for Ingress<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Option<Response>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match self.take(request) {
            Some(request) => self.inner.call(request).boxed(),
            None => future::ready(Ok(None)).boxed(),
        }
    }
}
