//! Real editors for the tests: one directory per Debian release that holds Neovim, Helix and, once,
//! Emacs, with all that they need of that release. `tests/kit/room.rs` runs programs in them.
//!
//! The packages are unpacked and nothing of them is run: no root is needed, and no script of theirs
//! touches this machine. What is there is kept; a room that is not whole is made anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, ensure};

use super::apt;
use crate::places;

/// Raise it when a room is made in another way, so that old ones are made anew.
const RECIPE: &str = "1";

/// Holds the recipe and the packages asked for; written last, so a room without it is not whole.
const STAMP: &str = ".legwork-room";

/// What every room has beside its editors: a shell and what scripts take for granted.
const BASE: [&str; 5] = [
    "base-files",
    "dash",
    "coreutils",
    "libc-bin",
    "ncurses-base",
];

/// Parts of packages that no editor reads, a third of all bytes.
const UNREAD: [&str; 7] = [
    "usr/include",
    "usr/lib/gcc",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
];

/// An editor, as its package and its program are called.
const NEOVIM: (&str, &str) = ("neovim", "nvim");
const HELIX: (&str, &str) = ("hx", "hx");
const EMACS: (&str, &str) = ("emacs-nox", "emacs-nox");

const NO_MIRROR: &str =
    "the tests' editors are Debian's, and apt's sources name no mirror of Debian; add one";

/// A release of Debian, for the versions of the editors it has.
#[derive(Debug, Clone, Copy)]
struct Room {
    suite: &'static str,
    editors: &'static [(&'static str, &'static str)],
}

const ROOMS: [Room; 2] = [
    // Neovim 0.10, Helix 25.01.
    Room {
        suite: "trixie",
        editors: &[NEOVIM, HELIX],
    },
    // Neovim 0.12, Helix 25.07, Emacs 30.
    Room {
        suite: "sid",
        editors: &[NEOVIM, HELIX, EMACS],
    },
];

/// Whether every room is whole and its editors start.
pub(super) fn are_here() -> bool {
    place().is_ok_and(|place| ROOMS.iter().all(|room| room.is_whole(&place)))
}

/// Makes the rooms that are not whole. Needs no root.
///
/// # Errors
/// When no mirror has a room's packages, or an editor does not start.
pub(super) fn provide() -> Result<()> {
    ensure!(
        apt::is_here(),
        "the tests' editors are fetched with apt-get and dpkg, which are not here"
    );
    let place = place()?;
    fs::create_dir_all(&place).with_context(|| format!("failed to make {}", place.display()))?;
    let (keyring, mirrors) = (apt::keyring()?, apt::mirrors());
    thread::scope(|scope| {
        let making: Vec<_> = ROOMS
            .iter()
            .filter(|room| !room.is_whole(&place))
            .map(|room| scope.spawn(|| room.make(&place, &keyring, &mirrors)))
            .collect();
        // Every room is waited for: a half of one must not be written to after this returns.
        let outcomes: Vec<_> = making
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        outcomes
            .into_iter()
            .try_for_each(|outcome| outcome.unwrap_or_else(|_| Err(anyhow!("a thread panicked"))))
    })
}

fn place() -> Result<PathBuf> {
    Ok(places::cache_dir()?.join("editors"))
}

impl Room {
    fn packages(self) -> Vec<&'static str> {
        BASE.into_iter()
            .chain(self.editors.iter().map(|(package, _)| *package))
            .collect()
    }

    fn stamp(self) -> String {
        format!("{RECIPE} {}\n", self.packages().join(" "))
    }

    fn is_whole(self, place: &Path) -> bool {
        let root = place.join(self.suite);
        fs::read_to_string(root.join(STAMP)).is_ok_and(|stamp| stamp == self.stamp())
            && self
                .editors
                .iter()
                .all(|(_, program)| starts(&root, program).is_ok())
    }

    /// Tries the mirrors in turn.
    fn make(self, place: &Path, keyring: &Path, mirrors: &[String]) -> Result<()> {
        let mut failure = None;
        for mirror in mirrors {
            apt::say(&format!(
                "unpacking editors from Debian {} at {mirror}; nothing of it is installed",
                self.suite
            ));
            match self.make_from(place, keyring, mirror) {
                Ok(()) => return Ok(()),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.context(NO_MIRROR)?)
    }

    fn make_from(self, place: &Path, keyring: &Path, mirror: &str) -> Result<()> {
        let area = tempfile::tempdir()?;
        let mut options = apt::apart(self.suite, mirror, keyring, area.path())?;
        // As if nothing were installed: the room has to have everything that its editors need.
        let state = area.path().join("dpkg");
        fs::create_dir(&state)?;
        fs::write(state.join("status"), "")?;
        options.push(format!(
            "Dir::State::status={}",
            state.join("status").display()
        ));
        // A copy of sid that is kept for reproducible builds is old by intention; it is signed all the same.
        options.push("Acquire::Check-Valid-Until=false".to_owned());
        apt::quiet(apt::apt_with(&options).arg("update"))?;
        apt::quiet(
            apt::apt_with(&options)
                .args([
                    "install",
                    "--yes",
                    "--download-only",
                    "--no-install-recommends",
                ])
                .args(self.packages()),
        )?;

        let draft = tempfile::Builder::new()
            .prefix("draft-")
            .tempdir_in(place)?;
        for file in ordered(&area.path().join("cache/archives"))? {
            apt::extract(&file, draft.path())?;
        }
        for part in UNREAD {
            let part = draft.path().join(part);
            if part.exists() {
                fs::remove_dir_all(&part)?;
            }
        }
        for (_, program) in self.editors {
            starts(draft.path(), program)?;
        }
        fs::write(draft.path().join(STAMP), self.stamp())?;
        let root = place.join(self.suite);
        if root.exists() {
            fs::remove_dir_all(&root)
                .with_context(|| format!("failed to remove {}", root.display()))?;
        }
        fs::rename(draft.keep(), &root)?;
        apt::say(&format!("{} has {}", root.display(), self.stamp().trim()));
        Ok(())
    }
}

/// The packages' files, base-files first: it makes the links `/bin` and `/lib`, which other packages
/// may still unpack through.
fn ordered(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|end| end == "deb"))
        .collect();
    files.sort_by_key(|file| {
        let name = file.file_name().unwrap_or_default().to_owned();
        (!name.to_string_lossy().starts_with("base-files_"), name)
    });
    Ok(files)
}

/// The rooms' directories, that with the oldest editors first.
///
/// # Errors
/// When there is no cache directory.
pub(crate) fn rooms() -> Result<[PathBuf; ROOMS.len()]> {
    let place = place()?;
    Ok(ROOMS.map(|room| place.join(room.suite)))
}

/// A program of the room, started through the room's own dynamic linker, which finds every library
/// that is missing and needs no root.
pub(crate) fn program(root: &Path, program: &str) -> Command {
    let (linker, libraries) = if cfg!(target_arch = "aarch64") {
        ("usr/lib/ld-linux-aarch64.so.1", "usr/lib/aarch64-linux-gnu")
    } else {
        ("usr/lib64/ld-linux-x86-64.so.2", "usr/lib/x86_64-linux-gnu")
    };
    let mut command = Command::new(root.join(linker));
    command
        .arg("--library-path")
        .arg(root.join(libraries))
        .arg(root.join("usr/bin").join(program));
    command
}

/// Asks a program of the room for its version.
fn starts(root: &Path, name: &str) -> Result<()> {
    let output = program(root, name)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("the room {} has no dynamic linker", root.display()))?;
    ensure!(
        output.status.success(),
        "{name} in the room {} does not start: {}",
        root.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_without_its_stamp_or_its_editors_is_not_whole() {
        let place = tempfile::tempdir().unwrap();
        let room = ROOMS[0];
        assert!(!room.is_whole(place.path()));
        fs::create_dir_all(place.path().join("trixie")).unwrap();
        fs::write(place.path().join("trixie").join(STAMP), room.stamp()).unwrap();
        assert!(!room.is_whole(place.path()));
    }

    #[test]
    fn base_files_come_first() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["acl_1_amd64.deb", "base-files_1_amd64.deb", "lock"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names: Vec<_> = ordered(dir.path()).unwrap();
        assert_eq!(names.len(), 2);
        assert!(names[0].ends_with("base-files_1_amd64.deb"), "{names:?}");
    }
}
