//! What a repository keeps for agents: `AGENTS.md` and the names that other tools use, from the top of the workspace down to where the
//! user stands, as they were captured.

use std::{collections::HashSet, path::PathBuf};

use legwork_agent::Guide;
use legwork_model::{Digest, EntryKind, TreePath};
use legwork_workspace::Snapshot;

/// Guides of a folder, for it and all below it. Of the names in a row the first that is there counts: the others say the
/// same for other tools.
const CHAIN: [&[&str]; 2] = [
    &["AGENTS.md", "CLAUDE.md", "GEMINI.md"],
    &["CONVENTIONS.md"],
];

/// Guides that only stand at the top.
const TOP: [&str; 3] = [
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
];

/// Where the rules of Cursor are, each a file.
const RULES: &str = ".cursor/rules";

/// The most rules of Cursor.
const MOST_RULES: usize = 20;

/// The longest guides together, in bytes.
const LONGEST: usize = 48 << 10;

/// The guides, the outermost first; each text once, for many repositories keep one under several names.
pub(super) fn guides(snapshot: &Snapshot, place: Option<&TreePath>) -> Vec<Guide> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut folder = PathBuf::new();
    let mut take = |folder: &PathBuf| {
        for names in CHAIN {
            let there = names.iter().map(|name| folder.join(name)).find(|path| {
                TreePath::from_path(path).is_ok_and(|path| snapshot.manifest.get(&path).is_some())
            });
            paths.extend(there);
        }
    };
    take(&folder);
    for part in place
        .and_then(|place| place.as_path().parent())
        .into_iter()
        .flat_map(|parent| parent.components())
    {
        folder.push(part);
        take(&folder);
    }
    paths.splice(0..0, top(snapshot));
    let (mut guides, mut room, mut seen) = (Vec::new(), LONGEST, HashSet::<Digest>::new());
    for path in paths {
        let Some(entry) = TreePath::from_path(&path)
            .ok()
            .and_then(|path| snapshot.manifest.get(&path))
        else {
            continue;
        };
        let EntryKind::File { size, digest, .. } = entry.kind else {
            continue;
        };
        if size > 1 << 20 || !seen.insert(digest) {
            continue;
        }
        let Ok(bytes) = snapshot.read(entry) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = if path.starts_with(RULES) {
            rule(&text, place)
        } else {
            Some(&*text)
        };
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            continue;
        };
        let text = text[..text.floor_char_boundary(room)].to_owned();
        room -= text.len();
        if !text.is_empty() {
            let path = entry.path.to_string();
            guides.push(Guide { path, text });
        }
    }
    guides
}

fn top(snapshot: &Snapshot) -> Vec<PathBuf> {
    let rules = snapshot
        .manifest
        .entries
        .iter()
        .map(|entry| entry.path.as_path());
    let rules = rules
        .filter(|path| path.starts_with(RULES) && path.extension().is_some_and(|end| end == "mdc"))
        .take(MOST_RULES)
        .map(PathBuf::from);
    TOP.iter().map(PathBuf::from).chain(rules).collect()
}

/// The text of a rule of Cursor, if it is always meant, or meant for the file in which the user stands. Its head says so:
/// `alwaysApply: true`, or `globs:`. Of globs only the ending counts, such as `ts` of `src/**/*.ts`.
fn rule<'a>(text: &'a str, place: Option<&TreePath>) -> Option<&'a str> {
    let Some((head, body)) = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
    else {
        return Some(text);
    };
    let said = |key: &str| {
        head.lines()
            .find_map(|line| line.strip_prefix(key))
            .map(|value| value.trim().trim_matches(['"', '[', ']']))
    };
    let is_for_place = || {
        let end = place?.as_path().extension()?.to_str()?;
        let globs = said("globs:")?;
        globs
            .split(',')
            .any(|glob| {
                glob.trim()
                    .trim_matches(['"', '\''])
                    .ends_with(&format!("*.{end}"))
            })
            .then_some(())
    };
    (said("alwaysApply:") == Some("true") || is_for_place().is_some()).then_some(body)
}

#[cfg(test)]
mod tests {
    use legwork_workspace::{CaptureOptions, Workspace, capture};

    use super::*;

    fn captured(files: &[(&str, &str)]) -> (tempfile::TempDir, Snapshot) {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path().join("work");
        for (path, text) in files {
            let path = work.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let workspace = Workspace::open(&work).unwrap();
        let image = dir.path().join("base.erofs");
        let snapshot = capture(
            &workspace,
            &image,
            &CaptureOptions::default(),
            &mut |_, _| {},
        )
        .unwrap();
        (dir, snapshot)
    }

    fn told(snapshot: &Snapshot, place: Option<&str>) -> Vec<(String, String)> {
        let place = place.map(|place| place.parse().unwrap());
        guides(snapshot, place.as_ref())
            .into_iter()
            .map(|guide| (guide.path, guide.text))
            .collect()
    }

    #[test]
    fn guides_of_all_names_are_told_from_the_top_down_and_each_once() {
        let (_dir, snapshot) = captured(&[
            ("AGENTS.md", "top"),
            ("CLAUDE.md", "passed over beside AGENTS.md"),
            (".github/copilot-instructions.md", "top"),
            (".cursorrules", "cursor"),
            ("CONVENTIONS.md", "style"),
            ("web/GEMINI.md", "web"),
            ("web/src/CLAUDE.md", "deep"),
            ("api/AGENTS.md", "not on the way"),
            ("web/src/a.ts", ""),
        ]);
        let paths = |place| -> Vec<String> {
            told(&snapshot, place)
                .into_iter()
                .map(|(path, _)| path)
                .collect()
        };
        assert_eq!(
            paths(Some("web/src/a.ts")),
            [
                ".github/copilot-instructions.md",
                ".cursorrules",
                "CONVENTIONS.md",
                "web/GEMINI.md",
                "web/src/CLAUDE.md"
            ],
            "the text of AGENTS.md was told already"
        );
        assert_eq!(
            paths(None),
            [
                ".github/copilot-instructions.md",
                ".cursorrules",
                "CONVENTIONS.md"
            ]
        );
    }

    #[test]
    fn rules_of_cursor_are_told_where_they_are_meant() {
        let (_dir, snapshot) = captured(&[
            (
                ".cursor/rules/all.mdc",
                "---\ndescription: x\nalwaysApply: true\n---\nalways\n",
            ),
            (
                ".cursor/rules/ts.mdc",
                "---\nglobs: src/**/*.ts, *.tsx\nalwaysApply: false\n---\nscripts\n",
            ),
            (
                ".cursor/rules/asked.mdc",
                "---\ndescription: only when asked for\n---\nasked\n",
            ),
            (".cursor/rules/notes.txt", "no rule"),
        ]);
        let texts = |place| -> Vec<String> {
            told(&snapshot, place)
                .into_iter()
                .map(|(_, text)| text)
                .collect()
        };
        assert_eq!(texts(None), ["always\n"]);
        assert_eq!(texts(Some("src/a.ts")), ["always\n", "scripts\n"]);
        assert_eq!(texts(Some("src/a.py")), ["always\n"]);
    }

    #[test]
    fn guides_are_bounded() {
        let long = "x".repeat(40 << 10);
        let other = "y".repeat(40 << 10);
        let (_dir, snapshot) = captured(&[
            ("AGENTS.md", &long),
            ("CONVENTIONS.md", &other),
            ("d/AGENTS.md", "z"),
            ("d/a", ""),
        ]);
        let told = told(&snapshot, Some("d/a"));
        let total: usize = told.iter().map(|(_, text)| text.len()).sum();
        assert_eq!((told.len(), total), (2, LONGEST));
    }
}
