//! Which commit is checked out: read from the files of the repository, as gitrepository-layout(5) has them. Git is not run.

use std::path::{Path, PathBuf};

use legwork_model::{Head, escape};

use crate::{
    Workspace,
    rules::{self, GitDirs},
};

/// A longer list of packed references is not read, in bytes.
const PACKED_MAX: u64 = 16 << 20;

/// A file that holds one reference is no longer than this, in bytes.
const REFERENCE_MAX: u64 = 8192;

impl Workspace {
    /// What is checked out in the repository that the folder is in; `None` without one, before its first commit, and where
    /// its references are kept in another way than in files.
    pub fn head(&self) -> Option<Head> {
        let dot_git = self
            .path()
            .ancestors()
            .map(|dir| dir.join(".git"))
            .find(|path| path.symlink_metadata().is_ok())?;
        let GitDirs { own, common } = GitDirs::of(&dot_git)?;
        let head = reference(&own.join("HEAD"))?;
        let Some(name) = head.strip_prefix("ref: ") else {
            return is_commit(&head).then_some(Head {
                commit: head,
                branch: None,
            });
        };
        // It names a file below the repository and nothing else.
        let safe = name.starts_with("refs/")
            && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
        let loose = |dir: &PathBuf| reference(&dir.join(name)).filter(|commit| is_commit(commit));
        let commit = safe
            .then(|| {
                [&own, &common]
                    .into_iter()
                    .find_map(loose)
                    .or_else(|| packed(&common, name))
            })
            .flatten()?;
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
        Some(Head {
            commit,
            branch: Some(escape(branch.as_bytes())),
        })
    }
}

fn reference(path: &Path) -> Option<String> {
    let bytes = rules::read_bounded(path, REFERENCE_MAX)?;
    Some(String::from_utf8(bytes).ok()?.trim_end().to_owned())
}

/// From `packed-refs`: lines of a commit, a space and a name.
fn packed(common: &Path, name: &str) -> Option<String> {
    let bytes = rules::read_bounded(&common.join("packed-refs"), PACKED_MAX)?;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let commit = lines.find_map(|line| {
        let at = line.iter().position(|byte| *byte == b' ')?;
        (&line[at + 1..] == name.as_bytes()).then_some(&line[..at])
    })?;
    let commit = std::str::from_utf8(commit).ok()?;
    is_commit(commit).then(|| commit.to_owned())
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    fn git(dir: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"])
            .args(arguments)
            .current_dir(dir)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn head(dir: &Path) -> Option<Head> {
        Workspace::open(dir).unwrap().head()
    }

    #[test]
    fn it_is_what_git_says() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("top");
        fs::create_dir_all(top.join("sub")).unwrap();
        assert_eq!(head(&top), None, "no repository");
        git(&top, &["init", "-q", "-b", "main"]);
        assert_eq!(head(&top), None, "no commit");
        git(&top, &["commit", "-q", "--allow-empty", "-m", "one"]);
        let expect = |at: &Path, branch: Option<&str>| {
            let commit = git(at, &["rev-parse", "HEAD"]);
            let branch = branch.map(str::to_owned);
            assert_eq!(head(at), Some(Head { commit, branch }));
        };
        expect(&top, Some("main"));
        expect(&top.join("sub"), Some("main"));
        git(&top, &["switch", "-q", "-c", "topic/a"]);
        git(&top, &["commit", "-q", "--allow-empty", "-m", "two"]);
        expect(&top, Some("topic/a"));
        git(&top, &["pack-refs", "--all"]);
        expect(&top, Some("topic/a"));
        git(&top, &["worktree", "add", "-q", "../tree", "main"]);
        expect(&dir.path().join("tree"), Some("main"));
        git(&top, &["checkout", "-q", "--detach"]);
        expect(&top, None);
    }

    #[test]
    fn what_makes_no_sense_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join(".git");
        fs::create_dir(&git).unwrap();
        fs::write(dir.path().join("secret"), "a".repeat(40)).unwrap();
        for text in [
            "",
            "ref: ",
            "ref: ../secret",
            "ref: refs/../../secret",
            "ref: /etc/passwd",
            "ref: refs/heads/gone",
            "no commit",
            "\u{1b}[31m",
        ] {
            fs::write(git.join("HEAD"), text).unwrap();
            assert_eq!(head(dir.path()), None, "{text:?}");
        }
    }
}
