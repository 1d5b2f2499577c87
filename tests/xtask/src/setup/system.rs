//! Which system this is, and what one would type on it. Only systems with apt are installed on;
//! the others are told.

use std::fs;

use super::need::{Need, rust_components};
use crate::places;

/// A family of systems by their package manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum System {
    /// Debian, Ubuntu and what derives from them.
    Apt {
        /// The release's code name, such as `bookworm`; empty when os-release has none.
        codename: String,
    },
    /// Fedora and its kin.
    Dnf,
    /// Arch Linux and its kin.
    Pacman,
    /// macOS with Homebrew.
    MacOs,
    /// Anything else.
    Other,
}

impl System {
    /// This machine's.
    pub(super) fn detect() -> Self {
        if cfg!(target_os = "macos") {
            return Self::MacOs;
        }
        let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
        match Self::from_os_release(&text) {
            Self::Apt { .. } if places::program("apt-get").is_none() => Self::Other,
            system => system,
        }
    }

    fn from_os_release(text: &str) -> Self {
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
                .map(|value| value.trim_matches(['"', '\'']).to_owned())
                .unwrap_or_default()
        };
        let (id, like) = (field("ID"), field("ID_LIKE"));
        let is = |name: &str| id == name || like.split_whitespace().any(|word| word == name);
        if is("debian") || is("ubuntu") {
            Self::Apt {
                codename: field("VERSION_CODENAME"),
            }
        } else if is("fedora") || is("rhel") {
            Self::Dnf
        } else if is("arch") {
            Self::Pacman
        } else {
            Self::Other
        }
    }

    /// What to type to get what is missing.
    pub(super) fn advice(&self, missing: &[Need]) -> String {
        let mut lines = Vec::new();
        let packages = self.packages(missing);
        if !packages.is_empty() {
            let names = packages.join(" ");
            match self {
                Self::Apt { .. } => {
                    lines.push("sudo apt-get update".to_owned());
                    lines.push(format!(
                        "sudo apt-get install --no-install-recommends {names}"
                    ));
                }
                Self::Dnf => lines.push(format!("sudo dnf install {names}")),
                Self::Pacman => lines.push(format!("sudo pacman -S --needed {names}")),
                Self::MacOs => lines.push(format!("brew install {names}")),
                Self::Other => lines.push(format!(
                    "install with your package manager (names as in Debian): {names}"
                )),
            }
        }
        if missing.contains(&Need::PackageLists) && packages.is_empty() {
            lines.push("sudo apt-get update".to_owned());
        }
        let components = rust_components(missing);
        if !components.is_empty() {
            lines.push(format!("rustup component add {}", components.join(" ")));
        }
        if missing.contains(&Need::GuestKernel) {
            lines.push(self.kernel_advice());
        }
        if missing.contains(&Need::Editors) {
            lines.push(match self {
                Self::Apt { .. } => {
                    "cargo xtask setup --tests    # fetches the editors, needs no root".to_owned()
                }
                _ => "the tests' editors are taken from Debian: run the tests on Debian or what derives from it"
                    .to_owned(),
            });
        }
        if missing.contains(&Need::CodeServer) {
            lines.push(
                "cargo xtask setup --tests    # builds code-server, needs no root".to_owned(),
            );
        }
        format!(
            "this machine lacks what Legwork needs; run:\n  {}",
            lines.join("\n  ")
        )
    }

    fn kernel_advice(&self) -> String {
        let place = places::cache_dir().map_or_else(
            |_| "$LEGWORK_CACHE/kernel/libkrunfw.so.5".to_owned(),
            |dir| dir.join("kernel/libkrunfw.so.5").display().to_string(),
        );
        match self {
            Self::Apt { .. } => {
                "cargo xtask setup    # fetches libkrunfw5, needs no root".to_owned()
            }
            Self::Dnf => "sudo dnf install libkrunfw".to_owned(),
            Self::Pacman => "sudo pacman -S --needed libkrunfw".to_owned(),
            Self::MacOs => "brew install slp/krun/libkrunfw".to_owned(),
            Self::Other => format!(
                "get libkrunfw 5 (https://github.com/containers/libkrunfw) and copy it to {place}"
            ),
        }
    }

    fn packages(&self, missing: &[Need]) -> Vec<&'static str> {
        let mut names = Vec::new();
        for need in missing {
            names.extend_from_slice(self.packages_for(*need));
        }
        names
    }

    fn packages_for(&self, need: Need) -> &'static [&'static str] {
        let arm = cfg!(target_arch = "aarch64");
        match (self, need) {
            (
                _,
                Need::GuestKernel
                | Need::Editors
                | Need::PackageLists
                | Need::Rustfmt
                | Need::Clippy
                | Need::CodeServer,
            ) => &[],
            (Self::MacOs, Need::Qemu) => &["qemu"],
            (Self::Dnf, Need::Qemu) if arm => &["qemu-system-aarch64-core"],
            (Self::Dnf, Need::Qemu) => &["qemu-system-x86-core"],
            (Self::Pacman, Need::Qemu) if arm => &["qemu-system-aarch64"],
            (Self::Pacman | Self::Apt { .. } | Self::Other, Need::Qemu) if !arm => {
                &["qemu-system-x86"]
            }
            (_, Need::Qemu) => &["qemu-system-arm"],
            (_, Need::Mke2fs) => &["e2fsprogs"],
            (Self::Dnf, Need::StaticLibc) => &["gcc", "glibc-static"],
            (Self::Pacman, Need::StaticLibc) => &["gcc", "glibc"],
            // Apple's linker makes no Linux program; the agent comes from a release there.
            (Self::MacOs, Need::StaticLibc) => &[],
            (_, Need::StaticLibc) => &["gcc", "libc6-dev"],
            (Self::Apt { .. } | Self::Other, Need::Busybox) => &["busybox-static"],
            (_, Need::Busybox) => &["busybox"],
            (_, Need::Cpio) => &["cpio"],
            (_, Need::MkfsErofs) => &["erofs-utils"],
            (_, Need::Git) => &["git"],
            (_, Need::Tmux) => &["tmux"],
            (_, Need::Strace) => &["strace"],
            (_, Need::Npm) => &["npm"],
            (_, Need::Chromium) => &["chromium"],
            (Self::Dnf, Need::Headers) => &[
                "python3",
                "make",
                "gcc-c++",
                "pkgconf-pkg-config",
                "krb5-devel",
                "libX11-devel",
                "libxkbfile-devel",
                "libsecret-devel",
            ],
            (Self::Pacman, Need::Headers) => &[
                "python",
                "base-devel",
                "krb5",
                "libx11",
                "libxkbfile",
                "libsecret",
            ],
            (Self::MacOs, Need::Headers) => &["python", "pkgconf", "krb5", "libsecret"],
            (_, Need::Headers) => &[
                "python3",
                "make",
                "g++",
                "pkg-config",
                "libkrb5-dev",
                "libx11-dev",
                "libxkbfile-dev",
                "libsecret-1-dev",
            ],
            (Self::Dnf | Self::Pacman | Self::MacOs, Need::Xz) => &["xz"],
            (_, Need::Xz) => &["xz-utils"],
        }
    }
}

/// The Debian packages that hold the missing things.
pub(super) fn apt_packages(missing: &[Need]) -> Vec<&'static str> {
    System::Apt {
        codename: String::new(),
    }
    .packages(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_told_apart() {
        let of = System::from_os_release;
        assert_eq!(
            of("ID=debian\nVERSION_CODENAME=bookworm\n"),
            System::Apt {
                codename: "bookworm".into()
            }
        );
        assert!(matches!(
            of("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"),
            System::Apt { .. }
        ));
        assert_eq!(of("ID=fedora\n"), System::Dnf);
        assert_eq!(of("ID=manjaro\nID_LIKE=arch\n"), System::Pacman);
        assert_eq!(of("ID=nixos\nID_LIKE=\"\"\n"), System::Other);
        assert_eq!(of(""), System::Other);
    }

    #[test]
    fn advice_is_what_one_types() {
        let missing = [
            Need::Mke2fs,
            Need::StaticLibc,
            Need::GuestKernel,
            Need::Clippy,
        ];
        let apt = System::Apt {
            codename: String::new(),
        }
        .advice(&missing);
        assert!(
            apt.contains("sudo apt-get install --no-install-recommends e2fsprogs gcc libc6-dev\n")
        );
        assert!(apt.contains("rustup component add clippy"));
        assert!(apt.contains("cargo xtask setup"));
        let dnf = System::Dnf.advice(&missing);
        assert!(dnf.contains("sudo dnf install e2fsprogs gcc glibc-static\n"));
        assert!(dnf.contains("sudo dnf install libkrunfw"));
        assert!(!System::MacOs.advice(&[Need::Mke2fs]).contains("sudo"));
    }
}
