//! Hunks as plain data to be drawn: printable text with some lines around it.

use crate::{
    Opened, Part, State, printable,
    text::{Ending, body},
};

/// Lines of context on each side of a hunk.
const CONTEXT: usize = 3;

/// A hunk to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkView {
    /// Its number.
    pub id: u32,
    /// What it changes.
    pub part: Part,
    /// What was decided.
    pub state: State,
    /// First line in the base, from 1, and number of lines, without context. With no lines it is the line above which
    /// the hunk inserts.
    pub before: (u32, u32),
    /// The same in the agent's text.
    pub after: (u32, u32),
    /// Up to three lines of context on each side, and the change; empty when the change has no lines to show.
    pub lines: Vec<LineView>,
}

/// One line to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineView {
    /// Which side it is on.
    pub kind: LineKind,
    /// Its text, printable, without the line ending. Where a file does not end all its lines with `\r\n` but this one, a
    /// visible `\r` is left.
    pub text: String,
    /// The last line of its side, without an ending.
    pub no_newline: bool,
}

/// Which side a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// Both.
    Context,
    /// Only the base.
    Removed,
    /// Only the agent's text.
    Added,
}

impl Opened<'_> {
    /// All hunks, in the order of [`crate::FileReview::hunks`].
    pub fn views(&self) -> Vec<HunkView> {
        // Where every line ends alike the ending is no news.
        let (base, agent) = (&self.base_lines, &self.agent_lines);
        let quiet = match (Ending::uniform(base), Ending::uniform(agent)) {
            (Some(Ending::CrLf), Some(Ending::CrLf)) => true,
            (Some(Ending::CrLf), None) => agent.is_empty(),
            (None, Some(Ending::CrLf)) => base.is_empty(),
            _ => false,
        };
        let line = |kind, line: &[u8]| LineView {
            kind,
            text: if quiet {
                printable(body(line))
            } else {
                printable(line.strip_suffix(b"\n").unwrap_or(line))
            },
            no_newline: !line.ends_with(b"\n"),
        };
        let hunks = &self.review.hunks;
        let mut views = Vec::with_capacity(hunks.len());
        let mut floor = 0;
        for (index, hunk) in hunks.iter().enumerate() {
            let (before, after) = (hunk.before.range(), hunk.after.range());
            let mut lines = Vec::new();
            if hunk.part != Part::Mode {
                let ceiling = hunks[index + 1..]
                    .iter()
                    .find(|next| next.part == Part::Lines)
                    .map_or(base.len(), |next| next.before.range().start);
                let top = floor.max(before.start.saturating_sub(CONTEXT));
                let bottom = ceiling.min(before.end + CONTEXT);
                let context = |l: &&[u8]| line(LineKind::Context, l);
                if hunk.part == Part::Lines {
                    lines.extend(base[top..before.start].iter().map(context));
                }
                lines.extend(
                    base[before.clone()]
                        .iter()
                        .map(|l| line(LineKind::Removed, l)),
                );
                lines.extend(
                    agent[after.clone()]
                        .iter()
                        .map(|l| line(LineKind::Added, l)),
                );
                if hunk.part == Part::Lines {
                    lines.extend(base[before.end..bottom].iter().map(context));
                    floor = before.end;
                }
            }
            views.push(HunkView {
                id: hunk.id,
                part: hunk.part,
                state: hunk.state,
                before: (hunk.before.start + 1, hunk.before.len),
                after: (hunk.after.start + 1, hunk.after.len),
                lines,
            });
        }
        views
    }
}
