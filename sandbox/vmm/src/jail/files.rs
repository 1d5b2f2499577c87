//! The wall of files: Landlock. What is not listed here cannot be opened, made, removed, renamed or executed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};

/// The newest version whose rights are known here. Where the kernel has an older one, what that cannot hold back is held
/// back by the wall of system calls.
const NEWEST: ABI = ABI::V10;

/// What may be done with a path and all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Reading.
    Read,
    /// Reading and executing, of a file.
    Execute,
    /// Reading and writing in place, of a file.
    Write,
    /// Reading, writing and control, of a device.
    Control,
}

impl Use {
    fn access(self, is_dir: bool) -> BitFlags<AccessFs> {
        match self {
            Self::Read if is_dir => AccessFs::ReadFile | AccessFs::ReadDir,
            Self::Read => AccessFs::ReadFile.into(),
            Self::Execute => AccessFs::ReadFile | AccessFs::Execute,
            Self::Write => AccessFs::ReadFile | AccessFs::WriteFile,
            Self::Control => AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev,
        }
    }
}

/// What stays open to the process, and how.
pub(crate) type Opened = Vec<(PathBuf, Use)>;

/// Shuts everything but `opened`, and says what the wall is made of.
pub(crate) fn shut(opened: &Opened) -> Result<String> {
    let mut rules = Vec::with_capacity(opened.len());
    for (path, what) in opened {
        let file = PathFd::new(path).with_context(|| format!("cannot open {}", path.display()))?;
        let is_dir = std::fs::metadata(path)
            .with_context(|| format!("cannot look at {}", path.display()))?
            .is_dir();
        rules.push(Ok::<_, landlock::RulesetError>(PathBeneath::new(
            file,
            what.access(is_dir),
        )));
    }
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .and_then(|ruleset| ruleset.add_rules(rules))
        .and_then(landlock::RulesetCreated::restrict_self)
        .context("Landlock refuses its rules; the kernel's own words follow")?;
    match status.landlock {
        LandlockStatus::NotImplemented => bail!(
            "this kernel has no Landlock, or something forbids its use: it comes with Linux 5.13 and later, built with CONFIG_SECURITY_LANDLOCK; in a container, its seccomp profile must allow it"
        ),
        LandlockStatus::NotEnabled => bail!(
            "Landlock is switched off in this kernel: add `landlock` to `lsm=` on the kernel's command line"
        ),
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } if status.ruleset != RulesetStatus::NotEnforced => {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            Ok(format!(
                "Landlock, ABI {version}{}",
                held_elsewhere(effective_abi)
            ))
        }
        LandlockStatus::Available { .. } => bail!("Landlock is there and enforces nothing"),
    }
}

/// What an older Landlock does not hold back and the filter of system calls does.
fn held_elsewhere(abi: ABI) -> &'static str {
    match abi {
        ABI::Unsupported => "",
        ABI::V1 | ABI::V2 => {
            " (an older one: truncation, TCP, abstract sockets and signals are held back by seccomp)"
        }
        ABI::V3 => " (an older one: TCP, abstract sockets and signals are held back by seccomp)",
        ABI::V4 | ABI::V5 => {
            " (an older one: abstract sockets and signals are held back by seccomp)"
        }
        _ => "",
    }
}

/// Tries the wall: a folder that is there for everybody, and this machine's own configuration, must not open any more.
pub(crate) fn try_wall(canary: Option<&Path>) -> Result<()> {
    for path in [Some(Path::new("/")), canary].into_iter().flatten() {
        match File::open(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            Ok(_) => bail!("{} still opens", path.display()),
            Err(error) => {
                return Err(anyhow!(error))
                    .with_context(|| format!("trying to open {}", path.display()));
            }
        }
    }
    Ok(())
}

/// What a program needs to be started and to find its parts: itself, its loader, libraries, and its data.
///
/// The libraries are those that every guest can read anyway: it sees this machine's `/usr`.
pub(crate) fn program(program: &Path) -> Result<Opened> {
    let real = program
        .canonicalize()
        .with_context(|| format!("cannot find {}", program.display()))?;
    let mut opened = vec![(real.clone(), Use::Execute)];
    if let Some(loader) =
        loader(&real).with_context(|| format!("cannot read {}", program.display()))?
    {
        opened.push((loader, Use::Execute));
    }
    let mut readable: Vec<PathBuf> = [
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/lib",
        "/lib64",
        "/usr/local/lib",
        "/usr/share/qemu",
        "/usr/share/seabios",
        "/usr/share/qboot",
        "/etc/ld.so.cache",
        "/dev/urandom",
        "/dev/null",
    ]
    .map(PathBuf::from)
    .to_vec();
    for program in [program, &real] {
        // Installed below a prefix of its own.
        if let Some(prefix) = program.parent().and_then(Path::parent)
            && prefix != Path::new("/")
        {
            readable.extend(["lib", "lib64", "share/qemu"].map(|dir| prefix.join(dir)));
        }
    }
    if real.starts_with("/nix/store") {
        readable.push("/nix/store".into());
    }
    readable.retain(|path| path.exists());
    readable.dedup();
    opened.extend(readable.into_iter().map(|path| (path, Use::Read)));
    Ok(opened)
}

/// `PT_INTERP` of a 64-bit little-endian ELF file: the loader that the kernel executes with it.
fn loader(program: &Path) -> io::Result<Option<PathBuf>> {
    let mut file = File::open(program)?;
    let mut header = [0; 64];
    file.read_exact(&mut header)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "it is not a 64-bit program of this machine, and a script cannot be jailed",
        ));
    }
    let table = u64_at(&header, 32);
    let count = u64::from(u16::from_le_bytes([header[56], header[57]]));
    for index in 0..count {
        let mut entry = [0; 56];
        file.seek(SeekFrom::Start(table.saturating_add(index * 56)))?;
        file.read_exact(&mut entry)?;
        if entry[..4] != 3_u32.to_le_bytes() {
            continue;
        }
        let mut name = Vec::new();
        file.seek(SeekFrom::Start(u64_at(&entry, 8)))?;
        file.take(u64_at(&entry, 32).min(4096))
            .read_to_end(&mut name)?;
        while name.last() == Some(&0) {
            name.pop();
        }
        return Path::new(OsStr::from_bytes(&name)).canonicalize().map(Some);
    }
    Ok(None)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_opened_with_its_loader_and_nothing_of_a_home() {
        let opened = program(Path::new("/bin/sh")).unwrap();
        let executed: Vec<_> = opened
            .iter()
            .filter(|(_, what)| *what == Use::Execute)
            .collect();
        assert_eq!(executed.len(), 2, "{executed:?}");
        assert!(
            executed[1].0.to_str().unwrap().contains("ld-"),
            "{executed:?}"
        );
        for (path, what) in &opened {
            assert!(
                !["/", "/home", "/root", "/etc", "/tmp", "/usr"]
                    .map(Path::new)
                    .contains(&&**path)
            );
            assert!(*what == Use::Read || *what == Use::Execute);
        }
    }

    #[test]
    fn a_script_is_refused_as_a_machine() {
        let dir = std::env::temp_dir().join(format!("legwork-script-{}", std::process::id()));
        std::fs::write(&dir, format!("#!/bin/sh\n{}", " ".repeat(80))).unwrap();
        let error = program(&dir).unwrap_err();
        std::fs::remove_file(&dir).unwrap();
        assert!(
            format!("{error:#}").contains("a script cannot be jailed"),
            "{error:#}"
        );
    }

    #[test]
    fn an_older_landlock_says_what_holds_the_rest() {
        assert!(held_elsewhere(ABI::V2).contains("truncation"));
        assert!(!held_elsewhere(ABI::V3).contains("truncation"));
        assert_eq!(held_elsewhere(ABI::V6), "");
    }
}
