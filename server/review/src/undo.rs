//! Taking back what an accept wrote, from a file that may have moved on since.

use crate::{
    Content, Version,
    diff::regions,
    merge::{Edit, Merge, Spot},
    text::lines,
};

/// Why an accept cannot be taken back. Nothing is written then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// The file was changed at the same place.
    #[error(
        "the file was changed where the accepted lines stood: take them out by hand, or bring them back and undo again"
    )]
    Changed,
    /// The file was created, deleted or replaced whole, and is another by now.
    #[error("the file is another by now than the accept left it: put it right by hand")]
    Replaced,
}

/// Takes back the step from `before` to `after` out of `live`; `None` stands for no file. Lines that were changed
/// elsewhere meanwhile stay changed. Returns what has to stand at the path.
///
/// # Errors
///
/// [`UndoError`] when the live file was changed at the same place, or has several such places.
pub fn undo(
    before: Option<Version<'_>>,
    after: Option<Version<'_>>,
    live: Option<Version<'_>>,
) -> Result<Option<Content>, UndoError> {
    if live == after || live == before {
        return Ok(before.map(Version::to_content));
    }
    let (Some(before), Some(after), Some(live)) = (before, after, live) else {
        return Err(UndoError::Replaced);
    };
    if !(before.mode.is_file() && after.mode.is_file() && live.mode.is_file()) {
        return Err(UndoError::Replaced);
    }
    // Permissions that the accept did not touch are the user's.
    let mode = live.mode.step(after.mode, before.mode);
    let bytes = if before.bytes == after.bytes {
        live.bytes.to_vec()
    } else if live.bytes == after.bytes {
        before.bytes.to_vec()
    } else if before.is_text() && after.is_text() && live.is_text() {
        reverse(before.bytes, after.bytes, live.bytes)?
    } else {
        return Err(UndoError::Replaced);
    };
    Ok(Some(Content { bytes, mode }))
}

fn reverse(before: &[u8], after: &[u8], live: &[u8]) -> Result<Vec<u8>, UndoError> {
    let (before, after) = (lines(before), lines(after));
    let edits: Vec<Edit<'_>> = regions(&after, &before)
        .into_iter()
        .map(|region| Edit {
            range: region.old,
            lines: before[region.new].to_vec(),
        })
        .collect();
    let merge = Merge::new(after, live);
    let spots = merge.spots(&edits);
    if spots.contains(&Spot::Conflicted) {
        return Err(UndoError::Changed);
    }
    Ok(merge.write(&edits, &spots).0)
}
