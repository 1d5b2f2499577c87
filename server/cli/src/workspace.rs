//! Which folder is the workspace, and where in it the user stands.

use std::path::{Component, Path, PathBuf};

use legwork_model::TreePath;
use legwork_wire::{home, workspace_of};

use crate::{
    failure::Failure,
    printable::{printable, quoted},
};

/// A workspace and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Absolute, with no symbolic link in it.
    pub(crate) workspace: PathBuf,
    /// Where the user stands, relative to the workspace; empty for its top.
    pub(crate) directory: PathBuf,
}

impl Place {
    /// The folder `named` if one is, else what is found from the current one.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Failure> {
        match named {
            Some(dir) => Ok(Self {
                workspace: real(dir)?,
                directory: PathBuf::new(),
            }),
            None => Ok(Self::above(&real(Path::new("."))?, home().as_deref())),
        }
    }

    /// In the workspace that `dir` is in.
    fn above(dir: &Path, home: Option<&Path>) -> Self {
        let top = workspace_of(dir, home);
        let directory = dir.strip_prefix(top).unwrap_or(Path::new("")).to_owned();
        Self {
            workspace: top.to_owned(),
            directory,
        }
    }

    /// A path as the user typed it, relative to the workspace; empty for the workspace itself, `None` outside of it.
    /// Only names are looked at, so that what is not (or not any more) on the disk has a place too.
    pub(crate) fn locate(&self, typed: &Path) -> Option<PathBuf> {
        let typed = match typed.strip_prefix(&self.workspace) {
            Ok(inside) => Path::new("/").join(inside),
            Err(_) if typed.is_absolute() => return None,
            Err(_) => Path::new("/").join(&self.directory).join(typed),
        };
        let mut inside = PathBuf::new();
        for component in typed.components() {
            match component {
                Component::Normal(name) => inside.push(name),
                Component::ParentDir if !inside.pop() => return None,
                _ => {}
            }
        }
        Some(inside)
    }

    /// How the user would type a path of the workspace from where they stand, for a shell.
    pub(crate) fn typed(&self, path: &TreePath) -> String {
        let up = self.directory.components().count();
        let text = match path.as_path().strip_prefix(&self.directory) {
            Ok(below) if up > 0 => {
                TreePath::from_path(below).map_or_else(|_| ".".to_owned(), |path| path.to_string())
            }
            _ => format!("{}{path}", "../".repeat(up)),
        };
        quoted(&text)
    }
}

/// Where the user stands in a workspace, or at its top when they stand outside of it.
pub(crate) fn in_workspace(workspace: &Path) -> Place {
    let directory = std::fs::canonicalize(".")
        .ok()
        .and_then(|dir| dir.strip_prefix(workspace).map(Path::to_owned).ok())
        .unwrap_or_default();
    Place {
        workspace: workspace.to_owned(),
        directory,
    }
}

fn real(dir: &Path) -> Result<PathBuf, Failure> {
    let shown = || printable(&dir.display().to_string()).into_owned();
    let real = std::fs::canonicalize(dir).map_err(|error| {
        Failure::usage(
            format!("`{}` cannot be a workspace: {error}", shown()),
            "name a folder that you can read",
        )
    })?;
    if !real.is_dir() {
        return Err(Failure::usage(
            format!("`{}` is not a folder", shown()),
            "name the folder that it is in",
        ));
    }
    if real.to_str().is_none() {
        return Err(Failure::usage(
            format!(
                "the path {} is not UTF-8",
                printable(&real.display().to_string())
            ),
            "rename the folder, or use one above or below it",
        ));
    }
    Ok(real)
}

/// A path relative to a workspace as a tree path; `None` for the workspace itself and for what cannot be one.
pub(crate) fn tree_path(inside: &Path) -> Option<TreePath> {
    TreePath::from_path(inside).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mark_below_home_is_the_top() {
        let dir = tempfile::tempdir().unwrap();
        let home = std::fs::canonicalize(dir.path()).unwrap();
        for path in [
            ".git",
            "plain/deep",
            "repo/.git",
            "repo/a/b",
            "repo/sub/.legwork",
        ] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        std::fs::create_dir(home.join("worktree")).unwrap();
        std::fs::write(home.join("worktree/.git"), "gitdir: elsewhere").unwrap();
        for (from, top, directory) in [
            ("repo/a/b", "repo", "a/b"),
            ("repo", "repo", ""),
            ("repo/sub", "repo/sub", ""),
            ("worktree", "worktree", ""),
            ("plain/deep", "plain/deep", ""),
        ] {
            let place = Place::above(&home.join(from), Some(&home));
            assert_eq!(
                place,
                Place {
                    workspace: home.join(top),
                    directory: directory.into()
                },
                "{from}"
            );
        }
        assert_eq!(Place::above(&home, Some(&home)).workspace, home);
        assert_eq!(Place::above(&home.join("plain"), None).workspace, home);
    }

    #[test]
    fn paths_are_told_from_where_the_user_stands() {
        let place = Place {
            workspace: "/w".into(),
            directory: "a/b".into(),
        };
        for (typed, inside) in [
            ("x", Some("a/b/x")),
            ("./x/../y", Some("a/b/y")),
            ("../../z", Some("z")),
            ("../..", Some("")),
            ("../../..", None),
            ("/w/q", Some("q")),
            ("/w", Some("")),
            ("/w/../etc", None),
            ("/etc", None),
            ("/way", None),
        ] {
            assert_eq!(
                place.locate(Path::new(typed)),
                inside.map(PathBuf::from),
                "{typed}"
            );
        }
    }

    #[test]
    fn paths_are_typed_back_from_where_the_user_stands() {
        for (directory, path, typed) in [
            ("", "a/x", "a/x"),
            ("a", "a/x y", "'x y'"),
            ("a/b", "a/x", "../../a/x"),
            ("a", "a", "."),
        ] {
            let place = Place {
                workspace: "/w".into(),
                directory: directory.into(),
            };
            assert_eq!(
                place.typed(&path.parse().unwrap()),
                typed,
                "{path} from {directory}"
            );
        }
    }

    #[test]
    fn what_is_no_folder_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(Place::find(Some(file.path())).unwrap_err().kind.code(), 2);
        assert_eq!(
            Place::find(Some(Path::new("/nowhere/at/all")))
                .unwrap_err()
                .kind
                .code(),
            2
        );
    }
}
