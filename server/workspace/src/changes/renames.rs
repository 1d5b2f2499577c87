//! Tells a file that went away and one that came with the same content as one move. Pure.

use std::collections::BTreeMap;

use legwork_model::{Change, ChangeKind, Digest, Side};

/// Files of fewer bytes are alike by chance.
const SHORTEST: u64 = 1;

/// Joins pairs of one deletion and one creation. Where several have the same content, the name decides; what stays
/// ambiguous stays as it is.
pub(super) fn find(changes: Vec<Change>) -> Vec<Change> {
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
    let moved: std::collections::BTreeSet<usize> = from_of.values().copied().collect();
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
