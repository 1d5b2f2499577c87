//! Which changes `PATH[:HUNK]` names. The path is told from where the user stands if that is in the workspace, else from
//! the workspace's top; bytes are taken as they are, or in the escaped form in which paths are printed.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
};

use legwork_model::{ChangeKind, TreePath};
use legwork_wire::{FileReview, Pick, Review};

use crate::{
    failure::Failure,
    printable::printable_bytes,
    workspace::{Place, tree_path},
};

#[cfg(test)]
mod tests;

/// How many changes a hint lists.
const LISTED: usize = 6;

/// What was named; empty for everything.
pub(crate) fn picks(
    named: &[OsString],
    place: &Place,
    review: &Review,
) -> Result<Vec<Pick>, Failure> {
    let mut picks = Vec::new();
    for name in named {
        match pick(name, place, review)? {
            Some(pick) => picks.push(pick),
            None => return Ok(vec![]),
        }
    }
    Ok(picks)
}

/// One of them; `None` for the workspace itself.
fn pick(name: &OsStr, place: &Place, review: &Review) -> Result<Option<Pick>, Failure> {
    let shown = printable_bytes(name.as_bytes());
    let mut outside = true;
    for (path, hunk) in readings(name) {
        let Some(inside) = place.locate(&path) else {
            continue;
        };
        outside = false;
        if inside.as_os_str().is_empty() && hunk.is_none() {
            return Ok(None);
        }
        let Some(path) = tree_path(&inside) else {
            continue;
        };
        if let Some(file) = review.files.iter().find(|file| names(file, &path)) {
            known(file, hunk)?;
            return Ok(Some(Pick {
                path: file.path.clone(),
                hunk,
            }));
        }
        if hunk.is_none() && review.files.iter().any(|file| file.path.is_below(&path)) {
            return Ok(Some(Pick { path, hunk }));
        }
    }
    if outside {
        let workspace = printable_bytes(place.workspace.as_os_str().as_bytes());
        return Err(Failure::usage(
            format!("`{shown}` is not in the task's workspace {workspace}"),
            changes(review),
        ));
    }
    Err(Failure::usage(
        format!("the task changed nothing at `{shown}`"),
        changes(review),
    ))
}

/// All that a name can mean, the plainest first: a file may well be called `a:1`.
fn readings(name: &OsStr) -> Vec<(PathBuf, Option<u32>)> {
    let unescaped = name
        .to_str()
        .filter(|text| text.contains('\\'))
        .and_then(|text| text.parse::<TreePath>().ok());
    let mut readings = vec![(PathBuf::from(name), None)];
    readings.extend(numbered(name));
    if let Some(path) = unescaped {
        let name = path.as_path().as_os_str().to_owned();
        readings.push((path.as_path().to_owned(), None));
        readings.extend(numbered(&name));
    }
    readings
}

/// `PATH:HUNK` in its parts.
fn numbered(name: &OsStr) -> Option<(PathBuf, Option<u32>)> {
    let bytes = name.as_bytes();
    let colon = bytes.iter().rposition(|&byte| byte == b':')?;
    let digits = std::str::from_utf8(&bytes[colon + 1..]).ok()?;
    let number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())??;
    Some((
        PathBuf::from(OsStr::from_bytes(&bytes[..colon])),
        Some(number),
    ))
}

/// Whether a change is at this path, or was before a rename.
fn names(file: &FileReview, path: &TreePath) -> bool {
    file.path == *path || matches!(&file.kind, ChangeKind::Rename { from } if from == path)
}

fn known(file: &FileReview, hunk: Option<u32>) -> Result<(), Failure> {
    let Some(hunk) = hunk else { return Ok(()) };
    if file.hunks.iter().any(|known| known.id == hunk) {
        return Ok(());
    }
    let ids: Vec<String> = file.hunks.iter().map(|hunk| hunk.id.to_string()).collect();
    Err(Failure::usage(
        format!("`{}` has no hunk {hunk}", file.path),
        format!("its hunks are {}", ids.join(", ")),
    ))
}

fn changes(review: &Review) -> String {
    if review.files.is_empty() {
        return "the task changed nothing at all".to_owned();
    }
    let listed: Vec<String> = review
        .files
        .iter()
        .take(LISTED)
        .map(|file| file.path.to_string())
        .collect();
    let more = if review.files.len() > LISTED {
        " and more: `legwork show` lists them"
    } else {
        ""
    };
    format!("it changed {}{more}", listed.join(", "))
}
