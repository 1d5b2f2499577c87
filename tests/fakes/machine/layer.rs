//! The workspace as it was unpacked, and what an overlay's upper layer would hold by now. Whatever was touched counts as
//! changed, as it does there; the host compares contents.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs::{self, Metadata},
    io,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
};

use legwork_link::{Found, FoundKind};

/// What changes when something is written to or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    mode: u32,
    size: u64,
    modified: (i64, i64),
    /// Seconds and nanoseconds since 1970.
    pub(crate) changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        let dir = metadata.is_dir();
        // A directory's own tell what is in it, which is looked at anyway.
        let unless_dir = |value| if dir { (0, 0) } else { value };
        Self {
            inode: metadata.ino(),
            mode: metadata.mode(),
            size: if dir { 0 } else { metadata.size() },
            modified: unless_dir((metadata.mtime(), metadata.mtime_nsec())),
            changed: unless_dir((metadata.ctime(), metadata.ctime_nsec())),
        }
    }
}

/// Something in the upper layer.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) found: Found,
    /// `None` for what is gone.
    pub(crate) stamp: Option<Stamp>,
}

/// The tree as it was unpacked.
#[derive(Debug)]
pub(crate) struct Base {
    tree: PathBuf,
    stamps: BTreeMap<Vec<u8>, Stamp>,
    names: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
}

impl Base {
    /// Remembers everything below a directory.
    pub(crate) fn of(tree: &Path) -> io::Result<Self> {
        let mut base = Self {
            tree: tree.to_owned(),
            stamps: BTreeMap::new(),
            names: BTreeMap::new(),
        };
        let mut dirs = vec![Vec::new()];
        while let Some(dir) = dirs.pop() {
            let mut names = BTreeSet::new();
            for name in base.list(&dir)? {
                let path = below(&dir, &name);
                let metadata = fs::symlink_metadata(base.place(&path))?;
                base.stamps.insert(path.clone(), Stamp::of(&metadata));
                if metadata.is_dir() {
                    dirs.push(path);
                }
                names.insert(name);
            }
            base.names.insert(dir, names);
        }
        Ok(base)
    }

    /// Where the tree is.
    pub(crate) fn tree(&self) -> &Path {
        &self.tree
    }

    /// Where a path of the workspace is.
    pub(crate) fn place(&self, path: &[u8]) -> PathBuf {
        self.tree.join(OsStr::from_bytes(path))
    }

    /// What the upper layer holds; a directory comes before what is in it. What vanishes meanwhile is left out.
    pub(crate) fn upper(&self) -> io::Result<Vec<Entry>> {
        self.walk(&[], false)
    }

    fn list(&self, dir: &[u8]) -> io::Result<BTreeSet<Vec<u8>>> {
        fs::read_dir(self.place(dir))?
            .map(|entry| Ok(entry?.file_name().into_vec()))
            .collect()
    }

    /// What is in a directory; `hidden` if nothing of the base shows through it.
    fn walk(&self, dir: &[u8], hidden: bool) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let Some(names) = vanished(self.list(dir))? else {
            return Ok(entries);
        };
        for name in &names {
            let path = below(dir, name);
            if let Some(metadata) = vanished(fs::symlink_metadata(self.place(&path)))? {
                entries.extend(self.entry(path, &metadata, hidden)?);
            }
        }
        if !hidden && let Some(base) = self.names.get(dir) {
            for name in base.difference(&names) {
                let found = Found {
                    path: below(dir, name),
                    kind: FoundKind::Whiteout,
                };
                entries.push(Entry { found, stamp: None });
            }
        }
        Ok(entries)
    }

    fn entry(&self, path: Vec<u8>, metadata: &Metadata, hidden: bool) -> io::Result<Vec<Entry>> {
        let stamp = Stamp::of(metadata);
        let base = self.stamps.get(&path).filter(|_| !hidden);
        let mode = metadata.mode() & 0o7777;
        let kind = metadata.file_type();
        if kind.is_dir() {
            let same = base.is_some_and(|base| base.inode == stamp.inode);
            let inside = self.walk(&path, !same)?;
            if base == Some(&stamp) && inside.is_empty() {
                return Ok(inside);
            }
            let opaque = base.is_some() && !same;
            let kind = FoundKind::Dir { mode, opaque };
            let mut entries = vec![Entry {
                found: Found { path, kind },
                stamp: Some(stamp),
            }];
            entries.extend(inside);
            return Ok(entries);
        }
        if base == Some(&stamp) {
            return Ok(Vec::new());
        }
        let kind = if kind.is_file() {
            let size = metadata.size();
            FoundKind::File { mode, size }
        } else if kind.is_symlink() {
            let Some(target) = vanished(fs::read_link(self.place(&path)))? else {
                return Ok(Vec::new());
            };
            let target = target.into_os_string().into_vec();
            FoundKind::Symlink { target }
        } else {
            let file_type = metadata.mode() & 0o170_000;
            FoundKind::Special { file_type }
        };
        Ok(vec![Entry {
            found: Found { path, kind },
            stamp: Some(stamp),
        }])
    }
}

fn below(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() {
        name.to_vec()
    } else {
        [dir, b"/", name].concat()
    }
}

/// `None` for what was there a moment ago.
pub(crate) fn vanished<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory | InvalidInput) => Ok(None),
        Err(error) => Err(error),
    }
}
