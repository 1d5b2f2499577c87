//! The hunks of one file in one text: where each stands, and what it shows. Pure.
//!
//! The text is a live buffer, or the file on disk where no buffer is open. A file may be the business of several tasks.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use legwork_model::{ChangeKind, TaskId};
use legwork_review::{
    FileReview, LineKind, LineView, Mode, OpenError, Opened, Part, Placement, State, Version,
};
use legwork_wire::DeskFile;

use crate::name::HunkName;

/// Lines of one hunk that are given to a client.
const MOST_LINES: usize = 400;

/// UTF-8's mark, which editors keep apart from the text.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// A file of a task, with its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    pub(crate) task: &'a TaskId,
    pub(crate) title: &'a str,
    /// The task goes on.
    pub(crate) running: bool,
    /// That it was made on another commit.
    pub(crate) moved: Option<&'a str>,
    pub(crate) file: &'a DeskFile,
    pub(crate) base: Option<&'a [u8]>,
    pub(crate) agent: Option<&'a [u8]>,
}

/// Where a hunk that waits stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    /// It has a place.
    Pending,
    /// The text holds its result already.
    Already,
    /// The text was changed at the same place, which is where its lines say.
    Conflicted,
}

/// A hunk that waits, where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) name: HunkName,
    pub(crate) title: String,
    pub(crate) stand: Stand,
    /// The first line that is replaced, from 0; for an insertion the line it comes before.
    pub(crate) start: u32,
    /// The line after the last one that is replaced.
    pub(crate) end: u32,
    pub(crate) lines: Vec<LineView>,
    /// For a change without lines of its own, what it is.
    pub(crate) whole: Option<&'static str>,
    pub(crate) summary: Option<String>,
    pub(crate) sensitive: Option<String>,
    pub(crate) running: bool,
    pub(crate) moved: Option<String>,
}

impl Spot {
    /// Whether its lines meet these, which are from 0 and include the last one. An insertion is met by the line it comes
    /// before; at the end of the text, by the last line.
    pub(crate) fn meets(&self, first: u32, last: u32, line_count: u32) -> bool {
        let start = self.start.min(line_count.saturating_sub(1));
        let end = self.end.max(start + 1);
        start <= last && first < end
    }

    pub(crate) fn side(&self, kind: LineKind) -> Vec<String> {
        self.lines
            .iter()
            .filter(|line| line.kind == kind)
            .take(MOST_LINES)
            .map(|line| line.text.clone())
            .collect()
    }
}

/// All of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sheet {
    /// Hunks that wait, top to bottom.
    pub(crate) spots: Vec<Spot>,
    /// Accepted hunks that the text holds.
    pub(crate) standing: BTreeSet<HunkName>,
    /// Accepted hunks in place of which the text holds what stood there before: taken back, if they stood before.
    pub(crate) taken_back: BTreeSet<HunkName>,
}

impl Sheet {
    /// Hunks that have come into the text since `before` without an accept: the user typed them, or brought them in.
    pub(crate) fn arrived(&self, before: Option<&Self>) -> Vec<HunkName> {
        let known: BTreeMap<&HunkName, Stand> = before
            .into_iter()
            .flat_map(|sheet| &sheet.spots)
            .map(|spot| (&spot.name, spot.stand))
            .collect();
        let stood = |name| before.is_some_and(|sheet| sheet.standing.contains(name));
        self.spots
            .iter()
            .filter(|spot| spot.stand == Stand::Already)
            // What stood there as accepted and is pending now was taken back somewhere else: this text only has it still.
            .filter(|spot| known.get(&spot.name) != Some(&Stand::Already) && !stood(&spot.name))
            .map(|spot| spot.name.clone())
            .collect()
    }

    /// Hunks that the text had and that were taken out of it again.
    pub(crate) fn left(&self, before: Option<&Self>) -> Vec<HunkName> {
        let Some(before) = before else {
            return Vec::new();
        };
        self.taken_back
            .intersection(&before.standing)
            .cloned()
            .collect()
    }
}

/// Places a task's hunks of a file in a text; `None` for no text at all: nothing stands at the path.
///
/// # Errors
///
/// [`OpenError`] when the bytes are not those of the review.
pub(crate) fn place(source: &Source<'_>, text: Option<&[u8]>) -> Result<Sheet, OpenError> {
    let review = &source.file.review;
    let opened = review.open(source.base, source.agent)?;
    let bytes = live(source, text);
    let live = bytes.as_deref().map(|bytes| version(review, bytes));
    let placements = opened.place(live);
    let views = opened.views();
    let near = if placements.contains(&Placement::Conflicted) {
        opened.near(live)
    } else {
        Vec::new()
    };
    let mut sheet = Sheet::default();
    for (index, ((hunk, view), placement)) in
        review.hunks().iter().zip(views).zip(placements).enumerate()
    {
        let name = HunkName {
            task: source.task.clone(),
            number: hunk.id,
            path: source.file.path.clone(),
        };
        match (hunk.state, placement) {
            (State::Rejected, _) => continue,
            (State::Accepted, Placement::At { .. }) => {
                sheet.standing.insert(name);
                continue;
            }
            (State::Accepted, _) => {
                if is_back(source, &opened, hunk.id, live) {
                    sheet.taken_back.insert(name);
                }
                continue;
            }
            (State::Pending, _) => {}
        }
        let (stand, start, len) = match placement {
            Placement::At { line } => (Stand::Pending, line - 1, hunk.before.len),
            Placement::Already { line } => (Stand::Already, line - 1, hunk.after.len),
            Placement::Conflicted | Placement::Nowhere => {
                let start = match near.get(index).copied().flatten() {
                    Some(line) => line - 1,
                    None => hunk.before.start,
                };
                (Stand::Conflicted, start.min(last_line(text)), 0)
            }
        };
        let whole = whole(&source.file.kind, hunk.part, review);
        let len = if whole.is_some() { 0 } else { len };
        sheet.spots.push(Spot {
            name,
            title: source.title.to_owned(),
            stand,
            start,
            end: start + len,
            lines: view.lines,
            whole,
            summary: source.file.summary.clone(),
            sensitive: source.file.sensitive.clone(),
            running: source.running,
            moved: source.moved.map(str::to_owned),
        });
    }
    Ok(sheet)
}

/// The text as bytes that can be compared with the file's: with the mark that the editor keeps apart.
pub(crate) fn live(source: &Source<'_>, text: Option<&[u8]>) -> Option<Vec<u8>> {
    let text = text?;
    let mark = if mark_len(source, text) > 0 {
        MARK
    } else {
        &[]
    };
    Some([mark, text].concat())
}

/// How many bytes stand before the text in [`live`].
pub(crate) fn mark_len(source: &Source<'_>, text: &[u8]) -> usize {
    let marked = source
        .base
        .or(source.agent)
        .is_some_and(|base| base.starts_with(MARK));
    if marked && !text.starts_with(MARK) {
        MARK.len()
    } else {
        0
    }
}

/// A buffer has no mode: it is what the file is.
pub(crate) fn version<'a>(review: &FileReview, bytes: &'a [u8]) -> Version<'a> {
    let mode = review
        .base()
        .or(review.agent())
        .map_or(Mode::REGULAR, |stored| stored.mode);
    let mode = if mode.is_file() { mode } else { Mode::REGULAR };
    Version { bytes, mode }
}

/// Whether the text holds, in place of this accepted hunk, what stood there before it. Formatting is not taking back: where
/// both sides differ in white space only, nothing is said.
fn is_back(source: &Source<'_>, opened: &Opened<'_>, id: u32, live: Option<Version<'_>>) -> bool {
    let review = &source.file.review;
    let Ok(reopened) = review.reopen(&[id]) else {
        return false;
    };
    let Some(index) = review.hunks().iter().position(|hunk| hunk.id == id) else {
        return false;
    };
    let views = opened.views();
    let squeeze = |kind| -> String {
        views[index]
            .lines
            .iter()
            .filter(|line| line.kind == kind)
            .flat_map(|line| line.text.chars())
            .filter(|c| !c.is_whitespace())
            .collect()
    };
    if review.hunks()[index].part == Part::Lines
        && squeeze(LineKind::Removed) == squeeze(LineKind::Added)
        && !squeeze(LineKind::Removed).is_empty()
    {
        return false;
    }
    let Ok(opened) = reopened.open(source.base, source.agent) else {
        return false;
    };
    matches!(opened.place(live).get(index), Some(Placement::At { .. }))
}

fn whole(kind: &ChangeKind, part: Part, review: &FileReview) -> Option<&'static str> {
    match (part, kind) {
        (Part::Lines, _) => None,
        (Part::Mode, _) => Some("mode"),
        (Part::Whole, ChangeKind::Create) => Some("created"),
        (Part::Whole, ChangeKind::Delete) => Some("deleted"),
        (Part::Whole, ChangeKind::Rename { .. }) => Some("renamed"),
        (Part::Whole, _)
            if review
                .agent()
                .is_some_and(|agent| agent.mode == Mode::Symlink) =>
        {
            Some("link")
        }
        (Part::Whole, ChangeKind::Retype) => Some("retyped"),
        (Part::Whole, _) => Some("binary"),
    }
}

fn last_line(text: Option<&[u8]>) -> u32 {
    let lines = text.map_or(0, |text| text.iter().filter(|byte| **byte == b'\n').count());
    u32::try_from(lines).unwrap_or(u32::MAX)
}
