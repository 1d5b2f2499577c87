//! What is never carried to the host, and why, as sentences.

use std::collections::{BTreeMap, BTreeSet};

use legwork_model::{EntryKind, LeftOut, Manifest, Reason, TreePath};

use super::{
    ChangeError,
    merge::{Base, Item, Upper, up},
};
use crate::{Snapshot, Workspace, names, rules::Rules};

/// Something at whose top the carrying stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) top: TreePath,
    pub(super) reason: String,
}

/// What can be said of a path alone.
#[derive(Debug)]
pub(super) struct Check<'a> {
    manifest: &'a Manifest,
    rules: Rules,
}

impl<'a> Check<'a> {
    /// Reads the ignore files as they stand in the base.
    pub(super) fn new(base: &'a Snapshot, workspace: &Workspace) -> Result<Self, ChangeError> {
        let mut rules = Rules::around(workspace.path());
        let dir = |path: &TreePath| {
            path.parent()
                .map_or(Vec::new(), |dir| dir.as_bytes().to_vec())
        };
        for out in &base.manifest.left_out {
            let is_repository = matches!(out.reason, Reason::VersionControl | Reason::Copied);
            if is_repository && out.path.name() == b".git" {
                rules.add_repository(&dir(&out.path), &out.path.under(workspace.path()));
            }
        }
        for entry in &base.manifest.entries {
            if entry.path.name() == b".gitignore" && matches!(entry.kind, EntryKind::File { .. }) {
                rules.add_file(&dir(&entry.path), &base.read(entry)?);
            }
        }
        Ok(Self {
            manifest: &base.manifest,
            rules,
        })
    }

    /// Why nothing at this path or below is carried, with the topmost path for which that holds.
    pub(super) fn at(&self, path: &TreePath, is_dir: bool) -> Option<Stop> {
        let mut tops: Vec<TreePath> = up(path).collect();
        tops.reverse();
        let last = tops.len() - 1;
        tops.into_iter().enumerate().find_map(|(index, top)| {
            let reason = self.stops(&top, is_dir || index < last)?;
            Some(Stop { top, reason })
        })
    }

    /// What was left out at this path or above, unless an ignore rule was the reason.
    pub(super) fn left_out(&self, path: &TreePath) -> Option<&'a LeftOut> {
        up(path).find_map(|path| self.exactly_left_out(&path))
    }

    fn exactly_left_out(&self, path: &TreePath) -> Option<&'a LeftOut> {
        let all = &self.manifest.left_out;
        let found = all.binary_search_by(|out| out.path.cmp(path)).ok()?;
        Some(&all[found])
    }

    fn stops(&self, path: &TreePath, is_dir: bool) -> Option<String> {
        let name = path.name();
        if names::is_version_control(name) {
            let copied = self
                .exactly_left_out(path)
                .is_some_and(|out| out.reason == Reason::Copied);
            let reason = match copied {
                true => {
                    "it is the task's own copy of your repository, of which nothing is taken over"
                }
                false => "it belongs to a version control system, which only you change",
            };
            return Some(reason.into());
        }
        if self.manifest.get(path).is_some() {
            return None;
        }
        let ignored = match self.exactly_left_out(path) {
            Some(out) => out.reason == Reason::Ignored,
            None => self.rules.ignores(path.as_bytes(), is_dir),
        };
        ignored.then(|| "an ignore rule names it, so it is not part of the result".into())
    }
}

/// Why a link is not carried.
pub(super) fn link_problem(path: &TreePath, target: &[u8]) -> Option<String> {
    if target.is_empty() || target.len() > 4095 || target.contains(&0) {
        return Some("it is a link whose target is no path".into());
    }
    if target.starts_with(b"/") {
        return Some(
            "it is a link to an absolute path, which is another place on this machine".into(),
        );
    }
    let mut depth = path.components().count() - 1;
    for part in target.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return Some("it is a link that leads out of the workspace".into()),
            },
            name if names::is_version_control(name) => {
                return Some("it is a link into a version control system's folder".into());
            }
            _ => depth += 1,
        }
    }
    None
}

/// New names that a reader could take for another or for nothing, with why: they wait for a decision of their own. Two
/// names in one folder that are one name on another file system, and names that do not show what they are.
pub(super) fn deceptive(base: Base<'_>, upper: &Upper) -> BTreeMap<TreePath, String> {
    let is_new = |path: &TreePath, item: &Item| {
        !matches!(item, Item::Whiteout | Item::Refused(_))
            && (base.get(path).is_none() || upper.hides(path))
    };
    let mut deceptive = BTreeMap::new();
    let mut by_dir: BTreeMap<Option<TreePath>, Vec<TreePath>> = BTreeMap::new();
    for (path, item) in &upper.items {
        if is_new(path, item) {
            by_dir.entry(path.parent()).or_default().push(path.clone());
            if names::is_unprintable(path.name()) && base.get(path).is_none() {
                deceptive.insert(
                    path.clone(),
                    "its name holds control characters or characters that hide themselves".into(),
                );
            }
        }
    }
    for (dir, new) in by_dir {
        let mut seen: BTreeMap<String, BTreeSet<TreePath>> = BTreeMap::new();
        let hidden = dir.as_ref().is_some_and(|dir| {
            upper.hides(dir) || matches!(upper.items.get(dir), Some(Item::Dir { opaque: true }))
        });
        let kept = base
            .children(dir.as_ref())
            .map(|entry| &entry.path)
            .filter(|path| !hidden && upper.items.get(path) != Some(&Item::Whiteout));
        for path in kept.chain(&new) {
            let key = names::key(path.name()).into_owned();
            seen.entry(key).or_default().insert(path.clone());
        }
        for path in new {
            let others = &seen[names::key(path.name()).as_ref()];
            if let Some(other) = others.iter().find(|other| **other != path) {
                let reason = format!(
                    "its name and `{other}` differ only in case or spelling and are one file on some systems"
                );
                deceptive.insert(path, reason);
            }
        }
    }
    deceptive
}

/// A folder that becomes a bare repository: git would obey its configuration.
pub(super) fn refuse_repositories(base: Base<'_>, upper: &mut Upper) {
    const PARTS: [&[u8]; 3] = [b"HEAD", b"objects", b"refs"];
    let stands = |path: &TreePath| match upper.items.get(path) {
        Some(item) => *item != Item::Whiteout,
        None => base.get(path).is_some() && !upper.hides(path),
    };
    let beside = |path: &TreePath, name: &[u8]| match path.parent() {
        Some(dir) => dir.join(name).ok(),
        None => TreePath::from_bytes(name).ok(),
    };
    let whole = |path: &&TreePath| {
        PARTS.contains(&path.name())
            && PARTS
                .iter()
                .all(|part| beside(path, part).is_some_and(|path| stands(&path)))
    };
    let found: Vec<_> = upper.items.keys().filter(whole).cloned().collect();
    for path in found {
        let top = path
            .parent()
            .filter(|dir| base.get(dir).is_none())
            .unwrap_or(path);
        let reason =
            "it makes a git repository inside the workspace, whose settings git would obey".into();
        upper.stop(Stop { top, reason }, 0);
    }
}
