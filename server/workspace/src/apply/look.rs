//! What stands at a path of the user's tree, and what the system says about it in a user's words.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
};

use legwork_model::{Digest, Permissions, Side, TreePath, escape};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, readlinkat, statat},
    io::Errno,
};

use super::ApplyError;
use crate::{BlobError, BlobStore, beneath};

/// What stands at a path.
pub(super) enum Here {
    Nothing,
    Dir,
    /// A file, whose content is in the store now, or a link.
    Leaf(Side, Stat),
}

/// What stands at a path; the content of a file goes to the store.
pub(super) fn look(root: &File, path: &TreePath, blobs: &BlobStore) -> Result<Here, ApplyError> {
    let dir = match open_parent(root, path) {
        Ok(dir) => dir,
        // A file on the way counts as nothing here; whether it may be in the way is found out later.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Here::Nothing),
        Err(error) => return Err(system(path, error)),
    };
    let name = OsStr::from_bytes(path.name());
    let stat = match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Here::Nothing),
        Err(error) => return Err(system(path, error)),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Ok(Here::Dir),
        FileType::Symlink => {
            let target = readlinkat(&dir, name, Vec::new()).map_err(|error| system(path, error))?;
            let target = escape(target.as_bytes());
            Ok(Here::Leaf(Side::Symlink { target }, stat))
        }
        FileType::RegularFile => {
            let file = open_file(&dir, path.name()).map_err(|error| system(path, error))?;
            let stat = fstat(&file).map_err(|error| system(path, error))?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Err(changed(path, "is of another type by now"));
            }
            let blob = blobs.put_from(&mut &file).map_err(|error| match error {
                BlobError::Source(source) => ApplyError::Write {
                    path: path.clone(),
                    source,
                },
                full if full.is_full() => ApplyError::DiskFull,
                other => other.into(),
            })?;
            let side = Side::File {
                digest: blob.digest,
                size: blob.size,
                permissions: Permissions::of_mode(stat.st_mode),
            };
            Ok(Here::Leaf(side, stat))
        }
        _ => Err(ApplyError::Refused {
            path: path.clone(),
            why: "is a socket, FIFO or device".to_owned(),
            next: "remove it, or reject the change".to_owned(),
        }),
    }
}

pub(super) fn open_file(dir: impl AsFd, name: &[u8]) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    Ok(File::from(beneath::open(dir, name, flags, Mode::empty())?))
}

/// What is in a file now, without keeping it.
pub(super) fn digest_of(mut file: File) -> io::Result<Digest> {
    let mut hasher = blake3::Hasher::new();
    io::copy(&mut file, &mut hasher)?;
    Ok(Digest::from_bytes(*hasher.finalize().as_bytes()))
}

pub(super) fn changed(path: &TreePath, how: &str) -> ApplyError {
    ApplyError::Changed {
        path: path.clone(),
        how: how.to_owned(),
    }
}

/// An error of the system at a path, as the user should hear it.
pub(super) fn system(path: &TreePath, error: Errno) -> ApplyError {
    let refused = |why: &str, next: &str| ApplyError::Refused {
        path: path.clone(),
        why: why.to_owned(),
        next: next.to_owned(),
    };
    match error {
        Errno::LOOP => refused(
            "lies behind a symbolic link",
            "replace the link by a folder, or reject the change",
        ),
        Errno::XDEV => refused(
            "lies on another file system",
            "open that folder as a workspace of its own, or reject the change",
        ),
        Errno::ROFS => refused(
            "lies on a read-only file system",
            "make it writable and accept again",
        ),
        Errno::NOSPC | Errno::DQUOT => ApplyError::DiskFull,
        other => ApplyError::Write {
            path: path.clone(),
            source: other.into(),
        },
    }
}

/// The directory in which a path stands.
pub(super) fn open_parent(root: impl AsFd, path: &TreePath) -> Result<OwnedFd, Errno> {
    let parent = path.parent();
    beneath::open_dir(root, parent.as_ref().map_or(b"", TreePath::as_bytes))
}
