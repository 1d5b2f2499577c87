//! Edits against the tree as it is: are they right, and by which steps are they done. Writes nothing to the tree.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
};

use legwork_model::{Side, TreePath};
use rustix::{
    fs::{Dir, Stat, fstat},
    io::Errno,
};

use super::{
    Applied, ApplyError, Edit,
    journal::{Action, Step, Temp},
    look::{Here, changed, look, system},
};
use crate::{BlobStore, beneath};

/// The steps for all edits, in order. Steps that would change nothing are left out.
pub(super) fn plan(
    root: &File,
    edits: &[Edit],
    blobs: &BlobStore,
) -> Result<Vec<Step>, ApplyError> {
    let mut seen = BTreeSet::new();
    let mut plan = Plan {
        root,
        leaving_links: BTreeSet::new(),
        gone: BTreeSet::new(),
        emptied: BTreeSet::new(),
        kept: BTreeSet::new(),
        removes: Vec::new(),
        replaces: Vec::new(),
        places: Vec::new(),
        make_dirs: BTreeSet::new(),
        occupied: BTreeMap::new(),
    };
    for edit in edits {
        if !seen.insert(&edit.path) {
            return Err(changed(&edit.path, "is in the set twice"));
        }
        let link = |side: &Option<Side>| matches!(side, Some(Side::Symlink { .. }));
        if link(&edit.before) && !link(&edit.after) {
            plan.leaving_links.insert(&edit.path);
        }
    }
    for edit in edits {
        plan.edit(edit, blobs)?;
    }
    plan.steps()
}

/// What the steps amount to.
pub(super) fn applied(steps: &[Step]) -> Applied {
    let mut undo: BTreeMap<TreePath, Edit> = BTreeMap::new();
    for Step { path, action } in steps {
        let (before, after) = match action {
            Action::Remove { old, .. } => (Some(old.clone()), None),
            Action::RemoveDir { .. } => (Some(Side::Dir), None),
            Action::MakeDir { .. } => (None, Some(Side::Dir)),
            Action::Replace { old, new, .. } => (Some(old.clone()), Some(new.clone())),
            Action::Place { new, .. } => (None, Some(new.clone())),
        };
        // Two steps at one path: something went and something else came.
        undo.entry(path.clone())
            .and_modify(|edit| edit.before.clone_from(&after))
            .or_insert(Edit {
                path: path.clone(),
                before: after,
                after: before,
            });
    }
    let written: Vec<TreePath> = undo.keys().cloned().collect();
    // A directory that was there before must not go with the last file that comes out of it.
    for Step { path, action } in steps {
        if let (Action::Place { .. } | Action::MakeDir { .. }, Some(dir)) = (action, path.parent())
        {
            undo.entry(dir.clone()).or_insert(Edit {
                path: dir,
                before: Some(Side::Dir),
                after: Some(Side::Dir),
            });
        }
    }
    Applied {
        written,
        undo: undo.into_values().collect(),
    }
}

/// A name that nothing else has.
pub(super) fn random_name() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    // Two independently seeded hashes: unlikely to meet, and each new name is made with O_EXCL.
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

struct Plan<'a> {
    root: &'a File,
    /// Links that another edit of the set takes away: nothing stands below them then.
    leaving_links: BTreeSet<&'a TreePath>,
    /// Files, links and directories that will not be there.
    gone: BTreeSet<TreePath>,
    /// Directories that may be empty afterwards.
    emptied: BTreeSet<TreePath>,
    /// Directories that stay even if they are empty.
    kept: BTreeSet<TreePath>,
    removes: Vec<(TreePath, Side)>,
    replaces: Vec<(TreePath, Side, Side, Stat)>,
    places: Vec<(TreePath, Side)>,
    make_dirs: BTreeSet<TreePath>,
    /// Where something new comes although a directory is there now; whether the edit knows of that directory.
    occupied: BTreeMap<TreePath, bool>,
}

impl<'a> Plan<'a> {
    fn edit(&mut self, edit: &'a Edit, blobs: &BlobStore) -> Result<(), ApplyError> {
        let path = &edit.path;
        let below_link = std::iter::successors(path.parent(), TreePath::parent)
            .any(|dir| self.leaving_links.contains(&dir));
        let here = match below_link {
            true => Here::Nothing,
            false => look(self.root, path, blobs)?,
        };
        match (&edit.before, &here) {
            (None | Some(Side::Dir), Here::Nothing | Here::Dir) => {}
            (None, Here::Leaf(..)) => return Err(changed(path, "exists by now")),
            (Some(_), Here::Nothing) => return Err(changed(path, "is not there any more")),
            (Some(expected), Here::Leaf(found, _)) if is_as_expected(expected, found, edit) => {}
            (Some(Side::File { .. }), Here::Leaf(Side::File { .. }, _)) => {
                return Err(changed(path, "was changed meanwhile"));
            }
            (Some(_), _) => return Err(changed(path, "is of another type by now")),
        }
        match (here, &edit.after) {
            (Here::Dir, Some(Side::Dir)) => {
                self.kept.insert(path.clone());
            }
            (Here::Nothing, None) => {}
            (Here::Nothing, Some(Side::Dir)) => {
                self.make_dirs.insert(path.clone());
            }
            (Here::Nothing, Some(new)) => self.places.push((path.clone(), new.clone())),
            (Here::Dir, None) => {
                self.emptied.insert(path.clone());
            }
            (Here::Dir, Some(new)) => {
                self.emptied.insert(path.clone());
                self.occupied.insert(path.clone(), edit.before.is_some());
                self.places.push((path.clone(), new.clone()));
            }
            (Here::Leaf(old, _), None) => self.remove(path, old),
            (Here::Leaf(old, _), Some(Side::Dir)) => {
                self.remove(path, old);
                self.make_dirs.insert(path.clone());
            }
            (Here::Leaf(old, stat), Some(new)) => {
                let new = kept_permissions(&edit.before, &old, new);
                if old != new {
                    replaceable(path, &old, &new, &stat)?;
                    self.replaces.push((path.clone(), old, new, stat));
                }
            }
        }
        Ok(())
    }

    fn remove(&mut self, path: &TreePath, old: Side) {
        self.gone.insert(path.clone());
        self.emptied.extend(path.parent());
        self.removes.push((path.clone(), old));
    }

    fn steps(mut self) -> Result<Vec<Step>, ApplyError> {
        let remove_dirs = self.remove_dirs()?;
        let mut steps = Vec::new();
        for (path, old) in &self.removes {
            let temp = self.temp(path);
            let old = old.clone();
            steps.push(step(path, Action::Remove { temp, old }));
        }
        for (path, mode) in &remove_dirs {
            steps.push(step(path, Action::RemoveDir { mode: *mode }));
        }
        for path in self.missing_dirs()? {
            steps.push(step(&path, Action::MakeDir { mode: None }));
        }
        for (path, old, new, stat) in &self.replaces {
            let action = Action::Replace {
                temp: self.temp(path),
                old: old.clone(),
                new: new.clone(),
                mode: new_mode(stat.st_mode, new),
                owner: (stat.st_uid, stat.st_gid),
                staged: None,
            };
            steps.push(step(path, action));
        }
        for (path, new) in &self.places {
            let action = Action::Place {
                temp: self.temp(path),
                new: new.clone(),
                staged: None,
            };
            steps.push(step(path, action));
        }
        Ok(steps)
    }

    /// Directories that go with their last entry, deepest first.
    fn remove_dirs(&mut self) -> Result<Vec<(TreePath, u32)>, ApplyError> {
        let comes: BTreeSet<TreePath> = self
            .places
            .iter()
            .map(|(path, _)| path)
            .chain(&self.make_dirs)
            .chain(&self.kept)
            .flat_map(|path| std::iter::successors(path.parent(), TreePath::parent))
            .collect();
        let mut removed = Vec::new();
        let mut waiting = std::mem::take(&mut self.emptied);
        let depth = |path: &TreePath| path.components().count();
        while let Some(dir) = waiting.iter().max_by_key(|path| depth(path)).cloned() {
            waiting.remove(&dir);
            // One that is empty without this set is somebody else's: it was made since the edit was.
            let foreign = self.occupied.get(&dir) == Some(&false)
                && !self.gone.iter().any(|path| path.is_below(&dir));
            if foreign {
                return Err(changed(&dir, "is a folder by now"));
            }
            let stays = self.kept.contains(&dir) || comes.contains(&dir);
            let mode = if stays { None } else { self.empties(&dir)? };
            if let Some(mode) = mode {
                self.gone.insert(dir.clone());
                waiting.extend(dir.parent());
                removed.push((dir, mode));
            } else if self.occupied.contains_key(&dir) {
                return Err(changed(&dir, "is a folder that holds something by now"));
            }
        }
        Ok(removed)
    }

    /// The mode of a directory in which nothing will be left.
    fn empties(&self, dir: &TreePath) -> Result<Option<u32>, ApplyError> {
        let failed = |error| system(dir, error);
        let fd = match beneath::open_dir(self.root, dir.as_bytes()) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        for entry in Dir::read_from(&fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_bytes();
            let is_gone = || dir.join(name).is_ok_and(|path| self.gone.contains(&path));
            if name != b"." && name != b".." && !is_gone() {
                return Ok(None);
            }
        }
        Ok(Some(fstat(&fd).map_err(failed)?.st_mode & 0o7777))
    }

    /// Directories to make, parents first.
    fn missing_dirs(&self) -> Result<BTreeSet<TreePath>, ApplyError> {
        let mut missing = self.make_dirs.clone();
        for path in self
            .places
            .iter()
            .map(|(path, _)| path)
            .chain(&self.make_dirs)
        {
            for dir in std::iter::successors(path.parent(), TreePath::parent) {
                if self.gone.contains(&dir) {
                    missing.insert(dir);
                    continue;
                }
                match beneath::open_dir(self.root, dir.as_bytes()) {
                    Ok(_) => break,
                    Err(Errno::NOENT) => {
                        missing.insert(dir);
                    }
                    // A file or link on the way, which is an error unless it goes.
                    Err(Errno::NOTDIR | Errno::LOOP) if self.above_gone(&dir) => {
                        missing.insert(dir);
                    }
                    Err(Errno::NOTDIR) => return Err(changed(&dir, "is not a folder by now")),
                    Err(error) => return Err(system(path, error)),
                }
            }
        }
        Ok(missing)
    }

    fn above_gone(&self, path: &TreePath) -> bool {
        std::iter::successors(path.parent(), TreePath::parent).any(|dir| self.gone.contains(&dir))
    }

    /// A temporary name in the deepest directory above a path that is there before and after.
    fn temp(&self, path: &TreePath) -> Temp {
        let lasts = |dir: &TreePath| {
            !self.gone.contains(dir) && beneath::open_dir(self.root, dir.as_bytes()).is_ok()
        };
        Temp {
            dir: std::iter::successors(path.parent(), TreePath::parent).find(lasts),
            name: format!(".legwork-{}.tmp", random_name()),
        }
    }
}

fn step(path: &TreePath, action: Action) -> Step {
    Step {
        path: path.clone(),
        action,
    }
}

/// Content and type count; permissions only where the edit changes them.
fn is_as_expected(expected: &Side, found: &Side, edit: &Edit) -> bool {
    match (expected, found) {
        (
            Side::File {
                digest,
                permissions: was,
                ..
            },
            Side::File {
                digest: found,
                permissions: is,
                ..
            },
        ) => {
            let fits = match &edit.after {
                Some(Side::File {
                    permissions: after, ..
                }) => is.step(*after, *was) == *is,
                _ => true,
            };
            digest == found && fits
        }
        _ => expected == found,
    }
}

/// The new side, with the permissions as they are on disk but for what the edit changes.
fn kept_permissions(before: &Option<Side>, old: &Side, new: &Side) -> Side {
    match (before, old, new) {
        (
            Some(Side::File {
                permissions: was, ..
            }),
            Side::File {
                permissions: is, ..
            },
            Side::File {
                digest,
                size,
                permissions: after,
            },
        ) => Side::File {
            digest: *digest,
            size: *size,
            permissions: is.step(*was, *after),
        },
        _ => new.clone(),
    }
}

/// Mode of a file that takes the place of one with `old`.
fn new_mode(old: u32, new: &Side) -> u32 {
    match new {
        // As the kernel does on a write: new content does not run with its owner's rights.
        Side::File { permissions, .. } => (old & 0o3000) | permissions.bits(),
        _ => old & 0o3777,
    }
}

fn replaceable(path: &TreePath, old: &Side, new: &Side, stat: &Stat) -> Result<(), ApplyError> {
    let refused = |why: &str, next: &str| {
        Err(ApplyError::Refused {
            path: path.clone(),
            why: why.to_owned(),
            next: next.to_owned(),
        })
    };
    let content = |side: &Side| match side {
        Side::File { digest, .. } => Some(*digest),
        _ => None,
    };
    let is_file = content(old).is_some();
    if is_file && content(old) != content(new) && stat.st_mode & 0o222 == 0 {
        return refused(
            "is read-only",
            "make it writable (chmod u+w) and accept again",
        );
    }
    let me = rustix::process::geteuid();
    if !me.is_root() && me.as_raw() != stat.st_uid {
        return refused(
            "belongs to another user",
            "change its owner, or reject the change",
        );
    }
    Ok(())
}
