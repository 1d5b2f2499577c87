//! Paths in tool calls: one file has one spelling, and it is below the workspace.

use std::path::{Component, Path, PathBuf};

/// The path below the workspace; `.` for the workspace itself.
///
/// # Errors
///
/// A sentence for the model.
pub(crate) fn within(workspace: &Path, given: &str) -> Result<String, String> {
    if given.is_empty() || given.contains('\0') {
        return Err("the path is empty or holds a NUL byte".to_owned());
    }
    if given == "~" || given.starts_with("~/") {
        return Err(
            "`~` is not understood in a path: give it relative to the workspace".to_owned(),
        );
    }
    let outside = || {
        format!(
            "`{given}` is not in the workspace: give a path relative to it, or below {}",
            workspace.display()
        )
    };
    let path = Path::new(given);
    let relative = if path.is_absolute() {
        normal(path).and_then(|path| path.strip_prefix(workspace).map(Path::to_owned).ok())
    } else {
        normal(path)
    };
    let relative = relative.ok_or_else(outside)?;
    let text = relative.to_str().unwrap_or_default();
    Ok(if text.is_empty() { "." } else { text }.to_owned())
}

/// Without `.`, `..` and double slashes; `None` for what leads out at the top.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            other => parts.push(other),
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b129_a_file_has_one_spelling_and_none_is_outside() {
        let workspace = Path::new("/home/dev/project");
        for same in [
            "src/ä b.rs",
            "./src/ä b.rs",
            "src//ä b.rs",
            "src/../src/./ä b.rs",
            "/home/dev/project/src/ä b.rs",
            "/home/dev/project/x/../src/ä b.rs",
        ] {
            assert_eq!(within(workspace, same).unwrap(), "src/ä b.rs");
        }
        assert_eq!(within(workspace, ".").unwrap(), ".");
        assert_eq!(within(workspace, "/home/dev/project/").unwrap(), ".");
        assert_eq!(
            within(workspace, "a ").unwrap(),
            "a ",
            "a blank is part of a name"
        );
        for wrong in [
            "",
            "../x",
            "a/../../x",
            "/etc/passwd",
            "/home/dev/project2/x",
            "~/x",
            "~",
            "a\0b",
            "/..",
        ] {
            assert!(within(workspace, wrong).is_err(), "{wrong}");
        }
    }
}
