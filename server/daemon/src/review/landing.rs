//! Decisions that an editor carries out: it claims hunks, puts them into its buffers, and says which of them are there.
//! The live text is the editor's business. Here no file is written.

use std::{collections::BTreeSet, time::Instant};

use legwork_model::{ChangeKind, Side, TaskId, TreePath};
use legwork_review::{Content, Mode, State};
use legwork_wire::{Claimed, Decide, Decided, Landed, Last, Reopen, Settle, Skipped};
use legwork_workspace::{Edit, Workspace};

use super::{Case, Claims, ReviewError, Reviewer, count, failure::IN_HAND, sides};
use crate::{
    clock,
    store::{Decision, DecisionKind, Dropped, FileRow},
};

/// What becomes of a [`Settle`].
#[derive(Debug, Default)]
struct Record {
    picks: Vec<(TreePath, Vec<u32>)>,
    moved: Vec<FileRow>,
    undo: Vec<Edit>,
    skipped: Vec<Skipped>,
}

impl Reviewer {
    /// Puts hunks into the hand of one editor: for some seconds nobody else can decide them.
    pub(crate) fn claim(&self, name: &str, decide: &Decide) -> Result<Claimed, ReviewError> {
        let mut claims = self.lock();
        let case = self.case(name)?;
        let choice = case.choose(decide, DecisionKind::Accept, &claims)?;
        let files: Vec<(TreePath, Vec<u32>)> = choice
            .chosen
            .into_iter()
            .map(|chosen| (chosen.path, chosen.ids))
            .collect();
        Ok(Claimed {
            token: claims.hold(&case.task.id, &files, Instant::now()),
            files,
            skipped: choice.skipped,
        })
    }

    /// Records hunks as accepted that stand in an editor's buffer, and lets go of the claim. What cannot be recorded is
    /// told; if that is all, nothing happens but that.
    pub(crate) fn landed(&self, name: &str, settle: &Settle) -> Result<Decided, ReviewError> {
        let mut claims = self.lock();
        let case = self.case(name)?;
        let id = &case.task.id;
        let mut named = BTreeSet::new();
        for landed in &settle.landed {
            case.row(&landed.path)?;
            if !named.insert(&landed.path) {
                return Err(ReviewError::Twice(landed.path.clone()));
            }
        }
        if let Some(token) = &settle.token {
            // Held too long or not, the text is in the buffer: what nobody else has in hand by now can be recorded.
            claims.release(id, token);
        }
        let record = self.record(&case, &settle.landed, &claims)?;
        if record.picks.is_empty() {
            return match record.skipped.into_iter().next() {
                Some(Skipped {
                    path,
                    hunk: Some(hunk),
                    reason,
                }) => Err(ReviewError::NotLanded { path, hunk, reason }),
                _ => Ok(Decided {
                    pending: case.pending(),
                    ..Decided::default()
                }),
            };
        }
        let decision = Decision {
            token: TaskId::random().to_string(),
            gesture: settle.gesture.clone(),
            kind: DecisionKind::Accept,
            reason: None,
            picks: record.picks,
            moved: Vec::new(),
            edits: Vec::new(),
            undo: record.undo,
        };
        let pending = self
            .store
            .with(|db| db.decide(id, &decision, &record.moved, clock::now()))?;
        Ok(Decided {
            hunks: count(&decision),
            written: Vec::new(),
            skipped: record.skipped,
            pending,
        })
    }

    /// Makes decided hunks pending again. They leave the decisions they were part of, so that an undo of those leaves them
    /// alone.
    pub(crate) fn reopen(&self, name: &str, reopen: &Reopen) -> Result<Decided, ReviewError> {
        let _claims = self.lock();
        let case = self.case(name)?;
        if reopen.picks.is_empty() {
            return Err(ReviewError::NothingNamed);
        }
        let mut dropped: Vec<Dropped> = Vec::new();
        for pick in &reopen.picks {
            let row = case.row(&pick.path)?;
            let decided = |id: &u32| {
                let hunk = row.review.hunk(*id);
                hunk.is_some_and(|hunk| hunk.state != State::Pending)
            };
            let mut hunks: Vec<u32> = match pick.hunk {
                Some(id) => {
                    row.review
                        .reopen(&[id])
                        .map_err(|error| ReviewError::decide(row, error))?;
                    vec![id]
                }
                None => row.review.hunks().iter().map(|hunk| hunk.id).collect(),
            };
            hunks.retain(decided);
            match dropped.iter_mut().find(|drop| drop.path == pick.path) {
                Some(drop) => {
                    hunks.retain(|id| !drop.hunks.contains(id));
                    drop.hunks.extend(hunks);
                }
                None => dropped.push(Dropped {
                    path: pick.path.clone(),
                    from: match &row.change.kind {
                        ChangeKind::Rename { from } => Some(from.clone()),
                        _ => None,
                    },
                    hunks,
                }),
            }
        }
        dropped.retain(|drop| !drop.hunks.is_empty());
        if dropped.is_empty() {
            return Ok(Decided {
                pending: case.pending(),
                ..Decided::default()
            });
        }
        let mut moved = Vec::new();
        for drop in &dropped {
            let row = case.row(&drop.path)?;
            let review = row
                .review
                .reopen(&drop.hunks)
                .map_err(|error| ReviewError::decide(row, error))?;
            moved.push(FileRow::new(row.change.clone(), review));
        }
        let hunks: usize = dropped.iter().map(|drop| drop.hunks.len()).sum();
        let id = &case.task.id;
        let pending = self
            .store
            .with(|db| db.reopen(id, &dropped, &moved, clock::now()))?;
        Ok(Decided {
            hunks: u32::try_from(hunks).unwrap_or(u32::MAX),
            pending,
            ..Decided::default()
        })
    }

    /// What was accepted last, in one go, and the texts that it stands in: for an editor that has the files open and takes
    /// it back in its buffers.
    pub(crate) fn last(&self, name: &str) -> Result<Last, ReviewError> {
        let _claims = self.lock();
        let case = self.case(name)?;
        let decisions = self.store.with(|db| db.last_gesture(&case.task.id))?;
        let mut last = Last {
            gesture: decisions.first().and_then(|made| made.gesture.clone()),
            files: Vec::new(),
        };
        let text = |path: &TreePath, side: Option<&Side>| -> Result<Option<String>, ReviewError> {
            let content = sides::content(&self.blobs, path, side)?;
            let content = content.filter(|content| content.mode.is_file());
            Ok(content.and_then(|content| String::from_utf8(content.bytes).ok()))
        };
        for decision in decisions {
            if decision.kind != DecisionKind::Accept {
                continue;
            }
            for (path, hunks) in decision.picks {
                let texts = match decision.undo.iter().find(|edit| edit.path == path) {
                    Some(edit) => {
                        text(&path, edit.after.as_ref())?.zip(text(&path, edit.before.as_ref())?)
                    }
                    None => None,
                };
                last.files.push(Landed { path, hunks, texts });
            }
        }
        Ok(last)
    }

    /// Sorts out what can be recorded.
    fn record(
        &self,
        case: &Case,
        landed: &[Landed],
        claims: &Claims,
    ) -> Result<Record, ReviewError> {
        let mut record = Record::default();
        // Only for the modes of files: without it, what is taken back later keeps whatever mode the file has then.
        let workspace = self.workspace(&case.task.id, &case.task).ok();
        for landed in landed {
            let row = case.row(&landed.path)?;
            let mut ids = landed.hunks.clone();
            ids.sort_unstable();
            ids.dedup();
            let all = ids.len();
            ids.retain(|&id| {
                let why = match row.review.hunk(id).map(|hunk| hunk.state) {
                    None => "the task has changed something else there since".to_owned(),
                    Some(State::Pending) if claims.holds(&case.task.id, row.path(), id) => {
                        format!("it {IN_HAND}")
                    }
                    Some(State::Pending) => return true,
                    Some(state) => format!("it was already {}", state.describe()),
                };
                record.skipped.push(Skipped {
                    path: row.path().clone(),
                    hunk: Some(id),
                    reason: why,
                });
                false
            });
            if ids.is_empty() {
                continue;
            }
            // The texts tell of all that was put in; what is recorded of a part of it could not be taken back alone.
            if let (Some(texts), true) = (&landed.texts, ids.len() == all) {
                record
                    .undo
                    .extend(self.taking_back(row, texts, workspace.as_ref())?);
            }
            let review = row
                .review
                .landed(&ids)
                .map_err(|error| ReviewError::decide(row, error))?;
            record.moved.push(FileRow::new(row.change.clone(), review));
            record.picks.push((row.path().clone(), ids));
        }
        Ok(record)
    }

    /// What takes hunks out of the file once the editor has saved it.
    fn taking_back(
        &self,
        row: &FileRow,
        (without, with): &(String, String),
        workspace: Option<&Workspace>,
    ) -> Result<Option<Edit>, ReviewError> {
        if without == with {
            return Ok(None);
        }
        let live = workspace.and_then(|workspace| sides::live(workspace, row.path()).flatten());
        let mode = live
            .filter(|live| live.mode.is_file())
            .map_or(Mode::REGULAR, |live| live.mode);
        // An empty buffer stands for a file that is not there where the change is all about that.
        let side = |text: &str, absent: bool| -> Result<Option<Side>, ReviewError> {
            if text.is_empty() && absent {
                return Ok(None);
            }
            let bytes = text.as_bytes().to_vec();
            Ok(Some(sides::side(&Content { bytes, mode }, &self.blobs)?))
        };
        Ok(Some(Edit {
            path: row.path().clone(),
            before: side(with, row.review.agent().is_none())?,
            after: side(without, row.review.base().is_none())?,
        }))
    }
}

impl Case {
    /// Hunks that wait.
    pub(super) fn pending(&self) -> u32 {
        self.rows.iter().map(|row| row.pending).sum()
    }
}
