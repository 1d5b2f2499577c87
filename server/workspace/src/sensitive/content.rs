//! What was added to a text that a reader of hunks would take for less than it is. Pure.
//!
//! Only what is new counts: what stood in the file before is the user's own.

use legwork_model::TreePath;

use super::secrets;
use crate::names::key;

/// Lines at the top and at the bottom in which Vim looks for its modeline.
const MODELINES: usize = 5;

/// Why a text is sensitive for what was added to it, if it is.
pub(crate) fn why(path: &TreePath, before: &[u8], after: &[u8]) -> Option<String> {
    let new = is_new(before, after);
    if let Some(secret) = secrets::find(after, &new) {
        return Some(format!("it looks as if {secret} were in it"));
    }
    let text = String::from_utf8_lossy(after);
    let old = String::from_utf8_lossy(before);
    if text.chars().filter(turns).count() > old.chars().filter(turns).count() {
        return Some("it adds marks that turn or hide text on the screen".to_owned());
    }
    if before.is_empty() && after.starts_with(b"#!") {
        return Some("it is a new script".to_owned());
    }
    let lines: Vec<&str> = text.lines().collect();
    let edge = lines
        .iter()
        .enumerate()
        .filter(|(index, _)| *index < MODELINES || *index + MODELINES >= lines.len());
    let mut edge = edge.filter(|(_, line)| new(line.as_bytes()));
    if edge.any(|(_, line)| is_modeline(line)) {
        return Some("it adds a line that an editor takes for a setting".to_owned());
    }
    let is_local = |line: &&&str| line.contains("Local Variables:") || line.contains("eval:");
    if lines
        .iter()
        .filter(is_local)
        .any(|line| new(line.as_bytes()))
    {
        return Some("it adds a line that an editor takes for a setting".to_owned());
    }
    if is_lock(path) {
        return lock(&old, &text);
    }
    None
}

/// Whether a line does not stand in the text as it was.
fn is_new(before: &[u8], after: &[u8]) -> impl Fn(&[u8]) -> bool + use<> {
    let known: std::collections::HashSet<Vec<u8>> = match after.is_empty() {
        true => std::collections::HashSet::new(),
        false => before.split(|byte| *byte == b'\n').map(trimmed).collect(),
    };
    move |line| !known.contains(&trimmed(line))
}

fn trimmed(line: &[u8]) -> Vec<u8> {
    line.trim_ascii().to_vec()
}

/// Marks that turn the direction of text, or that no screen shows (Unicode Standard Annex 9, and its tags).
fn turns(c: &char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}')
}

/// Vim's and Emacs' own ways to say in a text how it is to be edited.
fn is_modeline(line: &str) -> bool {
    let vim = ["vim:", "vi:", "ex:"].iter().any(|mark| {
        line.match_indices(mark).any(|(at, _)| {
            let ahead = line[..at].chars().next_back();
            let set = line[at + mark.len()..].trim_start();
            ahead.is_none_or(char::is_whitespace) && (set.starts_with("set") || set.contains('='))
        })
    });
    vim || (line.contains("-*-") && line.contains("eval"))
}

fn is_lock(path: &TreePath) -> bool {
    const NAMES: [&str; 15] = [
        "cargo.lock",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "bun.lock",
        "deno.lock",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "pipfile.lock",
        "gemfile.lock",
        "composer.lock",
        "mix.lock",
        "go.sum",
    ];
    NAMES.contains(&key(path.name()).as_ref())
}

/// Packages from elsewhere, or no check of what comes.
fn lock(old: &str, new: &str) -> Option<String> {
    let known = hosts(old);
    if let Some(host) = hosts(new).into_iter().find(|host| !known.contains(host)) {
        return (!known.is_empty())
            .then(|| format!("it takes packages from {host}, as it did not before"));
    }
    let sums = |text: &str| {
        ["integrity", "checksum", "sha256", "sha512", "h1:"]
            .iter()
            .map(|mark| text.matches(mark).count())
            .sum::<usize>()
    };
    (sums(old) > 0 && sums(new) == 0).then(|| "the check sums of its packages are gone".to_owned())
}

/// The hosts of all addresses, with what a git source is marked by.
fn hosts(text: &str) -> std::collections::BTreeSet<String> {
    let ends = |c: char| c.is_whitespace() || "/\"'),;]}>#?".contains(c);
    text.match_indices("://")
        .map(|(at, _)| {
            let rest = &text[at + 3..];
            let host = &rest[..rest.find(ends).unwrap_or(rest.len())];
            let ahead = &text[..at];
            let from = ahead
                .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '+'))
                .map_or(0, |at| at + 1);
            let git = if ahead[from..].starts_with("git") {
                "git at "
            } else {
                ""
            };
            let host = host.rsplit('@').next().unwrap_or(host).to_lowercase();
            format!("{git}{}", legwork_model::escape(host.as_bytes()))
        })
        .filter(|host| host.len() <= 260)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str, before: &str, after: &str) -> String {
        let path = path.parse().unwrap();
        why(&path, before.as_bytes(), after.as_bytes()).unwrap_or_default()
    }

    #[test]
    fn a_text_is_sensitive_for_what_is_new_in_it() {
        for (path, before, after, why) in [
            (
                "a.c",
                "x\n",
                "x\n/* vim: set modeline: */\n",
                "for a setting",
            ),
            ("a.c", "x\n", "// ex:ts=4\nx\n", "for a setting"),
            (
                "a.el",
                "",
                ";; -*- eval: (shell-command \"x\") -*-\n",
                "for a setting",
            ),
            (
                "a.el",
                "",
                "x\n;; Local Variables:\n;; End:\n",
                "for a setting",
            ),
            ("a.rs", "a", "a\u{202e}b", "turn or hide"),
            ("a.md", "", "hi\u{e0041}", "turn or hide"),
            ("tool", "", "#!/bin/sh\n", "a new script"),
            (
                "package-lock.json",
                "\"resolved\": \"https://registry.npmjs.org/a\"",
                "\"resolved\": \"https://registry.example.net/a\"",
                "from registry.example.net",
            ),
            (
                "Cargo.lock",
                "source = \"registry+https://github.com/x\"\nchecksum = \"1\"",
                "source = \"git+https://github.com/x\"\nchecksum = \"1\"",
                "from git at github.com",
            ),
            ("go.sum", "a v1 h1:x=", "a v1", "check sums"),
        ] {
            let told = said(path, before, after);
            assert!(told.contains(why), "{after}: {told}");
            // What stood there before is nobody's doing.
            assert_eq!(said(path, after, after), "", "{after}");
        }
        for (path, before, after) in [
            ("a.md", "", "An essay on vim: its history\n"),
            (
                "a.py",
                "#!/usr/bin/python3\n",
                "#!/usr/bin/python3\nx = 1\n",
            ),
            (
                "Cargo.lock",
                "checksum = \"1\" https://a.b/",
                "checksum = \"2\" https://a.b/",
            ),
            ("yarn.lock", "", "https://registry.npmjs.org/a"),
            ("a.txt", "\u{202e}", "\u{202e} and more"),
        ] {
            assert_eq!(said(path, before, after), "", "{after}");
        }
        let deep = format!("{}vim: set x\n{}", "x\n".repeat(9), "x\n".repeat(9));
        assert_eq!(said("a", "", &deep), "");
    }
}
