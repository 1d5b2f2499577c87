//! Where things are kept on this machine.
//!
//! | place | what | variable | else |
//! | --- | --- | --- | --- |
//! | state | database, snapshots, results, logs | `LEGWORK_STATE` | `$XDG_STATE_HOME/legwork`, `~/.local/state/legwork` |
//! | runtime | socket, lock | `LEGWORK_RUNTIME` | `$XDG_RUNTIME_DIR/legwork`, `<state>/run` |
//! | cache | kernel, root file system image | `LEGWORK_CACHE` | `$XDG_CACHE_HOME/legwork`, `~/.cache/legwork` |

use std::{
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// The three directories, absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// What must not be lost. Mode 0700.
    pub state: PathBuf,
    /// What lives as long as the daemon. Mode 0700.
    pub runtime: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
}

/// Why there is no place.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// No home directory and no variable.
    #[error(
        "neither HOME nor {0} is set: set {0} to an absolute directory that only you can write"
    )]
    Homeless(&'static str),
    /// A variable holds a relative path.
    #[error("{0} is `{1}`: it must be an absolute path")]
    Relative(&'static str, PathBuf),
    /// A directory cannot be made.
    #[error("cannot make the directory {0}: {1}")]
    Make(PathBuf, std::io::Error),
    /// A directory is not the user's alone.
    #[error(
        "{0} belongs to another user, is open to others, or is not a directory: make it yours with mode 0700"
    )]
    Open(PathBuf),
}

impl Places {
    /// Reads the variables.
    ///
    /// # Errors
    ///
    /// [`PlacesError::Homeless`] and [`PlacesError::Relative`].
    pub fn from_environment() -> Result<Self, PlacesError> {
        let state = place("LEGWORK_STATE", "XDG_STATE_HOME", ".local/state")?;
        let cache = place("LEGWORK_CACHE", "XDG_CACHE_HOME", ".cache")?;
        let runtime = match variable("LEGWORK_RUNTIME")? {
            Some(dir) => dir,
            None => variable("XDG_RUNTIME_DIR")?
                .map_or_else(|| state.join("run"), |dir| dir.join("legwork")),
        };
        Ok(Self {
            state,
            runtime,
            cache,
        })
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.runtime.join("daemon.sock")
    }

    /// The lock that the running daemon holds.
    pub fn lock(&self) -> PathBuf {
        self.runtime.join("daemon.lock")
    }

    /// Makes the directories, and refuses a state or runtime directory that others could use.
    ///
    /// # Errors
    ///
    /// [`PlacesError::Make`] and [`PlacesError::Open`].
    pub fn prepare(&self) -> Result<(), PlacesError> {
        for dir in [&self.state, &self.runtime] {
            make(dir, 0o700)?;
            let metadata = std::fs::symlink_metadata(dir)
                .map_err(|error| PlacesError::Make(dir.clone(), error))?;
            let ours = metadata.uid() == rustix::process::geteuid().as_raw();
            if !metadata.is_dir() || !ours || metadata.mode() & 0o077 != 0 {
                return Err(PlacesError::Open(dir.clone()));
            }
        }
        make(&self.cache, 0o755)
    }
}

fn make(dir: &Path, mode: u32) -> Result<(), PlacesError> {
    let builder = |mode| {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(mode);
        builder
    };
    if let Some(parent) = dir.parent() {
        builder(0o755)
            .create(parent)
            .map_err(|error| PlacesError::Make(dir.to_owned(), error))?;
    }
    builder(mode)
        .create(dir)
        .map_err(|error| PlacesError::Make(dir.to_owned(), error))
}

fn place(ours: &'static str, base: &'static str, home: &str) -> Result<PathBuf, PlacesError> {
    if let Some(dir) = variable(ours)? {
        return Ok(dir);
    }
    if let Some(dir) = variable(base)? {
        return Ok(dir.join("legwork"));
    }
    let user = variable("HOME")?.ok_or(PlacesError::Homeless(ours))?;
    Ok(user.join(home).join("legwork"))
}

fn variable(name: &'static str) -> Result<Option<PathBuf>, PlacesError> {
    match std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
    {
        Some(path) if path.is_relative() => Err(PlacesError::Relative(name, path)),
        other => Ok(other),
    }
}
