//! Undo, and what a daemon that is gone left between intention and record.

use legwork_model::{Side, TaskId};
use legwork_review::Content;
use legwork_wire::{Decided, Skipped, Undo};
use legwork_workspace::{Applied, Edit, Recovered, RecoveredAs, Workspace, recover};

use super::{
    Case, ReviewError, Reviewer, count,
    sides::{self, Leaving},
};
use crate::{
    clock,
    store::{Decision, DecisionKind, FileRow, Unsettled},
};

/// Behind the token of a decision in the journal: it is being taken back.
const UNDO: &str = ":undo";

impl Reviewer {
    /// Takes a decision of a task back, with what belongs to it: its hunks are pending again, and what it wrote is gone
    /// from the files. The parts of a gesture are taken back one by one, the latest first; where one of them cannot be,
    /// the earlier ones stay too.
    pub(crate) fn undo(&self, name: &str, undo: &Undo) -> Result<Decided, ReviewError> {
        let _deciding = self.lock();
        let case = self.case(name)?;
        let id = &case.task.id;
        let last = |gesture: Option<&str>| self.store.with(|db| db.last_decision(id, gesture));
        let mut next = last(undo.gesture.as_deref())?;
        let mut done = match (&next, &undo.gesture) {
            (None, None) => return Err(ReviewError::NothingToUndo(id.clone())),
            _ => Decided {
                pending: case.pending(),
                ..Decided::default()
            },
        };
        let mut first = true;
        while let Some(decision) = next {
            match self.take_back(name, &decision) {
                Ok(one) => {
                    done.hunks += one.hunks;
                    done.written.extend(one.written);
                    done.pending = one.pending;
                }
                Err(error) if first => return Err(error),
                Err(error) => {
                    let reason = error.to_string();
                    let stays = decision.picks.into_iter().map(|(path, _)| Skipped {
                        path,
                        hunk: None,
                        reason: reason.clone(),
                    });
                    done.skipped.extend(stays);
                    break;
                }
            }
            first = false;
            next = match &decision.gesture {
                Some(gesture) => last(Some(gesture))?,
                None => None,
            };
        }
        Ok(done)
    }

    /// Takes one decision back.
    fn take_back(&self, name: &str, decision: &Decision) -> Result<Decided, ReviewError> {
        let case = self.case(name)?;
        let id = &case.task.id;
        let moved = self.reopened(&case, decision)?;
        let mut written = Vec::new();
        if decision.kind == DecisionKind::Accept {
            let workspace = self.workspace(id, &case.task)?;
            let edits = self.reverse(&workspace, decision)?;
            if !edits.is_empty() {
                self.store
                    .with(|db| db.intend_undo(&decision.token, &edits))?;
                let context = format!("{}{UNDO}", decision.token);
                written = self
                    .write(&workspace, &edits, &context, &decision.token)?
                    .written;
            }
        }
        let pending = self
            .store
            .with(|db| db.undone(id, &decision.token, &moved, clock::now()))?;
        Ok(Decided {
            hunks: count(decision),
            written,
            skipped: Vec::new(),
            pending,
        })
    }

    /// The edits that take an accept back from files that may have moved on.
    pub(super) fn reverse(
        &self,
        workspace: &Workspace,
        decision: &Decision,
    ) -> Result<Vec<Edit>, ReviewError> {
        let mut edits = Vec::new();
        let leaving = Leaving::of_edits(&decision.undo);
        for edit in &decision.undo {
            let path = &edit.path;
            let failed = |source| ReviewError::Undo {
                path: path.clone(),
                source,
            };
            let live = match leaving.hides(path) {
                true => None,
                false => sides::live(workspace, path)
                    .ok_or_else(|| failed(legwork_review::UndoError::Replaced))?,
            };
            let live_side = live
                .as_ref()
                .map(|live| sides::side(live, &self.blobs))
                .transpose()?;
            if live_side == edit.after {
                // A folder is still said to stay: else it would go with the last file in it.
                if live_side == Some(Side::Dir) {
                    edits.push(Edit {
                        before: live_side,
                        ..edit.clone()
                    });
                }
                continue;
            }
            if live_side == edit.before {
                edits.push(edit.clone());
                continue;
            }
            let accepted = sides::content(&self.blobs, path, edit.before.as_ref())?;
            let original = sides::content(&self.blobs, path, edit.after.as_ref())?;
            let [original_version, accepted, now] = [&original, &accepted, &live]
                .map(|content| content.as_ref().map(Content::as_version));
            let result = legwork_review::undo(original_version, accepted, now).map_err(failed)?;
            if result != live {
                let after = result
                    .map(|result| sides::side(&result, &self.blobs))
                    .transpose()?;
                edits.push(Edit {
                    path: path.clone(),
                    before: live_side,
                    after,
                });
            }
        }
        Ok(edits)
    }

    /// Finishes or forgets what an earlier daemon was cut off in. To be called once, before any decision.
    pub(crate) fn recover(&self) -> Result<(), ReviewError> {
        let recovered = recover(&self.journal)?;
        for unsettled in self.store.with(|db| db.unsettled())? {
            let task = unsettled.task.clone();
            if let Err(error) = self.settle(unsettled, &recovered) {
                tracing::error!(%task, %error, "a decision could not be settled");
            }
        }
        Ok(())
    }

    fn settle(&self, unsettled: Unsettled, recovered: &[Recovered]) -> Result<(), ReviewError> {
        let Unsettled {
            task,
            mut decision,
            undoing,
        } = unsettled;
        let context = match undoing {
            None => decision.token.clone(),
            Some(_) => format!("{}{UNDO}", decision.token),
        };
        let outcome = recovered
            .iter()
            .find(|recovered| recovered.context == context)
            .map(|found| &found.outcome);
        let edits = undoing.as_ref().unwrap_or(&decision.edits);
        let applied = match outcome {
            Some(RecoveredAs::Finished(applied)) => Some(applied.clone()),
            Some(RecoveredAs::RolledBack) => None,
            Some(RecoveredAs::Stuck(why)) => {
                tracing::error!(%task, why, "an interrupted accept is stuck; the next start tries again");
                return Ok(());
            }
            // It was cut off before the journal began or after it ended: the files tell which.
            None => self.was_written(&task, edits)?.then(|| Applied {
                written: Vec::new(),
                undo: edits.iter().rev().map(Edit::reverse).collect(),
            }),
        };
        let Some(applied) = applied else {
            tracing::info!(%task, "a decision that was cut off did not reach the files");
            return Ok(self.store.with(|db| db.forget_intent(&decision.token))?);
        };
        let case = self.case(task.as_str())?;
        if undoing.is_some() {
            let moved = self.reopened(&case, &decision)?;
            self.store
                .with(|db| db.undone(&task, &decision.token, &moved, clock::now()))?;
        } else {
            decision.undo = applied.undo;
            let moved = decision
                .moved
                .iter()
                .map(|(path, review)| {
                    Ok(FileRow::new(case.row(path)?.change.clone(), review.clone()))
                })
                .collect::<Result<Vec<_>, ReviewError>>()?;
            self.store
                .with(|db| db.decide(&task, &decision, &moved, clock::now()))?;
        }
        tracing::info!(%task, "a decision that was cut off is complete");
        Ok(())
    }

    /// Whether edits that are in no journal reached the files. All of them did, or none; one that can be told apart tells.
    fn was_written(&self, task: &TaskId, edits: &[Edit]) -> Result<bool, ReviewError> {
        let task = self.store.with(|db| db.task(task))?;
        let workspace = self.workspace(&task.id, &task)?;
        for edit in edits.iter().filter(|edit| edit.before != edit.after) {
            let Some(live) = sides::live(&workspace, &edit.path) else {
                continue;
            };
            let live = live
                .as_ref()
                .map(|live| sides::side(live, &self.blobs))
                .transpose()?;
            if live == edit.after {
                return Ok(true);
            }
            if live == edit.before {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// The files of a decision with its hunks pending again. A task that went on after it may have changed something else
    /// by now: what is not there any more waits for nothing, and what was accepted and became part of the base leaves it.
    fn reopened(&self, case: &Case, decision: &Decision) -> Result<Vec<FileRow>, ReviewError> {
        let mut rows = Vec::new();
        for (path, ids) in &decision.picks {
            let Ok(row) = case.row(path) else { continue };
            let here = |id: &u32| row.review.hunk(*id).is_some();
            let undo = decision.undo.iter().find(|edit| edit.path == *path);
            let row = match undo {
                Some(undo) if !ids.iter().all(here) => {
                    let last = ids.iter().copied().max().unwrap_or(0);
                    self.unmoved(row, undo, last)?
                }
                _ => row.clone(),
            };
            let mut ids = ids.clone();
            ids.retain(|id| row.review.hunk(*id).is_some());
            let review = row
                .review
                .reopen(&ids)
                .map_err(|error| ReviewError::decide(&row, error))?;
            rows.push(FileRow::new(row.change, review));
        }
        Ok(rows)
    }
}
