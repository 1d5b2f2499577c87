//! Puts accepted hunks into the client's buffers. The only file that sends `workspace/applyEdit`.
//!
//! One request for each document, one entry, the version it is made for, the document's own line ending. That a client
//! says `applied: true` proves nothing: an accept is one when the text that comes back holds the hunk.

mod claim;
mod take_back;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gen_lsp_types::{
    ApplyWorkspaceEditParams, ApplyWorkspaceEditRequest, DocumentChange, Edit,
    OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextDocumentIdentifier, TextEdit,
    Uri, WorkspaceEdit,
};
use legwork_model::{TaskId, TreePath};
use legwork_review::{AcceptError, FileReview, Splice};
use legwork_wire::{DeskFile, Landed, Skipped};
pub(crate) use take_back::{take_back, take_back_last};
use tokio::time::{Instant, timeout, timeout_at};

use claim::Claim;

use crate::{
    failure::Failure,
    present::{self, Sides},
    session::Session,
    sheet::{self, Source, Stand},
    tasks::Found,
    text::{self, Text},
};

/// How long a client may take to answer; it may ask its user.
const ANSWER: Duration = Duration::from_secs(30);
/// How long the text may take to come back.
const CONFIRM: Duration = Duration::from_secs(2);
/// The same where the client says that it did not take the edit. What made it refuse may be a text that is on its way:
/// Neovim gathers changes for 150 ms, Eglot for half a second.
const REFUSED: Duration = Duration::from_millis(700);
/// For so long it is tried again when the buffer moves on under it. Shorter than a claim is held.
const TRYING: Duration = Duration::from_secs(6);
/// So many accepts can be undone in the buffer.
const MOST_OWN: usize = 200;
/// Texts of accepts that can be undone in the buffer; bytes.
const MOST_TEXT: usize = 2 << 20;

/// An accept through this editor, so that it can be undone in the buffer.
#[derive(Clone, Debug)]
pub(crate) struct OwnAccept {
    pub(crate) task: TaskId,
    path: TreePath,
    /// What the user did in one go has one.
    gesture: String,
    real: PathBuf,
    ids: Vec<u32>,
    before: String,
    after: String,
}

/// What came of an accept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Landing {
    pub(crate) hunks: u32,
    /// Of the whole task, that still wait.
    pub(crate) pending: u32,
    pub(crate) skipped: Vec<Skipped>,
}

/// A file that is open in this editor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) found: &'a Found,
    pub(crate) real: &'a Path,
    /// Hunks of lines, all of them pending.
    pub(crate) ids: &'a [u32],
    /// A single hunk was asked for: that it cannot be done is a failure.
    pub(crate) named: bool,
    /// What the user did in one go, in other files too.
    pub(crate) gesture: &'a str,
}

/// What one attempt came to.
enum Attempt {
    /// The buffer holds these hunks; its text before and now.
    Landed(Vec<u32>, Option<(String, String)>),
    /// The buffer moved on, or the client refused.
    Missed(String),
}

/// Accepts hunks into a buffer. Whoever gives up waiting for it has the claim released.
pub(crate) async fn accept(session: &Arc<Session>, target: Target<'_>) -> Result<Landing, Failure> {
    let _alone = session.applying.lock().await;
    let task = &target.found.desk.task;
    let path = &target.found.file().path;
    let sides = present::bytes(session, target.found).await?;
    let client = session.daemon.client().await?;
    let (claim, skipped) = Claim::take(session, client, target).await?;
    let mut landing = Landing {
        skipped,
        ..Landing::default()
    };
    let done = attempts(session, target, &sides, &mut landing).await;
    if let Ok(Attempt::Landed(ids, _)) = &done {
        // The user may take it back before the daemon's word of it is here, and that must be seen.
        if let Some(shown) = session.state().shown.get_mut(target.real) {
            shown.sheet.standing.extend(claim.of(ids));
        }
    }
    let (landed, failure) = match done {
        Ok(Attempt::Landed(ids, texts)) => (Some((ids, texts)), None),
        Ok(Attempt::Missed(why)) => (
            None,
            Some(Failure::new(format!(
                "`{path}` was not changed: {why}; the hunk still waits"
            ))),
        ),
        Err(failure) => (None, Some(failure)),
    };
    let settled = claim
        .settle(landed.iter().map(|(hunks, texts)| Landed {
            path: path.clone(),
            hunks: hunks.clone(),
            texts: texts.clone(),
        }))
        .await;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let settled = settled?;
    landing.hunks = settled.hunks;
    landing.pending = settled.pending;
    if let Some((ids, Some((before, after)))) = landed {
        remember(
            session,
            OwnAccept {
                task: task.clone(),
                path: path.clone(),
                real: target.real.to_owned(),
                gesture: target.gesture.to_owned(),
                ids,
                before,
                after,
            },
        );
    }
    Ok(landing)
}

fn remember(session: &Session, own: OwnAccept) {
    let mut state = session.state();
    state.own.push(own);
    let size = |own: &[OwnAccept]| {
        own.iter()
            .map(|own| own.before.len() + own.after.len())
            .sum::<usize>()
    };
    while state.own.len() > MOST_OWN || (state.own.len() > 1 && size(&state.own) > MOST_TEXT) {
        state.own.remove(0);
    }
}

async fn attempts(
    session: &Session,
    target: Target<'_>,
    sides: &Sides,
    landing: &mut Landing,
) -> Result<Attempt, Failure> {
    let mut missed = Attempt::Missed("it is not open any more".to_owned());
    let until = Instant::now() + TRYING;
    while Instant::now() < until {
        let Some((uri, version, text)) = buffer(session, target.real) else {
            return Ok(missed);
        };
        let Placed {
            ids,
            mut splices,
            wanted,
            review,
        } = place(target, sides, &text, landing)?;
        if ids.is_empty() {
            return Err(Failure::new(
                "the buffer was changed at the same place: bring that part back, or reject the hunk",
            ));
        }
        if session.wants(|profile| profile.ends_last_line) {
            leave_last_end(&mut splices, text.as_str());
        }
        if splices.is_empty() {
            return Ok(Attempt::Landed(ids, None));
        }
        let edits = text::edits(&text, &splices, session.encoding()).ok_or_else(|| {
            Failure::new(format!(
                "the hunk holds bytes that are not UTF-8, which no editor can be sent: close the file and accept it again, or use `legwork accept {} {}`",
                target.found.desk.task.short(),
                target.found.file().path,
            ))
        })?;
        let label = format!(
            "Legwork: accept {}",
            crate::tell::cut(&target.found.desk.title)
        );
        let answer = send(session, &uri, version, edits, label).await;
        let holds = |text: &Text| {
            is_same(text.as_str(), &wanted)
                || holds(target, sides, review.as_ref(), &ids, text.as_str())
        };
        let wait = Wait::after(session, &answer, version);
        match (answer, confirm(session, target.real, wait, holds).await) {
            (_, Some(now)) => {
                return Ok(Attempt::Landed(
                    ids,
                    Some((text.as_str().to_owned(), now.as_str().to_owned())),
                ));
            }
            (Ok(()), None) => {
                missed = Attempt::Missed(
                    "the editor took the edit and the text did not come back within 2 s".to_owned(),
                );
            }
            (Err(why), None) => missed = Attempt::Missed(why),
        }
        let moved = buffer(session, target.real).is_some_and(|(_, now, _)| now != version);
        if !moved {
            break;
        }
    }
    Ok(missed)
}

fn buffer(session: &Session, real: &Path) -> Option<(String, i32, Text)> {
    let state = session.state();
    let document = state.documents.of_file(real)?;
    Some((
        document.uri.clone(),
        document.version,
        document.text.clone(),
    ))
}

/// What is to be written.
#[derive(Debug, Default)]
struct Placed {
    ids: Vec<u32>,
    splices: Vec<Splice>,
    /// The whole text that comes of it.
    wanted: String,
    /// The review that comes of it.
    review: Option<FileReview>,
}

/// What is to be written, and of which hunks. What has no place is left out, unless it was named.
fn place(
    target: Target<'_>,
    (base, agent): &Sides,
    text: &Text,
    landing: &mut Landing,
) -> Result<Placed, Failure> {
    let source = present::source(
        target.found,
        base.as_deref().map(Vec::as_slice),
        agent.as_deref().map(Vec::as_slice),
    );
    let review = &source.file.review;
    let opened = review
        .open(source.base, source.agent)
        .map_err(|error| Failure::new(error.to_string()))?;
    let bytes = text.as_str().as_bytes();
    let mark = sheet::mark_len(&source, bytes);
    let live = sheet::live(&source, Some(bytes)).unwrap_or_default();
    let mut ids = target.ids.to_vec();
    while !ids.is_empty() {
        match opened.accept(Some(sheet::version(review, &live)), &ids) {
            Ok(accepted) => {
                let splices = accepted
                    .splices()
                    .iter()
                    .map(|splice| unmarked(splice, mark));
                let wanted = accepted.result().map_or(&[][..], |content| &content.bytes);
                return Ok(Placed {
                    ids,
                    splices: splices.collect(),
                    wanted: String::from_utf8_lossy(wanted.get(mark..).unwrap_or_default())
                        .into_owned(),
                    review: Some(accepted.review().clone()),
                });
            }
            Err(AcceptError::Conflicted { ids: gone }) if !target.named => {
                ids.retain(|id| !gone.contains(id));
                landing.skipped.extend(gone.into_iter().map(|id| Skipped {
                    path: source.file.path.clone(),
                    hunk: Some(id),
                    reason: "the buffer was changed at the same place".to_owned(),
                }));
            }
            Err(error) => return Err(Failure::new(error.to_string())),
        }
    }
    Ok(Placed::default())
}

/// Whether two texts are the same but for the end of the last line, which editors give and take.
fn is_same(text: &str, wanted: &str) -> bool {
    let plain = |text| str::trim_end_matches(text, ['\r', '\n']);
    plain(text) == plain(wanted)
}

/// Where the text's last line has no end, the edit gives it none.
fn leave_last_end(splices: &mut Vec<Splice>, text: &str) {
    let Some(last) = splices.last_mut() else {
        return;
    };
    if last.range.end < text.len() || text.is_empty() || text.ends_with('\n') {
        return;
    }
    let bytes = last.bytes.strip_suffix(b"\n").unwrap_or(&last.bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    last.bytes = bytes.to_vec();
    if last.bytes == text.as_bytes()[last.range.clone()] {
        splices.pop();
    }
}

/// In the buffer, which does not have the mark that stands before the text in the file.
fn unmarked(splice: &Splice, mark: usize) -> Splice {
    let mut bytes = splice.bytes.as_slice();
    if splice.range.start < mark {
        bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    }
    Splice {
        range: splice.range.start.saturating_sub(mark)..splice.range.end.saturating_sub(mark),
        bytes: bytes.to_vec(),
    }
}

/// Whether a text holds the hunks: they are found as accepted ones, or as done already.
fn holds(
    target: Target<'_>,
    (base, agent): &Sides,
    review: Option<&FileReview>,
    ids: &[u32],
    text: &str,
) -> bool {
    let source = present::source(
        target.found,
        base.as_deref().map(Vec::as_slice),
        agent.as_deref().map(Vec::as_slice),
    );
    let placed = |file: &DeskFile| {
        let source = Source { file, ..source };
        sheet::place(&source, Some(text.as_bytes())).unwrap_or_default()
    };
    let before = placed(source.file);
    let after = review.map(|review| {
        placed(&DeskFile {
            review: review.clone(),
            ..source.file.clone()
        })
    });
    ids.iter().all(|id| {
        let mut spots = before.spots.iter();
        match spots
            .find(|spot| spot.name.number == *id)
            .map(|spot| spot.stand)
        {
            Some(Stand::Already) => true,
            // What it replaces stands there still.
            Some(Stand::Pending) => false,
            Some(Stand::Conflicted) | None => after
                .as_ref()
                .is_some_and(|after| after.standing.iter().any(|name| name.number == *id)),
        }
    })
}

/// How long a text is waited for.
#[derive(Clone, Copy, Debug)]
struct Wait {
    longest: Duration,
    /// The version that the edit was made for, where a later one without it says that it was not made.
    stale: Option<i32>,
}

impl Wait {
    fn after(session: &Session, answer: &Result<(), String>, version: i32) -> Self {
        let refused = answer.is_err();
        let told = refused || session.wants(|profile| profile.tells_all_after_answer);
        Self {
            longest: if refused { REFUSED } else { CONFIRM },
            stale: told.then_some(version),
        }
    }
}

/// Waits for a text with a property; gives it.
async fn confirm(
    session: &Session,
    real: &Path,
    wait: Wait,
    holds: impl Fn(&Text) -> bool,
) -> Option<Text> {
    let until = Instant::now() + wait.longest;
    let mut texts = session.texts.subscribe();
    let mut seen = None;
    loop {
        let (_, version, text) = buffer(session, real)?;
        if seen.replace(version) != Some(version) {
            if holds(&text) {
                return Some(text);
            }
            if wait.stale.is_some_and(|stale| stale != version) {
                return None;
            }
        }
        timeout_at(until, texts.changed()).await.ok()?.ok()?;
    }
}

/// Asks for the edit.
async fn send(
    session: &Session,
    uri: &str,
    version: i32,
    edits: Vec<TextEdit>,
    label: String,
) -> Result<(), String> {
    if !session.wants(|profile| profile.apply_edit) {
        return Err("this editor lets no language server change its buffers".to_owned());
    }
    // Neovim refuses what is older than its text, but takes 0 for any. Its own versions go from 0 to 2 at once or farther,
    // so that 1 says the same and is compared.
    let version = match version {
        0 if session.wants(|profile| profile.takes_zero_for_any) => 1,
        version => version,
    };
    let edit = if session.wants(|profile| profile.document_changes) {
        let edits = edits.into_iter().map(Edit::TextEdit).collect();
        let text_document = OptionalVersionedTextDocumentIdentifier {
            version: Some(version),
            text_document_identifier: TextDocumentIdentifier {
                uri: Uri(uri.to_owned()),
            },
        };
        WorkspaceEdit {
            document_changes: Some(vec![DocumentChange::TextDocumentEdit(TextDocumentEdit {
                text_document,
                edits,
            })]),
            ..WorkspaceEdit::default()
        }
    } else {
        WorkspaceEdit {
            changes: Some([(Uri(uri.to_owned()), edits)].into_iter().collect()),
            ..WorkspaceEdit::default()
        }
    };
    let params = ApplyWorkspaceEditParams {
        label: Some(label),
        edit,
        metadata: None,
    };
    match timeout(
        ANSWER,
        session
            .client
            .send_request::<ApplyWorkspaceEditRequest>(params),
    )
    .await
    {
        Ok(Ok(result)) if result.applied => Ok(()),
        Ok(Ok(result)) => Err(match result.failure_reason {
            Some(reason) => format!("the editor refused the edit: {reason}"),
            None => "the editor refused the edit; is the buffer read-only?".to_owned(),
        }),
        Ok(Err(error)) => Err(format!("the editor refused the edit: {}", error.message)),
        Err(_) => Err("the editor did not answer".to_owned()),
    }
}
