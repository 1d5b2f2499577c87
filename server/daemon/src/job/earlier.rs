//! A task that goes on: what it left, what was said, and what the user made of it, brought to a new machine. And the question
//! of an agent for which it stands still.

use std::{
    collections::BTreeMap, fmt::Write as _, io::Write as _, os::unix::fs::OpenOptionsExt as _,
    path::Path, sync::Arc, time::Duration,
};

use legwork_agent::{Earlier, Transcript};
use legwork_host::{Running, Sandbox};
use legwork_model::{EventBody, Failure, FailureKind, Report, TaskState, TreePath};
use legwork_wire::{Hunk, HunkState, LineKind, Review};
use legwork_workspace::{Edit, Snapshot};
use tokio::time::{Instant, timeout_at};

use super::{Break, Job, agent::clean, collect::unmerged, lay, manifest_of};
use crate::clock;

/// How long a machine is kept for an answer.
const KEPT: Duration = Duration::from_mins(30);

/// The longest transcript that is kept, in bytes.
const LONGEST_WORDS: u64 = 64 << 20;

/// The longest text on what the user decided, in bytes.
const LONGEST_SINCE: usize = 16 << 10;

impl Job {
    /// Whether it ran before, so far that something was captured.
    pub(super) fn was_here(&self) -> bool {
        manifest_of(&self.room.state, &self.id).exists()
    }

    /// What was captured when it ran before, if it did.
    pub(super) async fn earlier_snapshot(&self) -> Result<Option<Snapshot>, Break> {
        if !self.was_here() {
            return Ok(None);
        }
        let manifest = manifest_of(&self.room.state, &self.id);
        let loaded = tokio::task::spawn_blocking(move || Snapshot::load(&manifest))
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        let snapshot = loaded.map_err(|error| {
            Failure::new(
                FailureKind::Capture,
                error.to_string(),
                "run it again with `legwork retry`: it cannot go on",
            )
        })?;
        Ok(Some(snapshot))
    }

    /// Makes the workspace of a new machine as the task left it, rejected changes and all: what becomes of those is for the agent.
    pub(super) async fn lay_earlier(&self, sandbox: &Sandbox<Running>) -> Result<(), Break> {
        let id = self.id.clone();
        let rows = self.room.store.call(move |db| db.files(&id)).await?;
        let edits: Vec<Edit> = rows
            .iter()
            .flat_map(|row| Edit::accept(&row.change))
            .collect();
        if edits.is_empty() {
            return Ok(());
        }
        self.unless_stopped(lay::lay(sandbox, self.room.blobs.clone(), edits))
            .await??;
        Ok(())
    }

    /// What was said when it ran before, and what happened since; `None` if it did not.
    pub(super) async fn earlier_words(&self) -> Result<Option<Earlier>, Break> {
        let words = self.dir().join("transcript.json");
        let (room, id) = (Arc::clone(&self.room), self.id.clone());
        let read = tokio::task::spawn_blocking(move || {
            let is_long = words.metadata().map(|file| file.len() > LONGEST_WORDS);
            let bytes = match is_long {
                Ok(false) => std::fs::read(&words).ok(),
                _ => None,
            };
            let transcript = bytes.as_deref().and_then(Transcript::parse);
            let review = room.reviewer.show(id.as_str());
            let review = review.map_err(|error| unmerged(&error))?;
            if transcript.is_none() && review.files.is_empty() {
                return Ok(None);
            }
            let reasons = room.store.with(|db| db.reasons(&id))?;
            let since = since(&review, &reasons);
            Ok::<_, Failure>(Some(Earlier { transcript, since }))
        });
        let earlier = read
            .await
            .unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?;
        Ok(earlier)
    }

    /// Keeps what was said so far. That it cannot be kept is no reason to stop.
    pub(super) async fn keep_words(&self, transcript: Transcript) {
        let dir = self.dir();
        let written =
            tokio::task::spawn_blocking(move || write(&dir, &transcript.to_bytes())).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(task = %self.id, %error, "what was said cannot be kept");
        }
    }

    /// Puts a question to the user and waits; `false` if the machine is not kept any longer.
    pub(super) async fn ask(&self, question: &str) -> Result<bool, Failure> {
        let (id, text) = (self.id.clone(), clean(question.to_owned()));
        let store = &self.room.store;
        store
            .call(move |db| db.ask(&id, &text, clock::now()))
            .await?;
        let mut news = store.last_event();
        let until = Instant::now() + KEPT;
        loop {
            news.mark_unchanged();
            let id = self.id.clone();
            if store.call(move |db| db.answer(&id, clock::now())).await? {
                return Ok(true);
            }
            if !matches!(timeout_at(until, news.changed()).await, Ok(Ok(()))) {
                let text = format!(
                    "nobody answered for {} minutes, so the machine was ended: the answer goes on in a new one",
                    KEPT.as_secs() / 60
                );
                self.append(vec![EventBody::Notice { text }]).await;
                return Ok(false);
            }
        }
    }

    /// Whether its agent waits for an answer.
    pub(super) async fn is_asking(&self) -> bool {
        let task = self.task().await;
        task.is_ok_and(|task| task.state == TaskState::NeedsInput)
    }

    /// Stores how it ran by now.
    pub(super) async fn park(&self, report: Report) {
        let id = self.id.clone();
        if let Err(error) = self.room.store.call(move |db| db.park(&id, &report)).await {
            tracing::warn!(task = %self.id, %error, "how the task ran so far was not stored");
        }
    }
}

/// All of it or nothing, and for this user alone.
fn write(dir: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.len() as u64 > LONGEST_WORDS {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    let half = dir.join("transcript.new");
    let mut file = std::fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&half)?;
    file.write_all(bytes)?;
    std::fs::rename(half, dir.join("transcript.json"))
}

/// What the model is to know: where it is, and what the user made of its changes.
fn since(review: &Review, reasons: &[(TreePath, u32, String)]) -> String {
    let mut text = "The work goes on in a new machine: the files are as you left them, programs that ran are gone. Read a \
                    file again before you edit it."
        .to_owned();
    let reasons: BTreeMap<(&TreePath, u32), &str> = reasons
        .iter()
        .map(|(path, id, why)| ((path, *id), why.as_str()))
        .collect();
    for file in &review.files {
        for hunk in &file.hunks {
            let verdict = match hunk.state {
                HunkState::Accepted => "accepted",
                HunkState::Rejected => "rejected",
                HunkState::Pending | HunkState::Conflicted => continue,
            };
            let (id, path) = (hunk.id, &file.path);
            let _ = write!(text, "\n\nThe user {verdict} hunk {id} of `{path}`");
            if let Some(why) = reasons.get(&(path, id)) {
                let _ = write!(text, ", because: {why}");
            }
            if hunk.state == HunkState::Rejected {
                text.push_str(&quoted(hunk));
            }
        }
    }
    text.truncate(text.floor_char_boundary(LONGEST_SINCE));
    text
}

fn quoted(hunk: &Hunk) -> String {
    let lines = hunk.lines.iter().filter_map(|line| match line.kind {
        LineKind::Context => None,
        LineKind::Removed => Some(format!("\n> -{}", line.text)),
        LineKind::Added => Some(format!("\n> +{}", line.text)),
    });
    lines.collect()
}
