//! Where the parts of Legwork stand.

use std::path::{Path, PathBuf};

use crate::HostError;

/// The programs a sandbox is made with, and the cache for what they make.
#[derive(Clone, Debug)]
pub struct Installation {
    /// `legwork-vmm`.
    pub vmm: PathBuf,
    /// `legwork-guest`, statically linked.
    pub agent: PathBuf,
    /// Kernel, boot image and root file system images.
    pub cache: PathBuf,
}

impl Installation {
    /// Looks beside the running program, then in `../libexec/legwork`.
    ///
    /// # Errors
    ///
    /// [`HostError::Installation`] names the first part that is not there.
    pub fn locate(cache: PathBuf) -> Result<Self, HostError> {
        let program = std::env::current_exe().map_err(HostError::io("find this program"))?;
        // A program that was replaced while it runs shows as `legwork (deleted)`; its folder is still right.
        let beside = program.parent().unwrap_or(Path::new("/")).to_owned();
        Self::within(&[&beside, &beside.join("../libexec/legwork")], cache)
    }

    /// Looks in these directories, in order.
    ///
    /// # Errors
    ///
    /// As [`Installation::locate`].
    pub fn within(directories: &[&Path], cache: PathBuf) -> Result<Self, HostError> {
        let find = |name: &str, what| {
            directories
                .iter()
                .map(|dir| dir.join(name))
                .find(|path| path.is_file())
                .ok_or(HostError::Installation { what })
        };
        Ok(Self {
            vmm: find("legwork-vmm", "legwork-vmm")?,
            agent: find("guest/legwork-guest", "guest/legwork-guest")?,
            cache,
        })
    }
}
