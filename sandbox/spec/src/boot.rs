//! What the virtual machine's own process is told, and nothing else.
//!
//! `legwork-vmm boot FILE` reads this as JSON from FILE. Its standard input is one end of a connected Unix stream
//! socket: the byte stream that becomes the guest's port [`BootConfig::LINK_PORT`]. Its standard output takes the guest's console, its
//! standard error takes its own words. The first line on the link is its own, a [`Jailed`](crate::Jailed) as JSON; all
//! that follows is the guest's.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Version of [`BootConfig`]; both sides must agree, since they are installed together.
pub const BOOT_CONFIG_VERSION: u32 = 2;

/// How the machine is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "driver")]
pub enum Machine {
    /// libkrun, in the process that reads this; `library` is libkrunfw, which holds the guest kernel.
    Krun {
        /// Absolute path of `libkrunfw.so.5`.
        library: PathBuf,
    },
    /// QEMU, which replaces the process that reads this.
    Qemu {
        /// Absolute path of `qemu-system-*`.
        program: PathBuf,
        /// The guest kernel as an ELF file with a PVH entry note.
        kernel: PathBuf,
        /// Whether `/dev/kvm` was proven to run guest code.
        hardware: bool,
    },
}

/// One virtio-blk device. The first becomes `/dev/vda`, the next `/dev/vdb`, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootDisk {
    /// A raw image.
    pub path: PathBuf,
    /// Enforced by the device, not by a mount option.
    pub read_only: bool,
}

/// Everything the virtual machine's process needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootConfig {
    /// [`BOOT_CONFIG_VERSION`].
    pub version: u32,
    /// The process that must be the parent; if it is not (any more), the machine does not start.
    pub supervisor: u32,
    /// Whether the machine starts also when a wall of its jail cannot be built.
    pub unjailed_ok: bool,
    /// How to run it.
    pub machine: Machine,
    /// Virtual processors.
    pub vcpus: u8,
    /// Guest memory in MiB.
    pub memory_mib: u32,
    /// Disks in order; the first holds the guest agent as `/init` and is the root file system (EROFS, read-only).
    pub disks: Vec<BootDisk>,
}

impl BootConfig {
    /// Name of the virtio-serial port that carries the link.
    pub const LINK_PORT: &'static str = "legwork.link";
    /// Path of the guest agent on the first disk.
    pub const AGENT: &'static str = "/init";
}
