//! One daemon for each runtime directory: whoever holds the lock is it, for as long as its process lives.

use std::{
    fs::File,
    io::{Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use legwork_wire::Places;
use rustix::fs::{FlockOperation, flock};

/// The lock, held.
#[derive(Debug)]
pub(crate) struct Instance {
    /// The kernel lets go of it with the process, however that ends.
    _lock: File,
    socket: PathBuf,
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
        "cannot lock {path}: {source}; the runtime directory must be on a file system that has locks"
    )]
    Lock {
        /// The lock's file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn process(pid: &Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" as process {pid}"))
}

impl Instance {
    /// Takes the lock and removes what a dead daemon left of its socket.
    ///
    /// # Errors
    ///
    /// [`InstanceError::AlreadyRunning`] at once when somebody else has it.
    pub(crate) fn take(places: &Places) -> Result<Self, InstanceError> {
        let path = places.lock();
        let failed = |source| InstanceError::Lock {
            path: path.clone(),
            source,
        };
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)
            .map_err(failed)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let pid = file
                    .read_to_string(&mut text)
                    .ok()
                    .and_then(|_| text.trim().parse().ok());
                return Err(InstanceError::AlreadyRunning { pid });
            }
            Err(error) => return Err(failed(error.into())),
        }
        file.rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(failed)?;
        let socket = places.socket();
        match std::fs::remove_file(&socket) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(InstanceError::Lock {
                    path: socket,
                    source,
                });
            }
            _ => {}
        }
        Ok(Self {
            _lock: file,
            socket,
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Before the lock is let go, so that nobody else's socket can be hit.
        if let Err(error) = std::fs::remove_file(&self.socket)
            && error.kind() != std::io::ErrorKind::NotFound
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
