//! Which folder is the workspace of a place in it: the same for every client, so that one can review what another began.

use std::{
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// What makes a folder the top of a workspace.
const MARKS: [&str; 4] = [".legwork", ".git", ".jj", ".hg"];

/// The user's home folder, without links.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").and_then(|home| std::fs::canonicalize(home).ok())
}

/// The nearest folder at or above `dir` that has a mark, below `home` and `/`; else `dir` itself. A mark counts only where
/// the owner is the same as that of `dir`, so that nobody else's mark in `/tmp` decides.
pub fn workspace_of<'a>(dir: &'a Path, home: Option<&Path>) -> &'a Path {
    let owner = |path: &Path| std::fs::metadata(path).ok().map(|metadata| metadata.uid());
    dir.ancestors()
        .take_while(|path| Some(*path) != home && path.parent().is_some())
        .find(|path| {
            MARKS
                .iter()
                .any(|mark| std::fs::symlink_metadata(path.join(mark)).is_ok())
        })
        .filter(|path| owner(path) == owner(dir))
        .unwrap_or(dir)
}
