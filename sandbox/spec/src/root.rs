//! Where a machine's programs come from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The root file system of a machine, read-only below its own scratch disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Root {
    /// This machine's own toolchains.
    #[default]
    Host,
    /// A container image: an archive or folder with an OCI image layout.
    Oci(PathBuf),
}
