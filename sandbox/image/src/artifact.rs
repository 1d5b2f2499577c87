//! Files in the cache: whole or absent.
//!
//! Knows nothing of what is in them.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// Why a file of the cache could not be put in its place.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} {path}: check its permissions and the free space on that disk", path = .path.display())]
pub struct ArtifactError {
    action: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl ArtifactError {
    pub(crate) fn new(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the disk had no room left.
    pub fn is_disk_full(&self) -> bool {
        is_disk_full(&self.source)
    }
}

/// Prefix of files that are being written.
pub(crate) const UNFINISHED: &str = ".unfinished-";

/// Makes a directory of the cache, for this user only, with its parents.
pub(crate) fn make_dir(dir: &Path) -> Result<(), ArtifactError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|source| ArtifactError::new("make the directory", dir, source))
}

/// Starts a file beside its final place. It vanishes if it is dropped.
pub(crate) fn begin(place: &Path) -> Result<NamedTempFile, ArtifactError> {
    let dir = place.parent().unwrap_or(Path::new("."));
    make_dir(dir)?;
    tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(dir)
        .map_err(|source| ArtifactError::new("write into", dir, source))
}

/// Puts a file that was begun in its place, safe from a power cut.
pub(crate) fn publish(file: NamedTempFile, place: &Path) -> Result<(), ArtifactError> {
    let failed = |source| ArtifactError::new("write", place, source);
    file.as_file().sync_all().map_err(failed)?;
    file.persist(place).map_err(|error| failed(error.error))?;
    sync_parent(place)
}

/// As [`publish`], but what another process put there meanwhile stays: its name says that it is the same, and a machine
/// whose jail was built for that very file may be about to open it.
pub(crate) fn publish_once(file: NamedTempFile, place: &Path) -> Result<(), ArtifactError> {
    let failed = |source| ArtifactError::new("write", place, source);
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(place) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
            Err(failed(error.error))
        }
        Ok(_) | Err(_) => sync_parent(place),
    }
}

fn sync_parent(place: &Path) -> Result<(), ArtifactError> {
    if let Some(dir) = place.parent() {
        File::open(dir)
            .and_then(|dir| dir.sync_all())
            .map_err(|source| ArtifactError::new("write", place, source))?;
    }
    Ok(())
}

/// Sixteen hexadecimal digits that change with what was hashed.
pub(crate) fn key(hasher: &blake3::Hasher) -> String {
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Mixes what changes when a file is replaced into a key: its path, size and time.
pub(crate) fn identify(hasher: &mut blake3::Hasher, path: &Path) {
    use std::os::unix::{ffi::OsStrExt, fs::MetadataExt};
    hasher.update(path.as_os_str().as_bytes());
    hasher.update(&[0]);
    if let Ok(found) = fs::metadata(path) {
        hasher.update(&found.size().to_le_bytes());
        hasher.update(&found.mtime().to_le_bytes());
        hasher.update(&found.mtime_nsec().to_le_bytes());
    }
}

pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_is_in_its_place_is_not_replaced_under_a_machine() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("sub/image");
        for text in ["first", "second"] {
            let mut file = begin(&place).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            publish_once(file, &place).unwrap();
        }
        assert_eq!(fs::read_to_string(&place).unwrap(), "first");
        let left = fs::read_dir(place.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "an unfinished file stays");
    }
}
