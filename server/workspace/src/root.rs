//! The user's folder: which one it is, and what stands in it now.
//!
//! Reads only. Everything below the folder is reached through [`crate::beneath`].

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::{fd::AsFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use legwork_model::{Permissions, Side, TreePath, escape};
use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags, fstat, readlinkat, statat},
    io::Errno,
};
use serde::{Deserialize, Serialize};

use crate::beneath;

/// A workspace that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    path: PathBuf,
    identity: Identity,
}

/// Which directory a workspace is, whatever its name: another directory that took its name is another workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}

/// Why a folder cannot be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing there.
    #[error("{0} does not exist: give the folder to work on")]
    Missing(String),
    /// A file.
    #[error("{0} is a file, not a folder: give the folder that it stands in")]
    NotADirectory(String),
    /// Too much.
    #[error("{0} is not a project but {1}: give the folder of one project")]
    TooWide(String, &'static str),
    /// No permission, or the disk.
    #[error("{path} cannot be read ({source}): check its permissions")]
    Unreadable {
        /// The folder.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The folder is not the one that a task was started on.
    #[error(
        "{0} is another folder than the one the task was started on: move that one back, or run the task again"
    )]
    Replaced(String),
}

/// What stands at a path on the user's disk now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Live {
    /// Nothing, or a parent is not a directory.
    Absent,
    /// A regular file with these bytes.
    File {
        /// All of them.
        bytes: Vec<u8>,
        /// Who may read, write and execute it.
        permissions: Permissions,
    },
    /// A symbolic link with the bytes of its target, escaped as in [`Side::Symlink`].
    Symlink {
        /// The target.
        target: String,
    },
    /// A directory, empty or not.
    Dir,
    /// A socket, FIFO or device, or a place behind a symbolic link or on another file system.
    Other,
}

impl Live {
    /// As one side of a change; `None` when nothing stands there or it cannot be a side.
    pub fn side(&self) -> Option<Side> {
        match self {
            Self::File { bytes, permissions } => Some(Side::File {
                digest: legwork_model::Digest::of(bytes),
                size: bytes.len() as u64,
                permissions: *permissions,
            }),
            Self::Symlink { target } => Some(Side::Symlink {
                target: target.clone(),
            }),
            Self::Dir => Some(Side::Dir),
            Self::Absent | Self::Other => None,
        }
    }
}

impl Workspace {
    /// Opens the folder at `path`; links in the path are resolved once, here.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as one sentence.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let shown = || escape(path.as_os_str().as_encoded_bytes());
        let unreadable = |source| OpenError::Unreadable {
            path: shown(),
            source,
        };
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(error) => {
                return Err(match error.kind() {
                    io::ErrorKind::NotFound => OpenError::Missing(shown()),
                    io::ErrorKind::NotADirectory => OpenError::NotADirectory(shown()),
                    _ => unreadable(error),
                });
            }
        };
        if !real.is_dir() {
            return Err(OpenError::NotADirectory(shown()));
        }
        if let Some(why) = too_wide(&real) {
            return Err(OpenError::TooWide(shown(), why));
        }
        std::fs::read_dir(&real).map_err(unreadable)?;
        let stat = File::open(&real)
            .and_then(|dir| Ok(fstat(&dir)?))
            .map_err(unreadable)?;
        Ok(Self {
            path: real,
            identity: Identity {
                dev: stat.st_dev,
                ino: stat.st_ino,
            },
        })
    }

    /// Opens the folder that a task was started on, again.
    ///
    /// # Errors
    ///
    /// As [`Workspace::open`], and [`OpenError::Replaced`].
    pub fn reopen(path: &Path, identity: Identity) -> Result<Self, OpenError> {
        let workspace = Self::open(path)?;
        if workspace.identity != identity {
            return Err(OpenError::Replaced(escape(
                path.as_os_str().as_encoded_bytes(),
            )));
        }
        Ok(workspace)
    }

    /// The absolute path, without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which directory it is.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// What stands at a path now. A file of more than `max` bytes is an error.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is too large, or the workspace is not there any more.
    pub fn live(&self, path: &TreePath, max: u64) -> io::Result<Live> {
        let root = self.root()?;
        let parent = path
            .parent()
            .map_or(Vec::new(), |dir| dir.as_bytes().to_vec());
        let dir = match beneath::open_dir(&root, &parent) {
            Ok(dir) => dir,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Live::Absent),
            Err(Errno::LOOP | Errno::XDEV) => return Ok(Live::Other),
            Err(error) => return Err(error.into()),
        };
        let name = OsStr::from_bytes(path.name());
        let stat = match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(Live::Absent),
            Err(error) => return Err(error.into()),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NONBLOCK;
                let file = match beneath::open(&dir, path.name(), flags, Mode::empty()) {
                    Ok(file) => File::from(file),
                    Err(Errno::XDEV | Errno::LOOP) => return Ok(Live::Other),
                    Err(error) => return Err(error.into()),
                };
                if !file.metadata()?.is_file() {
                    return Ok(Live::Other);
                }
                let mut bytes = Vec::new();
                (&file)
                    .take(max.saturating_add(1))
                    .read_to_end(&mut bytes)?;
                if bytes.len() as u64 > max {
                    return Err(io::Error::from(io::ErrorKind::FileTooLarge));
                }
                Ok(Live::File {
                    bytes,
                    permissions: Permissions::of_mode(stat.st_mode),
                })
            }
            FileType::Symlink => Ok(Live::Symlink {
                target: escape(readlinkat(&dir, name, Vec::new())?.as_bytes()),
            }),
            FileType::Directory => Ok(Live::Dir),
            _ => Ok(Live::Other),
        }
    }

    /// The folder itself, sure to be the one that was opened.
    pub(crate) fn root(&self) -> io::Result<File> {
        let root = File::open(&self.path)?;
        let stat = fstat(root.as_fd())?;
        if (stat.st_dev, stat.st_ino) != (self.identity.dev, self.identity.ino) {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "another folder stands in its place",
            ));
        }
        Ok(root)
    }
}

/// Folders that hold a machine or a user rather than a project.
fn too_wide(path: &Path) -> Option<&'static str> {
    const SYSTEM: [&str; 16] = [
        "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/run", "/sbin", "/sys",
        "/tmp", "/usr", "/var", "/Users", "/private",
    ];
    if path == Path::new("/") {
        return Some("the whole machine");
    }
    if SYSTEM.iter().any(|system| path == Path::new(system)) {
        return Some("a part of the system");
    }
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    match home {
        Some(home) if home == path => Some("your home folder"),
        Some(home) if home.starts_with(path) => Some("a folder that holds your home"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_project_folder_opens() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        let said = |path: &Path| Workspace::open(path).unwrap_err().to_string();
        assert!(said(&dir.path().join("no")).ends_with("give the folder to work on"));
        assert!(said(&dir.path().join("file")).contains("is a file, not a folder"));
        assert!(said(&dir.path().join("file/x")).contains("is a file, not a folder"));
        assert!(said(Path::new("/")).contains("the whole machine"));
        assert!(said(Path::new("/usr")).contains("a part of the system"));
        let opened = Workspace::open(dir.path()).unwrap();
        assert_eq!(
            Workspace::reopen(dir.path(), opened.identity()).unwrap(),
            opened
        );
    }

    #[test]
    fn another_folder_of_the_same_name_is_another_workspace() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::create_dir(&a).unwrap();
        let opened = Workspace::open(&a).unwrap();
        std::fs::rename(&a, &b).unwrap();
        std::fs::create_dir(&a).unwrap();
        assert!(opened.root().is_err());
        assert!(matches!(
            Workspace::reopen(&a, opened.identity()),
            Err(OpenError::Replaced(_))
        ));
    }

    #[test]
    fn live_is_what_stands_there_and_links_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/f"), "x").unwrap();
        std::fs::set_permissions(at("d/f"), std::fs::Permissions::from_mode(0o755)).unwrap();
        symlink("d", at("l")).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let live = |path: &str| workspace.live(&path.parse().unwrap(), 8).unwrap();
        let file = Live::File {
            bytes: b"x".to_vec(),
            permissions: legwork_model::Permissions::PROGRAM,
        };
        assert_eq!(live("d/f"), file);
        assert_eq!(live("d"), Live::Dir);
        assert_eq!(live("l/f"), Live::Other);
        assert_eq!(live("l"), Live::Symlink { target: "d".into() });
        assert_eq!(live("d/f/g"), Live::Absent);
        assert_eq!(live("no/no"), Live::Absent);
        assert!(workspace.live(&"d/f".parse().unwrap(), 0).is_err());
    }
}
