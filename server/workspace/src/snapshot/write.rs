//! Puts what a walk found into an image, each file read once: hashed while it is written.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt as _,
};

use legwork_erofs::{Builder, Meta, WriteError};
use legwork_model::{Digest, Entry, EntryKind, LeftOut, Manifest, Reason, TreePath, escape};
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat};

use super::{
    CaptureOptions,
    repository::{self, Repository},
    walk::{Found, Kind, Walk, mode, mtime, reason},
};
use crate::{attributes, beneath};

/// How often a file that changes while it is read is read again.
const TRIES: usize = 3;

/// Writes the image to `out` and returns what is in it and its size.
pub(super) fn write(
    root: &File,
    out: &File,
    walk: Walk,
    options: &CaptureOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Manifest, u64), WriteError> {
    let mut writer = Writer {
        root,
        builder: Builder::new(out)?,
        options,
        manifest: Manifest {
            entries: Vec::with_capacity(walk.found.len()),
            left_out: walk.left_out,
            unattributed: walk.attributed,
            linked: walk.linked,
        },
    };
    let stat = fstat(root).map_err(|error| WriteError::Write(error.into()))?;
    let meta = writer.meta(mode(&stat), mtime(&stat));
    writer.builder.add_dir(b"", meta)?;
    let mut buffers: BTreeMap<&TreePath, &[u8]> = options
        .buffers
        .iter()
        .map(|(path, bytes)| (path, bytes.as_slice()))
        .collect();
    let (mut files, mut bytes) = (0, 0);
    for found in &walk.found {
        let buffer = match found.kind {
            Kind::File { .. } => buffers.remove(&found.path),
            _ => None,
        };
        writer.add(found, buffer)?;
        if let Kind::File { size } = found.kind {
            files += 1;
            bytes += size;
            progress(files, bytes);
        }
    }
    for (path, text) in buffers {
        writer.add_new(path, text)?;
    }
    for repository in &walk.repositories {
        writer.repository(repository)?;
    }
    let mut manifest = writer.manifest;
    manifest
        .entries
        .sort_unstable_by(|a, b| a.path.cmp(&b.path));
    manifest
        .left_out
        .sort_unstable_by(|a, b| a.path.cmp(&b.path));
    manifest.unattributed.sort_unstable();
    Ok((manifest, writer.builder.finish()?))
}

struct Writer<'a> {
    root: &'a File,
    builder: Builder<&'a File>,
    options: &'a CaptureOptions,
    manifest: Manifest,
}

impl Writer<'_> {
    fn add(&mut self, found: &Found, buffer: Option<&[u8]>) -> Result<(), WriteError> {
        let path = found.path.as_bytes();
        let meta = self.meta(found.mode, found.mtime);
        let kind = match &found.kind {
            Kind::Dir => self.builder.add_dir(path, meta).map(|()| EntryKind::Dir),
            Kind::Symlink { target } => {
                let target_text = escape(target);
                self.builder
                    .add_symlink(path, meta, target)
                    .map(|()| EntryKind::Symlink {
                        target: target_text,
                    })
            }
            Kind::File { .. } => match buffer {
                Some(bytes) => self.bytes(path, meta, bytes),
                None => return self.file(found),
            },
        };
        match kind {
            Ok(kind) => self.entry(&found.path, kind, found.mode, found.mtime),
            // A link's target that no image can hold.
            Err(WriteError::Tree(_)) => self.leave_out(&found.path, Reason::Unreadable),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A file from the disk, whole as it was at one moment, or left out.
    fn file(&mut self, found: &Found) -> Result<(), WriteError> {
        for _ in 0..TRIES {
            let (file, stat) = match open(self.root, &found.path) {
                Ok(open) => open,
                Err(error) => {
                    self.leave_out(&found.path, reason(&error));
                    return Ok(());
                }
            };
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                self.leave_out(&found.path, Reason::Special);
                return Ok(());
            }
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            if size > self.options.max_file {
                self.leave_out(&found.path, Reason::TooLarge);
                return Ok(());
            }
            let meta = self.meta(mode(&stat), mtime(&stat));
            let attributed = attributes::has_any(&file);
            let mut reader = Steady {
                file,
                stat,
                left: size,
                hasher: blake3::Hasher::new(),
                changed: false,
            };
            let path = found.path.as_bytes();
            match self.builder.add_file(path, meta, size, &mut reader) {
                Ok(stored) => {
                    let kind = EntryKind::File {
                        size: stored.len,
                        digest: Digest::from_bytes(*reader.hasher.finalize().as_bytes()),
                        offset: stored.offset,
                    };
                    self.entry(&found.path, kind, mode(&stat), mtime(&stat));
                    if attributed {
                        self.manifest.unattributed.push(found.path.clone());
                    }
                    return Ok(());
                }
                Err(WriteError::Read { .. }) if reader.changed => {}
                Err(WriteError::Read { source, .. }) => {
                    self.leave_out(&found.path, reason(&source));
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        self.leave_out(&found.path, Reason::Vanished);
        Ok(())
    }

    /// An unsaved file that is not on disk; nothing is added where something was left out.
    fn add_new(&mut self, path: &TreePath, text: &[u8]) -> Result<(), WriteError> {
        if self.manifest.left_out_at(path).is_some() {
            return Ok(());
        }
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(0));
        let meta = self.meta(0o644, now);
        match self.bytes(path.as_bytes(), meta, text) {
            Ok(kind) => {
                let mut parent = path.parent();
                while let Some(dir) = parent {
                    if self.manifest.entries.iter().any(|entry| entry.path == dir) {
                        break;
                    }
                    self.entry(&dir, EntryKind::Dir, 0o755, 0);
                    parent = dir.parent();
                }
                self.entry(path, kind, 0o644, now);
            }
            // Where a directory or a link stands, or below a file: the editor is behind the disk.
            Err(WriteError::Tree(_)) => self.leave_out(path, Reason::Vanished),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A copy of a repository. It is no part of the manifest: nothing that a task does to it is a change.
    fn repository(&mut self, repository: &Repository) -> Result<(), WriteError> {
        let at = |path: &[u8]| [&repository.path[..], b"/", path].concat();
        let now = fstat(self.root).map_or(0, |stat| mtime(&stat));
        for dir in ["", "/objects", "/refs"] {
            let path = [&repository.path[..], dir.as_bytes()].concat();
            self.builder.add_dir(&path, self.meta(0o755, now))?;
        }
        for copied in &repository.files {
            // What git took away or wrote anew meanwhile is not missed: it writes what others point to first.
            let Ok(Some((mut file, metadata))) = repository::open(copied) else {
                continue;
            };
            let time =
                i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
            let meta = self.meta(0o644, time);
            match self
                .builder
                .add_file(&at(&copied.path), meta, copied.size, &mut file)
            {
                Ok(_) | Err(WriteError::Read { .. } | WriteError::Tree(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.bytes(&at(b"config"), self.meta(0o644, now), &repository.config)?;
        Ok(())
    }

    fn bytes(&mut self, path: &[u8], meta: Meta, bytes: &[u8]) -> Result<EntryKind, WriteError> {
        let size = bytes.len() as u64;
        let stored = self.builder.add_file(path, meta, size, &mut &bytes[..])?;
        Ok(EntryKind::File {
            size,
            digest: Digest::of(bytes),
            offset: stored.offset,
        })
    }

    fn meta(&self, mode: u16, mtime: i128) -> Meta {
        const SECOND: i128 = 1_000_000_000;
        let (uid, gid) = self.options.owner;
        let seconds = i64::try_from(mtime.div_euclid(SECOND)).unwrap_or(0);
        let nanos = u32::try_from(mtime.rem_euclid(SECOND)).unwrap_or(0);
        Meta {
            mode,
            uid,
            gid,
            mtime: (seconds, nanos),
        }
    }

    fn entry(&mut self, path: &TreePath, kind: EntryKind, mode: u16, mtime: i128) {
        self.manifest.entries.push(Entry {
            path: path.clone(),
            kind,
            mode,
            mtime,
        });
    }

    fn leave_out(&mut self, path: &TreePath, reason: Reason) {
        self.manifest.left_out.push(LeftOut {
            path: path.clone(),
            reason,
        });
    }
}

fn open(root: &File, path: &TreePath) -> io::Result<(File, Stat)> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = File::from(beneath::open(root, path.as_bytes(), flags, Mode::empty())?);
    let stat = fstat(&file)?;
    Ok((file, stat))
}

/// Reads a file that must not change meanwhile: an error at its end if it did.
struct Steady {
    file: File,
    stat: Stat,
    left: u64,
    hasher: blake3::Hasher,
    changed: bool,
}

impl Read for Steady {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        let more = count as u64 > self.left;
        self.left = self.left.saturating_sub(count as u64);
        self.hasher.update(&buffer[..count]);
        if count > 0 && !more {
            return Ok(count);
        }
        let now = fstat(&self.file)?;
        let times = |stat: &Stat| {
            let modified = (stat.st_mtime, stat.st_mtime_nsec);
            (stat.st_size, modified, stat.st_ctime, stat.st_ctime_nsec)
        };
        if more || self.left > 0 || times(&now) != times(&self.stat) {
            self.changed = true;
            return Err(io::Error::other("the file changed while it was read"));
        }
        Ok(0)
    }
}
