//! The daemon: one per user. It owns the queue, the tasks, their events and the review, and is the only one that
//! writes to a workspace, and only on a decision.

#![forbid(unsafe_code)]

mod instance;
mod settings;

use legwork_wire::{Host, Places, PlacesError};

pub use instance::InstanceError;
pub use settings::{Settings, SettingsError};

/// Why a daemon did not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The directories cannot be used.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// Another daemon is there, or nobody can tell.
    #[error(transparent)]
    Instance(#[from] InstanceError),
}

/// Runs the daemon in this process until it is stopped or has been idle for long enough. It brings its own runtime:
/// do not call it from async code. Standard input and output are not used; the log is `<state>/daemon.log`.
///
/// # Errors
///
/// [`RunError::Instance`] when a daemon is already running for these places; the others name what is in the way.
pub fn run(settings: Settings) -> Result<(), RunError> {
    settings.places.prepare()?;
    let _instance = instance::Instance::take(&settings.places)?;
    Ok(())
}

/// Looks at this host, and says what tasks will run on here. It needs no daemon.
pub async fn doctor(places: &Places) -> Host {
    let _ = places;
    Host { verdict: String::new(), able: false, checks: Vec::new() }
}
