//! The review of a task that goes on: what it changes anew is merged with what was decided by then. Accepted hunks never
//! come back, rejected ones stay rejected, and no number is given twice.
//!
//! For every path there is the file as the guest found it, as the user has it by their decisions (*base-effective*), and as
//! the agent has it now. A row of the store is the way from the second to the third. Where nothing was accepted, or all that
//! was is still there just as it was, the first two are one as far as the row is concerned; else the row's base *moves*.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem::discriminant,
};

use legwork_model::{Change, ChangeKind, EntryKind, Side, TaskId, TreePath};
use legwork_review::{Content, FileReview, State};
use legwork_workspace::{BlobStore, Edit, Snapshot};

use super::{ReviewError, Reviewer, sides, sides::Bytes};
use crate::{clock, job, store::FileRow};

/// What a job remembers of what its task has shown so far.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The last change set.
    seen: BTreeMap<TreePath, Change>,
    /// Rows that went away because the agent took its change back: it may come again.
    gone: BTreeMap<TreePath, FileRow>,
    /// Where the base of the row is not what the guest found.
    moved: BTreeSet<TreePath>,
    /// Old paths of accepted renames: nothing stands there for the user.
    vacated: BTreeSet<TreePath>,
    /// The highest number that was given, by path.
    last: BTreeMap<TreePath, u32>,
}

impl Reviewer {
    /// What a task has shown by now, for one that goes on in a new machine.
    pub(crate) fn told(&self, task: &TaskId, snapshot: &Snapshot) -> Result<Told, ReviewError> {
        let mut told = Told::default();
        for row in self.store.with(|db| db.files(task))? {
            let path = row.path().clone();
            let mut change = row.change.clone();
            if let Some(base) = found(snapshot, &row) {
                let base = base.map(|base| sides::side(&base, &self.blobs));
                change.before = base.transpose()?;
                told.moved.insert(path.clone());
            }
            told.last.insert(path.clone(), highest(Some(&row)));
            told.seen.insert(path, change);
        }
        Ok(told)
    }

    /// Merges the changes of a running task into its review; gives whether that was done. It is not while an editor has one of the
    /// files in hand, if `patient`. The bases of all changes are in the blob store.
    pub(crate) fn revise(
        &self,
        task: &TaskId,
        told: &mut Told,
        changes: Vec<Change>,
        patient: bool,
    ) -> Result<bool, ReviewError> {
        // Held to the end: between what is read here and what is stored nobody may decide.
        let claims = self.lock();
        let next = by_path(changes);
        if next == told.seen {
            return Ok(true);
        }
        let rows = self.store.with(|db| db.files(task))?;
        let merge = Merge {
            blobs: &self.blobs,
            told,
            rows: rows
                .into_iter()
                .map(|row| (row.path().clone(), row))
                .collect(),
            next,
        };
        let touched = merge.touched();
        if patient && touched.iter().any(|path| claims.has(task, path)) {
            return Ok(false);
        }
        let (gone, rows) = merge.run(&touched)?;
        self.store
            .with(|db| db.revise(task, &gone, &rows, clock::now()))?;
        Ok(true)
    }

    /// A file as it was before an accept whose hunks are part of the row's base by now: they are out of it again. Numbers up
    /// to `last` were given before.
    pub(super) fn unmoved(
        &self,
        row: &FileRow,
        undo: &Edit,
        last: u32,
    ) -> Result<FileRow, ReviewError> {
        let path = row.path();
        let bytes = Bytes::load(&self.blobs, row)?;
        let opened = bytes.open(&row.review)?;
        let without = sides::content(&self.blobs, path, undo.after.as_ref())?;
        let with = sides::content(&self.blobs, path, undo.before.as_ref())?;
        let base = opened.base_effective();
        let [without, with, now] =
            [&without, &with, &base].map(|side| side.as_ref().map(Content::as_version));
        let base = legwork_review::undo(without, with, now).map_err(|source| {
            let path = path.clone();
            ReviewError::Undo { path, source }
        })?;
        let review = opened.rebase(base.as_ref().map(Content::as_version), last);
        let before = base
            .map(|base| sides::side(&base, &self.blobs))
            .transpose()?;
        let after = row.change.after.clone();
        let sensitive = row.change.sensitive.clone();
        let change = told_as(path, before, after, &review, sensitive);
        Ok(FileRow::new(change, review))
    }

    /// The snapshot of a task, if it is still there.
    pub(super) fn snapshot(&self, task: &TaskId) -> Option<Snapshot> {
        let manifest = job::manifest_of(&self.state, task);
        manifest
            .exists()
            .then(|| Snapshot::load(&manifest).ok())
            .flatten()
    }
}

/// What the guest found at the path of a row whose base moved; `None` if it did not.
pub(super) fn found(snapshot: &Snapshot, row: &FileRow) -> Option<Option<Content>> {
    let entry = snapshot.manifest.get(row.path());
    let kept = match (&row.change.before, entry.map(|entry| &entry.kind)) {
        _ if matches!(row.change.kind, ChangeKind::Rename { .. }) => true,
        (Some(Side::File { digest: kept, .. }), Some(EntryKind::File { digest, .. })) => {
            kept == digest
        }
        (None, Some(EntryKind::File { .. })) | (Some(Side::File { .. }), None) => false,
        _ => true,
    };
    if kept {
        return None;
    }
    let Some(entry) = entry else {
        return Some(None);
    };
    let mode = legwork_review::Mode::File(entry.mode.into());
    match snapshot.read(entry) {
        Ok(bytes) => Some(Some(Content { bytes, mode })),
        Err(error) => {
            tracing::warn!(path = %row.path(), %error, "a file of a snapshot cannot be read");
            None
        }
    }
}

/// One merge.
struct Merge<'a> {
    blobs: &'a BlobStore,
    told: &'a mut Told,
    rows: BTreeMap<TreePath, FileRow>,
    next: BTreeMap<TreePath, Change>,
}

impl Merge<'_> {
    /// Paths at which something is another than in the last change set.
    fn touched(&self) -> BTreeSet<TreePath> {
        let seen = &self.told.seen;
        let paths = seen.keys().chain(self.next.keys());
        let mut touched: BTreeSet<TreePath> = paths
            .filter(|path| seen.get(path) != self.next.get(path))
            .cloned()
            .collect();
        let changes = touched
            .iter()
            .flat_map(|path| [seen.get(path), self.next.get(path)]);
        let olds: Vec<TreePath> = changes
            .flatten()
            .filter_map(renamed_from)
            .cloned()
            .collect();
        touched.extend(olds);
        touched
    }

    /// The rows that go, and those that come or are another.
    fn run(
        mut self,
        touched: &BTreeSet<TreePath>,
    ) -> Result<(Vec<TreePath>, Vec<FileRow>), ReviewError> {
        for row in self.rows.values() {
            match renamed_from(&row.change) {
                Some(from) if has_accepted(row) => drop(self.told.vacated.insert(from.clone())),
                Some(from) => drop(self.told.vacated.remove(from)),
                None => {}
            }
        }
        let (mut gone, mut saved) = (Vec::new(), Vec::new());
        for path in touched {
            let last = self.highest(path);
            let row = if self.is_moved(path) {
                self.moved(path, last)?
            } else {
                self.plain(path, last)?
            };
            let last = highest(row.as_ref()).max(last);
            self.told.last.insert(path.clone(), last);
            match (self.rows.remove(path), row) {
                (Some(old), None) => {
                    gone.push(path.clone());
                    self.told.gone.insert(path.clone(), old);
                }
                (Some(old), Some(row)) if old.change == row.change && old.review == row.review => {}
                (_, Some(row)) => {
                    self.told.gone.remove(path);
                    saved.push(row);
                }
                (None, None) => {}
            }
        }
        self.told.seen = self.next;
        Ok((gone, saved))
    }

    /// A path at which nothing was accepted: its base is what the guest found.
    fn plain(&self, path: &TreePath, last: u32) -> Result<Option<FileRow>, ReviewError> {
        let Some(change) = self.plain_change(path) else {
            return Ok(None);
        };
        let row = super::propose(self.blobs, change)?;
        let old = self.rows.get(path).or_else(|| self.told.gone.get(path));
        let review = match old {
            Some(old) if old.review.base() == row.review.base() => {
                let new = Bytes::load(self.blobs, &row)?;
                let bytes = Bytes::load(self.blobs, old)?;
                bytes.open(&old.review)?.renew(new.after(), last).review
            }
            _ => row.review,
        };
        let row = FileRow::new(row.change, review);
        Ok((!row.review.hunks().is_empty()).then_some(row))
    }

    /// How the change of such a path is told. A rename of which one end was decided on is no rename any more.
    fn plain_change(&self, path: &TreePath) -> Option<Change> {
        if let Some(change) = self.next.get(path) {
            let mut change = change.clone();
            if renamed_from(&change).is_some_and(|from| self.is_moved(from)) {
                change.kind = ChangeKind::Create;
                change.before = None;
            }
            return Some(change);
        }
        let renamed = |(_, change): &(&TreePath, &Change)| renamed_from(change) == Some(path);
        let (to, change) = self.next.iter().find(renamed)?;
        self.is_moved(to).then(|| Change {
            path: path.clone(),
            kind: ChangeKind::Delete,
            after: None,
            ..change.clone()
        })
    }

    /// A path at which something was accepted.
    fn moved(&mut self, path: &TreePath, last: u32) -> Result<Option<FileRow>, ReviewError> {
        let after = self.agent(path);
        let content = sides::content(self.blobs, path, after.as_ref())?;
        let agent = content.as_ref().map(Content::as_version);
        let nothing = FileReview::propose(None, None);
        let old = self.rows.get(path);
        let revised = match old {
            Some(old) => {
                let bytes = Bytes::load(self.blobs, old)?;
                bytes.open(&old.review)?.renew(agent, last)
            }
            None => nothing.open(None, None)?.renew(agent, last),
        };
        if old.is_some_and(|old| old.review.base() != revised.review.base()) {
            self.told.moved.insert(path.clone());
        }
        if revised.review.hunks().is_empty() && !self.told.moved.contains(path) {
            return Ok(None);
        }
        let before = revised
            .base
            .map(|base| sides::side(&base, self.blobs))
            .transpose()?;
        let next = self.next.get(path);
        let change = match next {
            Some(next) if renamed_from(next).is_none() && next.before == before => next.clone(),
            _ => {
                let sensitive = [next, old.map(|old| &old.change)];
                let sensitive = sensitive
                    .into_iter()
                    .flatten()
                    .find_map(|change| change.sensitive.clone());
                told_as(path, before, after, &revised.review, sensitive)
            }
        };
        Ok(Some(FileRow::new(change, revised.review)))
    }

    /// What the agent has at a path.
    fn agent(&self, path: &TreePath) -> Option<Side> {
        match sides_in(&self.next, path) {
            Some((_, after)) => after,
            // It is as the guest found it.
            None => sides_in(&self.told.seen, path).and_then(|(before, _)| before),
        }
    }

    fn is_moved(&self, path: &TreePath) -> bool {
        self.told.moved.contains(path)
            || self.told.vacated.contains(path)
            || self.rows.get(path).is_some_and(has_accepted)
    }

    fn highest(&self, path: &TreePath) -> u32 {
        let before = self.told.last.get(path).copied().unwrap_or(0);
        before.max(highest(self.rows.get(path)))
    }
}

/// What stands at a path before and after the changes; `None` if they say nothing of it.
fn sides_in(
    changes: &BTreeMap<TreePath, Change>,
    path: &TreePath,
) -> Option<(Option<Side>, Option<Side>)> {
    if let Some(change) = changes.get(path) {
        let before = change.before.clone();
        let before = before.filter(|_| renamed_from(change).is_none());
        return Some((before, change.after.clone()));
    }
    let mut renames = changes.values();
    let change = renames.find(|change| renamed_from(change) == Some(path))?;
    Some((change.before.clone(), None))
}

fn told_as(
    path: &TreePath,
    before: Option<Side>,
    after: Option<Side>,
    review: &FileReview,
    sensitive: Option<String>,
) -> Change {
    let kind = match (&before, &after) {
        (None, _) => ChangeKind::Create,
        (_, None) => ChangeKind::Delete,
        (Some(Side::File { digest: a, .. }), Some(Side::File { digest: b, .. })) if a == b => {
            ChangeKind::Mode
        }
        (Some(a), Some(b)) if discriminant(a) == discriminant(b) => ChangeKind::Modify,
        _ => ChangeKind::Retype,
    };
    Change {
        path: path.clone(),
        kind,
        before,
        after,
        binary: review.is_binary(),
        sensitive,
    }
}

fn by_path(changes: Vec<Change>) -> BTreeMap<TreePath, Change> {
    let pairs = changes
        .into_iter()
        .map(|change| (change.path.clone(), change));
    pairs.collect()
}

fn renamed_from(change: &Change) -> Option<&TreePath> {
    match &change.kind {
        ChangeKind::Rename { from } => Some(from),
        _ => None,
    }
}

fn has_accepted(row: &FileRow) -> bool {
    let mut hunks = row.review.hunks().iter();
    hunks.any(|hunk| hunk.state == State::Accepted)
}

fn highest(row: Option<&FileRow>) -> u32 {
    let hunks = row.into_iter().flat_map(|row| row.review.hunks());
    hunks.map(|hunk| hunk.id).max().unwrap_or(0)
}
