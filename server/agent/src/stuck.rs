//! Notices that an agent goes round in circles: by what it does, not by what it says.

use std::collections::VecDeque;

/// How many steps back it looks.
const WINDOW: usize = 20;

/// The same call with the same result, so many times.
const SAME: usize = 4;

/// The same call with an error, so many times in a row.
const FAILED: usize = 3;

/// Two calls in turn, so many steps.
const TURNS: usize = 6;

/// What a call was and what came of it, each as a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    call: blake3::Hash,
    result: blake3::Hash,
    ok: bool,
}

/// What was done lately.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    seen: VecDeque<Seen>,
    /// How often it was found out.
    found: u32,
}

/// What to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Circle {
    /// Tell the model.
    Nudge(String),
    /// End the work.
    Stop(String),
}

impl Watch {
    /// Takes a call and its result.
    pub(crate) fn take(&mut self, call: &str, result: &str, ok: bool) -> Option<Circle> {
        self.seen.push_back(Seen {
            call: blake3::hash(call.as_bytes()),
            result: blake3::hash(result.as_bytes()),
            ok,
        });
        if self.seen.len() > WINDOW {
            self.seen.pop_front();
        }
        let what = self.circle()?;
        // What was told is not told again for the same steps.
        self.seen.clear();
        self.found += 1;
        Some(match self.found {
            1 | 2 => Circle::Nudge(what),
            _ => Circle::Stop(what),
        })
    }

    fn circle(&self) -> Option<String> {
        let last = *self.seen.back()?;
        let same = self.seen.iter().filter(|seen| **seen == last).count();
        let failed = self
            .seen
            .iter()
            .rev()
            .take_while(|seen| seen.call == last.call && !seen.ok)
            .count();
        if failed >= FAILED {
            return Some(format!("the same call failed {failed} times in a row"));
        }
        if same >= SAME {
            return Some(format!("the same call gave the same result {same} times"));
        }
        let turns: Vec<&Seen> = self.seen.iter().rev().take(TURNS).collect();
        let alternates = turns.len() == TURNS
            && turns[0] != turns[1]
            && (2..TURNS).all(|index| turns[index] == turns[index - 2]);
        alternates.then(|| format!("the same two calls were made in turn for {TURNS} steps"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(steps: &[(&str, &str, bool)]) -> Option<(usize, Circle)> {
        let mut watch = Watch::default();
        let mut found = steps
            .iter()
            .enumerate()
            .filter_map(|(index, (call, result, ok))| {
                Some((index + 1, watch.take(call, result, *ok)?))
            });
        found.next()
    }

    #[test]
    fn b124_circles_are_noticed_and_end_the_work_at_last() {
        let after = |steps: &[(&str, &str, bool)]| first(steps).map(|(index, _)| index);
        assert_eq!(after(&[("a", "1", true); 10]), Some(4));
        assert_eq!(after(&[("a", "e", false); 10]), Some(3));
        let turns = [("a", "1", true), ("b", "2", true)].repeat(4);
        assert_eq!(after(&turns), Some(6));
        // New results are progress.
        let texts: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let news: Vec<(&str, &str, bool)> = texts
            .iter()
            .map(|text| ("a", text.as_str(), true))
            .collect();
        assert_eq!(after(&news), None);
        let mut watch = Watch::default();
        let found: Vec<Circle> = (0..200)
            .filter_map(|_| watch.take("a", "e", false))
            .take(3)
            .collect();
        assert!(matches!(
            found.as_slice(),
            [Circle::Nudge(_), Circle::Nudge(_), Circle::Stop(_)]
        ));
    }
}
