//! The last disk: empty, writable, as large as the machine may write.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use legwork_spec::ByteSize;

/// Why there is no scratch disk. The file is gone then.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// The program that makes the file system is missing.
    #[error("mke2fs was not found: install the package e2fsprogs")]
    Missing,
    /// The file cannot be made.
    #[error("failed to make the scratch disk {path}: check its directory and the free space", path = .path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `mke2fs` did not do it.
    #[error("mke2fs could not format the scratch disk of {size}: {said}")]
    Format {
        /// The size that was asked for.
        size: ByteSize,
        /// Its last words.
        said: String,
    },
}

/// Makes a new sparse file with an empty ext4 file system, readable by this user only. It takes no
/// space but what is written to it.
///
/// # Errors
///
/// The file exists or cannot be made, or `mke2fs` is missing or refuses.
pub fn scratch_disk(path: &Path, size: ByteSize) -> Result<(), ScratchError> {
    let program = find_mke2fs().ok_or(ScratchError::Missing)?;
    let failed = |source| ScratchError::Create {
        path: path.to_owned(),
        source,
    };
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let file = file.map_err(failed)?;
    let made = file.set_len(size.as_bytes()).map_err(failed);
    let made = made.and_then(|()| format(&program, path, size));
    if made.is_err() {
        // The reason for the failure says more than that of a failing removal.
        drop(fs::remove_file(path));
    }
    made
}

fn format(program: &Path, path: &Path, size: ByteSize) -> Result<(), ScratchError> {
    // A new sparse file reads as zeros: nothing need be zeroed, neither now nor by the guest.
    let known_zero = "lazy_itable_init=1,nodiscard,root_owner=0:0,assume_storage_prezeroed=1";
    // Older releases do not know that option.
    let lazy = "lazy_itable_init=1,nodiscard,root_owner=0:0";
    let mut said = String::new();
    for extended in [known_zero, lazy] {
        let output = mke2fs(program, path, extended).map_err(|source| ScratchError::Create {
            path: path.to_owned(),
            source,
        })?;
        if output.status.success() {
            return Ok(());
        }
        said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if !said.contains("xtended option") {
            break;
        }
    }
    Err(ScratchError::Format { size, said })
}

/// The disk is thrown away after one use: no journal, no checksums, no reserve for an
/// administrator, no room to grow; an inode for every 8 KiB.
fn mke2fs(program: &Path, path: &Path, extended: &str) -> io::Result<Output> {
    Command::new(program)
        .args([
            "-q", "-F", "-t", "ext4", "-b", "4096", "-i", "8192", "-I", "256", "-m", "0",
        ])
        .args(["-O", "^has_journal,^metadata_csum,^resize_inode,uninit_bg"])
        .args(["-E", extended])
        .arg(path)
        .env("LC_ALL", "C")
        .output()
}

fn find_mke2fs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Users' search paths often leave the administrator's directories out.
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from))
        .map(|dir| dir.join("mke2fs"))
        .find(|program| program.is_absolute() && File::open(program).is_ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, MetadataExt};

    use super::*;

    #[test]
    fn the_disk_is_sparse_private_and_ext4_without_a_journal() {
        let dir = tempfile::tempdir().unwrap();
        for mib in [64, 8192] {
            let path = dir.path().join(mib.to_string());
            scratch_disk(&path, ByteSize::mib(mib)).unwrap();
            let found = path.metadata().unwrap();
            assert_eq!(found.len(), mib << 20);
            assert_eq!(found.mode() & 0o777, 0o600);
            assert!(
                found.blocks() * 512 < 8 << 20,
                "{} blocks are taken",
                found.blocks()
            );

            let mut superblock = [0; 1024];
            File::open(&path)
                .unwrap()
                .read_exact_at(&mut superblock, 1024)
                .unwrap();
            let word = |at: usize| u32::from_le_bytes(superblock[at..at + 4].try_into().unwrap());
            assert_eq!(superblock[56..58], [0x53, 0xef], "the magic number of ext4");
            assert_eq!(word(0x5c) & 4, 0, "a journal");
            assert_ne!(word(0x60) & 0x40, 0, "extents");
            assert!(
                u64::from(word(0)) >= (mib << 20) / 8192 - 64,
                "{} inodes",
                word(0)
            );
            assert_eq!(word(8), 0, "reserved blocks");
        }
    }

    #[test]
    fn a_refused_disk_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("disk");
        let tiny = scratch_disk(&path, ByteSize::bytes(10)).unwrap_err();
        assert!(matches!(tiny, ScratchError::Format { .. }), "{tiny}");
        assert!(!path.exists());

        fs::write(&path, b"precious").unwrap();
        assert!(matches!(
            scratch_disk(&path, ByteSize::mib(64)),
            Err(ScratchError::Create { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), b"precious");
    }
}
