//! What the user decided, so that it can be finished after a crash and taken back.
//!
//! ```text
//! intended ──written──▶ done ──undo──▶ undoing ──written──▶ undone
//!    │                   ▲                │
//!    └─ not written: forgotten            └─ not written: done again
//! ```

use legwork_model::{EventBody, TaskId, Transition, TreePath};
use legwork_review::FileReview;
use legwork_workspace::Edit;
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{Db, FileRow, StoreError, files, tasks};

/// What kind of decision it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DecisionKind {
    Accept,
    Reject,
}

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// Its name; random. It is the context in the journal of the files.
    pub(crate) token: String,
    /// What the user did in one go has one, and is taken back in one go.
    #[serde(default)]
    pub(crate) gesture: Option<String>,
    pub(crate) kind: DecisionKind,
    /// Why, in the user's words.
    #[serde(default)]
    pub(crate) reason: Option<String>,
    /// What it was about: file and hunks.
    pub(crate) picks: Vec<(TreePath, Vec<u32>)>,
    /// Where the reviews of its files stand after an accept.
    pub(crate) moved: Vec<(TreePath, FileReview)>,
    /// What it writes to the workspace.
    pub(crate) edits: Vec<Edit>,
    /// What takes that back; known once it is done.
    pub(crate) undo: Vec<Edit>,
}

/// Hunks of a file that are no part of any decision any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) path: TreePath,
    /// The old path of a rename.
    pub(crate) from: Option<TreePath>,
    pub(crate) hunks: Vec<u32>,
}

impl Decision {
    /// Takes hunks out, and what would take them back where none of their file is left. Says whether there were any.
    fn drop(&mut self, dropped: &[Dropped]) -> bool {
        let mut changed = false;
        for Dropped { path, from, hunks } in dropped {
            let Some(at) = self.picks.iter().position(|(picked, _)| picked == path) else {
                continue;
            };
            let ids = &mut self.picks[at].1;
            let count = ids.len();
            ids.retain(|id| !hunks.contains(id));
            changed |= ids.len() != count;
            if ids.is_empty() {
                self.picks.remove(at);
                self.undo
                    .retain(|edit| edit.path != *path && Some(&edit.path) != from.as_ref());
            }
        }
        changed
    }
}

/// A decision, or an undo of one, of which it is not known whether it reached the files.
#[derive(Clone, Debug)]
pub(crate) struct Unsettled {
    pub(crate) task: TaskId,
    pub(crate) decision: Decision,
    /// What was to be written to take it back; `None` if it was being made.
    pub(crate) undoing: Option<Vec<Edit>>,
}

impl Db {
    /// Stores what is about to be written.
    pub(crate) fn intend(
        &mut self,
        task: &TaskId,
        decision: &Decision,
        at: i64,
    ) -> Result<(), StoreError> {
        let body = serde_json::to_string(decision)?;
        self.write(|open| {
            open.execute(
                "INSERT INTO decisions (task, token, at, state, body) VALUES (?1, ?2, ?3, 'intended', ?4)",
                params![task.as_str(), decision.token, at, body],
            )?;
            Ok(())
        })
    }

    /// Nothing of it was written.
    pub(crate) fn forget_intent(&mut self, token: &str) -> Result<(), StoreError> {
        self.write(|open| {
            open.execute("DELETE FROM decisions WHERE token = ?1 AND state = 'intended'", [token])?;
            open.execute(
                "UPDATE decisions SET state = 'done', undo = NULL WHERE token = ?1 AND state = 'undoing'",
                [token],
            )?;
            Ok(())
        })
    }

    /// A decision is made: stores it and where the reviews of its files stand now. Does nothing if that was stored
    /// before. Gives the number of hunks that still wait.
    pub(crate) fn decide(
        &mut self,
        task: &TaskId,
        decision: &Decision,
        moved: &[FileRow],
        at: i64,
    ) -> Result<u32, StoreError> {
        let body = serde_json::to_string(decision)?;
        self.write(|open| {
            let new = open.execute(
                "INSERT INTO decisions (task, token, at, state, body) VALUES (?1, ?2, ?3, 'done', ?4) \
                 ON CONFLICT (token) DO UPDATE SET state = 'done', body = excluded.body WHERE state = 'intended'",
                params![task.as_str(), decision.token, at, body],
            )?;
            if new == 0 { pending(open, task) } else { moved_on(open, task, moved, at) }
        })
    }

    /// Stores what is about to be written to take a decision back.
    pub(crate) fn intend_undo(&mut self, token: &str, edits: &[Edit]) -> Result<(), StoreError> {
        let edits = serde_json::to_string(edits)?;
        self.write(|open| {
            open.execute(
                "UPDATE decisions SET state = 'undoing', undo = ?2 WHERE token = ?1 AND state = 'done'",
                params![token, edits],
            )?;
            Ok(())
        })
    }

    /// A decision is taken back: stores that and where the reviews of its files stand now. Does nothing if that was
    /// stored before. Gives the number of hunks that wait.
    pub(crate) fn undone(
        &mut self,
        task: &TaskId,
        token: &str,
        moved: &[FileRow],
        at: i64,
    ) -> Result<u32, StoreError> {
        self.write(|open| {
            let marked = open.execute(
                "UPDATE decisions SET state = 'undone', undo = NULL WHERE token = ?1 AND state IN ('done', 'undoing')",
                [token],
            )?;
            if marked == 0 { pending(open, task) } else { moved_on(open, task, moved, at) }
        })
    }

    /// Hunks are pending again although their decision was not taken back: they are no part of it any more, and a decision
    /// that had no others is taken back with them. Stores where the reviews of their files stand now, and gives the number
    /// of hunks that wait. No file of the workspace is touched by this, and none is by an undo for a file's last hunk that
    /// is gone from its decision.
    pub(crate) fn reopen(
        &mut self,
        task: &TaskId,
        dropped: &[Dropped],
        moved: &[FileRow],
        at: i64,
    ) -> Result<u32, StoreError> {
        self.write(|open| {
            let mut statement = open.prepare_cached(
                "SELECT token, body FROM decisions WHERE task = ?1 AND state = 'done'",
            )?;
            let bodies = statement
                .query_map([task.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<Vec<(String, String)>, _>>()?;
            for (token, body) in bodies {
                let mut decision: Decision = serde_json::from_str(&body)?;
                if !decision.drop(dropped) {
                    continue;
                }
                let state = if decision.picks.is_empty() {
                    "undone"
                } else {
                    "done"
                };
                open.execute(
                    "UPDATE decisions SET state = ?2, body = ?3 WHERE token = ?1",
                    params![token, state, serde_json::to_string(&decision)?],
                )?;
            }
            moved_on(open, task, moved, at)
        })
    }

    /// The last decision that was not taken back; if a gesture is given, the last of it.
    pub(crate) fn last_decision(
        &mut self,
        task: &TaskId,
        gesture: Option<&str>,
    ) -> Result<Option<Decision>, StoreError> {
        let body: Option<String> = self
            .connection
            .query_row(
                "SELECT body FROM decisions WHERE task = ?1 AND state = 'done' \
                 AND (?2 IS NULL OR body ->> '$.gesture' = ?2) ORDER BY id DESC LIMIT 1",
                params![task.as_str(), gesture],
                |row| row.get(0),
            )
            .optional()?;
        Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    /// The last decision that was not taken back, with all that were one with it, the latest first.
    pub(crate) fn last_gesture(&mut self, task: &TaskId) -> Result<Vec<Decision>, StoreError> {
        let Some(last) = self.last_decision(task, None)? else {
            return Ok(Vec::new());
        };
        let Some(gesture) = &last.gesture else {
            return Ok(vec![last]);
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT body FROM decisions WHERE task = ?1 AND state = 'done' AND body ->> '$.gesture' = ?2 \
             ORDER BY id DESC",
        )?;
        let bodies = statement
            .query_map(params![task.as_str(), gesture], |row| {
                row.get::<_, String>(0)
            })?
            .collect::<Result<Vec<_>, _>>()?;
        Ok(bodies
            .iter()
            .map(|body| serde_json::from_str(body))
            .collect::<Result<_, _>>()?)
    }

    /// Why hunks were turned down, where that was said.
    pub(crate) fn reasons(
        &mut self,
        task: &TaskId,
    ) -> Result<Vec<(TreePath, u32, String)>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT body FROM decisions WHERE task = ?1 AND state = 'done' AND body ->> '$.reason' IS NOT NULL",
        )?;
        let bodies = statement
            .query_map([task.as_str()], |row| row.get::<_, String>(0))?
            .collect::<Result<Vec<_>, _>>()?;
        let mut reasons = Vec::new();
        for body in bodies {
            let Decision { picks, reason, .. } = serde_json::from_str(&body)?;
            let hunks = picks
                .into_iter()
                .flat_map(|(path, ids)| ids.into_iter().map(move |id| (path.clone(), id)));
            let why = reason.unwrap_or_default();
            reasons.extend(hunks.map(|(path, id)| (path, id, why.clone())));
        }
        Ok(reasons)
    }

    /// All that the decisions of a task wrote, and what takes it back.
    pub(crate) fn edits(&mut self, task: &TaskId) -> Result<Vec<Edit>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT body FROM decisions WHERE task = ?1")?;
        let bodies = statement
            .query_map([task.as_str()], |row| row.get::<_, String>(0))?
            .collect::<Result<Vec<_>, _>>()?;
        let mut edits = Vec::new();
        for body in bodies {
            let decision: Decision = serde_json::from_str(&body)?;
            edits.extend(decision.edits.into_iter().chain(decision.undo));
        }
        Ok(edits)
    }

    /// What an earlier daemon was cut off in, oldest first.
    pub(crate) fn unsettled(&mut self) -> Result<Vec<Unsettled>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT task, body, undo FROM decisions WHERE state IN ('intended', 'undoing') ORDER BY id",
        )?;
        let rows = statement
            .query_map([], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get(2)?,
                ))
            })?
            .collect::<Result<Vec<(_, _, Option<String>)>, _>>()?;
        rows.into_iter()
            .map(|(task, body, undo)| {
                Ok(Unsettled {
                    task: tasks::id(&task)?,
                    decision: serde_json::from_str(&body)?,
                    undoing: undo.map(|undo| serde_json::from_str(&undo)).transpose()?,
                })
            })
            .collect()
    }
}

/// Stores reviews that moved on, and settles or reopens the task if that is what it means.
fn moved_on(
    open: &Transaction<'_>,
    task: &TaskId,
    moved: &[FileRow],
    at: i64,
) -> Result<u32, StoreError> {
    let before = pending(open, task)?;
    for file in moved {
        files::save(open, task, file)?;
    }
    let after = pending(open, task)?;
    super::events::append(open, task, at, &EventBody::Review { pending: after })?;
    if !tasks::state(open, task)?.is_over() {
        // It goes on, and its end says whether anything waits.
        return Ok(after);
    }
    match (before, after) {
        (1.., 0) => drop(tasks::step(open, task, Transition::Settle, at)?),
        (0, 1..) => drop(tasks::step(open, task, Transition::Reopen, at)?),
        _ => {}
    }
    Ok(after)
}

/// The number of hunks that wait.
pub(super) fn pending(open: &Transaction<'_>, task: &TaskId) -> Result<u32, StoreError> {
    Ok(open.query_row(
        "SELECT coalesce(sum(pending), 0) FROM files WHERE task = ?1",
        [task.as_str()],
        |row| row.get(0),
    )?)
}
