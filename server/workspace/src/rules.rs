//! Which paths the user's ignore files name, as git decides it, with or without git.
//!
//! Rules are gathered while a tree is walked from the top down, and asked from the bottom up. A folder that is a
//! repository of its own starts afresh. Nothing is decided here about secrets or other reasons.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::Read,
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::fs::OFlags;

mod index;

/// No ignore file of a person is longer, in bytes.
pub(crate) const IGNORE_FILE_MAX: u64 = 4 << 20;

/// All rules that are known so far.
#[derive(Debug)]
pub(crate) struct Rules {
    /// By directory, relative to the workspace; the root is empty.
    dirs: BTreeMap<Vec<u8>, Dir>,
    /// Of a repository around the workspace: where the workspace is, seen from the rules' directory. Deepest first.
    outer: Vec<(Vec<u8>, Gitignore)>,
    global: Gitignore,
}

#[derive(Debug, Default)]
struct Dir {
    rules: Option<Gitignore>,
    repository: Option<Repository>,
}

/// The top of a repository.
#[derive(Debug, Default)]
struct Repository {
    exclude: Option<Gitignore>,
    /// Sorted, relative to this directory: files that are part of the tree whatever the rules say.
    tracked: Vec<Vec<u8>>,
}

impl Rules {
    /// The rules of the machine, and of a repository of which the workspace is a part.
    pub(crate) fn around(workspace: &Path) -> Self {
        let mut rules = Self {
            dirs: BTreeMap::new(),
            outer: Vec::new(),
            global: Gitignore::global().0,
        };
        if workspace.join(".git").symlink_metadata().is_err() {
            rules.find_outer(workspace);
        }
        rules
    }

    /// A repository above counts only if it knows a file of this workspace: a home directory under git does not.
    fn find_outer(&mut self, workspace: &Path) {
        let Some(top) = workspace
            .ancestors()
            .skip(1)
            .find(|dir| dir.join(".git").exists())
        else {
            return;
        };
        let Ok(inside) = workspace.strip_prefix(top) else {
            return;
        };
        let mut prefix = inside.as_os_str().as_bytes().to_vec();
        prefix.push(b'/');
        let Repository { exclude, tracked } = Repository::at(&top.join(".git"));
        let tracked: Vec<_> = tracked
            .iter()
            .filter_map(|path| path.strip_prefix(&prefix[..]).map(<[u8]>::to_vec))
            .collect();
        if tracked.is_empty() {
            return;
        }
        let repository = Repository {
            exclude: None,
            tracked,
        };
        self.dirs.entry(Vec::new()).or_default().repository = Some(repository);
        for dir in workspace.ancestors().skip(1) {
            let Ok(seen) = workspace.strip_prefix(dir) else {
                break;
            };
            let bytes = read_bounded(&dir.join(".gitignore"), IGNORE_FILE_MAX);
            if let Some(rules) = bytes.and_then(|bytes| parse(&bytes)) {
                self.outer
                    .push((seen.as_os_str().as_bytes().to_vec(), rules));
            }
            if dir == top {
                break;
            }
        }
        if let Some(exclude) = exclude {
            self.outer
                .push((prefix[..prefix.len() - 1].to_vec(), exclude));
        }
    }

    /// Takes the `.gitignore` of a directory.
    pub(crate) fn add_file(&mut self, dir: &[u8], bytes: &[u8]) {
        if let Some(rules) = parse(bytes) {
            self.dirs.entry(dir.to_vec()).or_default().rules = Some(rules);
        }
    }

    /// Takes note that a directory is the top of a repository, whose `.git` (folder or file) is given.
    pub(crate) fn add_repository(&mut self, dir: &[u8], dot_git: &Path) {
        self.dirs.entry(dir.to_vec()).or_default().repository = Some(Repository::at(dot_git));
    }

    /// Whether a rule names this very path. Its parents are not asked for: what stands in an ignored directory is
    /// ignored with it.
    pub(crate) fn ignores(&self, path: &[u8], is_dir: bool) -> bool {
        let ask = |rules: &Gitignore, relative: &[u8]| match rules
            .matched(Path::new(OsStr::from_bytes(relative)), is_dir)
        {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let mut foreign = false;
        for (dir, relative) in above(path) {
            let Some(dir) = self.dirs.get(dir) else {
                continue;
            };
            if let Some(answer) = dir.rules.as_ref().and_then(|rules| ask(rules, relative)) {
                return answer;
            }
            if let Some(repository) = &dir.repository {
                let exclude = repository.exclude.as_ref();
                if let Some(answer) = exclude.and_then(|rules| ask(rules, relative)) {
                    return answer;
                }
                foreign = true;
                break;
            }
        }
        // Rules from above the workspace hold for the repository that goes through its root.
        if !foreign || self.root_is_inner(path) {
            for (prefix, rules) in &self.outer {
                let full = [prefix, b"/".as_slice(), path].concat();
                if let Some(answer) = ask(rules, &full) {
                    return answer;
                }
            }
        }
        ask(&self.global, path) == Some(true)
    }

    /// Whether the repository knows this file: it is part of the tree although a rule names it.
    pub(crate) fn is_tracked(&self, path: &[u8]) -> bool {
        self.repository_of(path)
            .is_some_and(|(repository, relative)| {
                repository
                    .tracked
                    .binary_search_by(|known| known.as_slice().cmp(relative))
                    .is_ok()
            })
    }

    /// Whether the repository knows a file below this directory.
    pub(crate) fn has_tracked_below(&self, dir: &[u8]) -> bool {
        self.repository_of(dir)
            .is_some_and(|(repository, relative)| {
                let prefix = [relative, b"/"].concat();
                let first = repository.tracked.partition_point(|known| *known < prefix);
                repository
                    .tracked
                    .get(first)
                    .is_some_and(|known| known.starts_with(&prefix))
            })
    }

    fn repository_of<'p>(&self, path: &'p [u8]) -> Option<(&Repository, &'p [u8])> {
        above(path).find_map(|(dir, relative)| {
            let repository = self.dirs.get(dir)?.repository.as_ref()?;
            Some((repository, relative))
        })
    }

    fn root_is_inner(&self, path: &[u8]) -> bool {
        self.repository_of(path)
            .is_some_and(|(_, relative)| relative.len() == path.len())
    }
}

/// Where git keeps what belongs to a working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitDirs {
    /// What is this working tree's own: its head and index.
    pub(crate) own: PathBuf,
    /// What it has in common with others: objects and branches. The same folder where there are no others.
    pub(crate) common: PathBuf,
}

impl GitDirs {
    /// What a `.git` leads to, be it the folder itself or a file; `None` for a file that does not say where.
    pub(crate) fn of(dot_git: &Path) -> Option<Self> {
        let own = match read_bounded(dot_git, 8192) {
            // A worktree or submodule: the file says where.
            Some(text) => dot_git
                .parent()
                .unwrap_or(Path::new("."))
                .join(OsStr::from_bytes(
                    text.strip_prefix(b"gitdir:")?.trim_ascii(),
                )),
            None => dot_git.to_owned(),
        };
        let common = match read_bounded(&own.join("commondir"), 8192) {
            Some(target) => own.join(OsStr::from_bytes(target.trim_ascii())),
            None => own.clone(),
        };
        Some(Self { own, common })
    }
}

impl Repository {
    /// Reads what git says of a repository. What cannot be read is as if it were not there.
    fn at(dot_git: &Path) -> Self {
        let Some(GitDirs {
            own: git_dir,
            common,
        }) = GitDirs::of(dot_git)
        else {
            return Self::default();
        };
        let exclude: PathBuf = common.join("info/exclude");
        Self {
            exclude: read_bounded(&exclude, IGNORE_FILE_MAX).and_then(|bytes| parse(&bytes)),
            tracked: read_bounded(&git_dir.join("index"), index::MAX)
                .and_then(|bytes| index::paths(&bytes))
                .unwrap_or_default(),
        }
    }
}

/// Patterns of the user, as in a `.gitignore`, that bring things in.
#[derive(Debug)]
pub(crate) struct Include {
    rules: Gitignore,
    /// Fixed paths, to know which directories lead to them.
    anchored: Vec<Vec<u8>>,
}

impl Include {
    /// Parses the patterns; the first bad one with what is wrong in it.
    pub(crate) fn new(patterns: &[String]) -> Result<Self, (String, String)> {
        let mut builder = GitignoreBuilder::new(".");
        builder.allow_unclosed_class(false);
        let mut anchored = Vec::new();
        for pattern in patterns {
            builder
                .add_line(None, pattern)
                .map_err(|error| (pattern.clone(), error.to_string()))?;
            let path = pattern.trim_matches('/').as_bytes();
            if path.contains(&b'/') {
                anchored.push(path.to_vec());
            }
        }
        let rules = builder
            .build()
            .map_err(|error| (patterns.join(" "), error.to_string()))?;
        Ok(Self { rules, anchored })
    }

    /// Whether a pattern names this path.
    pub(crate) fn names(&self, path: &[u8], is_dir: bool) -> bool {
        self.rules
            .matched(Path::new(OsStr::from_bytes(path)), is_dir)
            .is_ignore()
    }

    /// Whether a pattern names a fixed path below this directory.
    pub(crate) fn leads_through(&self, dir: &[u8]) -> bool {
        self.anchored.iter().any(|path| {
            path.strip_prefix(dir)
                .is_some_and(|rest| rest.starts_with(b"/"))
        })
    }
}

/// The directories above a path from the deepest up to the root (empty), each with the path as seen from there.
fn above(path: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut end = Some(path.len());
    std::iter::from_fn(move || {
        let here = end?;
        let slash = path[..here].iter().rposition(|&byte| byte == b'/');
        end = slash;
        Some(match slash {
            Some(slash) => (&path[..slash], &path[slash + 1..]),
            None => (&path[..0], path),
        })
    })
}

/// Lines that git would not understand are left out, as git does.
fn parse(bytes: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(".");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in bytes.split(|&byte| byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)) {
            let _malformed = builder.add_line(None, line);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// A regular file of at most `max` bytes; `None` for anything else.
pub(crate) fn read_bounded(path: &Path, max: u64) -> Option<Vec<u8>> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).ok()?;
    let file = File::options()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > max {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests;
