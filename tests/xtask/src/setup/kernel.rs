//! The guest kernel, which libkrunfw carries inside a library: where one is, and how to get one.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::apt;
use crate::places;

/// The library by the name its ABI has.
const FILE: &str = "libkrunfw.so.5";

/// Debian's package of it.
const PACKAGE: &str = "libkrunfw5";

/// Names the library where it is in none of the usual places; the product reads it too.
const VARIABLE: &str = "LEGWORK_LIBKRUNFW";

/// Where a distribution or `make install` puts it.
const SYSTEM_DIRS: [&str; 5] = [
    if cfg!(target_arch = "aarch64") {
        "/usr/lib/aarch64-linux-gnu"
    } else {
        "/usr/lib/x86_64-linux-gnu"
    },
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib64",
    "/usr/local/lib",
];

/// The library Legwork would load, if there is one.
pub(super) fn find() -> Option<PathBuf> {
    if let Some(named) = named() {
        return is_library(&named).then_some(named);
    }
    places::cache_dir()
        .ok()
        .map(|dir| dir.join("kernel"))
        .into_iter()
        .chain(SYSTEM_DIRS.iter().map(PathBuf::from))
        .map(|dir| dir.join(FILE))
        .find(|file| is_library(file))
}

fn named() -> Option<PathBuf> {
    std::env::var_os(VARIABLE)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// A download that was cut off or a dangling link is no library.
fn is_library(file: &Path) -> bool {
    let mut start = [0; 4];
    fs::File::open(file)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| start == *b"\x7fELF")
}

/// Fetches the library into the cache. Needs no root.
///
/// # Errors
/// When no source has it, or the cache cannot be written.
pub(super) fn provide() -> Result<()> {
    if let Some(named) = named() {
        anyhow::bail!(
            "{VARIABLE} names {}, which is no library; correct or unset it",
            named.display()
        );
    }
    anyhow::ensure!(
        apt::is_here(),
        "the guest kernel is fetched with apt-get and dpkg, which are not here"
    );
    let unpacked = tempfile::tempdir()?;
    apt::unpack(PACKAGE, unpacked.path())?;
    let library = apt::library_dirs(unpacked.path())
        .into_iter()
        .map(|dir| dir.join(FILE))
        .find(|file| is_library(file))
        .with_context(|| format!("package {PACKAGE} holds no {FILE}"))?;
    // The link's target names the version: libkrunfw.so.5.5.0.
    let version = fs::read_link(&library).unwrap_or_else(|_| FILE.into());
    let place = keep(&library, &places::cache_dir()?.join("kernel"))?;
    println!("setup: {} is {}", place.display(), version.display());
    Ok(())
}

/// Copies under another name first: a reader never sees half a library.
fn keep(library: &Path, dir: &Path) -> Result<PathBuf> {
    fs::create_dir_all(dir).with_context(|| format!("failed to make {}", dir.display()))?;
    let draft = tempfile::NamedTempFile::new_in(dir)?;
    fs::copy(library, draft.path())
        .with_context(|| format!("failed to write into {}", dir.display()))?;
    draft.as_file().sync_all()?;
    let place = dir.join(FILE);
    draft.persist(&place)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_library_is_kept_through_its_link() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("libkrunfw.so.5.5.0"), b"\x7fELF rest").unwrap();
        fs::set_permissions(
            dir.path().join("libkrunfw.so.5.5.0"),
            fs::Permissions::from_mode(0o644),
        )
        .unwrap();
        let link = dir.path().join(FILE);
        symlink("libkrunfw.so.5.5.0", &link).unwrap();
        let place = keep(&link, &dir.path().join("cache/kernel")).unwrap();
        let meta = fs::symlink_metadata(&place).unwrap();
        assert!(meta.is_file());
        assert_eq!(meta.permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read(&place).unwrap(), b"\x7fELF rest");
    }

    #[test]
    fn half_a_file_is_no_library() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        assert!(!is_library(&file));
        fs::write(&file, b"\x7fE").unwrap();
        assert!(!is_library(&file));
        fs::write(&file, b"\x7fELF").unwrap();
        assert!(is_library(&file));
    }
}
