//! What of the host is in its root image: an explicit list of directories, walked once.
//!
//! Everything belongs to root in the image, and nothing is set-uid. Nothing of `/home`, `/root`,
//! `/opt` or `/var` is looked at.

use std::{
    collections::HashMap,
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use legwork_erofs::{BLOCK_SIZE, Builder, Meta, TreeError, WriteError};

use super::{RootSummary, etc};

/// Taken from the host as they are: directories with all that is in them, or symbolic links.
pub(super) const TREES: [&str; 7] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];
/// What a command in a machine has no use for.
pub(super) const LEFT_OUT: [&str; 8] = [
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "usr/share/help",
    "usr/share/gtk-doc",
    "usr/src",
    "usr/lib/debug",
];
/// Directories that are there and empty, with their modes.
const EMPTY: [(&str, u16); 16] = [
    ("proc", 0o755),
    ("sys", 0o755),
    ("dev", 0o755),
    ("run", 0o755),
    ("tmp", 0o1777),
    ("root", 0o700),
    ("home", 0o755),
    ("mnt", 0o755),
    ("srv", 0o755),
    ("opt", 0o755),
    ("var", 0o755),
    ("var/tmp", 0o1777),
    ("var/lib", 0o755),
    ("var/cache", 0o755),
    ("var/log", 0o755),
    ("usr", 0o755),
];

/// One entry of the image to come.
#[derive(Debug)]
pub(super) struct Entry {
    /// Path in the image, and on the host below its root.
    pub(super) path: Vec<u8>,
    pub(super) meta: Meta,
    pub(super) item: Item,
}

#[derive(Debug)]
pub(super) enum Item {
    Dir,
    /// Copied from the host.
    File,
    /// Another name for the file of that path.
    Link(Vec<u8>),
    Symlink(Vec<u8>),
    /// Made here.
    Bytes(Vec<u8>),
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    /// Bytes of all files.
    pub(super) bytes: u64,
    /// Bytes that the files take in the image.
    pub(super) stored: u64,
    pub(super) skipped: RootSummary,
    /// First path of files that have several.
    linked: HashMap<(u64, u64), Vec<u8>>,
}

impl Listing {
    pub(super) fn push(&mut self, path: &str, meta: Meta, item: Item) {
        self.entries.push(Entry {
            path: path.as_bytes().to_vec(),
            meta,
            item,
        });
    }

    fn add_file(&mut self, path: Vec<u8>, meta: Meta, found: &Metadata) {
        let id = (found.dev(), found.ino());
        if found.nlink() > 1
            && let Some(first) = self.linked.get(&id)
        {
            let item = Item::Link(first.clone());
            self.entries.push(Entry { path, meta, item });
            return;
        }
        if found.nlink() > 1 {
            self.linked.insert(id, path.clone());
        }
        self.bytes += found.len();
        self.stored += found.len().next_multiple_of(BLOCK_SIZE);
        self.entries.push(Entry {
            path,
            meta,
            item: Item::File,
        });
    }
}

/// All entries of the image, parents first.
pub(super) fn list(root: &Path) -> Listing {
    let mut listing = Listing::default();
    for (path, mode) in EMPTY.into_iter().filter(|(path, _)| !TREES.contains(path)) {
        listing.push(
            path,
            Meta {
                mode,
                ..Meta::dir()
            },
            Item::Dir,
        );
    }
    for (path, target) in [("var/run", "/run"), ("var/lock", "/run/lock")] {
        listing.push(path, link_meta(), Item::Symlink(target.into()));
    }
    for tree in TREES {
        walk(&mut listing, root, tree);
    }
    etc::list(&mut listing, root);
    listing
}

/// All that is below a folder, parents first.
pub(super) fn list_folder(root: &Path) -> Listing {
    let mut listing = Listing::default();
    walk(&mut listing, root, "");
    listing
}

fn walk(listing: &mut Listing, root: &Path, tree: &str) {
    let Ok(found) = root.join(tree).symlink_metadata() else {
        return;
    };
    let mut todo = vec![(PathBuf::from(tree), found)];
    while let Some((path, found)) = todo.pop() {
        let meta = root_owned(&found);
        let kind = found.file_type();
        if kind.is_dir() {
            let children = children(root, &path, &mut listing.skipped);
            // The last one is taken first.
            todo.extend(children.into_iter().rev());
        }
        let name = path.into_os_string().into_vec();
        if kind.is_file() {
            listing.add_file(name, meta, &found);
        } else if kind.is_dir() {
            listing.entries.push(Entry {
                path: name,
                meta,
                item: Item::Dir,
            });
        } else if kind.is_symlink() {
            match fs::read_link(on_host(root, &name)) {
                Ok(target) => {
                    let item = Item::Symlink(target.into_os_string().into_vec());
                    listing.entries.push(Entry {
                        path: name,
                        meta,
                        item,
                    });
                }
                Err(_) => listing.skipped.unreadable += 1,
            }
        } else {
            listing.skipped.special += 1;
        }
    }
}

/// The entries of a directory by name, but for those that are left out.
fn children(root: &Path, dir: &Path, skipped: &mut RootSummary) -> Vec<(PathBuf, Metadata)> {
    let Ok(entries) = fs::read_dir(root.join(dir)) else {
        skipped.unreadable += 1;
        return Vec::new();
    };
    let mut out = Vec::new();
    for entry in entries {
        let Ok(found) =
            entry.and_then(|entry| Ok((dir.join(entry.file_name()), entry.metadata()?)))
        else {
            skipped.unreadable += 1;
            continue;
        };
        if !LEFT_OUT.iter().any(|path| found.0 == Path::new(path)) {
            out.push(found);
        }
    }
    out.sort_by(|(one, _), (other, _)| one.as_os_str().cmp(other.as_os_str()));
    out
}

impl Entry {
    /// Adds it, and returns the bytes that were copied. A file that cannot be read any more is
    /// counted, not an error.
    pub(super) fn add_to(
        &self,
        builder: &mut Builder<&File>,
        root: &Path,
        summary: &mut RootSummary,
    ) -> Result<u64, WriteError> {
        let Self { path, meta, item } = self;
        let added = match item {
            Item::Dir => builder.add_dir(path, *meta).map(|()| 0),
            Item::Symlink(target) => builder.add_symlink(path, *meta, target).map(|()| 0),
            Item::Link(first) => builder.add_hard_link(path, first).map(|()| 0),
            Item::Bytes(bytes) => builder
                .add_file(path, *meta, bytes.len() as u64, &mut &bytes[..])
                .map(|stored| stored.len),
            Item::File => match open(&on_host(root, path)) {
                Ok(file) => builder
                    .add_file_from(path, *meta, &file)
                    .map(|stored| stored.len),
                Err(_) => {
                    summary.unreadable += 1;
                    return Ok(0);
                }
            },
        };
        let counter = match item {
            Item::Dir => &mut summary.directories,
            Item::Symlink(_) => &mut summary.symlinks,
            Item::File | Item::Bytes(_) | Item::Link(_) => &mut summary.files,
        };
        match added {
            Ok(bytes) => {
                *counter += 1;
                Ok(bytes)
            }
            // The first name of a link may have been unreadable.
            Err(WriteError::Read { .. } | WriteError::Tree(TreeError::Link(_))) => {
                summary.unreadable += 1;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

/// Opens a regular file. What has become a link or a pipe since the listing is not followed and
/// not waited for.
fn open(path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// The same, but root's and without set-uid and set-gid.
pub(super) fn root_owned(found: &Metadata) -> Meta {
    let mode = u16::try_from(found.mode() & 0o1777).expect("ten bits fit into sixteen");
    let nanos = u32::try_from(found.mtime_nsec()).unwrap_or(0);
    Meta {
        mode,
        uid: 0,
        gid: 0,
        mtime: (found.mtime(), nanos),
    }
}

pub(super) fn link_meta() -> Meta {
    Meta {
        mode: 0o777,
        ..Meta::file()
    }
}

fn on_host(root: &Path, path: &[u8]) -> PathBuf {
    root.join(std::ffi::OsStr::from_bytes(path))
}
