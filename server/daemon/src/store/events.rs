//! The event table: it is only added to.

use legwork_model::{Event, EventBody, TaskId};
use rusqlite::{OptionalExtension as _, Row, Transaction, params};

use super::{Db, StoreError};

impl Db {
    /// Stores events of a task in this order.
    pub(crate) fn append(
        &mut self,
        task: &TaskId,
        at: i64,
        bodies: &[EventBody],
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            bodies
                .iter()
                .try_for_each(|body| append(transaction, task, at, body))
        })
    }

    /// Up to `limit` events after number `after`, of one task or of all.
    pub(crate) fn events(
        &mut self,
        task: Option<&TaskId>,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let rows = match task {
            Some(task) => self
                .connection
                .prepare_cached(
                    "SELECT seq, task, at, body FROM events WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
                )?
                .query_map(params![task.as_str(), after, limit], raw)?
                .collect::<Result<Vec<_>, _>>()?,
            None => self
                .connection
                .prepare_cached("SELECT seq, task, at, body FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2")?
                .query_map(params![after, limit], raw)?
                .collect::<Result<Vec<_>, _>>()?,
        };
        rows.into_iter().map(event).collect()
    }

    /// What the command of a task wrote, and what else happened to it.
    pub(crate) fn log(&mut self, task: &TaskId) -> Result<Vec<Event>, StoreError> {
        self.events(Some(task), 0, u32::MAX)
    }

    /// Number of the last event of a task; 0 if there is none.
    pub(crate) fn last_event_of(&mut self, task: &TaskId) -> Result<u64, StoreError> {
        let last: Option<i64> = self.connection.query_row(
            "SELECT max(seq) FROM events WHERE task = ?1",
            [task.as_str()],
            |row| row.get(0),
        )?;
        Ok(unsigned(last.unwrap_or(0)))
    }

    /// Number of the last event that was ever stored; 0 if there is none.
    pub(crate) fn last_event(&self) -> Result<u64, StoreError> {
        let last: Option<i64> = self
            .connection
            .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'events'")?
            .query_row([], |row| row.get(0))
            .optional()?;
        Ok(unsigned(last.unwrap_or(0)))
    }
}

pub(super) fn append(
    transaction: &Transaction<'_>,
    task: &TaskId,
    at: i64,
    body: &EventBody,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("INSERT INTO events (task, at, body) VALUES (?1, ?2, ?3)")?
        .execute(params![task.as_str(), at, serde_json::to_string(body)?])?;
    Ok(())
}

type Raw = (i64, String, i64, String);

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
}

fn event((seq, task, at, body): Raw) -> Result<Event, StoreError> {
    Ok(Event {
        seq: unsigned(seq),
        task: super::tasks::id(&task)?,
        at,
        body: serde_json::from_str(&body)?,
    })
}

fn unsigned(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or(0)
}
