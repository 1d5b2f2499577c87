//! What a reader of hunks could overlook: a change of the whole file that looks like many small ones.

use crate::{
    Opened, Part,
    text::{Ending, is_unterminated},
};

/// The mark that some editors put before a text in UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Lines from which on a file can be cut short in a way that a reader should be told.
const LONG: usize = 50;

impl Opened<'_> {
    /// One sentence each, without a full stop, for what the hunks of a changed text do not say by themselves: most of it
    /// is gone, its line endings, its byte order mark or the end of its last line changed, or bytes that are not UTF-8
    /// came into a text that was. Empty for most changes.
    pub fn remarks(&self) -> Vec<String> {
        let (Some(base), Some(agent)) = (self.base, self.agent) else {
            return Vec::new();
        };
        let hunks = self.review.hunks();
        if !hunks.iter().any(|hunk| hunk.part == Part::Lines) {
            return Vec::new();
        }
        let mut remarks = Vec::new();
        let count = |pick: fn(&crate::Hunk) -> u32| -> usize {
            hunks.iter().map(|hunk| pick(hunk) as usize).sum()
        };
        let removed = count(|hunk| hunk.before.len);
        let added = count(|hunk| hunk.after.len);
        let lines = self.base_lines.len();
        let gone = removed.saturating_sub(added);
        if lines >= LONG && gone * 2 > lines {
            remarks.push(format!(
                "{gone} of {lines} lines are gone: see that the file was not cut short"
            ));
        }
        let name = |ending| match ending {
            Ending::Lf => "LF",
            Ending::CrLf => "CRLF",
        };
        match (
            Ending::uniform(&self.base_lines),
            Ending::uniform(&self.agent_lines),
        ) {
            (Some(was), Some(is)) if was != is => remarks.push(format!(
                "all line endings change from {} to {}",
                name(was),
                name(is)
            )),
            (Some(was), None) if self.agent_lines.len() > 1 => remarks.push(format!(
                "the file ended its lines with {} and has mixed line endings now",
                name(was)
            )),
            _ => {}
        }
        match (base.bytes.starts_with(BOM), agent.bytes.starts_with(BOM)) {
            (true, false) => remarks.push("the byte order mark is gone".to_owned()),
            (false, true) => remarks.push("there is a byte order mark now".to_owned()),
            _ => {}
        }
        if !base.bytes.is_empty() && !agent.bytes.is_empty() {
            match (is_unterminated(base.bytes), is_unterminated(agent.bytes)) {
                (false, true) => remarks.push("the last line lost its line ending".to_owned()),
                (true, false) => remarks.push("the last line has a line ending now".to_owned()),
                _ => {}
            }
        }
        let utf8 = |bytes| std::str::from_utf8(bytes).is_ok();
        match (utf8(base.bytes), utf8(agent.bytes)) {
            (true, false) => remarks.push("the text is not valid UTF-8 any more".to_owned()),
            (false, false) if self.adds_utf8() => remarks.push(
                "the file is not in UTF-8, and new lines in UTF-8 were added to it".to_owned(),
            ),
            _ => {}
        }
        remarks
    }

    /// Whether a hunk brings a line that only UTF-8 explains.
    fn adds_utf8(&self) -> bool {
        let added = self.review.hunks.iter().flat_map(|hunk| {
            let lines = self.agent_lines.get(hunk.after.range());
            lines.unwrap_or_default()
        });
        added
            .filter(|line| !line.is_ascii())
            .any(|line| std::str::from_utf8(line).is_ok())
    }
}
