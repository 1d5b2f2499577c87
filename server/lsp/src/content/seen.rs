//! What a task saw of the workspace, as a text to be read.

use std::fmt::Write as _;

use legwork_model::{EntryKind, Manifest};

/// So many lines of each list are shown; `legwork show TASK --manifest` has all.
const MOST_LINES: usize = 5_000;

/// First what stayed outside, since that is what one looks for; then what came along.
pub(super) fn text(manifest: &Manifest) -> String {
    let bytes: u64 = manifest
        .entries
        .iter()
        .map(|entry| match entry.kind {
            EntryKind::File { size, .. } => size,
            EntryKind::Dir | EntryKind::Symlink { .. } => 0,
        })
        .sum();
    let mut text = format!(
        "The task saw {}, {bytes} bytes in all, as they were when it began.\n",
        counted(manifest.files(), "file")
    );
    let out = manifest
        .left_out
        .iter()
        .map(|out| format!("{}: {}", out.path, out.reason.describe()));
    list(&mut text, "Left out, and why", out);
    let bare = manifest.unattributed.iter().map(ToString::to_string);
    list(
        &mut text,
        "Seen without their extended attributes or access lists",
        bare,
    );
    let linked = manifest.linked.iter().map(ToString::to_string);
    list(
        &mut text,
        "Seen as a file of its own, a hard link here",
        linked,
    );
    let seen = manifest.entries.iter().map(|entry| match &entry.kind {
        EntryKind::File { size, .. } => format!("{} ({size} bytes)", entry.path),
        EntryKind::Dir => format!("{}/", entry.path),
        // Its target is escaped as paths are.
        EntryKind::Symlink { target } => format!("{} -> {target}", entry.path),
    });
    list(&mut text, "Seen", seen);
    text
}

fn list(text: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let count = lines.len();
    if count == 0 {
        return;
    }
    // Writing to a string does not fail.
    let _ok = writeln!(text, "\n{title}:");
    for line in lines.take(MOST_LINES) {
        let _ok = writeln!(text, "  {line}");
    }
    if count > MOST_LINES {
        let _ok = writeln!(
            text,
            "  … {} more; `legwork show TASK --manifest` has all",
            count - MOST_LINES
        );
    }
}

fn counted(count: usize, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {what}{s}")
}

#[cfg(test)]
mod tests {
    use legwork_model::{Digest, Entry, LeftOut, Reason, TreePath};

    use super::*;

    fn path(bytes: &[u8]) -> TreePath {
        TreePath::from_bytes(bytes).unwrap()
    }

    fn entry(path: TreePath, kind: EntryKind) -> Entry {
        Entry {
            path,
            kind,
            mode: 0o644,
            mtime: 0,
        }
    }

    #[test]
    fn what_was_left_out_comes_first_with_its_reason() {
        let file = EntryKind::File {
            size: 12,
            digest: Digest::of(b"x"),
            offset: 0,
        };
        let target = "b".to_owned();
        let manifest = Manifest {
            entries: vec![
                entry(path(b"a"), EntryKind::Dir),
                entry(path(b"a/\x1bb"), file),
                entry(path(b"c"), EntryKind::Symlink { target }),
            ],
            left_out: vec![LeftOut {
                path: path(b".env"),
                reason: Reason::Secret,
            }],
            unattributed: Vec::new(),
            linked: Vec::new(),
        };
        let text = text(&manifest);
        assert_eq!(
            text,
            format!(
                "The task saw 1 file, 12 bytes in all, as they were when it began.\n\nLeft out, and why:\n  .env: its name says \
                 that it holds a secret\n\nSeen:\n  a/\n  {} (12 bytes)\n  c -> b\n",
                path(b"a/\x1bb")
            )
        );
        assert!(!text.contains('\x1b'), "{text}");
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let entries = (0..MOST_LINES + 2)
            .map(|number| entry(path(format!("{number}").as_bytes()), EntryKind::Dir))
            .collect();
        let text = text(&Manifest {
            entries,
            ..Manifest::default()
        });
        assert!(text.contains("… 2 more"), "{text}");
        assert_eq!(text.lines().count(), MOST_LINES + 4);
    }
}
