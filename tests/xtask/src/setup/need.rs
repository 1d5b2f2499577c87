//! The list of what Legwork and its tests need from the machine, and how to see that it is there.
//! Seeing takes files and two quick programs, never a package manager.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use super::Purpose;
use super::apt;
use super::code_server;
use super::editors;
use super::kernel;
use crate::places;
use crate::product;
use crate::step;

/// One thing the machine must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Qemu,
    Mke2fs,
    StaticLibc,
    GuestKernel,
    Busybox,
    Cpio,
    MkfsErofs,
    Git,
    Xz,
    Tmux,
    Strace,
    Editors,
    PackageLists,
    Rustfmt,
    Clippy,
    Npm,
    Chromium,
    Headers,
    CodeServer,
}

/// The QEMU program for this machine's own architecture.
pub(super) const QEMU: &str = if cfg!(target_arch = "aarch64") {
    "qemu-system-aarch64"
} else {
    "qemu-system-x86_64"
};

impl Need {
    /// All needs of a purpose.
    pub(super) fn of(purpose: Purpose) -> &'static [Self] {
        const RUN: usize = 4;
        const WITHOUT_VS_CODE: usize = 15;
        const ALL: [Need; 19] = [
            Need::Qemu,
            Need::Mke2fs,
            Need::StaticLibc,
            Need::GuestKernel,
            Need::Busybox,
            Need::Cpio,
            Need::MkfsErofs,
            Need::Git,
            Need::Xz,
            Need::Tmux,
            Need::Strace,
            Need::Editors,
            Need::PackageLists,
            Need::Rustfmt,
            Need::Clippy,
            Need::Npm,
            Need::Chromium,
            Need::Headers,
            Need::CodeServer,
        ];
        match purpose {
            Purpose::Run => &ALL[..RUN],
            Purpose::TestWithoutVsCode => &ALL[..WITHOUT_VS_CODE],
            Purpose::Test => &ALL,
        }
    }

    /// What it is and what it is for.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Qemu => return format!("{QEMU} (runs the virtual machine where KVM cannot)"),
            Self::Mke2fs => "mke2fs (makes a task's scratch disk)",
            Self::StaticLibc => "a C compiler with a static libc (for the guest agent)",
            Self::GuestKernel => "libkrunfw.so.5 (the guest kernel)",
            Self::Busybox => "a static busybox (tests)",
            Self::Cpio => "cpio (tests)",
            Self::MkfsErofs => "mkfs.erofs (tests)",
            Self::Git => "git (tests)",
            Self::Xz => "xz (tests: unpacks kernel modules)",
            Self::Tmux => "tmux (tests: drives editors)",
            Self::Strace => "strace (tests: kills the daemon at a chosen system call)",
            Self::Editors => "rooms with Neovim, Helix and Emacs of two releases (tests)",
            Self::PackageLists => "apt's lists of packages (tests: fetch a kernel to emulate KVM)",
            Self::Rustfmt => "rustfmt (tests)",
            Self::Clippy => "clippy (tests)",
            Self::Npm => "npm (tests: checks the VS Code extension)",
            Self::Chromium => "chromium (tests: VS Code runs in it)",
            Self::Headers => {
                "python3, make, a C++ compiler and headers (tests: parts of VS Code are built here)"
            }
            Self::CodeServer => "code-server (tests: VS Code in a browser)",
        }
        .to_owned()
    }

    /// Whether the machine has it.
    pub(super) fn is_met(self) -> bool {
        match self {
            Self::Qemu => places::program(QEMU).is_some(),
            Self::Mke2fs => places::program("mke2fs").is_some(),
            Self::StaticLibc => has_static_libc(),
            Self::GuestKernel => kernel::find().is_some(),
            Self::Busybox => places::program("busybox").is_some_and(|file| is_static(&file)),
            Self::Cpio => places::program("cpio").is_some(),
            Self::MkfsErofs => places::program("mkfs.erofs").is_some(),
            Self::Git => places::program("git").is_some(),
            Self::Xz => places::program("xz").is_some(),
            Self::Tmux => places::program("tmux").is_some(),
            Self::Strace => places::program("strace").is_some(),
            Self::Editors => editors::are_here(),
            Self::PackageLists => !apt::is_here() || apt::has_lists(),
            Self::Rustfmt => cargo_has("fmt"),
            Self::Clippy => cargo_has("clippy"),
            Self::Npm => places::program("npm").is_some(),
            Self::Chromium => places::program("chromium").is_some(),
            Self::Headers => code_server::is_here() || has_headers(),
            Self::CodeServer => code_server::is_here(),
        }
    }
}

/// The C compiler knows where its libc is; it echoes the bare name when there is none.
fn has_static_libc() -> bool {
    Command::new("cc")
        .arg("-print-file-name=libc.a")
        .stderr(Stdio::null())
        .output()
        .is_ok_and(|output| {
            output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with('/')
        })
}

/// What VS Code's native parts are built with.
fn has_headers() -> bool {
    ["python3", "make", "c++"]
        .iter()
        .all(|name| places::program(name).is_some())
        && Command::new("pkg-config")
            .args(["--exists", "krb5", "x11", "xkbfile", "libsecret-1"])
            .status()
            .is_ok_and(|status| status.success())
}

fn is_static(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| product::interpreter(&bytes) == Some(false))
}

fn cargo_has(subcommand: &str) -> bool {
    places::cargo()
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The parts of the Rust toolchain among the needs, as rustup names them.
pub(super) fn rust_components(needs: &[Need]) -> Vec<&'static str> {
    needs
        .iter()
        .filter_map(|need| match need {
            Need::Rustfmt => Some("rustfmt"),
            Need::Clippy => Some("clippy"),
            _ => None,
        })
        .collect()
}

/// Has rustup add them to the toolchain in use.
///
/// # Errors
/// When there is no rustup, or it fails.
pub(super) fn add_rust_components(components: &[&str]) -> Result<()> {
    println!("setup: rustup component add {}", components.join(" "));
    step::run(
        Command::new("rustup")
            .args(["component", "add"])
            .args(components)
            .current_dir(places::checkout()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_tasks_is_part_of_what_tests() {
        let run = Need::of(Purpose::Run);
        assert!(run.contains(&Need::GuestKernel) && !run.contains(&Need::Busybox));
        let quick = Need::of(Purpose::TestWithoutVsCode);
        assert!(quick.starts_with(run) && quick.ends_with(&[Need::Clippy]));
        assert!(Need::of(Purpose::Test).starts_with(quick));
        assert!(Need::of(Purpose::Test).ends_with(&[Need::CodeServer]));
    }

    #[test]
    fn a_script_is_not_a_static_busybox() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("busybox");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        assert!(!is_static(&file));
    }
}
