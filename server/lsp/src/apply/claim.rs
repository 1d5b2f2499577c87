//! A claim on hunks, from the moment the daemon gives it to the moment it knows what became of it.

use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

use legwork_model::TaskId;
use legwork_wire::{Client, Decide, Decided, Landed, Pick, Settle, Skipped, WireError};

use super::Target;
use crate::{failure::Failure, follow, name::HunkName, record, session::Session};

/// Hunks that nobody else can decide. One that is dropped is given back.
#[derive(Debug)]
pub(super) struct Claim {
    session: Arc<Session>,
    client: Client,
    task: TaskId,
    names: BTreeSet<HunkName>,
    real: PathBuf,
    /// `None` once it is settled.
    token: Option<String>,
    gesture: String,
}

impl Claim {
    /// Asks for it. Gives what it does not hold, and why.
    pub(super) async fn take(
        session: &Arc<Session>,
        client: Client,
        target: Target<'_>,
    ) -> Result<(Self, Vec<Skipped>), Failure> {
        let task = &target.found.desk.task;
        let path = &target.found.file().path;
        let pick = |id: &u32| Pick {
            path: path.clone(),
            hunk: Some(*id),
        };
        let decide = Decide {
            picks: target.ids.iter().map(pick).collect(),
            include_sensitive: true,
            ..Decide::default()
        };
        let claimed = client.claim(task.as_str(), &decide).await?;
        let name = |id: &u32| HunkName {
            task: task.clone(),
            number: *id,
            path: path.clone(),
        };
        let names: BTreeSet<HunkName> = target.ids.iter().map(name).collect();
        session.state().claimed.extend(names.iter().cloned());
        let claim = Self {
            session: Arc::clone(session),
            client,
            task: task.clone(),
            names,
            real: target.real.to_owned(),
            token: Some(claimed.token),
            gesture: target.gesture.to_owned(),
        };
        Ok((claim, claimed.skipped))
    }

    /// Some of its hunks, by their numbers.
    pub(super) fn of(&self, ids: &[u32]) -> impl Iterator<Item = HunkName> {
        self.names
            .iter()
            .filter(|name| ids.contains(&name.number))
            .cloned()
    }

    /// Says what became of it, also if nobody waits for that any more.
    pub(super) async fn settle(
        mut self,
        landed: impl Iterator<Item = Landed>,
    ) -> Result<Decided, Failure> {
        let told = self.tell(landed.collect());
        match tokio::spawn(told).await {
            Ok(told) => told,
            Err(error) => Err(Failure::new(format!(
                "the accept could not be recorded: {error}"
            ))),
        }
    }

    fn tell(
        &mut self,
        landed: Vec<Landed>,
    ) -> impl Future<Output = Result<Decided, Failure>> + use<> {
        let (session, client, task) = (
            Arc::clone(&self.session),
            self.client.clone(),
            self.task.clone(),
        );
        let (names, real, token) = (
            std::mem::take(&mut self.names),
            self.real.clone(),
            self.token.take(),
        );
        let settle = Settle {
            token,
            landed,
            gesture: Some(self.gesture.clone()),
        };
        async move {
            let lost = |error: &WireError| !matches!(error, WireError::Refused(_));
            let told = match client.settle(task.as_str(), &settle).await {
                Err(error) if lost(&error) && !settle.landed.is_empty() => {
                    tracing::info!(%task, %error, "an accept is recorded once more");
                    again(&session, &task, settle).await
                }
                told => told.map_err(Failure::from),
            };
            // Before the claim is forgotten: else the hunk is found in the buffer and taken for the user's own doing.
            if let Err(error) = follow::one(&session, &client, &task).await {
                tracing::info!(%task, %error, "the task cannot be looked at");
            }
            session.state().claimed.retain(|name| !names.contains(name));
            session.refresh([real]);
            told
        }
    }
}

/// The daemon went away while it was told what is in a buffer. The next one is told the same, and if there is none, so is
/// the first that comes.
async fn again(session: &Session, task: &TaskId, settle: Settle) -> Result<Decided, Failure> {
    let hunks: usize = settle.landed.iter().map(|landed| landed.hunks.len()).sum();
    session.daemon.lost();
    session.state().record.came(task.clone(), settle);
    let client = session.daemon.client().await?;
    record::tell(session).await?;
    let detail = client.task(task.as_str()).await?;
    Ok(Decided {
        hunks: u32::try_from(hunks).unwrap_or(u32::MAX),
        pending: detail.task.pending,
        ..Decided::default()
    })
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.token.is_some() {
            let told = self.tell(Vec::new());
            // What it says is that nothing happened.
            drop(tokio::spawn(told));
        }
    }
}
