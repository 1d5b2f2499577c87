//! Where things are kept on this machine.
//!
//! | place | what | variable | else |
//! | --- | --- | --- | --- |
//! | state | database, snapshots, results, logs, lock | `LEGWORK_STATE` | `$XDG_STATE_HOME/legwork`, `~/.local/state/legwork` |
//! | runtime | socket, lock | `LEGWORK_RUNTIME` | `$XDG_RUNTIME_DIR/legwork`, `<state>/run` |
//! | cache | kernel, root file system image | `LEGWORK_CACHE` | `$XDG_CACHE_HOME/legwork`, `~/.cache/legwork` |
//! | config | the user's `config.toml` | `LEGWORK_CONFIG` | `$XDG_CONFIG_HOME/legwork`, `~/.config/legwork` |

use std::{
    io::Read as _,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{DirBuilderExt as _, MetadataExt as _},
    },
    path::{Path, PathBuf},
};

use legwork_model::{Config, ConfigError};

/// A longer `config.toml` is none, in bytes.
const LONGEST_CONFIG: u64 = 1 << 20;

/// A lock says no more than this, in bytes.
const LONGEST_LOCK: u64 = 8 << 10;

/// The directories, absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// What must not be lost. Mode 0700.
    pub state: PathBuf,
    /// What lives as long as the daemon. Mode 0700.
    pub runtime: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
    /// What the user wrote. It is only read, and need not be there.
    pub config: PathBuf,
}

/// Why the user's settings are not known.
#[derive(Debug, thiserror::Error)]
pub enum ConfigFileError {
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not understood.
    #[error("{path} is not understood: {source}")]
    Understand {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ConfigError,
    },
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
        let config = place("LEGWORK_CONFIG", "XDG_CONFIG_HOME", ".config")?;
        let runtime = match variable("LEGWORK_RUNTIME")? {
            Some(dir) => dir,
            None => variable("XDG_RUNTIME_DIR")?
                .map_or_else(|| state.join("run"), |dir| dir.join("legwork")),
        };
        Ok(Self {
            state,
            runtime,
            cache,
            config,
        })
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.runtime.join("daemon.sock")
    }

    /// The lock that the daemon with this socket holds.
    pub fn lock(&self) -> PathBuf {
        self.runtime.join("daemon.lock")
    }

    /// The lock that the daemon with this state holds. It says in two lines which process that is, and where it listens.
    pub fn state_lock(&self) -> PathBuf {
        self.state.join("state.lock")
    }

    /// Where the daemon of this state listens, if that is somewhere else than [`Places::socket`]: it was started where
    /// another runtime directory was set, or none.
    pub(crate) fn other_socket(&self) -> Option<PathBuf> {
        let mut text = Vec::new();
        let lock = std::fs::File::open(self.state_lock()).ok()?;
        lock.take(LONGEST_LOCK).read_to_end(&mut text).ok()?;
        let line = text.split(|byte| *byte == b'\n').nth(1)?;
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(line));
        (path.is_absolute() && path != self.socket()).then_some(path)
    }

    /// The user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Reads the user's settings; where there is no file, nothing is set. The second value has a sentence for each name in
    /// it that means nothing.
    ///
    /// # Errors
    ///
    /// [`ConfigFileError`] when the file cannot be read or understood.
    pub fn read_config(&self) -> Result<(Config, Vec<String>), ConfigFileError> {
        let path = self.config_file();
        let read = || -> std::io::Result<String> {
            let mut text = String::new();
            std::fs::File::open(&path)?
                .take(LONGEST_CONFIG + 1)
                .read_to_string(&mut text)?;
            if text.len() as u64 > LONGEST_CONFIG {
                return Err(std::io::ErrorKind::FileTooLarge.into());
            }
            Ok(text)
        };
        match read() {
            Ok(text) => {
                Config::parse(&text).map_err(|source| ConfigFileError::Understand { path, source })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Default::default()),
            Err(source) => Err(ConfigFileError::Read { path, source }),
        }
    }

    /// How to set an agent, as a sentence without a full stop, for whoever asked for something in words and has none.
    pub fn agent_hint(&self) -> String {
        format!(
            "write `[model]` and below it `provider = \"anthropic\"` and `name = \"…\"` for the built-in agent, or `[agent]` and \
             below it `command = [\"sh\", \"agent.sh\"]` (your program and its arguments, which are told by LEGWORK_PROMPT) into \
             {}",
            self.config_file().display()
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_their_place_or_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places {
            state: dir.path().into(),
            runtime: dir.path().into(),
            cache: dir.path().into(),
            config: dir.path().join("legwork"),
        };
        assert_eq!(places.read_config().unwrap(), (Config::default(), vec![]));
        std::fs::create_dir(&places.config).unwrap();
        std::fs::write(places.config_file(), "[agent]\ncommand = [\"a\", \"b\"]\n").unwrap();
        let (config, _) = places.read_config().unwrap();
        assert_eq!(config.agent.command.unwrap(), ["a", "b"]);
        assert!(places.agent_hint().contains("legwork/config.toml"));
        for (wrong, part) in [
            (
                &b"[agent"[..],
                "config.toml is not understood: it is not TOML: line 1",
            ),
            (b"a = \"\xff\"", "cannot read"),
            (&[b'#'; (1 << 20) + 1], "too large"),
        ] {
            std::fs::write(places.config_file(), wrong).unwrap();
            let error = places.read_config().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
