//! Starts, drives and ends a sandbox.
//!
//! ```no_run
//! # async fn example(spec: legwork_spec::SandboxSpec) -> Result<(), legwork_host::HostError> {
//! use legwork_host::{Installation, Program, Sandbox, probe};
//!
//! let installation = Installation::locate("/var/cache/legwork".into())?;
//! let host = probe(&installation).await;
//! let created = Sandbox::create(spec, &installation, &host, "/var/lib/legwork/vm".into(), |_| {}).await?;
//! let running = created.start().await?;
//! let (output, _lines) = tokio::sync::mpsc::channel(64);
//! let exit = running.exec(Program::new(["true"]), output).await?;
//! println!("{:?}", exit.status);
//! running.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! A sandbox goes through its phases as types: [`Sandbox<Created>`](Sandbox) → [`Sandbox<Running>`](Sandbox) → gone.
//! Its machine is one process, which dies with the process that started it.
//!
//! Nothing here knows of tasks, editors or models.

#![forbid(unsafe_code)]

mod calls;
mod collect;
mod exec;
mod failure;
mod installation;
mod jail;
mod lay;
mod listing;
mod parts;
mod probe;
mod process;
mod sandbox;
mod tail;

pub use calls::{Answer, Answering};
pub use exec::{Exit, ExitStatus, Output, Program, Source};
pub use failure::HostError;
pub use installation::Installation;
pub use legwork_image::{Progress, folder_image};
pub use legwork_link::{
    Call, Collected, Forward, Found, FoundKind, LayInput, MAX_COLLECTED, MAX_WATCHED, Substream,
};
pub use probe::{Chosen, Hardware, HostReport, probe};
pub use sandbox::{Created, Running, Sandbox, Timings};
