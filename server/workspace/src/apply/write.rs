//! Does the steps of a plan, and takes them back. Each is a single call to the system, and each can tell whether it was
//! done already.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt as _,
    },
};

use legwork_model::{Permissions, Side, TreePath, escape, unescape};
use rustix::{
    fs::{
        AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, fchmod, fchown, mkdirat, openat,
        readlinkat, renameat_with, statat, symlinkat, unlinkat,
    },
    io::Errno,
};

use super::{
    ApplyError, Hook,
    journal::{Action, Step, Temp},
    look::{changed, digest_of, open_file, open_parent, system},
};
use crate::{BlobError, BlobStore, attributes, beneath};

/// The user's tree, open.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    root: File,
    hook: &'a Hook<'a>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(root: File, hook: &'a Hook<'a>) -> Self {
        Self { root, hook }
    }

    /// Writes what is new under temporary names.
    pub(super) fn stage(&self, steps: &mut [Step], blobs: &BlobStore) -> Result<(), ApplyError> {
        for Step { path, action } in steps {
            let (temp, new, keep, staged) = match action {
                Action::Replace {
                    temp,
                    old,
                    new,
                    mode,
                    owner,
                    staged,
                } => {
                    // A link's own mode says nothing.
                    let keep = matches!(old, Side::File { .. }).then_some((*mode, *owner));
                    (temp, new, keep, staged)
                }
                Action::Place { temp, new, staged } => (temp, new, None, staged),
                _ => continue,
            };
            let dir = self.temp_dir(temp).map_err(|error| system(path, error))?;
            let failed = |error: io::Error| write_error(path, error);
            self.hook.call().map_err(failed)?;
            match new {
                Side::File {
                    digest,
                    permissions,
                    ..
                } => {
                    let source = blobs.file(digest)?;
                    let file = new_file(&dir, temp, *permissions, keep).map_err(failed)?;
                    if copy(source, &file).map_err(failed)? != *digest {
                        return Err(BlobError::Damaged(*digest).into());
                    }
                    if let Some((mode, _)) = keep {
                        self.carry_attributes(path, &file).map_err(failed)?;
                        // An access list says something about the mode, too.
                        fchmod(&file, Mode::from_raw_mode(mode))
                            .map_err(|error| system(path, error))?;
                    }
                    self.hook.call().map_err(failed)?;
                    file.sync_all().map_err(failed)?;
                }
                Side::Symlink { target } => {
                    let target = unescape(target).unwrap_or_default();
                    symlinkat(OsStr::from_bytes(&target), &dir, temp.name.as_str())
                        .map_err(|error| system(path, error))?;
                }
                Side::Dir => {}
            }
            let stat = statat(&dir, temp.name.as_str(), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(|error| system(path, error))?;
            *staged = Some(stat.st_ino);
        }
        Ok(())
    }

    /// A new file has the attributes of the one whose place it takes.
    fn carry_attributes(&self, path: &TreePath, to: &File) -> io::Result<()> {
        let dir = open_parent(&self.root, path)?;
        let old = open_file(&dir, path.name())?;
        attributes::carry(&old, to)
    }

    /// Does all steps in order; those that are done already are only checked.
    pub(super) fn perform(&self, steps: &[Step]) -> Result<(), ApplyError> {
        for step in steps {
            self.step(step)?;
        }
        for step in steps {
            self.sync(&step.path);
        }
        Ok(())
    }

    /// Takes all steps back, the last one first.
    pub(super) fn undo(&self, steps: &[Step]) -> Result<(), ApplyError> {
        for step in steps.iter().rev() {
            self.step_back(step).map_err(|error| ApplyError::Stuck {
                path: step.path.clone(),
                kept: temp_of(&step.action).map_or_else(String::new, |temp| temp.name.clone()),
                source: error,
            })?;
        }
        for step in steps {
            self.sync(&step.path);
        }
        Ok(())
    }

    /// Removes what is left under temporary names: new files that did not come to their places, or, once all is done,
    /// what came out of the user's files.
    pub(super) fn tidy(&self, steps: &[Step]) -> Result<(), ApplyError> {
        for step in steps {
            if let Some(temp) = temp_of(&step.action) {
                self.remove_temp(temp)
                    .map_err(|error| write_error(&step.path, error))?;
            }
        }
        Ok(())
    }

    fn step(&self, Step { path, action }: &Step) -> Result<(), ApplyError> {
        let failed = |error: Errno| system(path, error);
        let name = OsStr::from_bytes(path.name());
        let hook = || self.hook.call().map_err(|error| write_error(path, error));
        match action {
            Action::Remove { temp, old } => {
                let temps = self.temp_dir(temp).map_err(failed)?;
                if inode(&temps, &temp.name).map_err(failed)?.is_none() {
                    let dir = open_parent(&self.root, path).map_err(failed)?;
                    hook()?;
                    let flags = RenameFlags::NOREPLACE;
                    match renameat_with(&dir, name, &temps, temp.name.as_str(), flags) {
                        Ok(()) => {}
                        Err(Errno::NOENT) => return Err(changed(path, "is not there any more")),
                        Err(error) => return Err(failed(error)),
                    }
                }
                self.check_displaced(path, &temps, temp, old)
            }
            Action::RemoveDir { .. } => {
                let dir = match open_parent(&self.root, path) {
                    Ok(dir) => dir,
                    // Its parent went too, before an interruption.
                    Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
                    Err(error) => return Err(failed(error)),
                };
                hook()?;
                match unlinkat(&dir, name, AtFlags::REMOVEDIR) {
                    // Something came into it: it stays, and what needs the place will say so.
                    Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {
                        Ok(())
                    }
                    Err(error) => Err(failed(error)),
                }
            }
            Action::MakeDir { mode } => {
                let dir = open_parent(&self.root, path).map_err(failed)?;
                hook()?;
                let mode = Mode::from_raw_mode(mode.unwrap_or(0o777));
                match mkdirat(&dir, name, mode) {
                    Ok(()) => Ok(()),
                    Err(Errno::EXIST) if is_dir(&dir, name) => Ok(()),
                    Err(Errno::EXIST) => Err(changed(path, "exists by now")),
                    Err(error) => Err(failed(error)),
                }
            }
            Action::Replace {
                temp, old, staged, ..
            } => {
                let dir = open_parent(&self.root, path).map_err(failed)?;
                let temps = self.temp_dir(temp).map_err(failed)?;
                if inode(&dir, name).map_err(failed)? != *staged {
                    if inode(&temps, &temp.name).map_err(failed)? != *staged {
                        return Err(changed(path, "was changed meanwhile"));
                    }
                    hook()?;
                    let flags = RenameFlags::EXCHANGE;
                    match renameat_with(&temps, temp.name.as_str(), &dir, name, flags) {
                        Ok(()) => {}
                        Err(Errno::NOENT) => return Err(changed(path, "is not there any more")),
                        Err(error) => return Err(failed(error)),
                    }
                }
                self.check_displaced(path, &temps, temp, old)
            }
            Action::Place { temp, staged, .. } => {
                let dir = open_parent(&self.root, path).map_err(failed)?;
                if inode(&dir, name).map_err(failed)? == *staged {
                    return Ok(());
                }
                let temps = self.temp_dir(temp).map_err(failed)?;
                hook()?;
                let flags = RenameFlags::NOREPLACE;
                match renameat_with(&temps, temp.name.as_str(), &dir, name, flags) {
                    Ok(()) => Ok(()),
                    Err(Errno::EXIST) => Err(changed(path, "exists by now")),
                    Err(error) => Err(failed(error)),
                }
            }
        }
    }

    /// What came out must be what was expected; nobody else can reach it by name any more.
    fn check_displaced(
        &self,
        path: &TreePath,
        temps: &OwnedFd,
        temp: &Temp,
        old: &Side,
    ) -> Result<(), ApplyError> {
        let name = temp.name.as_str();
        let as_expected = match old {
            Side::File { digest, .. } => match open_file(temps, name.as_bytes()) {
                Ok(file) => {
                    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
                    is_file && digest_of(file).map_err(|error| write_error(path, error))? == *digest
                }
                // It was a link or a special file.
                Err(_) => false,
            },
            Side::Symlink { target } => readlinkat(temps, name, Vec::new())
                .is_ok_and(|found| escape(found.as_bytes()) == *target),
            Side::Dir => false,
        };
        if as_expected {
            return Ok(());
        }
        Err(changed(path, "was changed in this moment"))
    }

    fn step_back(&self, Step { path, action }: &Step) -> io::Result<()> {
        let name = OsStr::from_bytes(path.name());
        let dir = match open_parent(&self.root, path) {
            Ok(dir) => dir,
            // Below a directory that was never made.
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match action {
            Action::Remove { temp, .. } => {
                let temps = self.temp_dir(temp)?;
                if inode(&temps, &temp.name)?.is_some() {
                    self.hook.call()?;
                    let flags = RenameFlags::NOREPLACE;
                    match renameat_with(&temps, temp.name.as_str(), &dir, name, flags) {
                        // The user made another one: it stays.
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Action::RemoveDir { mode } => {
                self.hook.call()?;
                match mkdirat(&dir, name, Mode::from_raw_mode(0o700)) {
                    Ok(()) => {
                        let made = beneath::open_dir(&self.root, path.as_bytes())?;
                        fchmod(&made, Mode::from_raw_mode(*mode))?;
                    }
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Action::MakeDir { .. } => {
                self.hook.call()?;
                match unlinkat(&dir, name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Action::Replace { temp, staged, .. } => {
                let temps = self.temp_dir(temp)?;
                if inode(&dir, name)? == *staged && inode(&temps, &temp.name)?.is_some() {
                    self.hook.call()?;
                    let flags = RenameFlags::EXCHANGE;
                    renameat_with(&temps, temp.name.as_str(), &dir, name, flags)?;
                }
            }
            Action::Place { temp, staged, .. } => {
                let temps = self.temp_dir(temp)?;
                if staged.is_some() && inode(&dir, name)? == *staged {
                    self.hook.call()?;
                    let flags = RenameFlags::NOREPLACE;
                    renameat_with(&dir, name, &temps, temp.name.as_str(), flags)?;
                }
            }
        }
        Ok(())
    }

    fn temp_dir(&self, temp: &Temp) -> Result<OwnedFd, Errno> {
        beneath::open_dir(
            &self.root,
            temp.dir.as_ref().map_or(b"", TreePath::as_bytes),
        )
    }

    fn remove_temp(&self, temp: &Temp) -> io::Result<()> {
        let dir = match self.temp_dir(temp) {
            Ok(dir) => dir,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if inode(&dir, &temp.name)?.is_none() {
            return Ok(());
        }
        self.hook.call()?;
        unlinkat(&dir, temp.name.as_str(), AtFlags::empty())?;
        Ok(())
    }

    /// Makes the directory of a path durable, or the deepest one above that is there.
    fn sync(&self, path: &TreePath) {
        for dir in std::iter::successors(path.parent(), TreePath::parent) {
            if let Ok(dir) = beneath::open_dir(&self.root, dir.as_bytes()) {
                // Some file systems cannot; then there is nothing better to do.
                let _unsupported = rustix::fs::fsync(&dir);
                return;
            }
        }
        let _unsupported = self.root.sync_all();
    }
}

fn temp_of(action: &Action) -> Option<&Temp> {
    match action {
        Action::Remove { temp, .. } | Action::Replace { temp, .. } | Action::Place { temp, .. } => {
            Some(temp)
        }
        Action::RemoveDir { .. } | Action::MakeDir { .. } => None,
    }
}

fn write_error(path: &TreePath, source: io::Error) -> ApplyError {
    match source.raw_os_error() {
        Some(code) => system(path, Errno::from_raw_os_error(code)),
        None => ApplyError::Write {
            path: path.clone(),
            source,
        },
    }
}

fn inode(dir: impl AsFd, name: impl AsRef<OsStr>) -> Result<Option<u64>, Errno> {
    match statat(dir, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(Stat { st_ino, .. }) => Ok(Some(st_ino)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_dir(dir: impl AsFd, name: &OsStr) -> bool {
    beneath::open_dir(dir, name.as_bytes()).is_ok()
}

/// An empty file: in the place of another with its owner and this mode, else with these permissions.
fn new_file(
    dir: &OwnedFd,
    temp: &Temp,
    permissions: Permissions,
    keep: Option<(u32, (u32, u32))>,
) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = File::from(openat(
        dir,
        temp.name.as_str(),
        flags,
        Mode::from_raw_mode(0o600),
    )?);
    if let Some((mode, (uid, gid))) = keep {
        let stat = rustix::fs::fstat(&file)?;
        if (stat.st_uid, stat.st_gid) != (uid, gid) {
            fchown(&file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
        fchmod(&file, Mode::from_raw_mode(mode))?;
    } else {
        fchmod(&file, Mode::from_raw_mode(permissions.bits()))?;
    }
    Ok(file)
}

fn copy(mut from: File, mut to: &File) -> io::Result<legwork_model::Digest> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                let hash = hasher.finalize();
                return Ok(legwork_model::Digest::from_bytes(*hash.as_bytes()));
            }
            Ok(count) => {
                hasher.update(&buffer[..count]);
                to.write_all(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
