//! The bytes of a change: as the guest found them, as it left them, and as they stand in the workspace now.
//!
//! A rename is one decision over two paths, so its review is that of the creation at the new path; the old path must
//! hold what the guest found there.

use std::collections::BTreeSet;

use legwork_model::{ChangeKind, Side, TreePath, escape, unescape};
use legwork_review::{
    AcceptError, Accepted, Content, FileReview, Mode, Opened, Placement, Version,
};
use legwork_workspace::{BlobStore, Edit, Live, Workspace};

use super::ReviewError;
use crate::store::FileRow;

/// A larger file in the workspace is not read: no accept of lines can be meant for it.
const LARGEST: u64 = 256 << 20;

/// Both sides of a change.
#[derive(Debug)]
pub(super) struct Bytes {
    before: Option<Content>,
    after: Option<Content>,
    rename: bool,
}

impl Bytes {
    pub(super) fn load(blobs: &BlobStore, row: &FileRow) -> Result<Self, ReviewError> {
        Ok(Self {
            before: content(blobs, row.path(), row.change.before.as_ref())?,
            after: content(blobs, row.path(), row.change.after.as_ref())?,
            rename: matches!(row.change.kind, ChangeKind::Rename { .. }),
        })
    }

    /// As the guest found it; for a rename, at the old path.
    pub(super) fn before(&self) -> Option<Version<'_>> {
        self.before.as_ref().map(Content::as_version)
    }

    /// As the guest left it.
    pub(super) fn after(&self) -> Option<Version<'_>> {
        self.after.as_ref().map(Content::as_version)
    }

    /// The review of a change of which nothing has been decided.
    pub(super) fn propose(&self) -> FileReview {
        FileReview::propose(self.base(), self.after())
    }

    /// The review with its bytes.
    pub(super) fn open<'a>(&'a self, review: &'a FileReview) -> Result<Opened<'a>, ReviewError> {
        let bytes = |version: Option<Version<'a>>| version.map(|version| version.bytes);
        Ok(review.open(bytes(self.base()), bytes(self.after()))?)
    }

    fn base(&self) -> Option<Version<'_>> {
        if self.rename { None } else { self.before() }
    }
}

/// Makes the review of a change: its sides are in the blob store.
pub(crate) fn propose(
    blobs: &BlobStore,
    change: legwork_model::Change,
) -> Result<FileRow, ReviewError> {
    let nothing = FileReview::propose(None, None);
    let row = FileRow::new(change, nothing);
    let review = Bytes::load(blobs, &row)?.propose();
    Ok(FileRow::new(row.change, review))
}

/// What stands at a path of the workspace.
#[derive(Debug)]
enum Found {
    /// Something that a change can be compared with, or nothing.
    Known(Option<Content>),
    /// Something that no change can be merged with.
    Foreign,
}

/// What stands where a change belongs.
#[derive(Debug)]
pub(super) struct Standing {
    here: Found,
    /// At the old path of a rename.
    from: Option<Found>,
}

/// What a set of changes takes away, and so makes room for.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    links: BTreeSet<TreePath>,
    all: BTreeSet<TreePath>,
}

impl Leaving {
    /// Of the changes of files under review.
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a FileRow>) -> Self {
        let mut leaving = Self::default();
        for row in rows {
            let change = &row.change;
            match &change.kind {
                ChangeKind::Rename { from } => leaving.add(from, change.before.as_ref(), None),
                _ => leaving.add(row.path(), change.before.as_ref(), change.after.as_ref()),
            }
        }
        leaving
    }

    /// Of edits.
    pub(super) fn of_edits(edits: &[Edit]) -> Self {
        let mut leaving = Self::default();
        for edit in edits {
            leaving.add(&edit.path, edit.before.as_ref(), edit.after.as_ref());
        }
        leaving
    }

    fn add(&mut self, path: &TreePath, before: Option<&Side>, after: Option<&Side>) {
        let is_link = |side: Option<&Side>| matches!(side, Some(Side::Symlink { .. }));
        if is_link(before) && !is_link(after) {
            self.links.insert(path.clone());
        }
        if before.is_some() && after.is_none() {
            self.all.insert(path.clone());
        }
    }

    /// Whether a path lies behind a link that goes: nothing stands there then.
    pub(super) fn hides(&self, path: &TreePath) -> bool {
        std::iter::successors(path.parent(), TreePath::parent).any(|dir| self.links.contains(&dir))
    }

    /// Whether something goes from below a folder.
    fn empties(&self, dir: &TreePath) -> bool {
        self.all.iter().any(|path| path.is_below(dir))
    }
}

impl Standing {
    pub(super) fn read(workspace: &Workspace, row: &FileRow, leaving: &Leaving) -> Self {
        let from = match &row.change.kind {
            ChangeKind::Rename { from } => Some(found(workspace, from)),
            _ => None,
        };
        let mut here = match leaving.hides(row.path()) {
            true => Found::Known(None),
            false => found(workspace, row.path()),
        };
        let is_dir = matches!(&here, Found::Known(Some(live)) if live.mode == Mode::Dir);
        let is_new = row.change.before.is_none() || from.is_some();
        let becomes_leaf = is_new && row.change.after != Some(Side::Dir);
        if is_dir && becomes_leaf && leaving.empties(row.path()) {
            // A folder whose entries go with the same set makes room; the applier refuses if any stays.
            here = Found::Known(None);
        }
        Self { here, from }
    }

    /// Nothing is known of it.
    pub(super) fn foreign() -> Self {
        Self {
            here: Found::Foreign,
            from: None,
        }
    }

    /// Where each hunk stands.
    pub(super) fn place(
        &self,
        row: &FileRow,
        bytes: &Bytes,
        opened: &Opened<'_>,
    ) -> Vec<Placement> {
        match &self.here {
            Found::Known(live) => {
                let mut placements = opened.place(live.as_ref().map(Content::as_version));
                if !self.old_path_fits(bytes, live.as_ref()) {
                    for (placement, hunk) in placements.iter_mut().zip(row.review.hunks()) {
                        if hunk.state == legwork_review::State::Pending {
                            *placement = Placement::Conflicted;
                        }
                    }
                }
                placements
            }
            Found::Foreign => vec![Placement::Conflicted; row.review.hunks().len()],
        }
    }

    /// What accepting these hunks comes to. The outer error is a fault, the inner one the state of things.
    pub(super) fn accept(
        &self,
        row: &FileRow,
        bytes: &Bytes,
        ids: &[u32],
    ) -> Result<Result<Accepted, AcceptError>, ReviewError> {
        let opened = bytes.open(&row.review)?;
        let Found::Known(live) = &self.here else {
            return Ok(Err(AcceptError::Conflicted { ids: ids.to_vec() }));
        };
        if !self.old_path_fits(bytes, live.as_ref()) {
            return Ok(Err(AcceptError::Conflicted { ids: ids.to_vec() }));
        }
        Ok(opened.accept(live.as_ref().map(Content::as_version), ids))
    }

    /// What an accept writes. Contents go to the blob store.
    pub(super) fn edits(
        &self,
        row: &FileRow,
        accepted: &Accepted,
        blobs: &BlobStore,
    ) -> Result<Vec<Edit>, ReviewError> {
        let mut edits = Vec::new();
        if let (ChangeKind::Rename { from }, Some(Found::Known(Some(old)))) =
            (&row.change.kind, &self.from)
        {
            edits.push(Edit {
                path: from.clone(),
                before: Some(side(old, blobs)?),
                after: None,
            });
        }
        // A directory that is there is still said to stay: else it would go with the last file in it.
        let stays = accepted
            .result()
            .is_some_and(|result| result.mode == Mode::Dir);
        if accepted.changes_live() || stays {
            let before = match &self.here {
                Found::Known(Some(live)) => Some(side(live, blobs)?),
                Found::Known(None) | Found::Foreign => None,
            };
            let after = accepted
                .result()
                .map(|result| side(result, blobs))
                .transpose()?;
            edits.push(Edit {
                path: row.path().clone(),
                before,
                after,
            });
        }
        Ok(edits)
    }

    /// Why a hunk has no place, as a sentence.
    pub(super) fn collision(&self) -> &'static str {
        match (&self.here, &self.from) {
            (Found::Foreign, _) => {
                "what stands there cannot be read or is no file, link or directory"
            }
            (_, Some(Found::Foreign)) => {
                "what stands at the old path is no file, link or directory"
            }
            (_, Some(_)) => "the file at the old or the new path was changed since the task began",
            (_, None) => "the file was changed at the same place since the task began",
        }
    }

    /// For a rename: whether the old path holds what the guest found there, or nothing where the rename was done already.
    fn old_path_fits(&self, bytes: &Bytes, here: Option<&Content>) -> bool {
        let bytes_of = |version: Option<Version<'_>>| version.map(|version| version.bytes.to_vec());
        match &self.from {
            None => true,
            Some(Found::Foreign) => false,
            Some(Found::Known(None)) => {
                here.map(|here| &here.bytes) == bytes_of(bytes.after()).as_ref()
            }
            Some(Found::Known(Some(old))) => Some(&old.bytes) == bytes_of(bytes.before()).as_ref(),
        }
    }
}

/// What stands at a path now; `None` if it cannot be compared with anything.
pub(super) fn live(workspace: &Workspace, path: &TreePath) -> Option<Option<Content>> {
    match found(workspace, path) {
        Found::Known(content) => Some(content),
        Found::Foreign => None,
    }
}

/// One side of an edit; file contents go to the blob store.
pub(super) fn side(content: &Content, blobs: &BlobStore) -> Result<Side, ReviewError> {
    Ok(match content.mode {
        Mode::Dir => Side::Dir,
        Mode::Symlink => Side::Symlink {
            target: escape(&content.bytes),
        },
        Mode::File(permissions) => {
            let blob = blobs.put(&content.bytes)?;
            Side::File {
                digest: blob.digest,
                size: blob.size,
                permissions,
            }
        }
    })
}

/// The bytes of one side of a change or an edit.
pub(super) fn content(
    blobs: &BlobStore,
    path: &TreePath,
    side: Option<&Side>,
) -> Result<Option<Content>, ReviewError> {
    Ok(match side {
        None => None,
        Some(Side::Dir) => Some(Content {
            bytes: Vec::new(),
            mode: Mode::Dir,
        }),
        Some(Side::Symlink { target }) => {
            let bytes = unescape(target).ok_or_else(|| ReviewError::Live {
                path: path.clone(),
                reason: "its target is garbled".to_owned(),
            })?;
            Some(Content {
                bytes,
                mode: Mode::Symlink,
            })
        }
        Some(Side::File {
            digest,
            permissions,
            ..
        }) => Some(Content {
            bytes: blobs.get(digest)?,
            mode: Mode::File(*permissions),
        }),
    })
}

fn found(workspace: &Workspace, path: &TreePath) -> Found {
    let content = match workspace.live(path, LARGEST) {
        Ok(Live::Absent) => None,
        Ok(Live::File { bytes, permissions }) => Some(Content {
            bytes,
            mode: Mode::File(permissions),
        }),
        Ok(Live::Symlink { target }) => match unescape(&target) {
            Some(bytes) => Some(Content {
                bytes,
                mode: Mode::Symlink,
            }),
            None => return Found::Foreign,
        },
        Ok(Live::Dir) => Some(Content {
            bytes: Vec::new(),
            mode: Mode::Dir,
        }),
        Ok(Live::Other) => return Found::Foreign,
        Err(error) => {
            tracing::warn!(%path, %error, "a file of the workspace cannot be read");
            return Found::Foreign;
        }
    };
    Found::Known(content)
}
