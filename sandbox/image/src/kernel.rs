//! The guest kernel: where libkrunfw is, and its kernel as a file for QEMU.
//!
//! What is inside libkrunfw is read by `legwork-vmm kernel`, in a process of its own.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Command,
};

use crate::artifact::{self, ArtifactError};

/// Names the library, if it is not in one of the usual places.
pub const LIBRARY_VARIABLE: &str = "LEGWORK_LIBKRUNFW";

const LIBRARY: &str = "libkrunfw.so.5";
const SYSTEM: [&str; 5] = [
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

/// Why there is no guest kernel.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The library is in none of the usual places.
    #[error(
        "the guest kernel {LIBRARY} was not found: run `cargo xtask setup`, or install libkrunfw \
         (Debian: libkrunfw5), or set {LIBRARY_VARIABLE} to the file"
    )]
    Missing,
    /// The variable names a file that is not there.
    #[error(
        "{LIBRARY_VARIABLE} names {path}, which is not a file: correct or unset it",
        path = .path.display()
    )]
    Variable {
        /// What the variable says.
        path: PathBuf,
    },
    /// The program that reads the library did not start.
    #[error("failed to start {program}: run `cargo xtask build`", program = .program.display())]
    Start {
        /// `legwork-vmm`.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The library is not one that Legwork can use; the words are `legwork-vmm`'s.
    #[error("{0}")]
    Refused(String),
    /// The cache cannot be written.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

/// Finds `libkrunfw.so.5`: what [`LIBRARY_VARIABLE`] names, else `cache/kernel`, else the system's
/// library directories.
///
/// # Errors
///
/// There is none, or the variable names none.
pub fn find_library(cache: &Path) -> Result<PathBuf, KernelError> {
    let named = std::env::var_os(LIBRARY_VARIABLE).filter(|value| !value.is_empty());
    find_in(named, &cache.join("kernel"), &SYSTEM.map(Path::new))
}

fn find_in(named: Option<OsString>, own: &Path, system: &[&Path]) -> Result<PathBuf, KernelError> {
    if let Some(named) = named {
        let path = std::path::absolute(&named).unwrap_or_else(|_| PathBuf::from(&named));
        return if path.is_file() {
            Ok(path)
        } else {
            Err(KernelError::Variable { path })
        };
    }
    std::iter::once(&own)
        .chain(system)
        .map(|dir| dir.join(LIBRARY))
        .find(|path| path.is_file())
        .ok_or(KernelError::Missing)
}

/// The kernel of this library as an ELF file with a PVH entry, from `cache/kernel` or made now by
/// `vmm kernel LIBRARY OUTPUT`.
///
/// # Errors
///
/// `vmm` does not start or refuses the library, or the cache cannot be written.
pub fn kernel_elf(cache: &Path, library: &Path, vmm: &Path) -> Result<PathBuf, KernelError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"kernel 1\0");
    // Both the kernel and what wraps it may be replaced under the same name.
    artifact::identify(&mut hasher, library);
    artifact::identify(&mut hasher, vmm);
    let place = cache
        .join("kernel")
        .join(format!("{}.elf", artifact::key(&hasher)));
    if place.is_file() {
        return Ok(place);
    }

    let file = artifact::begin(&place)?;
    let output = Command::new(vmm)
        .arg("kernel")
        .arg(library)
        .arg(file.path())
        .output()
        .map_err(|source| KernelError::Start {
            program: vmm.to_owned(),
            source,
        })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let silent = || format!("{} ended with {} and no word", vmm.display(), output.status);
        return Err(KernelError::Refused(if said.is_empty() {
            silent()
        } else {
            said
        }));
    }
    // The program may have put another file under the name.
    let file = file.into_temp_path();
    let written = std::fs::File::options().read(true).write(true).open(&file);
    let written = written.map_err(|source| ArtifactError::new("read", &file, source))?;
    artifact::publish_once(tempfile::NamedTempFile::from_parts(written, file), &place)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn the_library_is_found_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let [own, first, second] = ["own", "first", "second"].map(|name| dir.path().join(name));
        let system = [first.as_path(), second.as_path()];
        let find = |named: Option<&Path>| find_in(named.map(Into::into), &own, &system);
        assert!(
            find(None)
                .unwrap_err()
                .to_string()
                .contains("cargo xtask setup")
        );
        for place in [&second, &first, &own] {
            fs::create_dir(place).unwrap();
            fs::write(place.join(LIBRARY), b"").unwrap();
            assert_eq!(find(None).unwrap(), place.join(LIBRARY));
        }
        let named = dir.path().join("named.so");
        let missing = find(Some(&named)).unwrap_err();
        assert!(missing.to_string().contains(LIBRARY_VARIABLE), "{missing}");
        fs::write(&named, b"").unwrap();
        assert_eq!(find(Some(&named)).unwrap(), named);
    }

    /// A program that stands in for `legwork-vmm`.
    fn vmm(dir: &Path, script: &str) -> PathBuf {
        let path = dir.join("vmm");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_kernel_is_made_once_for_each_library() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("library");
        fs::write(&library, b"kernel").unwrap();
        let script = "test $# = 3 && test $1 = kernel && rm -f $3 && cp $2 $3 && echo x >> $0.log";
        let vmm = vmm(dir.path(), script);
        let kernel = kernel_elf(dir.path(), &library, &vmm).unwrap();
        assert_eq!(fs::read(&kernel).unwrap(), b"kernel");
        assert_eq!(kernel_elf(dir.path(), &library, &vmm).unwrap(), kernel);
        assert_eq!(fs::read(dir.path().join("vmm.log")).unwrap(), b"x\n");

        fs::write(&library, b"a newer kernel").unwrap();
        let newer = kernel_elf(dir.path(), &library, &vmm).unwrap();
        assert_ne!(newer, kernel);
        assert_eq!(fs::read(newer).unwrap(), b"a newer kernel");
    }

    #[test]
    fn a_refused_library_leaves_nothing_and_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let library = dir.path().join("library");
        fs::write(&library, b"kernel").unwrap();
        let program = vmm(
            dir.path(),
            "echo half > $3; echo 'version 4: install 5' >&2; exit 1",
        );
        let refused = kernel_elf(dir.path(), &library, &program).unwrap_err();
        assert_eq!(refused.to_string(), "version 4: install 5");
        let program = vmm(dir.path(), "kill -9 $$");
        let killed = kernel_elf(dir.path(), &library, &program).unwrap_err();
        assert!(killed.to_string().contains("signal: 9"), "{killed}");
        assert_eq!(fs::read_dir(dir.path().join("kernel")).unwrap().count(), 0);
        let missing = kernel_elf(dir.path(), &library, &dir.path().join("none")).unwrap_err();
        assert!(
            missing.to_string().contains("cargo xtask build"),
            "{missing}"
        );
    }
}
