//! What stands below a folder, to the byte, and how two such pictures differ. Nothing but regular files is ever opened.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::MetadataExt as _,
    },
    path::Path,
};

/// A longer file is known by its length alone: it is sparse.
const LONGEST: u64 = 400 << 20;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Type and permission bits.
    pub(crate) mode: u32,
    /// Length of a file.
    pub(crate) size: u64,
    /// Content of a file, target of a link.
    pub(crate) bytes: Vec<u8>,
}

/// All entries, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picture(pub(crate) BTreeMap<Vec<u8>, Entry>);

/// Whether the folders of version control are part of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Git {
    With,
    Without,
}

impl Picture {
    /// What stands there now.
    pub(crate) fn of(root: &Path, git: Git) -> Self {
        let mut picture = Self::default();
        walk(root, git, &mut |path, metadata, full| {
            let kind = metadata.file_type();
            let bytes = if kind.is_symlink() {
                fs::read_link(full)
                    .expect("a link")
                    .into_os_string()
                    .into_vec()
            } else if kind.is_file() && metadata.len() <= LONGEST {
                // What may not be read has no content here.
                fs::read(full).unwrap_or_default()
            } else {
                Vec::new()
            };
            let size = if kind.is_file() { metadata.len() } else { 0 };
            let mode = metadata.mode();
            picture.0.insert(path, Entry { mode, size, bytes });
        });
        picture
    }

    /// The same without one entry and all below it.
    pub(crate) fn without(mut self, path: &str) -> Self {
        let below = [path.as_bytes(), b"/"].concat();
        self.0
            .retain(|entry, _| entry != path.as_bytes() && !entry.starts_with(&below));
        self
    }

    /// The same with one entry as another picture has it, or without it if that has none.
    pub(crate) fn with(mut self, other: &Self, path: &str) -> Self {
        self = self.without(path);
        let below = [path.as_bytes(), b"/"].concat();
        for (at, entry) in &other.0 {
            if at == path.as_bytes() || at.starts_with(&below) {
                self.0.insert(at.clone(), entry.clone());
            }
        }
        self
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, path: &str) -> &[u8] {
        let entry = self.0.get(path.as_bytes());
        &entry.unwrap_or_else(|| panic!("{path} is not there")).bytes
    }

    /// Asserts that both are the same, and else says where they differ.
    #[track_caller]
    pub(crate) fn must_be(&self, wanted: &Self, when: &str) {
        let mut told = String::new();
        let mut paths: Vec<_> = self.0.keys().chain(wanted.0.keys()).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let (is, should) = (self.0.get(path), wanted.0.get(path));
            if is != should {
                let _ = write!(
                    told,
                    "\n  {}: {}, and should be {}",
                    path.escape_ascii(),
                    say(is),
                    say(should)
                );
            }
        }
        assert!(told.is_empty(), "{when}:{told}");
    }
}

fn say(entry: Option<&Entry>) -> String {
    match entry {
        None => "nothing".to_owned(),
        Some(Entry { mode, size, bytes }) => {
            let start = &bytes[..bytes.len().min(120)];
            format!("{mode:o} {size} \"{}\"", start.escape_ascii())
        }
    }
}

/// Inode, links, and the times of the last change of content and of anything, with nanoseconds.
type Stamp = (u64, u64, (i64, i64), (i64, i64));

/// The stamps of everything: they tell whether anything was touched.
pub(crate) fn stamps(root: &Path) -> BTreeMap<Vec<u8>, Stamp> {
    let mut stamps = BTreeMap::new();
    walk(root, Git::With, &mut |path, metadata, _| {
        let stamp = (
            metadata.ino(),
            metadata.nlink(),
            (metadata.mtime(), metadata.mtime_nsec()),
            (metadata.ctime(), metadata.ctime_nsec()),
        );
        stamps.insert(path, stamp);
    });
    stamps
}

fn walk(root: &Path, git: Git, see: &mut dyn FnMut(Vec<u8>, &fs::Metadata, &Path)) {
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        // What may not be read is known by its own entry.
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if git == Git::Without && (name == ".git" || name == ".bare") {
                continue;
            }
            let path = entry.path();
            // It may be going away, as a file that another program writes does.
            let Ok(metadata) = path.symlink_metadata() else {
                continue;
            };
            let below = path
                .strip_prefix(root)
                .expect("below the root")
                .as_os_str()
                .as_bytes();
            see(below.to_vec(), &metadata, &path);
            if metadata.is_dir() {
                dirs.push(path);
            }
        }
    }
}
