//! The first disk: the guest agent as `/init` and the directories it mounts things at.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use legwork_erofs::{Builder, Meta, WriteError};

use crate::artifact::{self, ArtifactError};

/// Raised when the layout of the image changes.
const LAYOUT: &[u8] = b"boot 1\0";
/// What the agent finds in the image, empty.
const MOUNT_POINTS: [&str; 9] = [
    "proc", "sys", "dev", "run", "tmp", "lower", "scratch", "ws", "newroot",
];

/// Why there is no boot image.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The agent's file cannot be read.
    #[error("failed to read the guest agent {path}: run `cargo xtask build`", path = .path.display())]
    Read {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The agent could not start as the first process of a machine that has no libraries.
    #[error(
        "the guest agent {path} {why}: run `cargo xtask build`, which builds it static for this machine",
        path = .path.display()
    )]
    Agent {
        /// The file that was refused.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The cache cannot be written.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The image cannot be written.
    #[error(transparent)]
    Image(#[from] WriteError),
}

/// The boot image for this agent, from `cache/boot` or made now.
///
/// # Errors
///
/// The agent is missing or is not a static program for this processor, or the cache cannot be
/// written.
pub fn boot_image(cache: &Path, agent: &Path) -> Result<PathBuf, BootError> {
    let program = fs::read(agent).map_err(|source| BootError::Read {
        path: agent.to_owned(),
        source,
    })?;
    check_static(&program).map_err(|why| BootError::Agent {
        path: agent.to_owned(),
        why,
    })?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(LAYOUT).update(&program);
    let place = cache
        .join("boot")
        .join(format!("{}.erofs", artifact::key(&hasher)));
    if place.is_file() {
        return Ok(place);
    }

    let file = artifact::begin(&place)?;
    let mut builder = Builder::new(file.as_file())?;
    for dir in MOUNT_POINTS {
        builder.add_dir(dir.as_bytes(), Meta::dir())?;
    }
    let executable = Meta {
        mode: 0o755,
        ..Meta::file()
    };
    builder.add_file(b"init", executable, program.len() as u64, &mut &program[..])?;
    builder.finish()?;
    artifact::publish_once(file, &place)?;
    Ok(place)
}

/// Says why these bytes are not a static 64-bit program for the host's processor.
fn check_static(program: &[u8]) -> Result<(), &'static str> {
    const MACHINE: u16 = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    const EXECUTABLE: u16 = 2;
    const POSITION_INDEPENDENT: u16 = 3;
    const INTERPRETER: u32 = 3;
    const CUT_OFF: &str = "is cut off";

    if !program.starts_with(b"\x7fELF") {
        return Err("is not an ELF program");
    }
    // 64 bits, little endian.
    if program.get(4..6) != Some(&[2, 1]) || u16_at(program, 18) != Some(MACHINE) {
        return Err("is for another kind of processor");
    }
    if !matches!(u16_at(program, 16), Some(EXECUTABLE | POSITION_INDEPENDENT)) {
        return Err("is not a program but an object file");
    }
    let table = u64_at(program, 32)
        .and_then(|at| usize::try_from(at).ok())
        .ok_or(CUT_OFF)?;
    let size = usize::from(u16_at(program, 54).ok_or(CUT_OFF)?);
    let count = usize::from(u16_at(program, 56).ok_or(CUT_OFF)?);
    for index in 0..count {
        let at = table.checked_add(index * size).ok_or(CUT_OFF)?;
        if u32_at(program, at).ok_or(CUT_OFF)? == INTERPRETER {
            return Err("needs a dynamic loader, and the machine it starts in has none");
        }
    }
    if count == 0 {
        Err("has nothing to load")
    } else {
        Ok(())
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(
        bytes.get(at..at.checked_add(2)?)?.try_into().ok()?,
    ))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(
        bytes.get(at..at.checked_add(4)?)?.try_into().ok()?,
    ))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(
        bytes.get(at..at.checked_add(8)?)?.try_into().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use legwork_erofs::{Image, Kind};

    use super::*;

    /// The smallest file that passes for a program with these program headers.
    fn elf(headers: &[u32]) -> Vec<u8> {
        let mut out = vec![0; 64 + headers.len() * 56];
        out[..6].copy_from_slice(b"\x7fELF\x02\x01");
        out[16] = 3;
        out[18] = if cfg!(target_arch = "aarch64") {
            183
        } else {
            62
        };
        out[32] = 64;
        out[54] = 56;
        out[56] = u8::try_from(headers.len()).unwrap();
        for (index, header) in headers.iter().enumerate() {
            out[64 + index * 56..][..4].copy_from_slice(&header.to_le_bytes());
        }
        out
    }

    #[test]
    fn the_image_holds_the_agent_and_is_made_once() {
        let dir = tempfile::tempdir().unwrap();
        let agent = dir.path().join("agent");
        fs::write(&agent, elf(&[1, 1])).unwrap();
        let image = boot_image(dir.path(), &agent).unwrap();
        let mut read = Image::open(File::open(&image).unwrap()).unwrap();
        let tree = read.read_tree().unwrap();
        let init = &tree[&b"init"[..]];
        assert_eq!(init.meta.mode, 0o755);
        assert_eq!(read.read_file(init).unwrap(), elf(&[1, 1]));
        for dir in MOUNT_POINTS {
            assert_eq!(tree[dir.as_bytes()].kind, Kind::Dir);
        }
        assert_eq!(tree.len(), MOUNT_POINTS.len() + 2);

        let made = fs::metadata(&image).unwrap().modified().unwrap();
        assert_eq!(boot_image(dir.path(), &agent).unwrap(), image);
        assert_eq!(fs::metadata(&image).unwrap().modified().unwrap(), made);
        fs::write(&agent, elf(&[1])).unwrap();
        assert_ne!(boot_image(dir.path(), &agent).unwrap(), image);
        assert_eq!(fs::read_dir(dir.path().join("boot")).unwrap().count(), 2);
    }

    #[test]
    fn an_agent_that_cannot_be_the_first_process_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let agent = dir.path().join("agent");
        let other = {
            let mut other = elf(&[1]);
            other[18] = 8;
            other
        };
        let cut = elf(&[1, 1])[..100].to_vec();
        let bad = [
            elf(&[1, 3]),
            elf(&[]),
            other,
            cut,
            b"#!/bin/sh\n".to_vec(),
            vec![],
        ];
        for program in bad {
            fs::write(&agent, &program).unwrap();
            let refused = boot_image(dir.path(), &agent).unwrap_err();
            assert!(
                refused.to_string().contains("cargo xtask build"),
                "{refused}"
            );
        }
        let missing = boot_image(dir.path(), &dir.path().join("none")).unwrap_err();
        assert!(
            missing.to_string().contains("cargo xtask build"),
            "{missing}"
        );
        assert!(!dir.path().join("boot").exists());
    }

    #[test]
    fn a_program_of_this_machine_is_told_apart() {
        // The shell of any distribution with shared libraries names a loader.
        let shell = fs::read("/bin/sh").unwrap();
        assert!(check_static(&shell).unwrap_err().contains("loader"));
    }
}
