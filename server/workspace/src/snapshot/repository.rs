//! A copy of a repository for the guest, where the user names its `.git` as something to take along. It is read and never
//! written, nothing of it comes back, and what could hold a secret or name a place of this machine stays here: of its
//! settings only those that say how its files are to be read, and no hooks, remotes or logs.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::{Path, PathBuf},
};

use crate::rules::{GitDirs, read_bounded};

/// A repository of more bytes is left out.
pub(super) const LARGEST: u64 = 2 << 30;

/// How many repositories can stand behind one another as `objects/info/alternates`; git has the same bound.
const ALTERNATES: usize = 5;

/// Files and folders of the working tree's own part.
const OWN: [&str; 16] = [
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "AUTO_MERGE",
    "BISECT_LOG",
    "index",
    "info/sparse-checkout",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "refs",
];

/// Files and folders that all working trees of a repository have in common. Objects are apart.
const COMMON: [&str; 6] = [
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
    "reftable",
    "refs",
];

/// Settings that say how files and objects are to be read.
const SETTINGS: [(&str, &[&str]); 3] = [
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "ignorecase",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "precomposeunicode",
            "sparsecheckout",
            "sparsecheckoutcone",
        ],
    ),
    ("extensions", &["objectformat", "refstorage"]),
    ("user", &["name", "email"]),
];

/// What the guest's copy sets for itself: its files have other numbers and owners than those that the index knows, but the
/// same times and lengths.
const OF_THE_GUEST: &str = "[core]\n\tbare = false\n\ttrustctime = false\n\tcheckstat = minimal\n\tfsmonitor = false\n\
                            \tuntrackedcache = false\n\tpager = cat\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";

/// A file of the copy.
#[derive(Debug)]
pub(super) struct Copied {
    /// Below `.git`.
    pub(super) path: Vec<u8>,
    pub(super) source: PathBuf,
    pub(super) size: u64,
}

/// What goes into the copy.
#[derive(Debug)]
pub(super) struct Repository {
    /// Of its `.git` in the workspace.
    pub(super) path: Vec<u8>,
    pub(super) files: Vec<Copied>,
    /// The text of its `config`.
    pub(super) config: Vec<u8>,
}

/// Why there is no copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoCopy {
    /// It cannot be read, or is no repository.
    Unreadable,
    /// It is larger than [`LARGEST`].
    TooLarge,
}

impl Repository {
    /// Lists what belongs into the copy of `dot_git`, a folder, or the file that a linked working tree or a submodule has.
    pub(super) fn list(path: &[u8], dot_git: &Path) -> Result<Self, NoCopy> {
        let dirs = GitDirs::of(dot_git).ok_or(NoCopy::Unreadable)?;
        let mut list = List {
            files: Vec::new(),
            bytes: 0,
        };
        for name in OWN {
            list.add(&dirs.own, name);
        }
        for entry in fs::read_dir(&dirs.own).into_iter().flatten().flatten() {
            if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
                list.put(entry.file_name().as_bytes().to_vec(), entry.path());
            }
        }
        if dirs.common != dirs.own {
            for name in COMMON {
                list.add(&dirs.common, name);
            }
        } else {
            for name in &COMMON[..COMMON.len() - 1] {
                list.add(&dirs.common, name);
            }
        }
        list.objects(&dirs.common.join("objects"), ALTERNATES);
        if list.bytes > LARGEST {
            return Err(NoCopy::TooLarge);
        }
        let has = |name: &[u8]| list.files.iter().any(|file| file.path == name);
        if !has(b"HEAD") {
            return Err(NoCopy::Unreadable);
        }
        list.files.sort_by(|a, b| a.path.cmp(&b.path));
        list.files.dedup_by(|a, b| a.path == b.path);
        let config = read_bounded(&dirs.common.join("config"), 1 << 20).unwrap_or_default();
        Ok(Self {
            path: path.to_vec(),
            files: list.files,
            config: settings(&config),
        })
    }

    /// Of all its files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

#[derive(Debug)]
struct List {
    files: Vec<Copied>,
    bytes: u64,
}

impl List {
    /// A file, or a folder with all that is in it.
    fn add(&mut self, dir: &Path, name: &str) {
        self.put(name.as_bytes().to_vec(), dir.join(name));
    }

    /// Links are not followed, and what is no file is left out.
    fn put(&mut self, path: Vec<u8>, source: PathBuf) {
        // Once it is too much, it is too much.
        if self.bytes > LARGEST || path.len() > 1024 {
            return;
        }
        let Ok(metadata) = source.symlink_metadata() else {
            return;
        };
        if metadata.is_dir() {
            for entry in fs::read_dir(&source).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if !name.as_bytes().ends_with(b".lock") {
                    let below = [&path[..], b"/", name.as_bytes()].concat();
                    self.put(below, entry.path());
                }
            }
        } else if metadata.is_file() {
            let size = metadata.size();
            self.bytes = self.bytes.saturating_add(size).saturating_add(4096);
            self.files.push(Copied { path, source, size });
        }
    }

    /// Loose objects and packs, also those that are borrowed from another repository.
    fn objects(&mut self, dir: &Path, alternates: usize) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let loose = name.len() == 2 && name.as_bytes().iter().all(u8::is_ascii_hexdigit);
            if loose || name == "pack" {
                self.put([b"objects/", name.as_bytes()].concat(), entry.path());
            }
        }
        let Some(next) = alternates.checked_sub(1) else {
            return;
        };
        let others = read_bounded(&dir.join("info/alternates"), 1 << 16).unwrap_or_default();
        for line in others.split(|&byte| byte == b'\n') {
            if !line.is_empty() && line[0] != b'#' {
                self.objects(&dir.join(OsStr::from_bytes(line)), next);
            }
        }
    }
}

/// The settings of a repository that its copy may know, and its own.
fn settings(config: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(config);
    let mut section = String::new();
    let mut kept = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix('[') {
            section = rest.trim_end_matches(']').trim().to_ascii_lowercase();
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let known = SETTINGS
            .iter()
            .any(|(name, keys)| *name == section && keys.contains(&key.as_str()));
        let plain = |c: char| !c.is_control() && !"\"\\;#".contains(c);
        if known && value.chars().all(plain) {
            kept.extend(["[", &section, "]\n\t", &key, " = ", value, "\n"]);
        }
    }
    if !kept.contains("\temail = ") {
        kept.push_str("[user]\n\tname = task\n\temail = task@localhost\n");
    }
    kept.push_str(OF_THE_GUEST);
    kept.into_bytes()
}

/// Opens a file of the copy: it must still be what was listed, or it is left out.
pub(super) fn open(copied: &Copied) -> io::Result<Option<(File, fs::Metadata)>> {
    let file = File::open(&copied.source)?;
    let metadata = file.metadata()?;
    Ok((metadata.is_file() && metadata.len() == copied.size).then_some((file, metadata)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_hold_secrets_or_start_programs_stay_here() {
        let config = "[core]\n\trepositoryformatversion = 0\n\tautocrlf = true\n\thooksPath = /h\n\tsshCommand = x\n\
            \tfsmonitor = /bin/x\n\tworktree = /home/me\n[remote \"origin\"]\n\turl = https://token@example.test/x\n\
            [http]\n\textraheader = Authorization: x\n[user]\n\tname = A \"B\"\n\temail = a@example.test\n\
            [extensions]\n\tobjectFormat = sha256\n[filter \"x\"]\n\tclean = x\n[include]\n\tpath = /x\n[alias]\n\tst = !x\n";
        let kept = String::from_utf8(settings(config.as_bytes())).unwrap();
        for word in [
            "autocrlf = true",
            "objectformat = sha256",
            "email = a@example.test",
        ] {
            assert!(kept.contains(word), "{word}: {kept}");
        }
        for word in [
            "token",
            "Authorization",
            "/h",
            "/bin/x",
            "clean",
            "/x",
            "alias",
            "worktree",
            "\"B\"",
        ] {
            assert!(!kept.contains(word), "{word}: {kept}");
        }
    }
}
