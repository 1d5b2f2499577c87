//! The root file system `oci:`: a container image from a local archive or folder, as one read-only image.
//!
//! | file | what |
//! | --- | --- |
//! | `oci/layout.rs` | finds the image for this machine in an OCI image layout, and hands out its layers, each checked by its digest |
//! | `oci/layers.rs` | stacks the layers into one tree, whiteouts and all |
//!
//! Nothing is unpacked to disk: layers go from the archive into the image that a machine boots from. What an archive says is
//! bounded and checked, since it comes from elsewhere. The image is kept under the digest of its manifest.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use legwork_erofs::{Builder, WriteError};
use legwork_spec::ByteSize;

use crate::{
    artifact::{self, ArtifactError},
    root::{Progress, RootImage, RootSummary, in_use, lock_cache, publish_summary},
};
use layers::Merge;
use layout::Layout;

mod layers;
mod layout;
#[cfg(test)]
mod tests;

/// Raised when the contents of the image change.
const VERSION: u32 = 1;

/// Why there is no root image. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
pub enum OciError {
    /// It cannot be read.
    #[error("cannot read the image {path} ({source}): name an OCI archive or the folder of an image layout", path = .path.display())]
    Read {
        /// The archive or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no image that this machine can use.
    #[error("{path} cannot be used as an image: {why}", path = .path.display())]
    Unusable {
        /// The archive or folder.
        path: PathBuf,
        /// Why, with the next step.
        why: String,
    },
    /// The cache cannot be written.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The image cannot be written.
    #[error(transparent)]
    Image(#[from] WriteError),
}

/// How large an image may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OciCaps {
    /// Files, folders and links of all layers.
    pub entries: u64,
    /// Bytes of all layers, unpacked.
    pub bytes: ByteSize,
}

impl Default for OciCaps {
    /// Two million entries, 64 GiB.
    fn default() -> Self {
        Self {
            entries: 2_000_000,
            bytes: ByteSize::gib(64),
        }
    }
}

/// The container image at `path` as a root image, from `cache/oci` or built now. If another process is building it, this waits
/// for that.
///
/// # Errors
///
/// See [`OciError`].
pub fn oci_root(
    cache: &Path,
    path: &Path,
    caps: OciCaps,
    progress: &mut dyn FnMut(Progress),
) -> Result<RootImage, OciError> {
    let layout = Layout::open(path)?;
    let image = layout.image()?;
    let dir = cache.join("oci");
    let place = dir.join(format!("{}-{VERSION}.erofs", image.digest));
    if let Some(image) = in_use(&place)? {
        return Ok(image);
    }
    artifact::make_dir(&dir)?;
    // Released when the file is closed, that is, on return.
    let _lock = lock_cache(&dir)?;
    if let Some(image) = in_use(&place)? {
        return Ok(image);
    }
    let file = artifact::begin(&place)?;
    let summary = build(file.as_file(), &layout, &image, caps, progress)?;
    // The summary first: an image that is there has one.
    publish_summary(&place, &summary)?;
    artifact::publish(file, &place)?;
    in_use(&place)?
        .ok_or_else(|| ArtifactError::new("read", &place, io::ErrorKind::NotFound.into()).into())
}

fn build(
    file: &File,
    layout: &Layout,
    image: &layout::Image,
    caps: OciCaps,
    progress: &mut dyn FnMut(Progress),
) -> Result<RootSummary, OciError> {
    let total = image.layers.iter().map(|layer| layer.size).sum();
    let mut state = Progress { done: 0, total };
    progress(state);
    let mut merge = Merge::new(Builder::new(file)?, caps);
    // From the top: what stands there first is what counts, and nothing is written twice.
    for layer in image.layers.iter().rev() {
        let links = layout.layer(layer, |tar| layers::links(tar, caps))?;
        layout.layer(layer, |tar| merge.layer(tar, &links))?;
        state.done += layer.size;
        progress(state);
    }
    let mut summary = merge.finish().map_err(|fault| layout.fault(fault))?;
    summary.bytes = summary.bytes.max(1);
    Ok(summary)
}
