//! The client's folders, in the form in which it opened them and as they are on the disk.

use std::path::{Path, PathBuf};

use legwork_wire::{home, workspace_of};

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// As the client opened it; perhaps through a symbolic link.
    pub(crate) opened: PathBuf,
    /// Without any link.
    pub(crate) real: PathBuf,
}

/// All of them; of nested ones the deepest counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots(Vec<Root>);

impl Roots {
    /// Adds a folder; what is none is left out.
    pub(crate) fn add(&mut self, opened: PathBuf) {
        if let Ok(real) = std::fs::canonicalize(&opened)
            && real.is_dir()
            && !self.0.iter().any(|root| root.opened == opened)
        {
            self.0.push(Root { opened, real });
        }
    }

    pub(crate) fn remove(&mut self, opened: &Path) {
        self.0.retain(|root| root.opened != opened);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Root> {
        self.0.iter()
    }

    /// The deepest folder that `real` is in; for a file outside of all of them, and for a client without any, the folder
    /// that `legwork run` would take.
    pub(crate) fn of(&self, real: &Path) -> Option<PathBuf> {
        self.0
            .iter()
            .filter(|root| real.starts_with(&root.real))
            .max_by_key(|root| root.real.components().count())
            .map(|root| root.real.clone())
            .or_else(|| {
                let top = workspace_of(real.parent()?, home().as_deref());
                top.is_dir().then(|| top.to_owned())
            })
    }

    /// A real path as the client would write it.
    pub(crate) fn as_opened(&self, real: &Path) -> PathBuf {
        self.0
            .iter()
            .filter_map(|root| Some((root, real.strip_prefix(&root.real).ok()?)))
            .max_by_key(|(root, _)| root.real.components().count())
            .map_or_else(|| real.to_owned(), |(root, below)| root.opened.join(below))
    }

    /// Whether a task on this workspace is the client's business: it is one of the folders, in one, or around one.
    pub(crate) fn concern(&self, workspace: &Path) -> bool {
        self.0
            .iter()
            .any(|root| workspace.starts_with(&root.real) || root.real.starts_with(workspace))
    }
}

/// A path without links, also of a file that is not there yet.
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = std::fs::canonicalize(path) {
        return Some(real);
    }
    let (parent, name) = (path.parent()?, path.file_name()?);
    match std::fs::canonicalize(parent) {
        Ok(parent) => Some(parent.join(name)),
        Err(_) => Some(real(parent)?.join(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_folder_counts_and_links_are_seen_through() {
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(top.join("ws/sub")).unwrap();
        std::os::unix::fs::symlink(top.join("ws"), top.join("link")).unwrap();
        let mut roots = Roots::default();
        roots.add(top.join("link"));
        roots.add(top.join("ws/sub"));
        roots.add(top.join("missing"));
        assert_eq!(roots.iter().count(), 2);
        assert_eq!(roots.of(&top.join("ws/sub/a")), Some(top.join("ws/sub")));
        assert_eq!(roots.of(&top.join("ws/a")), Some(top.join("ws")));
        assert_eq!(roots.as_opened(&top.join("ws/a")), top.join("link/a"));
        assert!(roots.concern(&top) && roots.concern(&top.join("ws/other")));
        assert!(!roots.concern(Path::new("/nowhere")));
        assert_eq!(real(&top.join("link/new/b")), Some(top.join("ws/new/b")));
        roots.remove(&top.join("link"));
        assert_eq!(roots.iter().count(), 1);
    }
}
