//! Which lines differ: the one place that calls the diff library. What the difference means is decided elsewhere.

use std::{
    collections::HashMap,
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Lines on both sides together up to which a diff may take the time it takes (tens of milliseconds); it then depends on
/// its input alone.
const SMALL: usize = 20_000;

/// How long a larger one may take. Past it the rest is one big difference, which is coarse but never wrong.
const PATIENCE: Duration = Duration::from_millis(400);

/// Lines of `old` that were replaced by lines of `new`; one of the two can be none. Between two regions of a difference
/// there is at least one equal line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// Numbers for lines, so that equal lines have equal numbers.
#[derive(Debug, Default)]
pub(crate) struct Numbers<'a>(HashMap<(&'a [u8], bool), u32>);

impl<'a> Numbers<'a> {
    /// A number for each of these; the flag tells apart what has the same bytes.
    pub(crate) fn of(&mut self, lines: impl Iterator<Item = (&'a [u8], bool)>) -> Vec<u32> {
        lines
            .map(|line| {
                let next = u32::try_from(self.0.len()).expect("fewer lines than 2^32");
                *self.0.entry(line).or_insert(next)
            })
            .collect()
    }
}

/// The difference of two texts, byte for byte.
pub(crate) fn regions(old: &[&[u8]], new: &[&[u8]]) -> Vec<Region> {
    let mut numbers = Numbers::default();
    let old = numbers.of(old.iter().map(|line| (*line, true)));
    let new = numbers.of(new.iter().map(|line| (*line, true)));
    regions_of(&old, &new)
}

/// The difference of two sequences, top to bottom. A region that could stand in several places, since the lines around it
/// are like its own, stands in the lowest.
pub(crate) fn regions_of(old: &[u32], new: &[u32]) -> Vec<Region> {
    let deadline = (old.len() + new.len() > SMALL).then(|| Instant::now() + PATIENCE);
    let mut found: Vec<Region> = Vec::new();
    for op in capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        match found.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => found.push(Region { old, new }),
        }
    }
    lowest(found, old, new)
}

/// Slides each pure insertion or deletion down as far as it goes; one that reaches the next region becomes part of it.
fn lowest(found: Vec<Region>, old: &[u32], new: &[u32]) -> Vec<Region> {
    let mut lowered: Vec<Region> = Vec::with_capacity(found.len());
    for mut region in found.into_iter().rev() {
        let limit = lowered.last().map_or(old.len(), |next| next.old.start);
        while region.old.end < limit {
            let slides = if region.old.is_empty() {
                new[region.new.start] == new[region.new.end]
            } else if region.new.is_empty() {
                old[region.old.start] == old[region.old.end]
            } else {
                false
            };
            if !slides {
                break;
            }
            region = Region {
                old: region.old.start + 1..region.old.end + 1,
                new: region.new.start + 1..region.new.end + 1,
            };
        }
        match lowered.last_mut() {
            Some(next) if next.old.start == region.old.end => {
                next.old.start = region.old.start;
                next.new.start = region.new.start;
            }
            _ => lowered.push(region),
        }
    }
    lowered.reverse();
    lowered
}

/// By how many lines a region of a difference could stand higher with the same result.
pub(crate) fn slack(regions: &[Region], index: usize, old: &[u32], new: &[u32]) -> usize {
    let region = &regions[index];
    let floor = index
        .checked_sub(1)
        .map_or(0, |above| regions[above].old.end);
    let (side, range) = match (region.old.is_empty(), region.new.is_empty()) {
        (true, false) => (new, &region.new),
        (false, true) => (old, &region.old),
        _ => return 0,
    };
    (0..region.old.start - floor)
        .take_while(|up| side[range.start - 1 - up] == side[range.end - 1 - up])
        .count()
}
