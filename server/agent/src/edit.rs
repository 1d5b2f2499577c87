//! Puts edits into a text: strictly, all or none of them. A text that is to be replaced must stand there once; all that is
//! forgiven are line ends and blanks at the ends of lines.

use std::fmt::Write as _;

/// A text and what comes in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// The text after all edits, each made on what the one before left.
///
/// # Errors
///
/// A sentence for the model that says where it stands instead. Nothing is changed then.
pub(crate) fn apply(text: &str, replacements: &[Replacement]) -> Result<String, String> {
    let mut now = text.to_owned();
    for (index, replacement) in replacements.iter().enumerate() {
        now = one(&now, replacement).map_err(|why| match replacements.len() {
            1 => why,
            count => format!(
                "edit {} of {count}: {why}; none of them was made",
                index + 1
            ),
        })?;
    }
    Ok(now)
}

fn one(text: &str, Replacement { old, new }: &Replacement) -> Result<String, String> {
    if old.trim().is_empty() {
        return Err("the old text is empty or blank, so it does not say where: give whole lines of the file".to_owned());
    }
    if old == new {
        return Err("the old and the new text are the same, so nothing would change".to_owned());
    }
    let (old, new) = if has_crlf(text) && !old.contains('\r') {
        (
            old.replace('\n', "\r\n"),
            new.replace("\r\n", "\n").replace('\n', "\r\n"),
        )
    } else {
        (old.clone(), new.clone())
    };
    let found: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
    match found.as_slice() {
        [at] => Ok([&text[..*at], &new, &text[at + old.len()..]].concat()),
        [] => forgiving(text, &old, &new),
        several => {
            let lines: Vec<usize> = several.iter().map(|at| line_of(text, *at)).collect();
            Err(many(&lines))
        }
    }
}

/// By whole lines, without what stands blank at their ends.
fn forgiving(text: &str, old: &str, new: &str) -> Result<String, String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let wanted: Vec<&str> = old.lines().map(str::trim_end).collect();
    let found: Vec<usize> = (0..lines.len())
        .filter(|&start| {
            let there = lines[start..].iter().map(|line| line.trim_end());
            wanted.len() <= lines.len() - start
                && there.zip(&wanted).all(|(line, wanted)| line == *wanted)
        })
        .collect();
    match found.as_slice() {
        [start] => {
            let end = start + wanted.len();
            let last = lines[end - 1];
            let line_end = &last[last.trim_end_matches(['\r', '\n']).len()..];
            let body = new.trim_end_matches(['\r', '\n']);
            let body = if body.is_empty() {
                String::new()
            } else {
                format!("{body}{line_end}")
            };
            Ok([lines[..*start].concat(), body, lines[end..].concat()].concat())
        }
        [] => Err(nearest(&lines, &wanted)),
        several => Err(many(
            &several.iter().map(|start| start + 1).collect::<Vec<_>>(),
        )),
    }
}

fn many(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(10).map(ToString::to_string).collect();
    format!(
        "the old text stands there {} times, at lines {}: give more lines around the one that is meant",
        lines.len(),
        shown.join(", ")
    )
}

/// Where the first line of what was looked for may be.
fn nearest(lines: &[&str], wanted: &[&str]) -> String {
    let first = wanted
        .iter()
        .find(|line| !line.trim().is_empty())
        .copied()
        .unwrap_or_default();
    let plain_first = plain(first);
    let mut scored: Vec<(u32, usize)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| (likeness(&plain(line), &plain_first), index))
        .filter(|(score, _)| *score >= 500)
        .collect();
    scored.sort_by_key(|(score, index)| (u32::MAX - score, *index));
    let mut told = "the old text does not stand in the file; nothing was changed".to_owned();
    if scored.is_empty() {
        told.push_str(", and no line is like its first one: read the file again");
        return told;
    }
    if scored.iter().any(|(score, _)| *score == 1000) {
        told.push_str("; a line differs only in blanks, quotes or a copied line number");
    }
    told.push_str("; nearest lines:");
    for (_, index) in scored.iter().take(3) {
        let line = lines[*index].trim_end();
        let line = &line[..line.floor_char_boundary(200)];
        let _ = write!(told, "\n{}: {line}", index + 1);
    }
    told
}

/// Without what often gets lost on the way through a model.
fn plain(line: &str) -> String {
    let line = line.trim();
    // A line number, as `read` shows it.
    let line = match line.split_once(['|', '\t']) {
        Some((number, rest)) if number.trim().parse::<u32>().is_ok() => rest,
        _ => line,
    };
    let mapped = line.chars().map(|c| match c {
        '\u{2018}' | '\u{2019}' => '\'',
        '\u{201c}' | '\u{201d}' => '"',
        c => c,
    });
    mapped.filter(|c| !c.is_whitespace()).collect()
}

/// How many pairs of characters two lines share, in thousandths.
fn likeness(a: &str, b: &str) -> u32 {
    if a == b {
        return 1000;
    }
    let pairs = |text: &str| {
        let chars: Vec<char> = text.chars().take(400).collect();
        let mut pairs: Vec<(char, char)> =
            chars.windows(2).map(|pair| (pair[0], pair[1])).collect();
        pairs.sort_unstable();
        pairs
    };
    let (a, b) = (pairs(a), pairs(b));
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    let (mut shared, mut i, mut j) = (0_usize, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                i += 1;
                j += 1;
            }
        }
    }
    u32::try_from(2000 * shared / (a.len() + b.len()))
        .unwrap_or(0)
        .min(999)
}

fn has_crlf(text: &str) -> bool {
    text.contains("\r\n") && !text.replace("\r\n", "").contains('\n')
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, pairs: &[(&str, &str)]) -> Result<String, String> {
        let replacements: Vec<Replacement> = pairs
            .iter()
            .map(|(old, new)| Replacement {
                old: (*old).to_owned(),
                new: (*new).to_owned(),
            })
            .collect();
        apply(text, &replacements)
    }

    #[test]
    fn b126_what_stands_there_once_is_replaced_and_nothing_else() {
        assert_eq!(edit("a\nb\nc\n", &[("b", "B")]).unwrap(), "a\nB\nc\n");
        assert_eq!(edit("a\nb\nc\n", &[("b\n", "")]).unwrap(), "a\nc\n");
        assert_eq!(edit("a\nb\n", &[("a", "x"), ("x\nb", "y")]).unwrap(), "y\n");
        // Blanks at line ends and line ends themselves are forgiven; the rest of the text keeps its own.
        assert_eq!(
            edit("a  \nb\t\nc \n", &[("a\nb\n", "x\ny\n")]).unwrap(),
            "x\ny\nc \n"
        );
        assert_eq!(
            edit("a\r\nb\r\nc\r\n", &[("a\nb", "x\ny\nz")]).unwrap(),
            "x\r\ny\r\nz\r\nc\r\n"
        );
        assert_eq!(edit("a \nb", &[("a\nb", "x")]).unwrap(), "x");
        assert_eq!(edit("a \nb\nc\n", &[("a\nb\n", "")]).unwrap(), "c\n");
    }

    #[test]
    fn b126_none_several_and_blank_anchors_change_nothing_and_say_where() {
        let text = "a\tb\n\na\tb\n  x = \"q\"\n  y\u{a0}= 1\n";
        for (old, part) in [
            ("", "blank"),
            (" ", "blank"),
            ("\n\t", "blank"),
            ("a\tb", "2 times, at lines 1, 3"),
            ("a b", "1: a\tb"),
            ("  x = \u{201c}q\u{201d}", "4:   x = \"q\""),
            ("  y = 1", "5:   y\u{a0}= 1"),
            ("4| x = \"q\"", "4:   x = \"q\""),
            ("entirely other", "read the file again"),
        ] {
            let why = edit(text, &[(old, "new")]).unwrap_err();
            assert!(why.contains(part), "{old:?}: {why}");
        }
        assert!(edit(text, &[("x", "x")]).unwrap_err().contains("same"));
        let why = edit("a\nb\n", &[("a", "x"), ("no such", "y")]).unwrap_err();
        assert!(
            why.starts_with("edit 2 of 2") && why.contains("none of them"),
            "{why}"
        );
        // Twice, if blanks at the ends are forgiven.
        assert!(
            edit("a \nb\na  \nb\n", &[("a\nb", "x")])
                .unwrap_err()
                .contains("2 times, at lines 1, 3")
        );
    }
}
