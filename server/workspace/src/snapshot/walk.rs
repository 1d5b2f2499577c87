//! Finds what belongs into a snapshot, and lists what does not. Opens directories only; nothing is read but ignore files.

use std::{
    collections::HashMap,
    ffi::OsStr,
    fs::File,
    io::{self, Read as _},
    os::{fd::AsFd, unix::ffi::OsStrExt as _},
};

use legwork_model::{LeftOut, Reason, TreePath};
use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, readlinkat, statat},
    io::Errno,
};

use super::repository::{NoCopy, Repository};
use crate::{
    Workspace, attributes, beneath, names,
    rules::{Include, Rules},
};

/// Something that belongs into the snapshot.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: TreePath,
    pub(super) kind: Kind,
    pub(super) mode: u16,
    pub(super) mtime: i128,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Kind {
    File { size: u64 },
    Dir,
    Symlink { target: Vec<u8> },
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) found: Vec<Found>,
    pub(super) left_out: Vec<LeftOut>,
    /// Folders with extended attributes.
    pub(super) attributed: Vec<TreePath>,
    /// Files with several hard links in the workspace, sorted.
    pub(super) linked: Vec<TreePath>,
    /// Those of which the guest gets a copy.
    pub(super) repositories: Vec<Repository>,
}

/// A directory that waits.
#[derive(Debug)]
struct Waiting {
    /// Empty for the root.
    path: Vec<u8>,
    /// An ignore rule names it; only what is tracked or included belongs.
    ignored: bool,
}

pub(super) fn walk(
    workspace: &Workspace,
    root: &File,
    include: &Include,
    max_file: u64,
) -> io::Result<Walk> {
    let mut walker = Walker {
        workspace,
        root,
        include,
        max_file,
        rules: Rules::around(workspace.path()),
        walk: Walk::default(),
        waiting: Vec::new(),
        names: HashMap::new(),
    };
    walker.directory(&Waiting {
        path: Vec::new(),
        ignored: false,
    })?;
    while let Some(next) = walker.waiting.pop() {
        if let Err(error) = walker.directory(&next) {
            walker.leave_out(&next.path, reason(&error));
        }
    }
    let mut walk = walker.walk;
    walk.found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.left_out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let shared = walker.names.into_values().filter(|names| names.len() > 1);
    walk.linked = shared.flatten().collect();
    walk.linked.sort_unstable();
    Ok(walk)
}

/// Why a file that was there cannot be had.
pub(super) fn reason(error: &io::Error) -> Reason {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::XDEV) => Reason::OtherFileSystem,
        Some(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::STALE) => Reason::Vanished,
        Some(Errno::NXIO) => Reason::Special,
        _ => Reason::Unreadable,
    }
}

/// In nanoseconds since 1970.
pub(super) fn mtime(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec)
}

/// The lower nine bits.
pub(super) fn mode(stat: &Stat) -> u16 {
    u16::try_from(stat.st_mode & 0o777).unwrap_or(0)
}

struct Walker<'a> {
    workspace: &'a Workspace,
    root: &'a File,
    include: &'a Include,
    max_file: u64,
    rules: Rules,
    walk: Walk,
    waiting: Vec<Waiting>,
    /// Of files that have more than one, by device and inode.
    names: HashMap<(u64, u64), Vec<TreePath>>,
}

impl Walker<'_> {
    fn directory(&mut self, waiting: &Waiting) -> io::Result<()> {
        let Waiting { path, ignored } = waiting;
        let fd = beneath::open_dir(self.root, path)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&fd)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                entries.push(name);
            }
        }
        entries.sort_unstable();
        let has = |name: &[u8]| entries.binary_search_by(|e| e.as_slice().cmp(name)).is_ok();
        if !path.is_empty() {
            if has(b"HEAD") && has(b"objects") && has(b"refs") {
                // A bare repository: its objects are not source.
                self.leave_out(path, Reason::VersionControl);
                return Ok(());
            }
            let stat = fstat(&fd)?;
            if let Ok(path) = TreePath::from_bytes(path) {
                if attributes::has_any(&fd) {
                    self.walk.attributed.push(path.clone());
                }
                self.walk.found.push(Found {
                    path,
                    kind: Kind::Dir,
                    mode: mode(&stat),
                    mtime: mtime(&stat),
                });
            }
        }
        if has(b".git") {
            let here = self.workspace.path().join(OsStr::from_bytes(path));
            self.rules.add_repository(path, &here.join(".git"));
        }
        if has(b".gitignore")
            && let Some(bytes) = read_ignore_file(&fd)
        {
            self.rules.add_file(path, &bytes);
        }
        for name in entries {
            self.entry(&fd, path, &name, *ignored);
        }
        Ok(())
    }

    fn entry(&mut self, dir: impl AsFd, parent: &[u8], name: &[u8], ignored: bool) {
        let path = if parent.is_empty() {
            name.to_vec()
        } else {
            [parent, b"/", name].concat()
        };
        let Ok(tree_path) = TreePath::from_bytes(&path) else {
            // Too long to be said: the directory stands for it.
            self.leave_out(parent, Reason::Unreadable);
            return;
        };
        if names::is_version_control(name) {
            let named = name == b".git" && self.include.names(&path, false);
            let reason = if named {
                self.repository(&path)
            } else {
                Reason::VersionControl
            };
            return self.leave_out(&path, reason);
        }
        let name = OsStr::from_bytes(name);
        let stat = match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(error) => return self.leave_out(&path, reason(&error.into())),
        };
        let file_type = FileType::from_raw_mode(stat.st_mode);
        let is_dir = file_type == FileType::Directory;
        let included = self.include.names(&path, is_dir);
        if !included && names::is_secret(name.as_bytes(), is_dir) {
            return self.leave_out(&path, Reason::Secret);
        }
        let ignored = !included && (ignored || self.rules.ignores(&path, is_dir));
        if ignored {
            let wanted = if is_dir {
                self.rules.has_tracked_below(&path) || self.include.leads_through(&path)
            } else {
                self.rules.is_tracked(&path)
            };
            if !wanted {
                return self.leave_out(&path, Reason::Ignored);
            }
        }
        let kind = match file_type {
            FileType::Directory => return self.waiting.push(Waiting { path, ignored }),
            FileType::RegularFile => Kind::File {
                size: u64::try_from(stat.st_size).unwrap_or(0),
            },
            FileType::Symlink => match readlinkat(&dir, name, Vec::new()) {
                Ok(target) => Kind::Symlink {
                    target: target.into_bytes(),
                },
                Err(error) => return self.leave_out(&path, reason(&error.into())),
            },
            _ => return self.leave_out(&path, Reason::Special),
        };
        if matches!(kind, Kind::File { size } if size > self.max_file) {
            return self.leave_out(&path, Reason::TooLarge);
        }
        if matches!(kind, Kind::File { .. }) && stat.st_nlink > 1 {
            let names = self.names.entry((stat.st_dev, stat.st_ino)).or_default();
            names.push(tree_path.clone());
        }
        self.walk.found.push(Found {
            path: tree_path,
            kind,
            mode: mode(&stat),
            mtime: mtime(&stat),
        });
    }

    /// Has a repository copied, if it can be.
    fn repository(&mut self, path: &[u8]) -> Reason {
        let dot_git = self.workspace.path().join(OsStr::from_bytes(path));
        match Repository::list(path, &dot_git) {
            Ok(repository) => {
                self.walk.repositories.push(repository);
                Reason::Copied
            }
            Err(NoCopy::TooLarge) => Reason::TooLarge,
            Err(NoCopy::Unreadable) => Reason::Unreadable,
        }
    }

    fn leave_out(&mut self, path: &[u8], reason: Reason) {
        if let Ok(path) = TreePath::from_bytes(path)
            && self
                .walk
                .left_out
                .last()
                .is_none_or(|last| last.path != path)
        {
            self.walk.left_out.push(LeftOut { path, reason });
        }
    }
}

fn read_ignore_file(dir: impl AsFd) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK;
    let file = File::from(beneath::open(dir, b".gitignore", flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    if file.metadata().ok()?.is_file() {
        file.take(crate::rules::IGNORE_FILE_MAX)
            .read_to_end(&mut bytes)
            .ok()?;
    }
    Some(bytes)
}
