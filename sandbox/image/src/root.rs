//! The root file system `host`: the machine's own toolchains as one read-only image.
//!
//! `root/listing.rs` says what of the host is in it, `root/etc.rs` what stands in `/etc`. Here the
//! image is kept: built once for each state of the host, by one process at a time, and removed when
//! the host has changed and no machine uses it any more.
//!
//! ```text
//! cache/root/lock                 held while an image is built or old ones are removed
//! cache/root/<fingerprint>.erofs  flocked, shared, by everybody who uses it
//! cache/root/<fingerprint>.json   what is in it
//! ```

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use legwork_erofs::{Builder, WriteError};
use legwork_spec::ByteSize;
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use crate::artifact::{self, ArtifactError, UNFINISHED};

pub use folder::folder_image;

mod etc;
mod folder;
mod listing;
#[cfg(test)]
mod tests;

/// Raised when the contents or the layout of the image change.
const VERSION: u32 = 1;
/// The image and some room for its names.
const SPARE: u64 = 64 << 20;

/// How far the building is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of files copied so far.
    pub done: u64,
    /// Bytes to copy, as the listing saw them.
    pub total: u64,
}

/// Why there is no root image. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// There is nothing to build from.
    #[error(
        "{path} is not a directory, so there are no toolchains to show: a Linux host with /usr is \
         needed",
        path = .path.display()
    )]
    NoHost {
        /// Where `/usr` was looked for.
        path: PathBuf,
    },
    /// The disk has no room for the image.
    #[error(
        "the image of this machine's toolchains needs {needed} in {dir}, where {free} are free: \
         make room there",
        dir = .dir.display()
    )]
    Space {
        /// What the image takes.
        needed: ByteSize,
        /// What is free.
        free: ByteSize,
        /// Where.
        dir: PathBuf,
    },
    /// The cache cannot be written.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The image cannot be written.
    #[error(transparent)]
    Image(#[from] WriteError),
}

/// What is in a root image; stands beside it as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootSummary {
    /// Size of the image in bytes.
    pub bytes: u64,
    /// Regular files, hard links among them.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Entries that were left out because they could not be read.
    pub unreadable: u64,
    /// Sockets, pipes and devices, which are left out.
    pub special: u64,
    /// Files of `/etc` that were left out because they look like a secret.
    pub secret: u64,
}

/// A root image in use: it is not removed while this value lives.
#[derive(Debug)]
pub struct RootImage {
    /// The EROFS image.
    pub path: PathBuf,
    /// What is in it.
    pub summary: RootSummary,
    _lock: File,
}

/// The machine whose toolchains are shown.
#[derive(Clone, Debug)]
pub struct Host {
    root: PathBuf,
}

/// The image of this machine's toolchains, from `cache/root` or built now. If another process is
/// building it, this waits for that.
///
/// # Errors
///
/// See [`RootError`].
pub fn host_root(cache: &Path, progress: &mut dyn FnMut(Progress)) -> Result<RootImage, RootError> {
    Host::here().root_image(cache, progress)
}

impl Host {
    /// This machine.
    pub fn here() -> Self {
        Self::at(Path::new("/"))
    }

    /// A machine whose root directory is `root`.
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// As [`host_root`], for this host.
    ///
    /// # Errors
    ///
    /// See [`RootError`].
    pub fn root_image(
        &self,
        cache: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<RootImage, RootError> {
        let usr = self.root.join("usr");
        if !usr.is_dir() {
            return Err(RootError::NoHost { path: usr });
        }
        let dir = cache.join("root");
        let place = dir.join(format!("{}.erofs", self.fingerprint()));
        if let Some(image) = in_use(&place)? {
            return Ok(image);
        }
        artifact::make_dir(&dir)?;
        // Released when the file is closed, that is, on return.
        let _lock = lock_cache(&dir)?;
        if let Some(image) = in_use(&place)? {
            return Ok(image);
        }
        remove_old(&dir)?;
        self.build(&place, progress)?;
        let built = in_use(&place)?;
        built.ok_or_else(|| {
            ArtifactError::new("read", &place, io::ErrorKind::NotFound.into()).into()
        })
    }

    /// Changes with whatever package managers and administrators do to the toolchains, as far as
    /// that shows without a walk through all of them.
    fn fingerprint(&self) -> String {
        const STATES: [&str; 13] = [
            "var/lib/dpkg/status",
            "var/lib/rpm",
            "usr/lib/sysimage/rpm",
            "var/lib/pacman/local",
            "lib/apk/db/installed",
            "usr",
            "usr/bin",
            "usr/lib",
            "usr/lib64",
            "etc/ld.so.cache",
            "etc/alternatives",
            "etc/ssl/certs",
            "etc/localtime",
        ];
        let mut hasher = blake3::Hasher::new();
        hasher.update(&VERSION.to_le_bytes());
        for path in listing::TREES.iter().chain(&listing::LEFT_OUT) {
            hasher.update(path.as_bytes()).update(&[0]);
        }
        for path in STATES {
            artifact::identify(&mut hasher, &self.root.join(path));
        }
        // What is installed by hand or by pip, npm and the like.
        identify_dirs(&mut hasher, &self.root.join("usr/local"), 3);
        artifact::key(&hasher)
    }

    fn build(&self, place: &Path, progress: &mut dyn FnMut(Progress)) -> Result<(), RootError> {
        let listing = listing::list(&self.root);
        let dir = place.parent().unwrap_or(Path::new("."));
        let space = || RootError::Space {
            needed: ByteSize::bytes(listing.stored + SPARE),
            free: ByteSize::bytes(free_space(dir)),
            dir: dir.to_owned(),
        };
        if free_space(dir) < listing.stored + SPARE {
            return Err(space());
        }
        let file = artifact::begin(place)?;
        let summary = write_image(file.as_file(), &self.root, &listing, progress);
        let summary = summary.map_err(|error| match error {
            WriteError::Write(source) if artifact::is_disk_full(&source) => space(),
            other => other.into(),
        })?;
        // The summary first: an image that is there has one.
        publish_summary(place, &summary)?;
        artifact::publish(file, place).map_err(|error| {
            if error.is_disk_full() {
                space()
            } else {
                error.into()
            }
        })
    }
}

fn write_image(
    file: &File,
    root: &Path,
    listing: &listing::Listing,
    progress: &mut dyn FnMut(Progress),
) -> Result<RootSummary, WriteError> {
    const STEP: u64 = 16 << 20;
    let mut summary = listing.skipped.clone();
    let mut builder = Builder::new(file)?;
    let mut state = Progress {
        done: 0,
        total: listing.bytes,
    };
    let mut shown = 0;
    progress(state);
    for entry in &listing.entries {
        state.done += entry.add_to(&mut builder, root, &mut summary)?;
        if state.done - shown >= STEP {
            shown = state.done;
            progress(state);
        }
    }
    summary.bytes = builder.finish()?;
    progress(Progress {
        done: state.done,
        total: state.done,
    });
    Ok(summary)
}

pub(crate) fn publish_summary(place: &Path, summary: &RootSummary) -> Result<(), ArtifactError> {
    let sidecar = place.with_extension("json");
    let mut file = artifact::begin(&sidecar)?;
    serde_json::to_writer_pretty(&mut file, summary)
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(b"\n"))
        .map_err(|source| ArtifactError::new("write", &sidecar, source))?;
    artifact::publish(file, &sidecar)
}

/// The image at this place with a shared lock on it, if there is one.
pub(crate) fn in_use(place: &Path) -> Result<Option<RootImage>, ArtifactError> {
    let file = match File::open(place) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ArtifactError::new("read", place, error)),
    };
    lock(&file, FlockOperation::LockShared)
        .map_err(|error| ArtifactError::new("lock", place, error.into()))?;
    // It may have been removed before the lock was ours.
    let same = file.metadata().ok().map(|found| (found.dev(), found.ino()))
        == fs::metadata(place)
            .ok()
            .map(|found| (found.dev(), found.ino()));
    let summary = fs::read(place.with_extension("json")).ok();
    let summary = summary.and_then(|text| serde_json::from_slice(&text).ok());
    Ok(summary.filter(|_| same).map(|summary| RootImage {
        path: place.to_owned(),
        summary,
        _lock: file,
    }))
}

pub(crate) fn lock_cache(dir: &Path) -> Result<File, ArtifactError> {
    let path = dir.join("lock");
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path);
    let file = file.map_err(|source| ArtifactError::new("write", &path, source))?;
    lock(&file, FlockOperation::LockExclusive)
        .map_err(|error| ArtifactError::new("lock", &path, error.into()))?;
    Ok(file)
}

/// Removes the images that nobody uses, and what a process that was killed left half written. Only
/// for the holder of the cache's lock, who is about to build the one image that is wanted.
fn remove_old(dir: &Path) -> Result<(), ArtifactError> {
    let failed = |source| ArtifactError::new("clean up", dir, source);
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let unfinished = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()));
        let unused = path
            .extension()
            .is_some_and(|extension| extension == "erofs")
            && File::open(&path).is_ok_and(|image| {
                let removed = lock(&image, FlockOperation::NonBlockingLockExclusive).is_ok();
                // Removed under the lock: who waits for it finds the place empty.
                removed && fs::remove_file(&path).is_ok()
            });
        if unused {
            drop(fs::remove_file(path.with_extension("json")));
        } else if unfinished {
            drop(fs::remove_file(&path));
        }
    }
    Ok(())
}

fn lock(file: &File, operation: FlockOperation) -> Result<(), Errno> {
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}

fn free_space(dir: &Path) -> u64 {
    // Where it cannot be told, writing will tell.
    rustix::fs::statvfs(dir).map_or(u64::MAX, |found| {
        found.f_bavail.saturating_mul(found.f_frsize)
    })
}

fn identify_dirs(hasher: &mut blake3::Hasher, dir: &Path, depth: u32) {
    artifact::identify(hasher, dir);
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut below: Vec<_> = entries
        .flatten()
        .filter(is_dir)
        .map(|entry| entry.path())
        .collect();
    below.sort();
    for dir in below {
        if depth > 0 {
            identify_dirs(hasher, &dir, depth - 1);
        }
    }
}
