//! Lists what stands in the workspace's upper layer: that, and only that, is what programs changed. Nothing of the base
//! is walked, so the cost follows the change.

use std::{
    ffi::CStr,
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
};

use legwork_link::{Collected, Found, FoundKind, LinkError, MAX_COLLECTED, Substream, frame};
use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, Stat, fgetxattr, flistxattr, flistxattr_query,
        openat, readlinkat, statat,
    },
    io::Errno,
};
use tokio::io::AsyncWriteExt as _;

/// Deepest folder that is listed: each is open while what is in it is looked at, and a process has 1,024 files by default.
pub(crate) const MAX_DEPTH: usize = 700;

/// Sends the listing.
pub(crate) async fn collect(
    upper: BorrowedFd<'_>,
    mut substream: Substream,
) -> Result<(), LinkError> {
    let mut walk = Walk {
        substream: &mut substream,
    };
    let last = match walk.layer(upper).await {
        Ok(()) => Collected::Done,
        Err(Broken::Link(error)) => return Err(error),
        Err(Broken::Disk(path, errno)) => Collected::Failed(format!(
            "cannot read {}: {errno}",
            String::from_utf8_lossy(&path)
        )),
    };
    frame::write(&mut substream, &last).await?;
    substream.shutdown().await?;
    Ok(())
}

enum Broken {
    Link(LinkError),
    Disk(Vec<u8>, Errno),
}

impl From<LinkError> for Broken {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

struct Walk<'a> {
    substream: &'a mut Substream,
}

/// A folder that is open, its path, and the names in it that are still to be looked at, last one first.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) dir: OwnedFd,
    path: Vec<u8>,
    names: Vec<Vec<u8>>,
}

impl Level {
    /// The layer itself.
    pub(crate) fn top(upper: BorrowedFd<'_>) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::read(openat(upper, ".", flags, Mode::empty())?, Vec::new())
    }

    pub(crate) fn read(dir: OwnedFd, path: Vec<u8>) -> Result<Self, Errno> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&dir)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(name);
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self { dir, path, names })
    }

    /// The next name, with its path.
    pub(crate) fn next(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        let name = self.names.pop()?;
        let path = if self.path.is_empty() {
            name.clone()
        } else {
            [&self.path, &b"/"[..], &name].concat()
        };
        Some((name, path))
    }
}

impl Walk<'_> {
    async fn layer(&mut self, upper: BorrowedFd<'_>) -> Result<(), Broken> {
        let top = Level::top(upper).map_err(|errno| Broken::Disk(Vec::new(), errno))?;
        let mut levels = vec![top];
        while let Some(level) = levels.last_mut() {
            let Some((name, path)) = level.next() else {
                levels.pop();
                continue;
            };
            let below = self.entry(level.dir.as_fd(), &name, &path).await?;
            if let Some(below) = below {
                if levels.len() >= MAX_DEPTH {
                    return Err(Broken::Disk(path, Errno::NAMETOOLONG));
                }
                let level = Level::read(below, path.clone());
                levels.push(level.map_err(|errno| Broken::Disk(path, errno))?);
            }
        }
        Ok(())
    }

    /// Reports one entry, and opens it if it is a folder.
    async fn entry(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &[u8],
        path: &[u8],
    ) -> Result<Option<OwnedFd>, Broken> {
        let broken = |errno| Broken::Disk(path.to_vec(), errno);
        let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_err(broken)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = stat.st_mode & 0o7777;
        let kind = FileType::from_raw_mode(stat.st_mode);
        match kind {
            FileType::RegularFile => {
                let file = openat(dir, name, flags, Mode::empty()).map_err(broken)?;
                let size = u64::try_from(stat.st_size).unwrap_or(0);
                self.attributes(file.as_fd()).await?;
                self.found(path, FoundKind::File { mode, size }).await?;
                if size <= MAX_COLLECTED {
                    self.data(file, path).await?;
                }
                frame::write(self.substream, &Collected::EndOfFile).await?;
            }
            FileType::Directory => {
                let below =
                    openat(dir, name, flags | OFlags::DIRECTORY, Mode::empty()).map_err(broken)?;
                let opaque = opaque(below.as_fd());
                self.attributes(below.as_fd()).await?;
                self.found(path, FoundKind::Dir { mode, opaque }).await?;
                return Ok(Some(below));
            }
            FileType::Symlink => {
                let target = readlinkat(dir, name, Vec::new())
                    .map_err(broken)?
                    .into_bytes();
                self.found(path, FoundKind::Symlink { target }).await?;
            }
            FileType::CharacterDevice if is_whiteout(&stat) => {
                self.found(path, FoundKind::Whiteout).await?;
            }
            _ => {
                self.found(
                    path,
                    FoundKind::Special {
                        file_type: stat.st_mode & 0o170_000,
                    },
                )
                .await?;
            }
        }
        Ok(None)
    }

    async fn attributes(&mut self, file: BorrowedFd<'_>) -> Result<(), LinkError> {
        if has_attributes(file) {
            frame::write(self.substream, &Collected::Attributes).await?;
        }
        Ok(())
    }

    async fn found(&mut self, path: &[u8], kind: FoundKind) -> Result<(), LinkError> {
        frame::write(
            self.substream,
            &Collected::Found(Found {
                path: path.to_vec(),
                kind,
            }),
        )
        .await
    }

    async fn data(&mut self, file: OwnedFd, path: &[u8]) -> Result<(), Broken> {
        let mut buffer = vec![0; frame::MAX_DATA];
        loop {
            let count = rustix::io::read(&file, &mut buffer[..])
                .map_err(|errno| Broken::Disk(path.to_vec(), errno))?;
            if count == 0 {
                break;
            }
            frame::write(self.substream, &Collected::Data(buffer[..count].to_vec())).await?;
        }
        Ok(())
    }
}

/// Whether a program gave it extended attributes or an access list. The base has none, and those of overlayfs are its own.
fn has_attributes(file: BorrowedFd<'_>) -> bool {
    let Ok(length) = flistxattr_query(file) else {
        return false;
    };
    let mut list = vec![0; length];
    let Ok(length) = flistxattr(file, &mut list[..]) else {
        return false;
    };
    list[..length].split(|&byte| byte == 0).any(|name| {
        name.starts_with(b"user.")
            || name.starts_with(b"system.posix_acl_")
            || name == b"security.capability"
    })
}

/// Overlayfs marks a deleted entry by a character device with the number 0.
pub(crate) fn is_whiteout(stat: &Stat) -> bool {
    stat.st_rdev == 0
}

pub(crate) fn opaque(dir: BorrowedFd<'_>) -> bool {
    const NAME: &CStr = c"trusted.overlay.opaque";
    let mut value = [0; 4];
    matches!(fgetxattr(dir, NAME, &mut value), Ok(1) if value[0] == b'y')
}
