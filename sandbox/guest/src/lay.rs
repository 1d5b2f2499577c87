//! Makes the workspace as an earlier machine left it, before anything runs: through the overlay, as a program would do it.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::File,
    io::Write as _,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
};

use legwork_link::{LayInput, LinkError, Substream, frame};
use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, fchmod, mkdirat, openat, statat, symlinkat, unlinkat,
    },
    io::Errno,
};
use tokio::io::AsyncWriteExt as _;

/// Takes frames to the last one, and says whether all of it stands.
pub(crate) async fn lay(
    workspace: BorrowedFd<'_>,
    mut substream: Substream,
) -> Result<(), LinkError> {
    let mut site = Site {
        workspace,
        file: None,
        emptied: BTreeSet::new(),
        folders: BTreeSet::new(),
    };
    let mut laid = Ok(());
    while let Some(input) = frame::read::<LayInput>(&mut substream).await? {
        let is_last = input == LayInput::Done;
        // After a fault the rest is heard and not done: the answer comes at the end.
        laid = laid.and_then(|()| site.take(input));
        if is_last {
            break;
        }
    }
    frame::write(&mut substream, &laid).await?;
    substream.shutdown().await?;
    Ok(())
}

struct Site<'a> {
    workspace: BorrowedFd<'a>,
    /// The file that data go to.
    file: Option<(File, Vec<u8>)>,
    /// Folders out of which something went.
    emptied: BTreeSet<Vec<u8>>,
    /// Folders that stay, whatever is in them.
    folders: BTreeSet<Vec<u8>>,
}

impl Site<'_> {
    fn take(&mut self, input: LayInput) -> Result<(), String> {
        let failed = |path: &[u8], error: &dyn std::fmt::Display| {
            format!("cannot make {}: {error}", String::from_utf8_lossy(path))
        };
        match input {
            LayInput::Remove(path) => self.remove(&path).map_err(|e| failed(&path, &e)),
            LayInput::Dir(path) => self.folder(&path).map(drop).map_err(|e| failed(&path, &e)),
            LayInput::Symlink { path, target } => self
                .room(&path)
                .and_then(|dir| symlinkat(&target[..], &dir, OsStr::from_bytes(name(&path))))
                .map_err(|e| failed(&path, &e)),
            LayInput::File { path, mode } => {
                let file = self.file(&path, mode).map_err(|e| failed(&path, &e))?;
                self.file = Some((file, path));
                Ok(())
            }
            LayInput::Data(bytes) => match &mut self.file {
                Some((file, path)) => file.write_all(&bytes).map_err(|e| failed(path, &e)),
                None => Err("data came without a file".into()),
            },
            LayInput::Done => {
                self.file = None;
                self.prune().map_err(|e| failed(b"what is left", &e))
            }
        }
    }

    fn remove(&mut self, path: &[u8]) -> Result<(), Errno> {
        let (dir, name) = (self.open(above(path))?, OsStr::from_bytes(name(path)));
        let stat = statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            self.emptied.insert(path.to_vec());
        } else {
            unlinkat(&dir, name, AtFlags::empty())?;
            self.emptied.insert(above(path).to_vec());
        }
        Ok(())
    }

    /// A folder, and those above it.
    fn folder(&mut self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let dir = self.make(path)?;
        self.folders.insert(path.to_vec());
        Ok(dir)
    }

    fn file(&self, path: &[u8], mode: u32) -> Result<File, Errno> {
        let dir = self.room(path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let name = OsStr::from_bytes(name(path));
        let file = openat(&dir, name, flags, Mode::from_raw_mode(0o600))?;
        fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
        Ok(File::from(file))
    }

    /// The folder above a path, in which nothing of this name stands any more.
    fn room(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let (dir, name) = (self.make(above(path))?, OsStr::from_bytes(name(path)));
        match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                hollow(dir.as_fd(), name)?;
            }
            Ok(_) => unlinkat(&dir, name, AtFlags::empty())?,
        }
        Ok(dir)
    }

    fn open(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let mut at = openat(self.workspace, ".", FOLDER, Mode::empty())?;
        for part in parts(path) {
            at = openat(&at, OsStr::from_bytes(part), FOLDER, Mode::empty())?;
        }
        Ok(at)
    }

    fn make(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let mut at = openat(self.workspace, ".", FOLDER, Mode::empty())?;
        for part in parts(path).map(OsStr::from_bytes) {
            at = match openat(&at, part, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => {
                    mkdirat(&at, part, Mode::from_raw_mode(0o755))?;
                    openat(&at, part, FOLDER, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(at)
    }

    /// Takes away the folders that went with the last of what was in them.
    fn prune(&mut self) -> Result<(), Errno> {
        while let Some(path) = self.emptied.pop_last() {
            if path.is_empty() || self.folders.contains(&path) {
                continue;
            }
            let dir = match self.open(above(&path)) {
                Ok(dir) => dir,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(error) => return Err(error),
            };
            match unlinkat(&dir, OsStr::from_bytes(name(&path)), AtFlags::REMOVEDIR) {
                Ok(()) => {
                    self.emptied.insert(above(&path).to_vec());
                }
                Err(Errno::NOTEMPTY | Errno::NOENT | Errno::NOTDIR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Takes away a folder in which nothing but folders is left.
fn hollow(above: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    let dir = openat(above, name, FOLDER, Mode::empty())?;
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let inner = entry.file_name().to_bytes();
        if inner != b"." && inner != b".." {
            hollow(dir.as_fd(), OsStr::from_bytes(inner))?;
        }
    }
    unlinkat(above, name, AtFlags::REMOVEDIR)
}

fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty())
}

fn above(path: &[u8]) -> &[u8] {
    path.iter()
        .rposition(|&byte| byte == b'/')
        .map_or(b"", |slash| &path[..slash])
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path};

    use rustix::fs::CWD;

    use super::*;

    fn laid(base: impl Fn(&Path), frames: Vec<LayInput>) -> Result<Vec<String>, String> {
        let tree = tempfile::tempdir().map_err(|error| error.to_string())?;
        base(tree.path());
        let dir = openat(CWD, tree.path(), FOLDER, Mode::empty()).map_err(|e| e.to_string())?;
        let mut site = Site {
            workspace: dir.as_fd(),
            file: None,
            emptied: BTreeSet::new(),
            folders: BTreeSet::new(),
        };
        frames.into_iter().try_for_each(|frame| site.take(frame))?;
        site.take(LayInput::Done)?;
        let mut found = Vec::new();
        list(tree.path(), "", &mut found);
        Ok(found)
    }

    fn list(dir: &Path, above: &str, found: &mut Vec<String>) {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        for name in names {
            let (path, shown) = (dir.join(&name), format!("{above}{name}"));
            let meta = path.symlink_metadata().unwrap();
            if meta.is_symlink() {
                found.push(format!(
                    "{shown} -> {}",
                    path.read_link().unwrap().display()
                ));
            } else if meta.is_dir() {
                found.push(format!("{shown}/"));
                list(&path, &format!("{shown}/"), found);
            } else {
                found.push(format!("{shown}={}", fs::read_to_string(&path).unwrap()));
            }
        }
    }

    fn file(path: &str, text: &str) -> [LayInput; 2] {
        let path = path.into();
        [
            LayInput::File { path, mode: 0o644 },
            LayInput::Data(text.into()),
        ]
    }

    #[test]
    fn what_goes_takes_its_folders_along_and_what_comes_makes_them() {
        let base = |tree: &Path| {
            fs::create_dir_all(tree.join("a/b/c")).unwrap();
            fs::create_dir_all(tree.join("kept")).unwrap();
            fs::create_dir_all(tree.join("stays")).unwrap();
            for name in ["a/b/c/x", "kept/y", "stays/z", "stays/other", "same"] {
                fs::write(tree.join(name), "old").unwrap();
            }
        };
        let mut frames: Vec<_> = ["a/b/c/x", "kept/y", "stays/z"]
            .map(|path| LayInput::Remove(path.into()))
            .into();
        frames.push(LayInput::Dir("kept".into()));
        frames.extend(file("new/deep/file", "new"));
        frames.extend(file("same", "new"));
        assert_eq!(
            laid(base, frames).unwrap(),
            [
                "kept/",
                "new/",
                "new/deep/",
                "new/deep/file=new",
                "same=new",
                "stays/",
                "stays/other=old"
            ]
        );
    }

    #[test]
    fn types_change_places() {
        let base = |tree: &Path| {
            fs::create_dir_all(tree.join("folder/in")).unwrap();
            fs::write(tree.join("folder/in/x"), "old").unwrap();
            symlink("folder", tree.join("link")).unwrap();
            fs::write(tree.join("file"), "old").unwrap();
        };
        let mut frames: Vec<_> = ["folder/in/x", "link", "file"]
            .map(|path| LayInput::Remove(path.into()))
            .into();
        frames.extend(file("folder", "a file now"));
        frames.extend(file("link/x", "below what was a link"));
        frames.push(LayInput::Symlink {
            path: "file".into(),
            target: "folder".into(),
        });
        assert_eq!(
            laid(base, frames).unwrap(),
            [
                "file -> folder",
                "folder=a file now",
                "link/",
                "link/x=below what was a link"
            ]
        );
    }

    #[test]
    fn a_folder_that_holds_something_is_not_replaced_and_no_link_is_followed() {
        let base = |tree: &Path| {
            fs::create_dir(tree.join("folder")).unwrap();
            fs::write(tree.join("folder/x"), "old").unwrap();
            symlink("folder", tree.join("link")).unwrap();
        };
        assert!(laid(base, file("folder", "no").into()).is_err());
        assert!(laid(base, file("link/x", "no").into()).is_err());
        assert!(laid(base, vec![LayInput::Data(b"no".into())]).is_err());
    }
}
