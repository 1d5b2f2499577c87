//! The daemon's own log: `daemon.log` in the state directory, bounded by size, old ones with a number behind them.
//! What a guest prints is not in it.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Mutex,
};

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// A file of more bytes than this is put aside.
const LARGEST: u64 = 4 << 20;

/// How many are kept besides the newest.
const KEPT: u32 = 3;

/// Writes what is traced to the log of `state`; `LEGWORK_LOG` filters as `RUST_LOG` does elsewhere. Where that cannot be
/// done the daemon goes on without a log, and says so on standard error.
pub(crate) fn start(state: &Path) {
    let writer = match Rotating::open(state.join("daemon.log"), LARGEST) {
        Ok(writer) => writer,
        Err(error) => {
            // Nobody may be listening there either.
            drop(writeln!(
                io::stderr(),
                "legwork daemon: no log in {}: {error}",
                state.display()
            ));
            return;
        }
    };
    let filter = EnvFilter::try_from_env("LEGWORK_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let layer = fmt::layer()
        .with_ansi(false)
        .with_target(false)
        .with_writer(Mutex::new(writer));
    // A second daemon in one process (tests) shares the log of the first.
    drop(
        tracing_subscriber::registry()
            .with(filter)
            .with(layer)
            .try_init(),
    );
}

/// A file that is put aside when it is full.
#[derive(Debug)]
struct Rotating {
    path: PathBuf,
    file: File,
    size: u64,
    largest: u64,
}

impl Rotating {
    fn open(path: PathBuf, largest: u64) -> io::Result<Self> {
        let file = append(&path)?;
        let size = file.metadata()?.len();
        Ok(Self {
            path,
            file,
            size,
            largest,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..KEPT).rev() {
            // The older ones need not be there yet.
            drop(std::fs::rename(
                self.numbered(number),
                self.numbered(number + 1),
            ));
        }
        std::fs::rename(&self.path, self.numbered(1))?;
        self.file = append(&self.path)?;
        self.size = 0;
        Ok(())
    }

    fn numbered(&self, number: u32) -> PathBuf {
        self.path.with_extension(format!("log.{number}"))
    }
}

impl Write for Rotating {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.size >= self.largest {
            self.rotate()?;
        }
        let count = self.file.write(bytes)?;
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append(path: &Path) -> io::Result<File> {
    File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_never_grows_beyond_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Rotating::open(dir.path().join("daemon.log"), 100).unwrap();
        for line in 0..200 {
            writeln!(log, "this is line number {line:04}").unwrap();
        }
        let mut sizes: Vec<_> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .collect();
        sizes.sort_unstable();
        assert_eq!(sizes.len(), 4);
        assert!(sizes.iter().all(|size| *size <= 130), "{sizes:?}");
        let newest = std::fs::read_to_string(dir.path().join("daemon.log")).unwrap();
        assert!(newest.contains("0199"), "{newest}");
    }
}
