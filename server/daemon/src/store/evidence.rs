//! What the checks of a task say, and how checks ended on bases that may be met again.

use legwork_evidence::{Card, Progress, Run};
use legwork_model::{Digest, EventBody, TaskId, Verdict};
use rusqlite::{OptionalExtension as _, params};

use super::{Db, StoreError, events};

/// How long the end of a check on a base is known, in milliseconds: thirty days.
const KNOWN: i64 = 30 * 24 * 3600 * 1000;

impl Db {
    /// The card of a task, if it was checked or is about to be.
    pub(crate) fn card(&mut self, task: &TaskId) -> Result<Option<Card>, StoreError> {
        let text: Option<String> = self
            .connection
            .query_row(
                "SELECT card FROM evidence WHERE task = ?1",
                [task.as_str()],
                |row| row.get(0),
            )
            .optional()?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Stores a card, and tells of it.
    pub(crate) fn set_card(
        &mut self,
        task: &TaskId,
        card: &Card,
        at: i64,
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(card)?;
        let word = match serde_json::to_value(card.verdict())? {
            serde_json::Value::String(word) => word,
            other => return Err(StoreError::Garbled(other.to_string())),
        };
        let body = EventBody::Evidence {
            checking: card.progress == Progress::Checking,
            summary: card.summary(),
        };
        self.write(|open| {
            open.execute(
                "INSERT OR REPLACE INTO evidence (task, verdict, card) VALUES (?1, ?2, ?3)",
                params![task.as_str(), word, text],
            )?;
            events::append(open, task, at, &body)
        })
    }

    /// The tasks whose checks were cut off.
    pub(crate) fn checking(&mut self) -> Result<Vec<TaskId>, StoreError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT task FROM evidence WHERE verdict = 'checking'")?;
        statement
            .query_map([], |row| row.get::<_, String>(0))?
            .map(|text| super::tasks::id(&text?))
            .collect()
    }

    /// How a check ended on a base.
    pub(crate) fn base_run(&mut self, key: Digest, now: i64) -> Result<Option<Run>, StoreError> {
        let text: Option<String> = self
            .connection
            .query_row(
                "SELECT run FROM base_runs WHERE key = ?1 AND at > ?2",
                params![key.to_string(), now - KNOWN],
                |row| row.get(0),
            )
            .optional()?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Remembers how a check ended on a base; what is too old goes.
    pub(crate) fn set_base_run(
        &mut self,
        key: Digest,
        run: &Run,
        now: i64,
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(run)?;
        self.write(|open| {
            open.execute("DELETE FROM base_runs WHERE at <= ?1", [now - KNOWN])?;
            open.execute(
                "INSERT OR REPLACE INTO base_runs (key, at, run) VALUES (?1, ?2, ?3)",
                params![key.to_string(), now, text],
            )?;
            Ok(())
        })
    }
}

/// A verdict as it stands in its column.
pub(super) fn verdict(word: &str) -> Result<Verdict, StoreError> {
    Ok(serde_json::from_value(serde_json::Value::String(
        word.to_owned(),
    ))?)
}
