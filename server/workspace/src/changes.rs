//! From what a guest reports about the upper layer of its overlay to a change set.
//!
//! The report is hostile: it is data that is checked, never a command. Its contents were hashed on the host.

use legwork_model::{
    Change, ChangeKind, ChangeSet, EntryKind, Permissions, Side, TreePath, escape,
};

use crate::{Blob, BlobStore, Live, Snapshot, Workspace, blobs::is_binary, sensitive};

use check::Check;
use merge::{Base, Item, Raw, Upper};

mod check;
mod merge;
mod permissions;
mod renames;

#[cfg(test)]
mod tests;

/// One entry of the upper layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// Where it stands below the workspace, as the guest wrote it.
    pub path: Vec<u8>,
    /// What it is.
    pub what: ReportedKind,
}

/// What an entry of the upper layer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedKind {
    /// A regular file.
    File {
        /// Permission bits; the lower nine count.
        mode: u32,
        /// Length in bytes, as the guest says.
        size: u64,
        /// Its content in the store; `None` if it was not asked for because [`ChangeSetBuilder::wants`] said no.
        content: Option<Blob>,
    },
    /// A directory.
    Dir {
        /// Permission bits; not carried to the host.
        mode: u32,
        /// Whether it hides what the base has below it.
        opaque: bool,
    },
    /// A symbolic link.
    Symlink {
        /// The bytes of its target.
        target: Vec<u8>,
    },
    /// What the base has here is gone, and everything below.
    Whiteout,
    /// Something that is never carried: "a FIFO", "a socket", "a device".
    Other {
        /// What, with its article.
        what: String,
    },
}

/// How much a guest may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Entries outside ignored directories.
    pub entries: usize,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files.
    pub total: u64,
}

impl Default for Caps {
    /// 20,000 entries, 64 MiB for a file, 512 MiB in all.
    fn default() -> Self {
        Self {
            entries: 20_000,
            file: 64 << 20,
            total: 512 << 20,
        }
    }
}

/// Why nothing of a report is used.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The guest's report contradicts itself or the base.
    #[error("the guest's report is not usable: {0}; run the task again")]
    Protocol(String),
    /// Too much.
    #[error(
        "the task changed too much: {0}; ask for less at once, or have an ignore rule name what is generated"
    )]
    TooMuch(String),
    /// The base could not be read.
    #[error(transparent)]
    Snapshot(#[from] crate::SnapshotError),
}

/// Takes the report entry by entry, in any order.
#[derive(Debug)]
pub struct ChangeSetBuilder<'a> {
    base: &'a Snapshot,
    workspace: &'a Workspace,
    caps: Caps,
    check: Check<'a>,
    upper: Upper,
    entries: usize,
    total: u64,
    /// Of the next entry.
    attributed: bool,
}

impl<'a> ChangeSetBuilder<'a> {
    /// Starts on the base that the guest was given. The workspace is only looked at: for the ignore rules around it, and
    /// whether something stands at a path that the guest never saw.
    ///
    /// # Errors
    ///
    /// The base cannot be read.
    pub fn new(
        base: &'a Snapshot,
        workspace: &'a Workspace,
        caps: Caps,
    ) -> Result<Self, ChangeError> {
        Ok(Self {
            base,
            workspace,
            caps,
            check: Check::new(base, workspace)?,
            upper: Upper::default(),
            entries: 0,
            total: 0,
            attributed: false,
        })
    }

    /// Whether the content of a file is of use. When it is not (ignored, too large, refused for its name) the entry is
    /// still to be added, without content.
    pub fn wants(&self, path: &[u8], size: u64) -> bool {
        let Ok(path) = TreePath::from_bytes(path) else {
            return false;
        };
        size <= self.caps.file && self.check.at(&path, false).is_none()
    }

    /// The topmost path, this one or above it, at and below which nothing is carried; `None` if something here may be. To
    /// know it before what stands there is sent.
    pub fn stops(&self, path: &[u8], is_dir: bool) -> Option<TreePath> {
        let path = TreePath::from_bytes(path).ok()?;
        Some(self.check.at(&path, is_dir)?.top)
    }

    /// Takes note that the next entry has extended attributes or an access list, which are never carried.
    pub fn attributes_next(&mut self) {
        self.attributed = true;
    }

    /// Takes one entry.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Protocol`] for a second entry at one path and for a file whose content is missing or of another
    /// length, [`ChangeError::TooMuch`] over a cap.
    pub fn add(&mut self, entry: Reported) -> Result<(), ChangeError> {
        let path = match TreePath::from_bytes(&entry.path) {
            Ok(path) => path,
            Err(error) => {
                self.count()?;
                self.upper
                    .refuse_text(escape(&entry.path), error.to_string());
                return Ok(());
            }
        };
        let is_dir = matches!(entry.what, ReportedKind::Dir { .. });
        let attributed = std::mem::take(&mut self.attributed);
        if let Some(stop) = self.check.at(&path, is_dir) {
            if !self.upper.has_top(&stop.top) {
                self.count()?;
            }
            self.upper.stop(stop, u64::from(!is_dir));
            return Ok(());
        }
        self.count()?;
        if let Some(reason) = self.permissions(&path, &entry.what) {
            self.upper.refuse_text(path.to_string(), reason);
        }
        if attributed {
            let reason =
                "the task gave it extended attributes or an access list, which are not taken over";
            self.upper.refuse_text(path.to_string(), reason.to_owned());
        }
        let item = self.item(&path, entry.what)?;
        if self.upper.items.insert(path.clone(), item).is_some() {
            return Err(ChangeError::Protocol(format!(
                "`{path}` was reported twice"
            )));
        }
        Ok(())
    }

    /// Makes the change set. The contents that were added are in `blobs`.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; nothing of the report is used then.
    pub fn finish(mut self, blobs: &BlobStore) -> Result<ChangeSet, ChangeError> {
        let base = Base::new(&self.base.manifest);
        merge::check_parents(base, &self.upper)?;
        check::refuse_repositories(base, &mut self.upper);
        let deceptive = check::deceptive(base, &self.upper);
        let mut changes = Vec::new();
        for raw in merge::changes(base, &self.upper) {
            match self.allowed(&raw) {
                Ok(sensitive) => changes.push(self.change(raw, sensitive)?),
                Err(reason) => self.upper.refuse_text(raw.path.to_string(), reason),
            }
        }
        let text = |change: &Change| self.text(change, blobs);
        let mut changes = renames::find(&changes, &text);
        for change in &mut changes {
            let name = || merge::up(&change.path).find_map(|path| deceptive.get(&path).cloned());
            if change.sensitive.is_none() {
                change.sensitive = name()
                    .or_else(|| sensitive::why(change))
                    .or_else(|| self.content(change, blobs));
            }
        }
        mark_mass_deletion(&mut changes, self.base.manifest.files());
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(ChangeSet {
            changes,
            refused: self.upper.into_refused(),
        })
    }

    /// What a deleted file held or a new one holds, to compare it with others. One that cannot be had is like no other.
    fn text(&self, change: &Change, blobs: &BlobStore) -> Option<Vec<u8>> {
        let side = change.before.as_ref().or(change.after.as_ref());
        match side? {
            Side::File { size, digest, .. } if *size <= renames::LONGEST && !change.binary => {
                match change.kind {
                    ChangeKind::Create => blobs.get(digest).ok(),
                    _ => self.base.read(self.base.manifest.get(&change.path)?).ok(),
                }
            }
            _ => None,
        }
    }

    /// Why what is in a text makes its change sensitive. What cannot be had was told of otherwise.
    fn content(&self, change: &Change, blobs: &BlobStore) -> Option<String> {
        let readable = |side: &Option<Side>| match side {
            Some(Side::File { size, digest, .. }) if *size <= sensitive::LONGEST => Some(*digest),
            _ => None,
        };
        let after = blobs.get(&readable(&change.after)?).ok()?;
        let from = match &change.kind {
            ChangeKind::Rename { from } => from,
            _ => &change.path,
        };
        let before = readable(&change.before)
            .and_then(|_| self.base.read(self.base.manifest.get(from)?).ok());
        sensitive::why_content(&change.path, before.as_deref().unwrap_or_default(), &after)
    }

    fn count(&mut self) -> Result<(), ChangeError> {
        self.entries += 1;
        if self.entries > self.caps.entries {
            return Err(ChangeError::TooMuch(format!(
                "more than {} files and folders",
                self.caps.entries
            )));
        }
        Ok(())
    }

    /// What of the permissions is not taken over, if there is any of it that somebody may have meant.
    fn permissions(&self, path: &TreePath, what: &ReportedKind) -> Option<String> {
        let base = self.base.manifest.get(path);
        match what {
            ReportedKind::File { mode, .. } => permissions::of_file(*mode),
            ReportedKind::Dir { mode, .. } => {
                let old = base.filter(|entry| entry.kind == EntryKind::Dir);
                permissions::of_dir(old.map(|entry| entry.mode), *mode)
            }
            _ => None,
        }
    }

    fn item(&mut self, path: &TreePath, what: ReportedKind) -> Result<Item, ChangeError> {
        Ok(match what {
            ReportedKind::File { size, .. } if size > self.caps.file => Item::Refused(format!(
                "it is {size} bytes long, and {} are the most that is carried for one file",
                self.caps.file
            )),
            ReportedKind::File {
                mode,
                size,
                content: Some(blob),
            } if blob.size == size => {
                self.total = self.total.saturating_add(size);
                if self.total > self.caps.total {
                    return Err(ChangeError::TooMuch(format!(
                        "more than {} bytes in all",
                        self.caps.total
                    )));
                }
                Item::File {
                    blob,
                    permissions: Permissions::of_mode(mode),
                }
            }
            ReportedKind::File { size, content, .. } => {
                return Err(ChangeError::Protocol(match content {
                    Some(blob) => format!("`{path}` has {} bytes and not {size}", blob.size),
                    None => format!("the content of `{path}` is missing"),
                }));
            }
            ReportedKind::Dir { opaque, .. } => Item::Dir { opaque },
            ReportedKind::Symlink { target } => match check::link_problem(path, &target) {
                // A link of the base that was only touched is no change, whatever it points to.
                Some(reason) if !self.is_base_link(path, &target) => Item::Refused(reason),
                _ => Item::Symlink(escape(&target)),
            },
            ReportedKind::Whiteout => Item::Whiteout,
            ReportedKind::Other { what } => Item::Refused(format!(
                "it is {}, which is never carried",
                escape(what.as_bytes())
            )),
        })
    }

    fn is_base_link(&self, path: &TreePath, target: &[u8]) -> bool {
        let entry = self.base.manifest.get(path).map(|entry| &entry.kind);
        matches!(entry, Some(EntryKind::Symlink { target: known }) if *known == escape(target))
    }

    /// Whether a change may be shown; with why it is sensitive if the place alone says so.
    fn allowed(&self, raw: &Raw) -> Result<Option<String>, String> {
        let Some(out) = self.check.left_out(&raw.path) else {
            return Ok(None);
        };
        let why = out.reason.describe();
        // A failed look counts as something that is there.
        match self.workspace.live(&raw.path, 0) {
            Ok(Live::Absent) => Ok(Some("was left out of the snapshot".to_owned())),
            _ => Err(format!(
                "it was left out of the snapshot because {why}, and something stands there that the task never saw"
            )),
        }
    }

    fn change(&self, raw: Raw, sensitive: Option<String>) -> Result<Change, ChangeError> {
        let Raw {
            path,
            before,
            after,
            after_binary,
        } = raw;
        let kind = match (&before, &after) {
            (None, _) => ChangeKind::Create,
            (_, None) => ChangeKind::Delete,
            (Some(Side::File { digest: a, .. }), Some(Side::File { digest: b, .. })) if a == b => {
                ChangeKind::Mode
            }
            (Some(a), Some(b)) if std::mem::discriminant(a) == std::mem::discriminant(b) => {
                ChangeKind::Modify
            }
            _ => ChangeKind::Retype,
        };
        let before_binary = match (&before, self.base.manifest.get(&path)) {
            (Some(Side::File { size, .. }), Some(_)) if *size > self.caps.file => true,
            (Some(Side::File { .. }), Some(entry)) => is_binary(&self.base.read(entry)?),
            _ => false,
        };
        Ok(Change {
            path,
            kind,
            before,
            after,
            binary: before_binary || after_binary,
            sensitive,
        })
    }
}

/// A task that deletes a good part of the workspace may be right, but not by the way.
fn mark_mass_deletion(changes: &mut [Change], files: usize) {
    let deleted = |change: &&Change| change.kind == ChangeKind::Delete;
    let count = changes.iter().filter(deleted).count();
    let most = count >= 3 && count * 2 > files;
    let many = count >= 10 && count * 5 > files;
    if !most && !many {
        return;
    }
    for change in changes
        .iter_mut()
        .filter(|change| change.kind == ChangeKind::Delete)
    {
        let why = || format!("it is one of {count} deletions among {files} files");
        change.sensitive.get_or_insert_with(why);
    }
}
