//! Bytes kept by what they are: contents that a guest made, and what stood in the user's files before an accept.
//!
//! A blob is a file named by its digest. It is whole or it is not there: bytes go to a temporary file first.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use legwork_model::Digest;
use tempfile::NamedTempFile;

/// A directory of blobs.
#[derive(Clone, Debug)]
pub struct BlobStore {
    dir: PathBuf,
}

/// What is known about bytes in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Their name.
    pub digest: Digest,
    /// Their length in bytes.
    pub size: u64,
    /// They hold a NUL byte: not text that can be shown line by line.
    pub binary: bool,
}

/// Why a blob could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The store's disk.
    #[error("cannot write to {dir}: {source}; check its free space and permissions", dir = dir.display())]
    Write {
        /// The store.
        dir: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What was to be kept could not be read.
    #[error("cannot read the bytes to keep: {0}")]
    Source(#[source] io::Error),
    /// There is no such blob.
    #[error("the bytes {0} are not kept any more: run the task again")]
    Missing(Digest),
    /// A blob that cannot be read or holds other bytes than its name says.
    #[error("the bytes {0} are damaged on disk: run the task again")]
    Damaged(Digest),
    /// More bytes than the writer was made for.
    #[error("more than the {0} bytes that are allowed")]
    TooLarge(u64),
}

impl BlobError {
    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Write { source, .. } if crate::apply::is_full(source))
    }
}

impl BlobStore {
    /// Opens the store in `dir`, making it if it is missing.
    ///
    /// # Errors
    ///
    /// The directory cannot be made.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, BlobError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let store = Self { dir: dir.into() };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&store.dir)
            .map_err(|error| store.write_error(error))?;
        Ok(store)
    }

    /// Keeps these bytes.
    ///
    /// # Errors
    ///
    /// The disk.
    pub fn put(&self, bytes: &[u8]) -> Result<Blob, BlobError> {
        let mut writer = self.writer(u64::MAX)?;
        writer.write(bytes)?;
        writer.finish()
    }

    /// Keeps all that `reader` yields.
    ///
    /// # Errors
    ///
    /// The disk, or the reader.
    pub fn put_from(&self, reader: &mut dyn Read) -> Result<Blob, BlobError> {
        let mut writer = self.writer(u64::MAX)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return writer.finish(),
                Ok(count) => writer.write(&buffer[..count])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(BlobError::Source(error)),
            }
        }
    }

    /// Starts a blob whose bytes come piece by piece, at most `limit` of them. Dropping the writer drops the bytes.
    ///
    /// # Errors
    ///
    /// The disk.
    pub fn writer(&self, limit: u64) -> Result<BlobWriter, BlobError> {
        let temp = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(&self.dir)
            .map_err(|error| self.write_error(error))?;
        Ok(BlobWriter {
            store: self.clone(),
            out: BufWriter::with_capacity(1 << 16, temp),
            hasher: blake3::Hasher::new(),
            size: 0,
            limit,
            binary: false,
        })
    }

    /// All bytes of a blob, checked against its name.
    ///
    /// # Errors
    ///
    /// It is not there or damaged.
    pub fn get(&self, digest: &Digest) -> Result<Vec<u8>, BlobError> {
        let bytes = match std::fs::read(self.place(digest)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BlobError::Missing(*digest));
            }
            Err(_) => return Err(BlobError::Damaged(*digest)),
        };
        if Digest::of(&bytes) != *digest {
            return Err(BlobError::Damaged(*digest));
        }
        Ok(bytes)
    }

    /// A blob's file, for reading piece by piece; what is read is not checked.
    pub(crate) fn file(&self, digest: &Digest) -> Result<File, BlobError> {
        File::open(self.place(digest)).map_err(|_| BlobError::Missing(*digest))
    }

    /// Whether there is such a blob.
    pub fn has(&self, digest: &Digest) -> bool {
        self.place(digest).is_file()
    }

    /// Forgets a blob; it may be gone already.
    ///
    /// # Errors
    ///
    /// The disk.
    pub fn remove(&self, digest: &Digest) -> Result<(), BlobError> {
        match std::fs::remove_file(self.place(digest)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.write_error(error)),
            _ => Ok(()),
        }
    }

    /// Where the store is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn place(&self, digest: &Digest) -> PathBuf {
        self.dir.join(digest.to_string())
    }

    fn write_error(&self, source: io::Error) -> BlobError {
        BlobError::Write {
            dir: self.dir.clone(),
            source,
        }
    }
}

/// A blob in the making.
#[derive(Debug)]
pub struct BlobWriter {
    store: BlobStore,
    out: BufWriter<NamedTempFile>,
    hasher: blake3::Hasher,
    size: u64,
    limit: u64,
    binary: bool,
}

impl BlobWriter {
    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// The disk, or [`BlobError::TooLarge`].
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        if self.size > self.limit {
            return Err(BlobError::TooLarge(self.limit));
        }
        self.hasher.update(bytes);
        self.binary = self.binary || is_binary(bytes);
        self.out
            .write_all(bytes)
            .map_err(|error| self.store.write_error(error))
    }

    /// Ends the blob: from here on it is in the store, also after a power loss.
    ///
    /// # Errors
    ///
    /// The disk.
    pub fn finish(self) -> Result<Blob, BlobError> {
        let Self {
            store,
            out,
            hasher,
            size,
            binary,
            ..
        } = self;
        let digest = Digest::from_bytes(*hasher.finalize().as_bytes());
        let blob = Blob {
            digest,
            size,
            binary,
        };
        if store.has(&digest) {
            return Ok(blob);
        }
        let keep = || {
            let temp = out.into_inner().map_err(|error| error.into_error())?;
            temp.as_file().sync_data()?;
            temp.persist(store.place(&digest)).map_err(|e| e.error)?;
            File::open(&store.dir)?.sync_all()
        };
        keep().map_err(|error| store.write_error(error))?;
        Ok(blob)
    }
}

/// Whether bytes are not text: they hold a NUL byte, as git decides it, but over the whole length.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (tempfile::TempDir, BlobStore) {
        let dir = tempfile::tempdir().unwrap();
        let store = BlobStore::open(dir.path().join("a/blobs")).unwrap();
        (dir, store)
    }

    #[test]
    fn bytes_come_back_and_damage_is_seen() {
        let (_dir, store) = store();
        let blob = store.put(b"hello").unwrap();
        assert_eq!((blob.size, blob.binary), (5, false));
        assert!(store.put(b"a\0b").unwrap().binary);
        assert_eq!(store.put_from(&mut &b"hello"[..]).unwrap(), blob);
        assert_eq!(store.get(&blob.digest).unwrap(), b"hello");
        std::fs::write(store.place(&blob.digest), "other").unwrap();
        assert!(matches!(
            store.get(&blob.digest),
            Err(BlobError::Damaged(_))
        ));
        store.remove(&blob.digest).unwrap();
        store.remove(&blob.digest).unwrap();
        assert!(matches!(
            store.get(&blob.digest),
            Err(BlobError::Missing(_))
        ));
    }

    #[test]
    fn a_writer_holds_its_limit_and_leaves_nothing_behind() {
        let (_dir, store) = store();
        let mut writer = store.writer(4).unwrap();
        writer.write(b"1234").unwrap();
        assert!(matches!(writer.write(b"5"), Err(BlobError::TooLarge(4))));
        drop(writer);
        assert_eq!(std::fs::read_dir(store.dir()).unwrap().count(), 0);
    }
}
