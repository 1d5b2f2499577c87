//! Base and upper layer as one view, the way overlayfs shows it, and where it differs from the base. Pure.

use std::collections::{BTreeMap, BTreeSet};

use legwork_model::{Entry, EntryKind, Manifest, Permissions, Refused, Side, TreePath};

use super::{ChangeError, check::Stop};
use crate::Blob;

/// An entry of the upper layer, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    File {
        blob: Blob,
        permissions: Permissions,
    },
    Dir {
        opaque: bool,
    },
    Symlink(String),
    Whiteout,
    /// Stands there in the guest, but is not carried.
    Refused(String),
}

/// The whole upper layer.
#[derive(Debug, Default)]
pub(super) struct Upper {
    pub(super) items: BTreeMap<TreePath, Item>,
    /// What is not carried, from its top, with the number of files below.
    tops: BTreeMap<TreePath, (String, u64)>,
    refused: Vec<Refused>,
}

impl Upper {
    pub(super) fn has_top(&self, top: &TreePath) -> bool {
        self.tops.contains_key(top)
    }

    pub(super) fn stop(&mut self, stop: Stop, files: u64) {
        self.tops.entry(stop.top).or_insert((stop.reason, 0)).1 += files;
    }

    pub(super) fn refuse_text(&mut self, path: String, reason: String) {
        self.refused.push(Refused { path, reason });
    }

    fn is_stopped(&self, path: &TreePath) -> bool {
        up(path).any(|path| self.tops.contains_key(&path))
    }

    pub(super) fn into_refused(self) -> Vec<Refused> {
        let below = |(path, (reason, files)): (TreePath, (String, u64))| Refused {
            path: path.to_string(),
            reason: match files {
                0 | 1 => reason,
                files => format!("{reason} ({files} files)"),
            },
        };
        let mut refused = self.refused;
        refused.extend(self.tops.into_iter().map(below));
        for (path, item) in self.items {
            if let Item::Refused(reason) = item {
                let path = path.to_string();
                refused.push(Refused { path, reason });
            }
        }
        refused.sort_by(|a, b| a.path.cmp(&b.path));
        refused
    }

    /// Whether the base is hidden below this path.
    fn hides_below(&self, path: &TreePath) -> bool {
        !matches!(
            self.items.get(path),
            None | Some(Item::Dir { opaque: false })
        )
    }

    /// Whether what the base has at this path is hidden by something above.
    pub(super) fn hides(&self, path: &TreePath) -> bool {
        up(path).skip(1).any(|above| self.hides_below(&above))
    }
}

/// The base, by directories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base<'a> {
    manifest: &'a Manifest,
}

impl<'a> Base<'a> {
    pub(super) fn new(manifest: &'a Manifest) -> Self {
        Self { manifest }
    }

    pub(super) fn get(self, path: &TreePath) -> Option<&'a Entry> {
        self.manifest.get(path)
    }

    pub(super) fn is_dir(self, path: &TreePath) -> bool {
        matches!(self.get(path), Some(entry) if entry.kind == EntryKind::Dir)
    }

    /// Everything below a directory; `None` is the root.
    fn below(self, dir: Option<&TreePath>) -> &'a [Entry] {
        let all = &self.manifest.entries;
        let Some(dir) = dir else {
            return all;
        };
        let prefix = [dir.as_bytes(), b"/"].concat();
        let first = all.partition_point(|entry| entry.path.as_bytes() < prefix.as_slice());
        let rest = &all[first..];
        &rest[..rest.partition_point(|entry| entry.path.as_bytes().starts_with(&prefix))]
    }

    /// The entries of a directory, without what is below them.
    pub(super) fn children(self, dir: Option<&TreePath>) -> impl Iterator<Item = &'a Entry> {
        let start = dir.map_or(0, |dir| dir.as_bytes().len() + 1);
        let mut rest = self.below(dir);
        std::iter::from_fn(move || {
            loop {
                let (first, tail) = rest.split_first()?;
                rest = tail;
                let name = &first.path.as_bytes()[start..];
                let Some(slash) = name.iter().position(|&byte| byte == b'/') else {
                    return Some(first);
                };
                // Below a child: on to what is behind all of it.
                let prefix = &first.path.as_bytes()[..=start + slash];
                rest = &rest[rest.partition_point(|e| e.path.as_bytes().starts_with(prefix))..];
            }
        })
    }
}

/// A difference at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) path: TreePath,
    pub(super) before: Option<Side>,
    pub(super) after: Option<Side>,
    pub(super) after_binary: bool,
}

/// Every entry must stand in a directory of the merged view.
pub(super) fn check_parents(base: Base<'_>, upper: &Upper) -> Result<(), ChangeError> {
    for path in upper.items.keys() {
        let Some(parent) = path.parent() else {
            continue;
        };
        let sound = match upper.items.get(&parent) {
            Some(item) => matches!(item, Item::Dir { .. }),
            None => base.is_dir(&parent) && !upper.hides(&parent),
        };
        if !sound {
            return Err(ChangeError::Protocol(format!(
                "`{path}` stands below something that is not a folder"
            )));
        }
    }
    Ok(())
}

/// All differences. A path at which something is refused has none, except that what it hides below is gone.
pub(super) fn changes(base: Base<'_>, upper: &Upper) -> Vec<Raw> {
    let filled = filled(base, upper);
    let mut paths: BTreeSet<&TreePath> = upper.items.keys().collect();
    for path in upper.items.keys() {
        if upper.hides_below(path) && !upper.hides(path) {
            paths.extend(base.below(Some(path)).iter().map(|entry| &entry.path));
        }
    }
    let mut changes = Vec::new();
    for path in paths {
        let item = upper.items.get(path);
        if upper.is_stopped(path)
            || matches!(item, Some(Item::Refused(_)))
            || below_refused(upper, path)
        {
            continue;
        }
        let old = base.get(path);
        let (after, after_binary) = match item {
            Some(Item::File { blob, permissions }) => (
                Some(Side::File {
                    digest: blob.digest,
                    size: blob.size,
                    permissions: *permissions,
                }),
                blob.binary,
            ),
            Some(Item::Symlink(target)) => {
                let target = target.clone();
                (Some(Side::Symlink { target }), false)
            }
            Some(Item::Dir { .. }) if !filled.contains(path) => (Some(Side::Dir), false),
            _ => (None, false),
        };
        let stays_dir = matches!(item, Some(Item::Dir { .. })) && base.is_dir(path);
        let before = old.and_then(|entry| side(base, entry));
        if before == after || (stays_dir && after.is_none()) {
            continue;
        }
        changes.push(Raw {
            path: path.clone(),
            before,
            after,
            after_binary,
        });
    }
    changes
}

/// Something refused took the place of a directory: what the base had in it is not deleted for that.
fn below_refused(upper: &Upper, path: &TreePath) -> bool {
    up(path)
        .skip(1)
        .any(|above| matches!(upper.items.get(&above), Some(Item::Refused(_))))
}

/// Directories of the upper layer that hold something in the merged view.
fn filled(base: Base<'_>, upper: &Upper) -> BTreeSet<TreePath> {
    let shown = upper
        .items
        .iter()
        .filter(|(_, item)| **item != Item::Whiteout);
    let mut filled: BTreeSet<_> = shown
        .map(|(path, _)| path)
        .chain(upper.tops.keys())
        .filter_map(TreePath::parent)
        .collect();
    for (dir, item) in &upper.items {
        let merged = *item == Item::Dir { opaque: false } && !upper.hides(dir);
        let stays = |entry: &Entry| upper.items.get(&entry.path) != Some(&Item::Whiteout);
        if merged && base.children(Some(dir)).any(stays) {
            filled.insert(dir.clone());
        }
    }
    filled
}

/// A directory is a side only if it is empty.
fn side(base: Base<'_>, entry: &Entry) -> Option<Side> {
    match &entry.kind {
        EntryKind::File { size, digest, .. } => Some(Side::File {
            digest: *digest,
            size: *size,
            permissions: Permissions::from(entry.mode),
        }),
        EntryKind::Dir => base
            .below(Some(&entry.path))
            .is_empty()
            .then_some(Side::Dir),
        EntryKind::Symlink { target } => Some(Side::Symlink {
            target: target.clone(),
        }),
    }
}

/// A path and everything above it, from the deepest up.
pub(super) fn up(path: &TreePath) -> impl Iterator<Item = TreePath> {
    std::iter::successors(Some(path.clone()), TreePath::parent)
}
