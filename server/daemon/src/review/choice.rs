//! Which hunks a decision is about. Pure.

use legwork_model::TreePath;
use legwork_review::State;
use legwork_wire::{Decide, Pick, Skipped};

use super::{ReviewError, failure::IN_HAND};
use crate::store::{DecisionKind, FileRow};

/// Hunks of one file, all of them pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) path: TreePath,
    /// Top to bottom.
    pub(super) ids: Vec<u32>,
    /// A single hunk was asked for: if it cannot be done, that is an error and not something to leave out.
    pub(super) named: bool,
}

/// What is to be decided, and what stays as it is.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Sorted by path, one for each file.
    pub(super) chosen: Vec<Chosen>,
    pub(super) skipped: Vec<Skipped>,
}

impl Choice {
    /// Understands the picks. No picks mean everything that is pending.
    ///
    /// # Errors
    ///
    /// A pick that names nothing, or that names something which was decided before.
    pub(super) fn of(
        rows: &[FileRow],
        decide: &Decide,
        kind: DecisionKind,
    ) -> Result<Self, ReviewError> {
        let mut choice = Self::default();
        if decide.picks.is_empty() {
            let pending = rows.iter().filter(|row| row.pending > 0);
            choice.bulk(pending, decide, kind);
        }
        for pick in &decide.picks {
            choice.pick(rows, pick, decide, kind)?;
        }
        if choice.chosen.is_empty() {
            return Err(if choice.skipped.is_empty() {
                ReviewError::Already {
                    what: "everything".to_owned(),
                    how: how(rows.iter()),
                }
            } else {
                ReviewError::nothing(choice.skipped, false)
            });
        }
        choice.chosen.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(choice)
    }

    /// Without the hunks that another editor has in hand.
    ///
    /// # Errors
    ///
    /// One that was asked for by its number is in hand, or all are.
    pub(super) fn without(
        mut self,
        in_hand: impl Fn(&TreePath, u32) -> bool,
    ) -> Result<Self, ReviewError> {
        let mut first = None;
        for chosen in &mut self.chosen {
            let path = &chosen.path;
            let out: Vec<u32> = chosen
                .ids
                .extract_if(.., |hunk| in_hand(path, *hunk))
                .collect();
            for hunk in out {
                let path = path.clone();
                if chosen.named {
                    return Err(ReviewError::Claimed { path, hunk });
                }
                first.get_or_insert_with(|| (path.clone(), hunk));
                self.skipped.push(Skipped {
                    path,
                    hunk: Some(hunk),
                    reason: format!("it {IN_HAND}"),
                });
            }
        }
        self.chosen.retain(|chosen| !chosen.ids.is_empty());
        match first {
            Some((path, hunk)) if self.chosen.is_empty() => {
                Err(ReviewError::Claimed { path, hunk })
            }
            _ => Ok(self),
        }
    }

    fn pick(
        &mut self,
        rows: &[FileRow],
        pick: &Pick,
        decide: &Decide,
        kind: DecisionKind,
    ) -> Result<(), ReviewError> {
        let Some(row) = rows.iter().find(|row| *row.path() == pick.path) else {
            let below: Vec<_> = rows
                .iter()
                .filter(|row| row.path().is_below(&pick.path))
                .collect();
            if below.is_empty() || pick.hunk.is_some() {
                return Err(ReviewError::NoChange(pick.path.clone()));
            }
            if below.iter().all(|row| row.pending == 0) {
                return Err(ReviewError::Already {
                    what: format!("everything below `{}`", pick.path),
                    how: how(below.into_iter()),
                });
            }
            self.bulk(
                below.into_iter().filter(|row| row.pending > 0),
                decide,
                kind,
            );
            return Ok(());
        };
        match pick.hunk {
            Some(id) => {
                // The engine knows why it cannot be decided, if so.
                row.review
                    .reject(&[id])
                    .map_err(|error| ReviewError::decide(row, error))?;
                self.add(row, vec![id], true);
            }
            None if row.pending == 0 => {
                return Err(ReviewError::Already {
                    what: format!("`{}`", pick.path),
                    how: how(std::iter::once(row)),
                });
            }
            None => self.add(row, row.review.pending(), false),
        }
        Ok(())
    }

    /// Adds all that is pending, but nothing sensitive to an accept unless that was asked for.
    fn bulk<'a>(
        &mut self,
        rows: impl Iterator<Item = &'a FileRow>,
        decide: &Decide,
        kind: DecisionKind,
    ) {
        for row in rows {
            match &row.change.sensitive {
                Some(why) if kind == DecisionKind::Accept && !decide.include_sensitive => {
                    self.skipped.push(Skipped {
                        path: row.path().clone(),
                        hunk: None,
                        reason: format!("it waits for a decision of its own: {why}"),
                    });
                }
                _ => self.add(row, row.review.pending(), false),
            }
        }
    }

    fn add(&mut self, row: &FileRow, ids: Vec<u32>, named: bool) {
        // What another pick left out is asked for now.
        self.skipped.retain(|skipped| skipped.path != *row.path());
        match self
            .chosen
            .iter_mut()
            .find(|chosen| chosen.path == *row.path())
        {
            Some(chosen) => {
                chosen.ids.extend(ids);
                chosen.ids.sort_unstable();
                chosen.ids.dedup();
                chosen.named |= named;
            }
            None => self.chosen.push(Chosen {
                path: row.path().clone(),
                ids,
                named,
            }),
        }
    }
}

/// What became of hunks of which none is pending.
fn how<'a>(rows: impl Iterator<Item = &'a FileRow>) -> &'static str {
    let (mut accepted, mut rejected) = (false, false);
    for hunk in rows.flat_map(|row| row.review.hunks()) {
        accepted |= hunk.state == State::Accepted;
        rejected |= hunk.state == State::Rejected;
    }
    match (accepted, rejected) {
        (true, false) => "accepted",
        (false, true) => "rejected",
        _ => "decided",
    }
}
