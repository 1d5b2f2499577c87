//! A frozen copy of a workspace: what is in it, and the image that a guest reads.

use std::{
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
};

use legwork_erofs::{BLOCK_SIZE, WriteError};
use legwork_model::{Digest, Entry, EntryKind, Manifest, TreePath, escape};
use rustix::{fs::statvfs, io::Errno};
use serde::{Deserialize, Serialize};

use crate::{Workspace, apply::is_full, rules::Include};

mod repository;
mod walk;
mod write;

#[cfg(test)]
mod tests;

/// What goes into a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Patterns as in a `.gitignore`: what they name comes along although it is ignored or looks like a secret.
    pub include: Vec<String>,
    /// Files as they stand in an editor, unsaved. They take the place of what is on disk.
    pub buffers: Vec<(TreePath, Vec<u8>)>,
    /// Files of more bytes than this stay outside.
    pub max_file: u64,
    /// User and group that own every file in the guest.
    pub owner: (u32, u32),
}

impl Default for CaptureOptions {
    /// No extras, files up to 512 MiB, owned by root.
    fn default() -> Self {
        Self {
            include: Vec::new(),
            buffers: Vec::new(),
            max_file: 512 << 20,
            owner: (0, 0),
        }
    }
}

/// A snapshot on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The image, an EROFS file system.
    pub image: PathBuf,
    /// What is in it, and what is not.
    pub manifest: Manifest,
    /// Size of the image in bytes.
    pub bytes: u64,
}

/// Why a workspace could not be captured. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The folder itself cannot be read, or is another by now.
    #[error("{path} cannot be read ({source}): check that it is there and its permissions")]
    Root {
        /// The workspace.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// No room for the image.
    #[error(
        "the disk under {dir} is full: the snapshot needs {needed} bytes; free some space or leave large files out with an ignore rule"
    )]
    DiskFull {
        /// Where the image was to be.
        dir: String,
        /// Bytes that it needs.
        needed: u64,
    },
    /// The image could not be written.
    #[error("the snapshot {path} could not be written ({source}): check the disk it is on")]
    Write {
        /// The image.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// An include pattern that means nothing.
    #[error("`{pattern}` is not a pattern ({reason}): write it as in a .gitignore")]
    Include {
        /// As given.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
}

/// Why a snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The image or the manifest.
    #[error("the snapshot {path} cannot be read ({source}): run the task again")]
    Read {
        /// Which file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The image holds other bytes than the manifest says.
    #[error("`{0}` is damaged in the snapshot: run the task again")]
    Damaged(TreePath),
    /// The entry is not a file.
    #[error("`{0}` is not a file in the snapshot")]
    NotAFile(TreePath),
}

/// Copies the working tree as it is now into a new image at `image`. `progress` hears the number of files and bytes done
/// so far, at most once for each file.
///
/// # Errors
///
/// [`CaptureError`]. A file that cannot be read is not an error: it is listed in `Manifest::left_out`.
pub fn capture(
    workspace: &Workspace,
    image: &Path,
    options: &CaptureOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Snapshot, CaptureError> {
    let include = Include::new(&options.include)
        .map_err(|(pattern, reason)| CaptureError::Include { pattern, reason })?;
    let root_error = |source| CaptureError::Root {
        path: escape(workspace.path().as_os_str().as_encoded_bytes()),
        source,
    };
    let root = workspace.root().map_err(root_error)?;
    let walk = walk::walk(workspace, &root, &include, options.max_file).map_err(root_error)?;
    let needed = needed(&walk, options);
    let dir = image.parent().unwrap_or(Path::new("."));
    let failed = |source: io::Error| match is_full(&source) {
        true => CaptureError::DiskFull {
            dir: dir.display().to_string(),
            needed,
        },
        false => CaptureError::Write {
            path: image.display().to_string(),
            source,
        },
    };
    let disk = statvfs(dir).map_err(|error| failed(error.into()))?;
    if disk.f_bavail.saturating_mul(disk.f_frsize) < needed {
        return Err(failed(Errno::NOSPC.into()));
    }
    // Only its owner may read it, and it has no name that anybody knows before it is whole.
    let temp = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    let (manifest, bytes) = write::write(&root, temp.as_file(), walk, options, progress).map_err(
        |error| match error {
            WriteError::Write(source) => failed(source),
            other => failed(io::Error::other(other)),
        },
    )?;
    temp.as_file().sync_data().map_err(failed)?;
    temp.persist(image).map_err(|error| failed(error.error))?;
    Ok(Snapshot {
        image: image.to_owned(),
        manifest,
        bytes,
    })
}

/// An upper bound for the size of the image in bytes.
fn needed(walk: &walk::Walk, options: &CaptureOptions) -> u64 {
    let blocks = |size: u64| size.div_ceil(BLOCK_SIZE).saturating_mul(BLOCK_SIZE);
    let metadata = |name: usize| 2 * (128 + name as u64);
    let found = walk.found.iter().map(|found| {
        let (content, more) = match &found.kind {
            walk::Kind::File { size } => (blocks(*size), 0),
            walk::Kind::Symlink { target } => (0, target.len()),
            walk::Kind::Dir => (0, 0),
        };
        content.saturating_add(metadata(found.path.name().len() + more))
    });
    let buffers = options
        .buffers
        .iter()
        .map(|(path, bytes)| blocks(bytes.len() as u64) + metadata(path.as_bytes().len()));
    let repositories = walk.repositories.iter().map(|repository| {
        let files = repository.files.len() as u64 + 1;
        repository.bytes() + files * 2 * BLOCK_SIZE
    });
    found
        .chain(buffers)
        .chain(repositories)
        .fold(16 * BLOCK_SIZE, u64::saturating_add)
}

impl Snapshot {
    /// The bytes of a file as they were captured, from the image; checked against the manifest.
    ///
    /// # Errors
    ///
    /// The image is gone or damaged.
    pub fn read(&self, entry: &Entry) -> Result<Vec<u8>, SnapshotError> {
        let EntryKind::File {
            size,
            digest,
            offset,
        } = entry.kind
        else {
            return Err(SnapshotError::NotAFile(entry.path.clone()));
        };
        let damaged = || SnapshotError::Damaged(entry.path.clone());
        // Checked before the allocation: a manifest can be damaged too.
        if offset.checked_add(size).is_none_or(|end| end > self.bytes) {
            return Err(damaged());
        }
        let mut bytes = vec![0; usize::try_from(size).map_err(|_| damaged())?];
        std::fs::File::open(&self.image)
            .and_then(|image| image.read_exact_at(&mut bytes, offset))
            .map_err(|source| read_error(&self.image, source))?;
        if Digest::of(&bytes) != digest {
            return Err(damaged());
        }
        Ok(bytes)
    }

    /// Writes everything but the image to `path`, whole or not at all.
    ///
    /// # Errors
    ///
    /// The disk.
    pub fn save(&self, path: &Path) -> Result<(), CaptureError> {
        let write = || {
            let dir = path.parent().unwrap_or(Path::new("."));
            let mut temp = tempfile::NamedTempFile::new_in(dir)?;
            let mut out = io::BufWriter::with_capacity(1 << 20, temp.as_file_mut());
            serde_json::to_writer(&mut out, self)?;
            io::Write::flush(&mut out)?;
            drop(out);
            temp.as_file().sync_data()?;
            temp.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        write().map_err(|source: io::Error| CaptureError::Write {
            path: path.display().to_string(),
            source,
        })
    }

    /// Reads what [`Snapshot::save`] wrote.
    ///
    /// # Errors
    ///
    /// The file is gone or damaged.
    pub fn load(path: &Path) -> Result<Self, SnapshotError> {
        let text = std::fs::read(path).map_err(|source| read_error(path, source))?;
        serde_json::from_slice(&text).map_err(|error| read_error(path, error.into()))
    }
}

fn read_error(path: &Path, source: io::Error) -> SnapshotError {
    SnapshotError::Read {
        path: path.display().to_string(),
        source,
    }
}
