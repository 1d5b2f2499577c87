//! The language server: tasks and their hunks in any editor that speaks LSP.
//!
//! | step | room |
//! | --- | --- |
//! | texts in wire order | `ingress.rs` → `session.rs`, `documents.rs`, `text.rs` |
//! | the daemon's tasks | `follow.rs` → `tasks.rs`, `blobs.rs` |
//! | hunks × live text → where they stand | `sheet.rs` (pure), `present.rs` |
//! | what a client draws | `present/*`, `actions.rs`, `ext.rs`, `tell.rs`, `progress.rs` |
//! | commands | `commands.rs` and `commands/*`, `walk.rs` |
//! | accepted hunks → the client's buffers | `apply.rs`, and nothing else |
//!
//! The server holds no task state: it can die at any time. It writes nothing to the user's files: what is open is changed
//! by the editor, what is not by the daemon.

mod actions;
mod apply;
mod asks;
mod backend;
mod blobs;
mod commands;
mod content;
mod daemon;
mod documents;
mod ext;
mod failure;
mod follow;
mod frames;
mod ingress;
mod name;
mod present;
mod preview;
mod profile;
mod progress;
mod record;
mod roots;
mod scratch;
mod session;
mod sheet;
mod symbols;
mod tasks;
mod tell;
mod text;
mod uri;
mod walk;

use std::{fmt, path::PathBuf, sync::Arc};

use futures::future::BoxFuture;
use legwork_model::Worker;
use legwork_wire::Host;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp_server::{LspService, Server};

pub use daemon::Connect;

use crate::{backend::Backend, ingress::Ingress, session::Session};

/// Requests that run side by side: enough that a cancel never waits behind them.
const CONCURRENCY: usize = 1024;

/// What this host can do, or why that cannot be said.
pub type Doctor = Arc<dyn Fn() -> BoxFuture<'static, Result<Host, String>> + Send + Sync>;

/// Who does tasks given in words, as the user set it up; the sentence says what is wrong with that, or
/// how to set one up.
pub type Agent = Arc<dyn Fn() -> Result<Worker, String> + Send + Sync>;

/// What the server needs of the program that it is part of.
#[derive(Clone)]
pub struct Settings {
    /// Finds the daemon or starts it.
    pub connect: Connect,
    /// Looks at the host.
    pub doctor: Doctor,
    /// Reads the user's configuration.
    pub agent: Agent,
    /// A directory of this user alone for files that are only to be read.
    pub preview: PathBuf,
    /// Of the program.
    pub version: &'static str,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("preview", &self.preview)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Serves one client to its end: until it says `exit`, or its end of the stream is gone.
pub async fn serve(
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite,
    settings: Settings,
) {
    let (service, socket) = LspService::build(|client| Backend {
        session: Arc::new(Session::new(client, settings)),
    })
    .custom_method("legwork/tasks", Backend::tasks)
    .custom_method("legwork/hunks", Backend::hunks)
    .custom_method("legwork/walk", Backend::walk)
    .custom_method("legwork/log", Backend::log)
    .custom_method("legwork/evidence", Backend::evidence)
    .custom_method("legwork/content", Backend::content)
    .custom_method(frames::MALFORMED, Backend::malformed)
    .finish();
    let session = Arc::clone(&service.inner().session);
    let service = Ingress::new(service, session);
    Server::new(frames::sifted(input), output, socket)
        .concurrency_level(CONCURRENCY)
        .serve(service)
        .await;
}
