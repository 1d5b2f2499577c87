//! All that this server knows while it runs, and what happens to it in wire order. Nothing of it outlives the process, and
//! nothing is lost with it: tasks and decisions are the daemon's, texts are the editor's.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use gen_lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, ProgressToken, WorkDoneProgressCancelParams,
};
use legwork_model::{Place, TaskId};
use tokio::sync::{Notify, watch};
use tower_lsp_server::Client;

use crate::{
    Settings,
    apply::OwnAccept,
    blobs::Blobs,
    commands,
    daemon::Daemon,
    documents::{self, Document, Documents},
    ext,
    name::HunkName,
    preview,
    profile::Profile,
    record::Record,
    roots::Roots,
    scratch,
    sheet::Sheet,
    tasks::Tasks,
    text::{Encoding, LineEnds},
};

/// So many decisions can be taken back one after the other, before the daemon is asked for its last one.
const MOST_GESTURES: usize = 200;

/// One client.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) daemon: Daemon,
    pub(crate) settings: Settings,
    pub(crate) profile: OnceLock<Profile>,
    pub(crate) blobs: Blobs,
    /// Something is to be shown anew.
    pub(crate) wake: Notify,
    /// Other folders are of interest than before.
    pub(crate) relist: Notify,
    /// Grows whenever a text changes.
    pub(crate) texts: watch::Sender<u64>,
    /// One step of the review at a time, in the order in which they were asked for: the next begins at the cursor that the
    /// one before has left.
    pub(crate) reviewing: tokio::sync::Mutex<()>,
    /// What is told to the daemon's record is told in order.
    pub(crate) recording: tokio::sync::Mutex<()>,
    /// One edit of a buffer at a time.
    pub(crate) applying: tokio::sync::Mutex<()>,
    state: Mutex<State>,
}

/// What changes.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) roots: Roots,
    pub(crate) documents: Documents,
    pub(crate) tasks: Tasks,
    /// What is shown of each file, by its path without links.
    pub(crate) shown: BTreeMap<PathBuf, Shown>,
    /// Files that are to be shown anew.
    pub(crate) dirty: BTreeSet<PathBuf>,
    /// The review cursor.
    pub(crate) cursor: Option<HunkName>,
    /// What the daemon has yet to be told.
    pub(crate) record: Record,
    /// Hunks on their way into a buffer.
    pub(crate) claimed: BTreeSet<HunkName>,
    /// What was decided through this editor, latest last: the task, and the gesture it was one with.
    pub(crate) gestures: Vec<(TaskId, String)>,
    /// Of that, what was accepted into buffers.
    pub(crate) own: Vec<OwnAccept>,
    /// What the scratch file is about.
    pub(crate) about: Option<Place>,
    /// Tasks with a progress bar.
    pub(crate) progress: HashMap<TaskId, ProgressToken>,
    /// What the client was told of the tasks.
    pub(crate) told: Option<ext::TasksParams>,
    /// Progress bars of this server's own work that the user stopped.
    pub(crate) stopped: Vec<ProgressToken>,
}

/// What is shown of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    pub(crate) sheet: Sheet,
    /// Of the buffer; `None` for a file on disk.
    pub(crate) version: Option<i32>,
    pub(crate) uri: String,
    /// What the client was sent last.
    pub(crate) sent: Option<serde_json::Value>,
}

impl Session {
    pub(crate) fn new(client: Client, settings: Settings) -> Self {
        Self {
            client,
            daemon: Daemon::new(Arc::clone(&settings.connect)),
            settings,
            profile: OnceLock::new(),
            blobs: Blobs::default(),
            wake: Notify::new(),
            relist: Notify::new(),
            texts: watch::Sender::new(0),
            reviewing: tokio::sync::Mutex::new(()),
            recording: tokio::sync::Mutex::new(()),
            applying: tokio::sync::Mutex::new(()),
            state: Mutex::default(),
        }
    }

    /// Held for moments only, never while something is waited for.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.profile
            .get()
            .map_or(Encoding::Utf16, |profile| profile.encoding)
    }

    pub(crate) fn wants(&self, want: impl Fn(&Profile) -> bool) -> bool {
        self.profile.get().is_some_and(want)
    }

    /// A buffer is open from now on.
    pub(crate) fn opened(self: &Arc<Self>, params: DidOpenTextDocumentParams) {
        let line_ends = self
            .profile
            .get()
            .map_or(LineEnds::Newline, |profile| profile.line_ends);
        let mut state = self.state();
        let document = state.documents.open(params.text_document, line_ends);
        let real = document.real.clone();
        if let Some(real) = &real {
            // A client forgets what it was shown of a buffer that it closed.
            if let Some(shown) = state.shown.get_mut(real) {
                shown.sent = None;
            }
            if let Some((task, _)) = preview::of(self, real) {
                tokio::spawn(preview::opened(Arc::clone(self), task));
            } else if !state.roots.iter().any(|root| real.starts_with(&root.real))
                && let Some(folder) = state.roots.of(real)
            {
                state.roots.add(folder);
                self.relist.notify_one();
            }
        }
        self.moved(state, real);
    }

    /// Its text is another from now on.
    pub(crate) fn changed(self: &Arc<Self>, params: DidChangeTextDocumentParams) {
        let id = params.text_document;
        let uri = id.text_document_identifier.uri.0;
        let by_one = self.wants(|profile| profile.versions_by_one);
        let mut state = self.state();
        let waited = state.documents.get(&uri).is_some_and(Document::waits);
        let changes = params.content_changes;
        let document = state
            .documents
            .change(&uri, id.version, changes, self.encoding(), by_one);
        let waits = document.is_some_and(Document::waits);
        let real = document.and_then(|document| document.real.clone());
        self.moved(state, real);
        if waits && !waited {
            let session = Arc::clone(self);
            tokio::spawn(async move { session.give_up(&uri).await });
        }
    }

    /// Waits until nothing waits any more in the buffer.
    async fn give_up(&self, uri: &str) {
        loop {
            tokio::time::sleep(documents::PATIENCE).await;
            let mut state = self.state();
            let Some(document) = state.documents.get(uri) else {
                return;
            };
            if !document.waits() {
                return;
            }
            if let Some(document) = state.documents.give_up(uri, self.encoding()) {
                let real = document.real.clone();
                return self.moved(state, real);
            }
        }
    }

    /// It is a buffer no longer.
    pub(crate) fn closed(&self, params: &DidCloseTextDocumentParams) {
        let mut state = self.state();
        let document = state.documents.close(&params.text_document.uri.0);
        if let Some(document) = document {
            self.moved(state, document.real);
        }
    }

    /// It was written to disk; if it is the scratch file, its text is a task.
    pub(crate) fn saved(self: &Arc<Self>, params: &DidSaveTextDocumentParams) {
        let mut state = self.state();
        let Some(document) = state.documents.save(&params.text_document.uri.0).cloned() else {
            return;
        };
        self.moved(state, document.real.clone());
        if let Some(sentence) = sentence(&document) {
            let session = Arc::clone(self);
            tokio::spawn(
                async move { commands::scratch_saved(&session, &document, sentence).await },
            );
        }
    }

    /// The user stopped a task at its progress bar.
    pub(crate) fn progress_cancelled(self: &Arc<Self>, params: WorkDoneProgressCancelParams) {
        let mut state = self.state();
        let task = state
            .progress
            .iter()
            .find(|(_, token)| **token == params.token)
            .map(|(task, _)| task.clone());
        let Some(task) = task else {
            state.stopped.push(params.token);
            return;
        };
        drop(state);
        let session = Arc::clone(self);
        tokio::spawn(async move { commands::cancel_by_progress(&session, task).await });
    }

    /// A name for what the user decides of a task now, in one go.
    pub(crate) fn gesture(&self, task: &TaskId) -> String {
        let gesture = TaskId::random().to_string();
        let mut state = self.state();
        if state.gestures.len() >= MOST_GESTURES {
            state.gestures.remove(0);
        }
        state.gestures.push((task.clone(), gesture.clone()));
        gesture
    }

    /// What was decided last, of a task if one is given; it is forgotten with this.
    pub(crate) fn last_gesture(&self, task: Option<&TaskId>) -> Option<(TaskId, String)> {
        let mut state = self.state();
        let of = |(known, _): &(TaskId, String)| task.is_none_or(|task| task == known);
        let at = state.gestures.iter().rposition(of)?;
        Some(state.gestures.remove(at))
    }

    /// Has these files shown anew.
    pub(crate) fn refresh(&self, files: impl IntoIterator<Item = PathBuf>) {
        self.state().dirty.extend(files);
        self.wake.notify_one();
    }

    fn moved(&self, mut state: MutexGuard<'_, State>, real: Option<PathBuf>) {
        state.dirty.extend(real);
        drop(state);
        self.texts.send_modify(|count| *count += 1);
        self.wake.notify_one();
    }
}

impl State {
    /// Where a hunk is shown.
    pub(crate) fn spot(&self, name: &HunkName) -> Option<(&Shown, &crate::sheet::Spot)> {
        let known = self.tasks.get(&name.task)?;
        let real = name.path.under(&known.task.spec.workspace);
        let shown = self.shown.get(&real)?;
        Some((
            shown,
            shown.sheet.spots.iter().find(|spot| spot.name == *name)?,
        ))
    }

    /// How the client spells a file.
    pub(crate) fn uri(&self, real: &std::path::Path) -> String {
        match self.documents.of_file(real) {
            Some(document) => document.uri.clone(),
            None => crate::uri::from_path(&self.roots.as_opened(real)),
        }
    }
}

fn sentence(document: &Document) -> Option<String> {
    let real = document.real.as_deref()?;
    scratch::is_scratch(real).then(|| scratch::sentence(document.text.as_str()))?
}
