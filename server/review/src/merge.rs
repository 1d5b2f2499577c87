//! Where the changes of one text stand in another that came from the same one, and what they write there.
//!
//! Three texts are at play: *old*, the text that the edits were made for; the edits; and *live*, what became of old
//! meanwhile. An edit has a place in live when no line it replaces was touched, and when that place is the only one.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use crate::{
    Splice,
    diff::{Numbers, Region, regions_of, slack},
    text::{Ending, body, is_unterminated, lines},
};

/// A text that can be read in more ways than this is not tried in all of them.
const MOST_READINGS: usize = 64;

/// Lines of a text that are replaced by others.
#[derive(Clone, Debug)]
pub(crate) struct Edit<'a> {
    /// Of the old text.
    pub(crate) range: Range<usize>,
    /// Each with its ending.
    pub(crate) lines: Vec<&'a [u8]>,
}

/// Where an edit stands: lines of the live text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// These are to be replaced.
    At(Range<usize>),
    /// These are its result already.
    Already(Range<usize>),
    /// The same lines were changed, or there is more than one place.
    Conflicted,
}

/// An old text and a live one, compared.
#[derive(Debug)]
pub(crate) struct Merge<'a> {
    old: Vec<&'a [u8]>,
    live: Vec<&'a [u8]>,
    fold: Fold,
    changes: Vec<Change>,
}

/// What the user changed, and how many lines higher it could stand just as well.
#[derive(Debug)]
struct Change {
    region: Region,
    slack: usize,
}

impl Change {
    /// The first line of the old text that it may have touched.
    fn top(&self) -> usize {
        self.region.old.start - self.slack
    }
}

/// Differences between old and live that are no changes of lines.
#[derive(Clone, Copy, Debug)]
struct Fold {
    /// All line endings are this one now, and were all another.
    ending: Option<Ending>,
    /// The last line is the same, but its ending came or went.
    last: bool,
}

/// How an edit lies to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Contact {
    None,
    Touches,
    Overlaps,
}

impl<'a> Merge<'a> {
    /// Compares.
    pub(crate) fn new(old: Vec<&'a [u8]>, live: &'a [u8]) -> Self {
        let live = lines(live);
        let fold = Fold::of(&old, &live);
        let changes = compare(old.iter().copied(), &live, fold);
        Self {
            old,
            live,
            fold,
            changes,
        }
    }

    /// Where these edits stand. They are in the order of the old text and do not overlap.
    pub(crate) fn spots(&self, edits: &[Edit<'_>]) -> Vec<Spot> {
        let edits: Vec<Edit<'_>> = edits.iter().map(|edit| self.trimmed(edit)).collect();
        if let Some(spots) = self.exact(&edits) {
            return spots;
        }
        let contacts: Vec<(Contact, Range<usize>)> =
            edits.iter().map(|edit| self.contact(edit)).collect();
        let mut done = Vec::new();
        if contacts
            .iter()
            .any(|(contact, _)| *contact != Contact::None)
        {
            done = self.done(&edits, &contacts);
        }
        let is_done: Vec<bool> = edits
            .iter()
            .enumerate()
            .map(|(index, edit)| {
                let nothing = edit.range.is_empty() && edit.lines.is_empty();
                nothing || done.get(index).is_some_and(Option::is_some)
            })
            .collect();
        if is_done.contains(&true) {
            return self.beside(&edits, &is_done);
        }
        let spot = |(edit, (contact, _)): (&Edit<'_>, &(Contact, Range<usize>))| match contact {
            Contact::Overlaps => Spot::Conflicted,
            Contact::None | Contact::Touches => Spot::At(self.locate(&edit.range)),
        };
        edits.iter().zip(&contacts).map(spot).collect()
    }

    /// The spots where some of the edits are done: what the user did is what is another than the old text with those. So a
    /// line is not taken for the result of two edits, nor for what one replaces and the result of another.
    fn beside(&self, edits: &[Edit<'_>], is_done: &[bool]) -> Vec<Spot> {
        let mut old: Vec<&[u8]> = Vec::with_capacity(self.live.len());
        let mut ranges = Vec::with_capacity(edits.len());
        let mut next = 0;
        for (edit, done) in edits.iter().zip(is_done) {
            old.extend(&self.old[next..edit.range.start]);
            let start = old.len();
            if *done {
                old.extend(&edit.lines);
            } else {
                old.extend(&self.old[edit.range.clone()]);
            }
            ranges.push(start..old.len());
            next = edit.range.end;
        }
        old.extend(&self.old[next..]);
        let changes = compare(old.iter().copied(), &self.live, self.fold);
        let merge = Merge {
            old,
            live: self.live.clone(),
            fold: self.fold,
            changes,
        };
        let spot = |((range, done), edit): ((Range<usize>, &bool), &Edit<'_>)| {
            if edit.range.is_empty() && edit.lines.is_empty() {
                return Spot::Already(merge.locate(&range));
            }
            match (merge.find(&range), done) {
                (None, _) => Spot::Conflicted,
                (Some(range), true) => Spot::Already(range),
                (Some(range), false) => Spot::At(range),
            }
        };
        ranges
            .into_iter()
            .zip(is_done)
            .zip(edits)
            .map(spot)
            .collect()
    }

    /// The spots in a live text that is the old one with some of these edits and nothing else, however its lines could be
    /// read otherwise. Where more than one choice of them makes it, each leads to the same text with all of them.
    fn exact(&self, edits: &[Edit<'_>]) -> Option<Vec<Spot>> {
        let same = |lines: &[&[u8]], at: usize| {
            let live = self.live.get(at..at + lines.len());
            live.is_some_and(|live| {
                lines
                    .iter()
                    .zip(live)
                    .all(|(line, live)| self.fold.key(line) == self.fold.key(live))
            })
        };
        // For each edit: where it can stand, done or not, and after which place of the one above.
        let mut levels: Vec<BTreeMap<usize, (usize, bool)>> = Vec::with_capacity(edits.len());
        let mut ends = BTreeSet::from([0]);
        let mut next = 0;
        for edit in edits {
            let between = &self.old[next..edit.range.start];
            let before = &self.old[edit.range.clone()];
            let mut level = BTreeMap::new();
            for &end in &ends {
                let at = end + between.len();
                if !same(between, end) {
                    continue;
                }
                for (lines, done) in [(&edit.lines[..], true), (before, false)] {
                    if same(lines, at) {
                        level.entry(at + lines.len()).or_insert((end, done));
                    }
                }
            }
            if level.is_empty() || level.len() > MOST_READINGS {
                return None;
            }
            ends = level.keys().copied().collect();
            levels.push(level);
            next = edit.range.end;
        }
        let rest = &self.old[next..];
        let mut end = self.live.len().checked_sub(rest.len())?;
        if !ends.contains(&end) || !same(rest, end) {
            return None;
        }
        let mut spots = Vec::with_capacity(edits.len());
        for (level, edit) in levels.iter().zip(edits).rev() {
            let (above, done) = *level.get(&end)?;
            let len = if done {
                edit.lines.len()
            } else {
                edit.range.len()
            };
            let range = end - len..end;
            spots.push(if done {
                Spot::Already(range)
            } else {
                Spot::At(range)
            });
            end = above;
        }
        spots.reverse();
        Some(spots)
    }

    /// The edit without the lines that it replaces by what counts as the same.
    fn trimmed<'e>(&self, edit: &Edit<'e>) -> Edit<'e> {
        let mut edit = edit.clone();
        if !self.fold.last && self.fold.ending.is_none() {
            return edit;
        }
        let same =
            |(old, new): &(usize, &&[u8])| self.fold.key(self.old[*old]) == self.fold.key(new);
        let above = edit.range.clone().zip(&edit.lines);
        let above = above.take_while(same).count();
        edit.range.start += above;
        edit.lines.drain(..above);
        let below = edit.range.clone().rev().zip(edit.lines.iter().rev());
        let below = below.take_while(same).count();
        edit.range.end -= below;
        edit.lines.truncate(edit.lines.len() - below);
        edit
    }

    /// Where lines of the old text that nobody touched stand in the live one; `None` when somebody did.
    pub(crate) fn find(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let edit = Edit {
            range: range.clone(),
            lines: Vec::new(),
        };
        (self.contact(&edit).0 != Contact::Overlaps).then(|| self.locate(range))
    }

    /// The line of the live text at which lines of the old one stood that may have been changed since.
    pub(crate) fn near(&self, range: &Range<usize>) -> usize {
        let above = self
            .changes
            .partition_point(|change| change.region.old.end <= range.start);
        match self.changes.get(above).map(|change| &change.region) {
            // Its own lines are others now: as far below the first of them, or where they end.
            Some(region) if region.old.start < range.start => {
                (region.new.start + range.start - region.old.start).min(region.new.end)
            }
            _ => self.locate(range).start,
        }
    }

    /// The strongest contact of an edit with the user's changes, and the lines of the live text those changes span.
    fn contact(&self, edit: &Edit<'_>) -> (Contact, Range<usize>) {
        let first = self
            .changes
            .partition_point(|change| change.region.old.end < edit.range.start);
        let mut contact = Contact::None;
        let mut span = 0..0;
        for change in &self.changes[first..] {
            if change.top() > edit.range.end {
                break;
            }
            if contact == Contact::None {
                contact = Contact::Touches;
                span = change.region.new.start - change.slack..change.region.new.end;
            }
            span.end = change.region.new.end;
            if overlaps(&edit.range, change) {
                contact = Contact::Overlaps;
            }
        }
        (contact, span)
    }

    /// For each edit that the user's changes touch: the lines of the live text that are its result already.
    fn done(
        &self,
        edits: &[Edit<'_>],
        contacts: &[(Contact, Range<usize>)],
    ) -> Vec<Option<Range<usize>>> {
        let mut result: Vec<&[u8]> = Vec::with_capacity(self.old.len());
        let mut ranges = vec![None; edits.len()];
        let mut next = 0;
        for (index, edit) in edits.iter().enumerate() {
            if contacts[index].0 == Contact::None {
                continue;
            }
            result.extend(&self.old[next..edit.range.start]);
            let start = result.len();
            result.extend(&edit.lines);
            ranges[index] = Some(start..result.len());
            next = edit.range.end;
        }
        result.extend(&self.old[next..]);
        let changes = compare(result.iter().copied(), &self.live, self.fold);
        ranges
            .into_iter()
            .zip(contacts)
            .zip(edits)
            .map(|((range, (contact, span)), edit)| {
                let range = range?;
                // The lines that it replaces stand there still.
                if *contact != Contact::Overlaps && !edit.range.is_empty() {
                    return None;
                }
                let first = changes.partition_point(|change| change.region.old.end < range.start);
                let untouched = changes[first..]
                    .iter()
                    .take_while(|change| change.top() <= range.end)
                    .all(|change| {
                        let beside =
                            change.top() == range.end || change.region.old.end == range.start;
                        beside && !range.is_empty()
                    });
                let found = shifted(&changes, &range);
                // The same lines elsewhere are not this edit's.
                let inside = span.start <= found.start && found.end <= span.end;
                (untouched && inside).then_some(found)
            })
            .collect()
    }

    fn locate(&self, range: &Range<usize>) -> Range<usize> {
        shifted(&self.changes, range)
    }

    /// The live text with these edits written at their spots, and what that replaces in it. Edits that are already there
    /// write nothing.
    pub(crate) fn write(&self, edits: &[Edit<'_>], spots: &[Spot]) -> (Vec<u8>, Vec<Splice>) {
        let ending = self.fold.ending.unwrap_or(Ending::prevailing(&self.live));
        let mut offsets = Vec::with_capacity(self.live.len() + 1);
        let mut offset = 0;
        offsets.push(offset);
        for line in &self.live {
            offset += line.len();
            offsets.push(offset);
        }
        let mut out: Vec<u8> = Vec::with_capacity(offset);
        let mut splices = Vec::new();
        let mut next = 0;
        for (edit, spot) in edits.iter().zip(spots) {
            let Spot::At(at) = spot else { continue };
            let edit = self.trimmed(edit);
            for line in &self.live[next..at.start] {
                out.extend_from_slice(line);
            }
            let written = out.len();
            for line in &edit.lines {
                if is_unterminated(&out) {
                    out.extend_from_slice(ending.bytes());
                }
                out.extend_from_slice(&self.fold.translate(line));
            }
            let last = at.end == self.live.len();
            if !last && is_unterminated(&out) {
                out.extend_from_slice(ending.bytes());
            }
            if last && self.fold.last && !edit.lines.is_empty() {
                self.end_like_live(&mut out, ending);
            }
            splices.push(Splice {
                range: offsets[at.start]..offsets[at.end],
                bytes: out[written..].to_vec(),
            });
            next = at.end;
        }
        for line in &self.live[next..] {
            out.extend_from_slice(line);
        }
        (out, splices)
    }

    /// The user decided whether the last line has an ending; the edit's last line follows.
    fn end_like_live(&self, out: &mut Vec<u8>, ending: Ending) {
        let live_ends = self.live.last().is_some_and(|line| line.ends_with(b"\n"));
        if live_ends && is_unterminated(out) {
            out.extend_from_slice(ending.bytes());
        } else if !live_ends && let Some(found) = Ending::of(out) {
            out.truncate(out.len() - found.bytes().len());
        }
    }
}

impl Fold {
    fn of(old: &[&[u8]], live: &[&[u8]]) -> Self {
        let ending = match (Ending::uniform(old), Ending::uniform(live)) {
            (Some(was), Some(is)) if was != is => Some(is),
            _ => None,
        };
        let last = match (old.last(), live.last()) {
            (Some(old), Some(live)) => {
                is_unterminated(old) != is_unterminated(live) && body(old) == body(live)
            }
            _ => false,
        };
        Self { ending, last }
    }

    /// What of a line counts when lines are compared.
    fn key(self, line: &[u8]) -> (&[u8], bool) {
        let terminated = self.last || line.ends_with(b"\n");
        if self.ending.is_some() {
            (body(line), terminated)
        } else {
            (line.strip_suffix(b"\n").unwrap_or(line), terminated)
        }
    }

    /// A line of an edit as it is written into the live text.
    fn translate(self, line: &[u8]) -> Cow<'_, [u8]> {
        match (self.ending, Ending::of(line)) {
            (Some(to), Some(from)) if to != from => Cow::Owned([body(line), to.bytes()].concat()),
            _ => Cow::Borrowed(line),
        }
    }
}

fn compare<'a>(old: impl Iterator<Item = &'a [u8]>, live: &[&'a [u8]], fold: Fold) -> Vec<Change> {
    let mut numbers = Numbers::default();
    let old = numbers.of(old.map(|line| fold.key(line)));
    let live = numbers.of(live.iter().map(|line| fold.key(line)));
    let regions = regions_of(&old, &live);
    let slacks: Vec<usize> = (0..regions.len())
        .map(|index| slack(&regions, index, &old, &live))
        .collect();
    regions
        .into_iter()
        .zip(slacks)
        .map(|(region, slack)| Change { region, slack })
        .collect()
}

/// Whether a change may have touched lines of a range. A range that only inserts has no lines: it gives way to all that the
/// user wrote at its place or right beside it, since no one can tell what is to stand above the other.
fn overlaps(range: &Range<usize>, change: &Change) -> bool {
    let old = &change.region.old;
    if range.is_empty() {
        let inside = range.start > change.top() && range.start < old.end;
        let beside = range.start == change.top() || range.start == old.end;
        inside || (beside && !change.region.new.is_empty())
    } else {
        range.start < old.end && range.end > change.top()
    }
}

/// Lines of the old text as lines of the new one: they are moved by all changes above them.
fn shifted(changes: &[Change], range: &Range<usize>) -> Range<usize> {
    let above = changes.partition_point(|change| change.region.old.end <= range.start);
    let start = match above.checked_sub(1).map(|last| &changes[last].region) {
        Some(region) => range.start - region.old.end + region.new.end,
        None => range.start,
    };
    start..start + range.len()
}
