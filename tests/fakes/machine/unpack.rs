//! Unpacks a workspace's image into a directory.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    path::Path,
    time::{Duration, SystemTime},
};

use anyhow::Context as _;
use legwork_erofs::{Image, Kind};

/// Makes `tree` and everything in it. Files keep their times, so that whatever is written later shows.
pub(crate) fn unpack(image: &Path, tree: &Path) -> anyhow::Result<()> {
    let mut image = Image::open(File::open(image)?)?;
    let entries = image.read_tree()?;
    // A directory sorts before what is in it.
    for (path, entry) in &entries {
        let place = tree.join(OsStr::from_bytes(path));
        let mode = Permissions::from_mode(entry.meta.mode.into());
        match &entry.kind {
            Kind::Dir => fs::create_dir(&place),
            Kind::Symlink(target) => symlink(OsStr::from_bytes(target), &place),
            Kind::File { .. } => {
                let bytes = image.read_file(entry)?;
                fs::write(&place, bytes)?;
                let (seconds, nanos) = entry.meta.mtime;
                let since = Duration::new(seconds.try_into().unwrap_or(0), nanos);
                File::options()
                    .append(true)
                    .open(&place)?
                    .set_modified(SystemTime::UNIX_EPOCH + since)?;
                fs::set_permissions(&place, mode)
            }
            // A snapshot holds none of these.
            Kind::Special(_) => Ok(()),
        }
        .with_context(|| place.display().to_string())?;
    }
    // Last, since what may not be written to could not be filled.
    for (path, entry) in entries.iter().rev() {
        if entry.kind == Kind::Dir {
            let mode = Permissions::from_mode(entry.meta.mode.into());
            fs::set_permissions(tree.join(OsStr::from_bytes(path)), mode)?;
        }
    }
    Ok(())
}
