//! Tells a file that went away and one that came with the same or nearly the same content as one move. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use legwork_model::{Change, ChangeKind, Digest, Side};

/// Files of fewer bytes are alike by chance.
const SHORTEST: u64 = 1;

/// Longer texts are not compared line by line, in bytes.
pub(super) const LONGEST: u64 = 256 << 10;

/// Nor are more pairs than this: somebody moves whole trees then, and most of it is the same to the byte.
const MOST_PAIRS: usize = 10_000;

/// Fewer lines than these are alike by chance.
const FEWEST_LINES: usize = 3;

/// Joins pairs of one deletion and one creation. Where several have the same content, the name decides; what stays
/// ambiguous stays as it is. `text` gives what a deleted file held or a new one holds, if it is text and not too long.
pub(super) fn find(changes: &[Change], text: &dyn Fn(&Change) -> Option<Vec<u8>>) -> Vec<Change> {
    let mut by_digest: BTreeMap<Digest, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, change) in changes.iter().enumerate() {
        let content = |side: &Option<Side>| match side {
            Some(Side::File { digest, size, .. }) if *size >= SHORTEST => Some(*digest),
            _ => None,
        };
        match change.kind {
            ChangeKind::Delete => {
                if let Some(digest) = content(&change.before) {
                    by_digest.entry(digest).or_default().0.push(index);
                }
            }
            ChangeKind::Create => {
                if let Some(digest) = content(&change.after) {
                    by_digest.entry(digest).or_default().1.push(index);
                }
            }
            _ => {}
        }
    }
    let mut from_of = BTreeMap::new();
    for (mut gone, mut came) in by_digest.into_values() {
        came.retain(|&new| {
            let name = changes[new].path.name();
            let mut same = gone.iter().filter(|&&old| changes[old].path.name() == name);
            match (same.next().copied(), same.next()) {
                (Some(old), None) => {
                    gone.retain(|&index| index != old);
                    from_of.insert(new, old);
                    false
                }
                _ => true,
            }
        });
        if let ([old], [new]) = (gone.as_slice(), came.as_slice()) {
            from_of.insert(*new, *old);
        }
    }
    nearly(changes, text, &mut from_of);
    let moved: BTreeSet<usize> = from_of.values().copied().collect();
    let joined = changes.iter().enumerate().filter_map(|(index, change)| {
        if moved.contains(&index) {
            return None;
        }
        let mut change = change.clone();
        if let Some(old) = from_of.get(&index).map(|&old| &changes[old]) {
            change.kind = ChangeKind::Rename {
                from: old.path.clone(),
            };
            change.before.clone_from(&old.before);
            change.sensitive = change.sensitive.or_else(|| old.sensitive.clone());
        }
        Some(change)
    });
    joined.collect()
}

/// Adds pairs of texts of which six tenths are the same lines, the closest first.
fn nearly(
    changes: &[Change],
    text: &dyn Fn(&Change) -> Option<Vec<u8>>,
    from_of: &mut BTreeMap<usize, usize>,
) {
    let free = |kind: &ChangeKind, taken: &BTreeSet<usize>| -> Vec<usize> {
        let is = |index: &usize| changes[*index].kind == *kind && !taken.contains(index);
        (0..changes.len()).filter(is).collect()
    };
    let gone = free(&ChangeKind::Delete, &from_of.values().copied().collect());
    let came = free(&ChangeKind::Create, &from_of.keys().copied().collect());
    if gone.is_empty() || came.len().saturating_mul(gone.len()) > MOST_PAIRS {
        return;
    }
    let texts = |indices: Vec<usize>| -> Vec<(usize, Vec<u8>)> {
        let read = |index| Some((index, text(&changes[index])?));
        indices.into_iter().filter_map(read).collect()
    };
    let (gone, came) = (texts(gone), texts(came));
    let gone: Vec<(usize, Bag<'_>)> = gone.iter().map(|(at, text)| (*at, Bag::of(text))).collect();
    let mut pairs = Vec::new();
    for (new, text) in &came {
        let bag = Bag::of(text);
        for (old, other) in &gone {
            if let Some(likeness) = bag.likeness(other) {
                let same_name = changes[*new].path.name() == changes[*old].path.name();
                pairs.push((likeness, same_name, *new, *old));
            }
        }
    }
    pairs.sort_unstable_by(|a, b| b.cmp(a));
    // Of several that are equally close nobody knows which it was.
    let vague = |&(likeness, same_name, new, old): &(u64, bool, usize, usize)| {
        pairs.iter().any(|other| {
            (other.0, other.1) == (likeness, same_name) && ((other.2 == new) != (other.3 == old))
        })
    };
    let mut left: BTreeSet<usize> = pairs.iter().flat_map(|pair| [pair.2, pair.3]).collect();
    for pair in &pairs {
        let (_, _, new, old) = pair;
        if left.contains(new) && left.contains(old) {
            left.remove(new);
            left.remove(old);
            if !vague(pair) {
                from_of.insert(*new, *old);
            }
        }
    }
}

/// The lines of a text, without their order.
struct Bag<'a> {
    lines: HashMap<&'a [u8], usize>,
    count: usize,
    bytes: u64,
}

impl<'a> Bag<'a> {
    fn of(text: &'a [u8]) -> Self {
        let mut lines = HashMap::new();
        let mut count = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            *lines.entry(line).or_insert(0) += 1;
            count += 1;
        }
        let bytes = text.len() as u64;
        Self {
            lines,
            count,
            bytes,
        }
    }

    /// How much of the longer text both have, in thousandths, if it is enough.
    fn likeness(&self, other: &Self) -> Option<u64> {
        let longer = self.bytes.max(other.bytes);
        if self.count.min(other.count) < FEWEST_LINES
            || self.bytes.min(other.bytes) * 10 < longer * 6
        {
            return None;
        }
        let both = |(line, count): (&&[u8], &usize)| {
            let count = count.min(other.lines.get(line).unwrap_or(&0));
            line.len() as u64 * *count as u64
        };
        let thousandths = self.lines.iter().map(both).sum::<u64>() * 1000 / longer;
        (thousandths >= 600).then_some(thousandths)
    }
}
