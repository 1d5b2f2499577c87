//! Decisions on the changes of a task: what is shown, what a decision writes, what an undo takes back. It blocks; one
//! decision at a time.
//!
//! | step | file |
//! | --- | --- |
//! | the bytes of all sides, and what stands in the workspace now | `sides.rs` |
//! | which hunks a decision is about | `choice.rs` |
//! | what a client draws | `view.rs` |
//! | undo, and what a dead daemon left undecided | `settle.rs` |
//! | what an editor needs to place hunks itself | `desk.rs` |
//! | what a task changes while it is under review | `live.rs` |
//! | hunks that an editor puts into its buffers, and takes out again | `landing.rs`, `claims.rs` |
//!
//! An accept is stored as intended before the first byte is written and as done after the last, so that a daemon that
//! ends anywhere in between leaves something that can be told apart and finished.

mod choice;
mod claims;
mod desk;
mod failure;
mod landing;
mod live;
mod settle;
mod sides;
#[cfg(test)]
mod tests;
mod view;

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use legwork_model::{ChangeKind, Task, TaskId};
use legwork_review::{AcceptError, Content, unified_diff};
use legwork_wire::{Decide, Decided, Review, Skipped};
use legwork_workspace::{Applied, Applier, BlobStore, Edit, Workspace};

pub(crate) use failure::ReviewError;
pub(crate) use live::Told;
pub(crate) use sides::propose;

use crate::{
    clock,
    store::{Decision, DecisionKind, FileRow, Store},
};
use choice::{Choice, Chosen};
use claims::Claims;
use sides::{Bytes, Leaving, Standing};

/// Takes decisions.
#[derive(Debug)]
pub(crate) struct Reviewer {
    store: Store,
    state: PathBuf,
    journal: PathBuf,
    blobs: BlobStore,
    /// Held while files are written and while what is to be written is worked out.
    deciding: Mutex<Claims>,
    readings: desk::Readings,
}

/// A task under review.
#[derive(Debug)]
struct Case {
    task: Task,
    rows: Vec<FileRow>,
}

/// What an accept comes to.
#[derive(Debug, Default)]
struct Plan {
    edits: Vec<Edit>,
    picks: Vec<Chosen>,
    moved: Vec<FileRow>,
    skipped: Vec<Skipped>,
    /// Whether something was left out because the user's file is another by now.
    collided: bool,
}

impl Reviewer {
    /// `state` is the daemon's directory.
    pub(crate) fn new(store: Store, state: &std::path::Path, blobs: BlobStore) -> Self {
        Self {
            store,
            state: state.to_owned(),
            journal: state.join("journal"),
            blobs,
            deciding: Mutex::default(),
            readings: desk::Readings::default(),
        }
    }

    /// All changes of a task as they stand now.
    pub(crate) fn show(&self, name: &str) -> Result<Review, ReviewError> {
        let case = self.case(name)?;
        let workspace = self.workspace(&case.task.id, &case.task);
        let shown = case
            .rows
            .iter()
            .filter(|row| !row.review.hunks().is_empty());
        let leaving = Leaving::of(case.rows.iter());
        let files = shown.map(|row| {
            let bytes = Bytes::load(&self.blobs, row)?;
            // Without the workspace the changes can still be read.
            let standing = workspace.as_ref().map_or_else(
                |_| Standing::foreign(),
                |workspace| Standing::read(workspace, row, &leaving),
            );
            view::file(row, &bytes, &standing)
        });
        Ok(Review {
            task: case.task.id.clone(),
            digest: digest(&case.rows),
            moved: workspace
                .as_ref()
                .ok()
                .and_then(|workspace| case.moved(workspace)),
            files: files.collect::<Result<_, _>>()?,
        })
    }

    /// Of these files those of which something was accepted, and what stands there with that and without the rest.
    pub(crate) fn accepted(&self, rows: Vec<FileRow>) -> Result<Vec<Edit>, ReviewError> {
        let is_accepted = |row: &FileRow| {
            let mut hunks = row.review.hunks().iter();
            hunks.any(|hunk| hunk.state == legwork_review::State::Accepted)
        };
        let rows = rows.into_iter().filter(is_accepted);
        let mut all = Vec::new();
        for row in rows {
            let bytes = Bytes::load(&self.blobs, &row)?;
            let content = bytes.open(&row.review)?.base_effective();
            let mut edits = Edit::accept(&row.change);
            // The last one is about the path itself; the one before it, if any, about where it was.
            if let Some(edit) = edits.last_mut() {
                let after = content.map(|content| sides::side(&content, &self.blobs));
                edit.after = after.transpose()?;
            }
            all.extend(edits);
        }
        Ok(all)
    }

    /// All that a task changed, as a unified diff.
    pub(crate) fn diff(&self, name: &str) -> Result<Vec<u8>, ReviewError> {
        let case = self.case(name)?;
        let mut diff = Vec::new();
        let snapshot = self.snapshot(&case.task.id);
        for row in &case.rows {
            let bytes = Bytes::load(&self.blobs, row)?;
            let found = snapshot
                .as_ref()
                .and_then(|snapshot| live::found(snapshot, row));
            let before = match &found {
                Some(found) => found.as_ref().map(Content::as_version),
                None => bytes.before(),
            };
            if found.is_some() && before == bytes.after() {
                // All of it was accepted, and the task took it back.
                continue;
            }
            let from = match &row.change.kind {
                ChangeKind::Rename { from } => Some(from),
                _ => None,
            };
            diff.extend(unified_diff(row.path(), from, before, bytes.after(), 3));
        }
        Ok(diff)
    }

    /// Takes changes into the workspace: all of the decision, or nothing.
    pub(crate) fn accept(&self, name: &str, decide: &Decide) -> Result<Decided, ReviewError> {
        let claims = self.lock();
        let case = self.case(name)?;
        let choice = case.choose(decide, DecisionKind::Accept, &claims)?;
        let workspace = self.workspace(&case.task.id, &case.task)?;
        let plan = self.plan(&case, choice, &workspace)?;
        if plan.picks.is_empty() {
            return Err(ReviewError::nothing(plan.skipped, plan.collided));
        }
        let mut decision = Decision {
            token: TaskId::random().to_string(),
            gesture: decide.gesture.clone(),
            kind: DecisionKind::Accept,
            reason: None,
            picks: plan
                .picks
                .into_iter()
                .map(|chosen| (chosen.path, chosen.ids))
                .collect(),
            moved: plan
                .moved
                .iter()
                .map(|row| (row.path().clone(), row.review.clone()))
                .collect(),
            edits: plan.edits,
            undo: Vec::new(),
        };
        let id = &case.task.id;
        let applied = if decision.edits.is_empty() {
            Applied::default()
        } else {
            self.store
                .with(|db| db.intend(id, &decision, clock::now()))?;
            self.write(
                &workspace,
                &decision.edits,
                &decision.token,
                &decision.token,
            )?
        };
        decision.undo = applied.undo;
        let pending = self
            .store
            .with(|db| db.decide(id, &decision, &plan.moved, clock::now()))?;
        Ok(Decided {
            hunks: count(&decision),
            written: applied.written,
            skipped: plan.skipped,
            pending,
        })
    }

    /// Turns changes down. No file is touched.
    pub(crate) fn reject(&self, name: &str, decide: &Decide) -> Result<Decided, ReviewError> {
        let claims = self.lock();
        let case = self.case(name)?;
        let choice = case.choose(decide, DecisionKind::Reject, &claims)?;
        let mut moved = Vec::new();
        for chosen in &choice.chosen {
            let row = case.row(&chosen.path)?;
            let review = row
                .review
                .reject(&chosen.ids)
                .map_err(|error| ReviewError::decide(row, error))?;
            moved.push(FileRow::new(row.change.clone(), review));
        }
        let decision = Decision {
            token: TaskId::random().to_string(),
            gesture: decide.gesture.clone(),
            kind: DecisionKind::Reject,
            reason: decide.reason.clone(),
            picks: choice
                .chosen
                .into_iter()
                .map(|chosen| (chosen.path, chosen.ids))
                .collect(),
            moved: Vec::new(),
            edits: Vec::new(),
            undo: Vec::new(),
        };
        let pending = self
            .store
            .with(|db| db.decide(&case.task.id, &decision, &moved, clock::now()))?;
        Ok(Decided {
            hunks: count(&decision),
            written: Vec::new(),
            skipped: choice.skipped,
            pending,
        })
    }

    /// Works out what an accept writes. What has no place in the user's file is left out, unless it was named itself.
    fn plan(
        &self,
        case: &Case,
        choice: Choice,
        workspace: &Workspace,
    ) -> Result<Plan, ReviewError> {
        let mut plan = Plan {
            skipped: choice.skipped,
            ..Plan::default()
        };
        let rows = choice.chosen.iter().map(|chosen| case.row(&chosen.path));
        let leaving = Leaving::of(rows.collect::<Result<Vec<_>, _>>()?.into_iter());
        for mut chosen in choice.chosen {
            let row = case.row(&chosen.path)?;
            let bytes = Bytes::load(&self.blobs, row)?;
            let standing = Standing::read(workspace, row, &leaving);
            while !chosen.ids.is_empty() {
                match standing.accept(row, &bytes, &chosen.ids)? {
                    Ok(accepted) => {
                        plan.edits
                            .extend(standing.edits(row, &accepted, &self.blobs)?);
                        plan.moved
                            .push(FileRow::new(row.change.clone(), accepted.review().clone()));
                        plan.picks.push(chosen);
                        break;
                    }
                    Err(AcceptError::Conflicted { ids }) if !chosen.named => {
                        plan.collided = true;
                        chosen.ids.retain(|id| !ids.contains(id));
                        plan.skipped.extend(ids.into_iter().map(|id| Skipped {
                            path: chosen.path.clone(),
                            hunk: Some(id),
                            reason: standing.collision().to_owned(),
                        }));
                    }
                    Err(AcceptError::Conflicted { .. }) => {
                        return Err(ReviewError::Collided {
                            path: chosen.path,
                            why: standing.collision(),
                        });
                    }
                    Err(AcceptError::Decide(error)) => return Err(ReviewError::decide(row, error)),
                }
            }
        }
        Ok(plan)
    }

    /// Writes, and forgets the intent if nothing was written.
    fn write(
        &self,
        workspace: &Workspace,
        edits: &[Edit],
        context: &str,
        token: &str,
    ) -> Result<Applied, ReviewError> {
        let applied = Applier::new(workspace, &self.journal, &self.blobs).apply(edits, context);
        applied.map_err(|error| {
            let settled = !matches!(error, legwork_workspace::ApplyError::Stuck { .. });
            if settled && let Err(error) = self.store.with(|db| db.forget_intent(token)) {
                // The next start finds that nothing was written.
                tracing::warn!(%error, "an intent could not be forgotten");
            }
            error.into()
        })
    }

    fn case(&self, name: &str) -> Result<Case, ReviewError> {
        Ok(self.store.with(|db| {
            let id = db.resolve(name)?;
            Ok(Case {
                task: db.task(&id)?,
                rows: db.files(&id)?,
            })
        })?)
    }

    /// The very folder that the task was started on.
    fn workspace(&self, id: &TaskId, task: &Task) -> Result<Workspace, ReviewError> {
        let path = &task.spec.workspace;
        Ok(match self.store.with(|db| db.identity(id))? {
            Some(identity) => Workspace::reopen(path, identity)?,
            None => Workspace::open(path)?,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Claims> {
        // A decision that ended in a panic is as one that was cut off: its intent is stored.
        let mut claims = self.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        claims.expire(Instant::now());
        claims
    }
}

impl Case {
    /// The hunks that a decision is about, if it can be taken now.
    fn choose(
        &self,
        decide: &Decide,
        kind: DecisionKind,
        claims: &Claims,
    ) -> Result<Choice, ReviewError> {
        let id = &self.task.id;
        if self.rows.is_empty() && !self.task.state.is_over() {
            return Err(ReviewError::NotYet(id.clone()));
        }
        if decide
            .digest
            .is_some_and(|shown| shown != digest(&self.rows))
        {
            return Err(ReviewError::Outdated(id.clone()));
        }
        Choice::of(&self.rows, decide, kind)?.without(|path, hunk| claims.holds(id, path, hunk))
    }

    /// That the workspace is at another commit than when the task began.
    fn moved(&self, workspace: &Workspace) -> Option<String> {
        let then = self.task.report.as_ref()?.head.as_ref()?;
        then.moved_to(&workspace.head()?)
    }

    fn row(&self, path: &legwork_model::TreePath) -> Result<&FileRow, ReviewError> {
        self.rows
            .iter()
            .find(|row| row.path() == path)
            .ok_or_else(|| ReviewError::NoChange(path.clone()))
    }
}

fn digest(rows: &[FileRow]) -> legwork_model::Digest {
    legwork_review::digest(rows.iter().map(|row| (row.path(), &row.review)))
}

fn count(decision: &Decision) -> u32 {
    let hunks: usize = decision.picks.iter().map(|(_, ids)| ids.len()).sum();
    u32::try_from(hunks).unwrap_or(u32::MAX)
}
