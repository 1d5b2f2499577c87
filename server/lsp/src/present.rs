//! Shows hunks where they stand: whenever a text or a review changes, the files it is about are looked at anew, and the
//! client is sent what is another than before.
//!
//! | what | file |
//! | --- | --- |
//! | diagnostics for every client | `present/diagnostics.rs` |
//! | `legwork/hunks` for those that draw themselves | `present/native.rs` |
//! | hover and code lenses | `present/{hover,lenses}.rs` |

pub(crate) mod diagnostics;
pub(crate) mod hover;
pub(crate) mod lenses;
pub(crate) mod native;

use std::{path::Path, sync::Arc, time::Duration};

use gen_lsp_types::{PublishDiagnosticsNotification, PublishDiagnosticsParams, Uri};

use crate::{
    ext,
    failure::Failure,
    record,
    session::{Session, Shown},
    sheet::{self, Sheet, Source},
    tasks::Found,
};

/// How long changes are gathered: less than a person sees, more than one key repeat sends.
const GATHER: Duration = Duration::from_millis(4);
/// The largest file on disk that is looked into.
const LARGEST: u64 = 16 << 20;

/// Never ends.
pub(crate) async fn present(session: Arc<Session>) {
    loop {
        session.wake.notified().await;
        tokio::time::sleep(GATHER).await;
        let dirty = std::mem::take(&mut session.state().dirty);
        for real in dirty {
            if let Err(failure) = show(&session, &real).await {
                tracing::info!(file = %real.display(), %failure, "hunks cannot be shown");
            }
        }
    }
}

/// A file as it is this moment.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) sheet: Sheet,
    pub(crate) uri: String,
    /// Of the buffer; `None` for a file on disk.
    pub(crate) version: Option<i32>,
}

/// Places all hunks of a file in its buffer, or in what is on disk.
pub(crate) async fn look(session: &Session, real: &Path) -> Result<Look, Failure> {
    let (document, found, uri) = {
        let state = session.state();
        let document = state
            .documents
            .of_file(real)
            .map(|document| (document.version, document.text.clone()));
        (document, state.tasks.of_file(real), state.uri(real))
    };
    let mut parts = Vec::with_capacity(found.len());
    for found in found {
        let bytes = bytes(session, &found).await?;
        parts.push((found, bytes));
    }
    let version = document.as_ref().map(|(version, _)| *version);
    let text = document.map(|(_, text)| text);
    let real = real.to_owned();
    // A diff of a large file takes its time, and messages are to be read meanwhile.
    let placed = tokio::task::spawn_blocking(move || {
        let disk = if text.is_none() { disk(&real) } else { None };
        let live = text.as_ref().map(|text| text.as_str().as_bytes());
        // An empty buffer of a file that is not there is how editors show a new file.
        let live = match live {
            Some([]) if !real.exists() => None,
            Some(text) => Some(text),
            None => disk.as_deref(),
        };
        let mut sheet = Sheet::default();
        for (found, (base, agent)) in &parts {
            let source = source(
                found,
                base.as_deref().map(Vec::as_slice),
                agent.as_deref().map(Vec::as_slice),
            );
            let one = sheet::place(&source, live)?;
            sheet.spots.extend(one.spots);
            sheet.standing.extend(one.standing);
            sheet.taken_back.extend(one.taken_back);
        }
        sheet.spots.sort_by_key(|spot| spot.start);
        Ok::<_, legwork_review::OpenError>(sheet)
    });
    let sheet = placed
        .await
        .map_err(|error| Failure::new(format!("the hunks could not be placed: {error}")))?
        .map_err(|error| Failure::new(error.to_string()))?;
    Ok(Look {
        sheet,
        uri,
        version,
    })
}

/// The maths' view of a file.
pub(crate) fn source<'a>(
    found: &'a Found,
    base: Option<&'a [u8]>,
    agent: Option<&'a [u8]>,
) -> Source<'a> {
    Source {
        task: &found.desk.task,
        title: &found.desk.title,
        running: found.desk.state.is_active(),
        moved: found.desk.moved.as_deref(),
        file: found.file(),
        base,
        agent,
    }
}

pub(crate) type Sides = (Option<Arc<Vec<u8>>>, Option<Arc<Vec<u8>>>);

/// Both versions of a file.
pub(crate) async fn bytes(session: &Session, found: &Found) -> Result<Sides, Failure> {
    let review = &found.file().review;
    let get = async |stored: Option<legwork_review::Stored>| {
        let Some(stored) = stored else {
            return Ok(None);
        };
        // What is here needs no daemon: hunks go on moving with the text while there is none.
        if let Some(bytes) = session.blobs.find(stored.digest) {
            return Ok(Some(bytes));
        }
        let client = session.daemon.running().await.ok_or_else(|| {
            Failure::new("the daemon does not run; `legwork daemon start` starts it")
        })?;
        let bytes = session
            .blobs
            .get(&client, &found.desk.task, stored.digest)
            .await?;
        Ok::<_, Failure>(Some(bytes))
    };
    Ok((get(review.base()).await?, get(review.agent()).await?))
}

fn disk(real: &Path) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(real).ok()?;
    (metadata.is_file() && metadata.len() <= LARGEST).then(|| std::fs::read(real).ok())?
}

/// Shows a file anew, and tells the daemon of what came or went by the user's own hand.
async fn show(session: &Arc<Session>, real: &Path) -> Result<(), Failure> {
    {
        let state = session.state();
        if state.tasks.of_file(real).is_empty() && !state.shown.contains_key(real) {
            return Ok(());
        }
    }
    let mut look = look(session, real).await?;
    let (arrived, left, changed) = {
        let mut state = session.state();
        let now = state
            .documents
            .of_file(real)
            .map(|document| document.version);
        if now != look.version {
            // It moved on meanwhile; what is seen then is told then.
            state.dirty.insert(real.to_owned());
            session.wake.notify_one();
            return Ok(());
        }
        let before = state.shown.get(real);
        let was_open = before.is_some_and(|shown| shown.version.is_some());
        let sheet = before.map(|shown| &shown.sheet);
        let (mut arrived, left) = match look.version {
            Some(_) => (look.sheet.arrived(sheet), look.sheet.left(sheet)),
            // A buffer that was given up takes with it what was accepted into it and not saved.
            None if was_open => (Vec::new(), look.sheet.left(sheet)),
            None => (Vec::new(), Vec::new()),
        };
        arrived.retain(|name| !state.claimed.contains(name));
        // What just landed stands, though the daemon has yet to say so.
        let standing = before.into_iter().flat_map(|shown| &shown.sheet.standing);
        let landed = standing.filter(|name| state.claimed.contains(name));
        look.sheet.standing.extend(landed.cloned());
        let sent = before.and_then(|shown| shown.sent.clone());
        let changed = before.is_none_or(|shown| shown.sheet.spots != look.sheet.spots);
        let shown = Shown {
            sheet: look.sheet,
            version: look.version,
            uri: look.uri,
            sent,
        };
        state.shown.insert(real.to_owned(), shown);
        (arrived, left, changed)
    };
    send(session, real).await;
    if changed && session.wants(|profile| profile.lens_refresh && !profile.options.ui.native) {
        let client = session.client.clone();
        tokio::spawn(async move { client.code_lens_refresh().await });
    }
    if !arrived.is_empty() || !left.is_empty() {
        session.state().record.add(arrived, left);
        let session = Arc::clone(session);
        tokio::spawn(async move {
            if let Err(error) = record::tell(&session).await {
                tracing::info!(%error, "what is in a buffer is recorded later");
            }
        });
    }
    Ok(())
}

/// Sends the client what it has not been sent.
async fn send(session: &Session, real: &Path) {
    let native = session.wants(|profile| profile.options.ui.native);
    enum Message {
        Native(ext::HunksParams),
        Diagnostics(PublishDiagnosticsParams),
    }
    let message = {
        let mut state = session.state();
        let open = state
            .documents
            .of_file(real)
            .map(|document| document.text.clone());
        let Some(shown) = state.shown.get_mut(real) else {
            return;
        };
        let (value, message) = if native {
            let params = native::params(shown);
            (serde_json::to_value(&params.hunks), Message::Native(params))
        } else {
            let diagnostics = diagnostics::of(shown, open.as_ref());
            let params = PublishDiagnosticsParams {
                uri: Uri(shown.uri.clone()),
                version: shown.version,
                diagnostics,
            };
            (
                serde_json::to_value(&params.diagnostics),
                Message::Diagnostics(params),
            )
        };
        let Ok(value) = value else { return };
        let nothing = value.as_array().is_some_and(Vec::is_empty);
        let known = match &shown.sent {
            Some(sent) => *sent == value,
            None => nothing && !native,
        };
        shown.sent = Some(value);
        if shown.sheet == Sheet::default() && shown.version.is_none() {
            // Nothing is shown of it any more.
            state.shown.remove(real);
        }
        if known || (native && open.is_none()) {
            return;
        }
        message
    };
    match message {
        Message::Native(params) => session.client.send_notification::<ext::Hunks>(params).await,
        Message::Diagnostics(params) => {
            session
                .client
                .send_notification::<PublishDiagnosticsNotification>(params)
                .await;
        }
    }
}
