//! A workspace of a test, and what stands in it down to the byte.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

/// What stands at a path: type and permission bits, and content or target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `st_mode`.
    pub mode: u32,
    /// Content of a file, target of a symbolic link, nothing else.
    pub bytes: Vec<u8>,
}

/// A folder that goes away with the value.
#[derive(Debug)]
pub struct Folder {
    dir: TempDir,
}

impl Folder {
    /// A folder with these files.
    ///
    /// # Panics
    ///
    /// When it cannot be made, like every method here.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new()
            .prefix("project")
            .tempdir()
            .expect("a temporary directory");
        let folder = Self { dir };
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    /// Where it is, with no symbolic link in it.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().expect("the folder is there")
    }

    /// Writes a file, with its folders.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a folder");
        }
        fs::write(path, bytes).expect("a file");
    }

    /// Reads a file.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.dir.path().join(path);
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Runs a shell script in it.
    ///
    /// # Panics
    ///
    /// When it fails.
    pub fn sh(&self, script: &str) {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(self.dir.path())
            .output()
            .expect("sh");
        assert!(
            output.status.success(),
            "{script}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// All that stands in it.
    ///
    /// # Panics
    ///
    /// As all here.
    pub fn standing(&self) -> BTreeMap<PathBuf, Standing> {
        standing(self.dir.path())
    }
}

/// All that stands below a directory.
///
/// # Panics
///
/// When it cannot be read.
pub fn standing(root: &Path) -> BTreeMap<PathBuf, Standing> {
    let mut all = BTreeMap::new();
    let mut dirs = vec![root.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("a readable folder").flatten() {
            let path = entry.path();
            let metadata = path.symlink_metadata().expect("an entry");
            let kind = metadata.file_type();
            let bytes = if kind.is_file() {
                fs::read(&path).expect("a readable file")
            } else if kind.is_symlink() {
                fs::read_link(&path)
                    .expect("a link")
                    .into_os_string()
                    .into_vec()
            } else {
                Vec::new()
            };
            if kind.is_dir() {
                dirs.push(path.clone());
            }
            let below = path.strip_prefix(root).expect("below the root").to_owned();
            all.insert(
                below,
                Standing {
                    mode: metadata.mode(),
                    bytes,
                },
            );
        }
    }
    all
}

/// A name of these bytes.
pub fn name(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}
