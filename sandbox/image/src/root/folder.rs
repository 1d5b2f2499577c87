//! A folder of the host as a read-only image of its own.

use std::path::Path;

use legwork_erofs::Builder;

use super::{RootError, RootSummary, listing};
use crate::artifact;

/// Writes an EROFS image of all that is below `dir` to `place`, safe from a power cut. Everything in it is root's.
///
/// # Errors
///
/// See [`RootError`]. Nothing is left behind then.
pub fn folder_image(dir: &Path, place: &Path) -> Result<RootSummary, RootError> {
    let listing = listing::list_folder(dir);
    let file = artifact::begin(place)?;
    let mut summary = listing.skipped.clone();
    let mut builder = Builder::new(file.as_file())?;
    for entry in &listing.entries {
        entry.add_to(&mut builder, dir, &mut summary)?;
    }
    summary.bytes = builder.finish()?;
    artifact::publish(file, place)?;
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_an_image_of_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("from");
        std::fs::create_dir_all(from.join("bin")).unwrap();
        std::fs::write(from.join("bin/tool"), "x".repeat(10_000)).unwrap();
        std::os::unix::fs::symlink("bin/tool", from.join("link")).unwrap();
        let place = dir.path().join("to/image.erofs");
        let summary = folder_image(&from, &place).unwrap();
        assert_eq!(
            (summary.files, summary.symlinks, summary.unreadable),
            (1, 1, 0)
        );
        assert_eq!(std::fs::metadata(&place).unwrap().len(), summary.bytes);
        let none = folder_image(&dir.path().join("none"), &place).unwrap();
        assert_eq!(none.files, 0);
    }
}
