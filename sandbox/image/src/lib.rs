//! What a virtual machine boots from: guest kernel, boot image, root file system, scratch disk.
//!
//! Each function makes one file and returns its path. Files that serve many machines are kept
//! below a cache directory under names that change with their inputs; they are written beside
//! their place, synced and renamed, so that a file which is there is whole.
//!
//! Nothing here starts a virtual machine or looks at a workspace.
#![forbid(unsafe_code)]

mod artifact;
mod boot;
mod kernel;
mod oci;
mod root;
mod scratch;

pub use artifact::ArtifactError;
pub use boot::{BootError, boot_image};
pub use kernel::{KernelError, LIBRARY_VARIABLE, find_library, kernel_elf};
pub use oci::{OciCaps, OciError, oci_root};
pub use root::{Host, Progress, RootError, RootImage, RootSummary, folder_image, host_root};
pub use scratch::{ScratchError, scratch_disk};
