//! Changes that come before those they build on. Helix 25.01 sends each change from a task of its own, so that quick typing
//! comes in any order; its versions count by one and tell. A version may also never come: Helix counts what it tries out
//! and takes back. So a change waits for the one before it, and not for long.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use gen_lsp_types::TextDocumentContentChangeEvent;

/// How long a change waits. What comes in disorder comes within a millisecond.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// So many wait at most.
const MOST: usize = 256;

type Changes = Vec<TextDocumentContentChangeEvent>;

/// Changes of one document that wait, by version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Early {
    waiting: BTreeMap<i32, Changes>,
    /// When one last came or went.
    moved: Option<Instant>,
}

impl Early {
    /// Takes what came and gives what can be applied to a text of the version `at`, in order.
    pub(crate) fn sort(&mut self, at: i32, version: i32, changes: Changes) -> Vec<(i32, Changes)> {
        // What comes after it was given up comes too late for any order.
        if version <= at {
            return vec![(version.max(at), changes)];
        }
        self.waiting.insert(version, changes);
        self.moved = Some(Instant::now());
        if self.waiting.len() > MOST {
            return self.all();
        }
        let mut next = at;
        let mut sorted = Vec::new();
        while let Some(changes) = next
            .checked_add(1)
            .and_then(|after| self.waiting.remove(&after))
        {
            next += 1;
            sorted.push((next, changes));
        }
        sorted
    }

    /// Whether any waits.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether any waits in vain.
    pub(crate) fn is_late(&self) -> bool {
        self.waits() && self.moved.is_none_or(|moved| moved.elapsed() >= PATIENCE)
    }

    /// All that waits, in order.
    pub(crate) fn all(&mut self) -> Vec<(i32, Changes)> {
        std::mem::take(&mut self.waiting).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(sorted: &[(i32, Changes)]) -> Vec<i32> {
        sorted.iter().map(|(version, _)| *version).collect()
    }

    #[test]
    fn changes_come_out_in_order() {
        let mut early = Early::default();
        let mut at = 17;
        let mut seen = Vec::new();
        // As Helix 25.01 was seen to send them.
        for version in [20, 21, 18, 19, 22, 26, 24, 27, 23, 25, 28] {
            let sorted = versions(&early.sort(at, version, Vec::new()));
            at = sorted.last().copied().unwrap_or(at);
            seen.extend(sorted);
        }
        assert_eq!(seen, (18..=28).collect::<Vec<_>>());
        assert!(!early.waits());
    }

    #[test]
    fn a_version_that_never_comes_is_not_waited_for_for_ever() {
        let mut early = Early::default();
        assert!(early.sort(1, 4, Vec::new()).is_empty());
        assert!(early.sort(1, 3, Vec::new()).is_empty());
        assert!(early.waits() && !early.is_late());
        std::thread::sleep(PATIENCE);
        assert!(early.is_late());
        assert_eq!(versions(&early.all()), [3, 4]);
        assert!(!early.waits());
        assert_eq!(versions(&early.sort(4, 2, Vec::new())), [4]);
    }

    #[test]
    fn not_all_too_many_wait() {
        let mut early = Early::default();
        let most = i32::try_from(MOST).unwrap();
        for version in 2..2 + most {
            assert!(early.sort(0, version, Vec::new()).is_empty());
        }
        assert_eq!(early.sort(0, 2 + most, Vec::new()).len(), MOST + 1);
    }
}
