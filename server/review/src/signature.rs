//! What was done to a text, without where: files in which the same was done have the same signature.

use std::collections::BTreeSet;

use legwork_model::Digest;

use crate::{Opened, Part, text::body};

/// Some text, and what stands in its place.
type Step = (Vec<u8>, Vec<u8>);

impl Opened<'_> {
    /// The same for two files in which the same was replaced, however often: one word for another on whatever lines, or
    /// whole lines for others, but for the space around them. `None` for a change that is not one of lines alone.
    pub fn signature(&self) -> Option<Digest> {
        let hunks = self.review.hunks();
        if hunks.is_empty() || hunks.iter().any(|hunk| hunk.part != Part::Lines) {
            return None;
        }
        let mut steps: BTreeSet<Step> = BTreeSet::new();
        for hunk in hunks {
            let removed = &self.base_lines[hunk.before.range()];
            let added = &self.agent_lines[hunk.after.range()];
            if removed.len() == added.len() {
                for (old, new) in removed.iter().zip(added) {
                    replaced(body(old), body(new), &mut steps);
                }
            } else {
                steps.insert((trimmed(removed), trimmed(added)));
            }
        }
        let mut bytes = Vec::new();
        for text in steps.iter().flat_map(|(old, new)| [old, new]) {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text);
        }
        Some(Digest::of(&bytes))
    }
}

/// The words of a line that stand for others now.
fn replaced(old: &[u8], new: &[u8], steps: &mut BTreeSet<Step>) {
    let (old, new) = (words(old), words(new));
    if old == new {
        // Space, or how a line ends.
        steps.insert(Step::default());
        return;
    }
    if old.len() == new.len() {
        let pairs = old.iter().zip(&new).filter(|(old, new)| old != new);
        steps.extend(pairs.map(|(old, new)| (old.to_vec(), new.to_vec())));
        return;
    }
    let same = |(a, b): &(&&[u8], &&[u8])| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let middle = |words: &[&[u8]]| words[..words.len() - tail].join(&b' ');
    steps.insert((middle(old), middle(new)));
}

/// Runs of letters, digits and `_`, and each other sign by itself; no space.
fn words(line: &[u8]) -> Vec<&[u8]> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    line.chunk_by(|&a, &b| is_word(a) && is_word(b))
        .filter(|word| !word.iter().all(u8::is_ascii_whitespace))
        .collect()
}

fn trimmed(lines: &[&[u8]]) -> Vec<u8> {
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.trim_ascii()).collect();
    lines.join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileReview, Version};

    fn signature(base: &str, agent: &str) -> Option<Digest> {
        let [base, agent] = [base, agent].map(str::as_bytes);
        let review =
            FileReview::propose(Some(Version::regular(base)), Some(Version::regular(agent)));
        review.open(Some(base), Some(agent)).unwrap().signature()
    }

    #[test]
    fn the_same_replacement_has_one_signature_wherever_and_however_often() {
        let once = signature("let colour = 1;\nx\n", "let color = 1;\nx\n");
        assert!(once.is_some());
        let often = signature(
            "a\n  f(colour, colour)\nb\nc\nreturn colour;\n",
            "a\n  f(color, color)\nb\nc\nreturn color;\n",
        );
        assert_eq!(once, often);
        assert_ne!(once, signature("let colour = 1;\n", "let hue = 1;\n"));
        assert_ne!(once, signature("let color = 1;\n", "let colour = 1;\n"));
        assert_ne!(
            once,
            signature("colour 1\n", "color 2\n"),
            "and something else"
        );
    }

    #[test]
    fn whole_lines_and_longer_ones_count_without_the_space_around_them() {
        let added = signature("a\nb\n", "a\n    import x\nb\n");
        assert_eq!(added, signature("c\n", "import x\nc\n"));
        assert_ne!(added, signature("c\n", "import y\nc\n"));
        let call = signature("f(a)\n", "f(a, None)\n");
        assert_eq!(call, signature("x = f(a) + 1\n", "x = f(a, None) + 1\n"));
        let space = signature("if x\n\ty\n", "if x\n    y\n");
        assert_eq!(space, signature("z\r\n", "z\n"));
    }

    #[test]
    fn what_is_not_only_lines_has_none() {
        assert_eq!(signature("a\n", "a\n"), None);
        assert_eq!(signature("a\0", "b\0"), None);
        let created = FileReview::propose(None, Some(Version::regular(b"a\n")));
        assert_eq!(created.open(None, Some(b"a\n")).unwrap().signature(), None);
    }
}
