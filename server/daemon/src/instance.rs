//! One daemon for each state directory and each runtime directory: whoever holds both locks is it, for as long as its
//! process lives. The first has the database, the second the socket.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _, fs::OpenOptionsExt as _},
    path::Path,
};

use legwork_wire::Places;
use rustix::fs::{FlockOperation, flock};

use crate::door::identity;

/// A lock says no more than this, in bytes.
const LONGEST_LOCK: u64 = 8 << 10;

/// The locks, held.
#[derive(Debug)]
pub(crate) struct Instance {
    places: Places,
    /// The kernel lets go of them with the process, however that ends.
    state: File,
    runtime: File,
}

/// Why this process is not the daemon.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Another one is.
    #[error("a daemon is already running here{}: talk to that one, or end it with `legwork daemon stop`", process(.pid))]
    AlreadyRunning {
        /// Its process, if it could be read.
        pid: Option<u32>,
    },
    /// The lock cannot be taken at all.
    #[error(
        "cannot lock {path}: {source}; the state and runtime directories must be on file systems that have locks"
    )]
    Lock {
        /// The lock's file.
        path: std::path::PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn process(pid: &Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" as process {pid}"))
}

impl Instance {
    /// Takes the locks and removes what a dead daemon left of its socket.
    ///
    /// # Errors
    ///
    /// [`InstanceError::AlreadyRunning`] at once when somebody else has one of them.
    pub(crate) fn take(places: &Places) -> Result<Self, InstanceError> {
        let state = lock(&places.state_lock(), places)?;
        let runtime = lock(&places.lock(), places)?;
        clear(&places.socket())?;
        Ok(Self {
            places: places.clone(),
            state,
            runtime,
        })
    }

    /// Whether the state directory is still the one it was.
    pub(crate) fn has_state(&self) -> bool {
        is_at(&self.state, &self.places.state_lock())
    }

    /// Makes the runtime directory again, if it is gone, and what is in it.
    ///
    /// # Errors
    ///
    /// As [`Instance::take`].
    pub(crate) fn move_in(&mut self) -> Result<(), InstanceError> {
        let path = self.places.lock();
        if !is_at(&self.runtime, &path) {
            let failed = |error| InstanceError::Lock {
                path: path.clone(),
                source: io::Error::other(error),
            };
            self.places.prepare().map_err(failed)?;
            self.runtime = lock(&path, &self.places)?;
        }
        clear(&self.places.socket())
    }
}

/// Takes one lock, and tells in it who has it and where it listens.
fn lock(path: &Path, places: &Places) -> Result<File, InstanceError> {
    let failed = |source| InstanceError::Lock {
        path: path.to_owned(),
        source,
    };
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
        .map_err(failed)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut text = Vec::new();
            let read = file.take(LONGEST_LOCK).read_to_end(&mut text);
            let pid = read.ok().and_then(|_| {
                let line = text.split(|byte| *byte == b'\n').next()?;
                std::str::from_utf8(line).ok()?.trim().parse().ok()
            });
            return Err(InstanceError::AlreadyRunning { pid });
        }
        Err(error) => return Err(failed(error.into())),
    }
    let mut text = format!("{}\n", std::process::id()).into_bytes();
    text.extend_from_slice(places.socket().as_os_str().as_bytes());
    text.push(b'\n');
    file.rewind()
        .and_then(|()| file.set_len(0))
        .and_then(|()| file.write_all(&text))
        .map_err(failed)?;
    Ok(file)
}

/// Removes a socket that nobody listens at.
fn clear(socket: &Path) -> Result<(), InstanceError> {
    match std::fs::remove_file(socket) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(InstanceError::Lock {
            path: socket.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let held = file
        .metadata()
        .map(|metadata| (metadata.dev(), metadata.ino()));
    held.is_ok_and(|held| identity(path) == Some(held))
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Before the lock is let go, so that nobody else's socket can be hit.
        if is_at(&self.runtime, &self.places.lock())
            && let Err(error) = clear(&self.places.socket())
        {
            tracing::warn!(%error, "the socket could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_of_many_gets_the_lock_and_it_is_free_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places {
            state: dir.path().into(),
            runtime: dir.path().into(),
            cache: dir.path().into(),
            config: dir.path().into(),
        };
        std::fs::write(places.socket(), "left behind").unwrap();
        let start = std::sync::Barrier::new(8);
        let takers = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        Instance::take(&places)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        assert_eq!(takers.iter().filter(|taken| taken.is_ok()).count(), 1);
        assert!(!places.socket().exists());
        drop(takers);
        assert!(Instance::take(&places).is_ok());
    }
}
