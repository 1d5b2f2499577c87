//! `cargo xtask build`: the host programs, and the guest agent as one static file beside them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::places;
use crate::step::{self, step};

/// What to build.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Args {
    /// Build the host programs with optimisation.
    #[arg(long)]
    pub(crate) release: bool,
}

/// Where the programs are.
#[derive(Debug)]
pub(crate) struct Product {
    /// Holds `legwork`, `legwork-vmm` and `guest/legwork-guest`.
    pub(crate) dir: PathBuf,
}

impl Product {
    /// The command line program.
    pub(crate) fn legwork(&self) -> PathBuf {
        self.dir.join("legwork")
    }
}

pub(crate) fn main(args: &Args) -> Result<()> {
    let mut dir = PathBuf::new();
    step("build", || {
        dir = build(args)?.dir;
        Ok(())
    })?;
    for name in ["legwork", "legwork-vmm", "guest/legwork-guest"] {
        println!("{}", dir.join(name).display());
    }
    Ok(())
}

/// Builds everything that a task needs.
///
/// # Errors
/// When cargo fails, or the guest agent did not become a static program.
pub(crate) fn build(args: &Args) -> Result<Product> {
    let target = places::target_dir()?;
    let profile = if args.release { "release" } else { "debug" };
    let mut host = places::cargo();
    host.args(["build", "--package=legwork-cli", "--package=legwork-vmm"]);
    if args.release {
        host.arg("--release");
    }
    step::run(&mut host)?;
    let product = Product {
        dir: target.join(profile),
    };
    let guest = build_guest(&target)?;
    place(&guest, &product.dir.join("guest/legwork-guest"))?;
    Ok(product)
}

/// The guest agent is built apart: its flags would make cargo build everything else anew.
fn build_guest(target: &Path) -> Result<PathBuf> {
    let triple = host_triple()?;
    let dir = target.join("guest-build");
    step::run(
        places::cargo()
            .args([
                "build",
                "--package=legwork-guest",
                "--profile=guest",
                "--target",
                &triple,
            ])
            .arg("--target-dir")
            .arg(&dir)
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env("RUSTFLAGS", "-C target-feature=+crt-static"),
    )?;
    let file = dir.join(&triple).join("guest/legwork-guest");
    let bytes =
        fs::read(&file).with_context(|| format!("cargo did not make {}", file.display()))?;
    match interpreter(&bytes) {
        Some(false) => Ok(file),
        Some(true) => bail!(
            "{} is linked dynamically and cannot be PID 1 of a virtual machine; \
             check that no RUSTFLAGS in ~/.cargo/config.toml turn crt-static off",
            file.display()
        ),
        None => bail!("{} is no 64-bit ELF program", file.display()),
    }
}

fn host_triple() -> Result<String> {
    let output = std::process::Command::new("rustc")
        .arg("-vV")
        .output()
        .context("failed to start rustc; install Rust from https://rustup.rs")?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("rustc -vV names no host")
}

/// Copies only what differs, so that nothing made from the agent looks stale.
fn place(from: &Path, to: &Path) -> Result<()> {
    let new = fs::read(from)?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    let dir = to.parent().context("the agent's place has no directory")?;
    fs::create_dir_all(dir)?;
    // A running virtual machine may have the old file open: replace it, never write into it.
    let draft = dir.join(".legwork-guest.new");
    fs::copy(from, &draft)?;
    fs::rename(&draft, to).with_context(|| format!("failed to write {}", to.display()))
}

/// Whether an ELF program asks for a dynamic linker (has a PT_INTERP segment); `None` when the
/// bytes are not a little-endian 64-bit ELF file.
pub(crate) fn interpreter(elf: &[u8]) -> Option<bool> {
    const PT_INTERP: u32 = 3;
    let u16_at = |at: usize| Some(u16::from_le_bytes(elf.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |at: usize| {
        let bytes = elf.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(u64::from_le_bytes(elf.get(32..40)?.try_into().ok()?)).ok()?;
    let entry = usize::from(u16_at(54)?);
    for index in 0..usize::from(u16_at(56)?) {
        if u32_at(table.checked_add(index.checked_mul(entry)?)?)? == PT_INTERP {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(segments: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + segments.len() * 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = u8::try_from(segments.len()).unwrap();
        for (index, kind) in segments.iter().enumerate() {
            let at = 64 + index * 56;
            bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn interpreter_is_found() {
        assert_eq!(interpreter(&elf(&[6, 3, 1])), Some(true));
        assert_eq!(interpreter(&elf(&[6, 1, 2])), Some(false));
    }

    #[test]
    fn what_is_no_program_is_not_called_static() {
        assert_eq!(interpreter(b"#!/bin/sh\n"), None);
        let mut cut = elf(&[6, 3]);
        cut.truncate(100);
        assert_eq!(interpreter(&cut), None);
    }

    #[test]
    fn this_test_is_a_dynamic_program() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(
            interpreter(&own),
            Some(cfg!(not(target_feature = "crt-static")))
        );
    }

    #[test]
    fn a_file_is_placed_once() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("a"), dir.path().join("guest/b"));
        fs::write(&from, "one").unwrap();
        place(&from, &to).unwrap();
        let first = fs::metadata(&to).unwrap().modified().unwrap();
        place(&from, &to).unwrap();
        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), first);
        fs::write(&from, "two").unwrap();
        place(&from, &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"two");
    }
}
