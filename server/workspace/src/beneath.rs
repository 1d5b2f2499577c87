//! Opens what stands below a directory without ever leaving it: no symbolic link is followed, no mount point is crossed.
//!
//! Says nothing about what is done with the file.

use std::{
    ffi::OsStr,
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{Mode, OFlags, ResolveFlags, openat, openat2},
    io::{Errno, Result},
};

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// Opens `path` (relative, plain, not empty) below `root`. `ELOOP` when a part of it is a symbolic link, `EXDEV` when
/// it crosses onto another mount.
pub(crate) fn open(root: impl AsFd, path: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    match openat2(
        root.as_fd(),
        Path::new(OsStr::from_bytes(path)),
        flags,
        mode,
        RESOLVE,
    ) {
        // A kernel before 5.6, or a filter that does not know the call.
        Err(Errno::NOSYS) => step_by_step(root, path, flags | OFlags::NOFOLLOW, mode),
        other => other,
    }
}

/// The directory at `path`, or `root` itself for the empty path.
pub(crate) fn open_dir(root: impl AsFd, path: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    if path.is_empty() {
        return openat(root, ".", flags | OFlags::CLOEXEC, Mode::empty());
    }
    open(root, path, flags, Mode::empty())
}

/// One component at a time, none of which may be a link or lie on another device.
fn step_by_step(root: impl AsFd, path: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let device = rustix::fs::fstat(root.as_fd())?.st_dev;
    let (parents, name) = match path.iter().rposition(|&byte| byte == b'/') {
        Some(slash) => (Some(&path[..slash]), &path[slash + 1..]),
        None => (None, path),
    };
    let same_device = |fd: OwnedFd| match rustix::fs::fstat(&fd)?.st_dev == device {
        true => Ok(fd),
        false => Err(Errno::XDEV),
    };
    let mut at = open_dir(root, b"")?;
    for part in parents
        .into_iter()
        .flat_map(|parents| parents.split(|&byte| byte == b'/'))
    {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        at = same_device(openat(&at, OsStr::from_bytes(part), flags, Mode::empty())?)?;
    }
    same_device(openat(&at, OsStr::from_bytes(name), flags, mode)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_dots_do_not_lead_out() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("in/deep")).unwrap();
        std::fs::write(dir.path().join("in/deep/file"), "x").unwrap();
        symlink("/etc", dir.path().join("out")).unwrap();
        symlink("in", dir.path().join("inside")).unwrap();
        let root = std::fs::File::open(dir.path()).unwrap();
        type Open = fn(&std::fs::File, &[u8]) -> Result<OwnedFd>;
        let ways: [(&str, Open); 2] = [
            ("openat2", |root, path| {
                open(root, path, OFlags::RDONLY, Mode::empty())
            }),
            ("steps", |root, path| {
                step_by_step(root, path, OFlags::NOFOLLOW, Mode::empty())
            }),
        ];
        for (name, read) in ways {
            let read = |path: &str| read(&root, path.as_bytes());
            assert!(read("in/deep/file").is_ok(), "{name}");
            for path in ["out/passwd", "inside/deep/file", "inside", "out"] {
                let error = read(path).unwrap_err();
                assert!(
                    [Errno::LOOP, Errno::NOTDIR].contains(&error),
                    "{name} {path} {error}"
                );
            }
        }
        assert!(open(&root, b"../x", OFlags::RDONLY, Mode::empty()).is_err());
    }
}
