//! How many different names a task asks for. Each name that is resolved tells a name server something, so a wildcard would be a
//! channel of its own if there were no bound.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use legwork_spec::HostName;
use tokio::time::Instant;

/// New names in [`PERIOD`], at the most.
pub(crate) const MOST_NEW: usize = 60;
const PERIOD: Duration = Duration::from_mins(1);
/// Different names in all.
const MOST: usize = 4096;

/// The names so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: BTreeSet<HostName>,
    recent: VecDeque<Instant>,
}

impl Names {
    /// Whether this one may be asked for now.
    pub(crate) fn admit(&mut self, host: &HostName) -> bool {
        if self.known.contains(host) {
            return true;
        }
        let now = Instant::now();
        while self
            .recent
            .front()
            .is_some_and(|then| now.duration_since(*then) >= PERIOD)
        {
            self.recent.pop_front();
        }
        if self.recent.len() >= MOST_NEW || self.known.len() >= MOST {
            return false;
        }
        self.recent.push_back(now);
        self.known.insert(host.clone());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn names_that_are_known_are_free_and_new_ones_are_counted() {
        let mut names = Names::default();
        let name = |number: usize| format!("n{number}.pkg.test").parse::<HostName>().unwrap();
        assert_eq!(
            (0..1000)
                .filter(|number| names.admit(&name(*number)))
                .count(),
            MOST_NEW
        );
        assert!(names.admit(&name(0)) && !names.admit(&name(2000)));
        tokio::time::advance(PERIOD).await;
        assert!(names.admit(&name(2000)));
        for minute in 0..100 {
            tokio::time::advance(PERIOD).await;
            for number in 0..MOST_NEW {
                names.admit(&name(10_000 + minute * MOST_NEW + number));
            }
        }
        assert_eq!(names.known.len(), MOST);
    }
}
