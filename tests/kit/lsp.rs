//! A raw client of `legwork lsp` over its standard input and output: what an editor does and says, and what none should.
//!
//! Reading is strict: whatever stands on the server's standard output outside of a frame fails the test.

mod answers;
mod frames;
mod setup;
mod text;

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::NamedTempFile;

pub use answers::Applies;
pub use setup::{Setup, uri};
pub use text::{Encoding, Text};

use crate::{folder::Folder, home::Home};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer: a result or an error, as JSON.
pub type Answer = Result<Value, Value>;

/// A running server, and the editor's side of the conversation. When it is dropped the server is shut down, and must end
/// by itself, with success, having written nothing but frames.
#[derive(Debug)]
pub struct Client {
    child: Child,
    /// What is on its way to the server. A thread of its own writes it, as editors do: a client that reads nothing while it
    /// writes can stand still together with its server.
    stdin: Option<Arc<Sender<Vec<u8>>>>,
    shared: Arc<Shared>,
    reader: Option<JoinHandle<()>>,
    initialized: bool,
    native: bool,
    /// What the server says on its standard error.
    words: NamedTempFile,
    /// What `initialize` answered.
    pub server: Value,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// The editor.
#[derive(Debug, Default)]
struct State {
    next: i64,
    answers: BTreeMap<i64, Answer>,
    notifications: Vec<Value>,
    requests: Vec<Value>,
    texts: BTreeMap<String, Text>,
    encoding: Encoding,
    applies: Applies,
    read_only: Vec<String>,
    configuration: Value,
    /// What is wrong with the server's output.
    garbage: Option<String>,
    ended: bool,
}

impl Client {
    /// A client that can everything, initialized.
    pub fn start(home: &Home, folder: &Folder) -> Self {
        Self::with(home, &Setup::full(&folder.path()))
    }

    /// A client of its own kind, initialized.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub fn with(home: &Home, setup: &Setup) -> Self {
        let mut client = Self::raw(home, setup);
        client
            .initialize(setup)
            .expect("the server takes the client");
        client
    }

    /// A started server that was told nothing yet.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn raw(home: &Home, setup: &Setup) -> Self {
        let folder = setup
            .folders
            .first()
            .map_or(Path::new("/"), PathBuf::as_path);
        let words = NamedTempFile::new().expect("a temporary file");
        let stderr = words.reopen().expect("a temporary file");
        let mut child = home
            .command(folder, ["lsp"])
            .env("LEGWORK_LOG", "info")
            .envs(setup.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("legwork starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let (stdin, outgoing) = channel::<Vec<u8>>();
        let stdin = Arc::new(stdin);
        thread::spawn(move || {
            // The server may have ended, and what waits for an answer will say so.
            for bytes in outgoing {
                pipe.write_all(&bytes).and_then(|()| pipe.flush()).ok();
            }
        });
        let stdout = child.stdout.take().expect("a pipe");
        let shared = Arc::new(Shared::default());
        let (own, reply) = (Arc::clone(&shared), Arc::downgrade(&stdin));
        let reader = thread::spawn(move || {
            let outcome = frames::read(stdout, |message| {
                let Some(stdin) = reply.upgrade() else { return };
                own.receive(message, &stdin);
            });
            let mut state = own.lock();
            state.garbage = outcome.err();
            state.ended = true;
            drop(state);
            own.changed.notify_all();
        });
        Self {
            child,
            stdin: Some(stdin),
            shared,
            reader: Some(reader),
            initialized: false,
            native: setup.options["legwork"]["ui"]["hunks"] == "native",
            words,
            server: Value::Null,
        }
    }

    /// Says `initialize` and `initialized`.
    ///
    /// # Errors
    ///
    /// The server's.
    pub fn initialize(&mut self, setup: &Setup) -> Answer {
        let uris: Vec<Value> = setup
            .folders
            .iter()
            .map(|folder| json!({ "uri": uri(folder), "name": "folder" }))
            .collect();
        let mut params = json!({
            "processId": std::process::id(),
            "clientInfo": { "name": setup.name },
            "rootUri": setup.folders.first().map(|folder| uri(folder)),
            "capabilities": setup.capabilities,
        });
        if setup.workspace_folders {
            params["workspaceFolders"] = uris.into();
        }
        if !setup.options.is_null() {
            params["initializationOptions"] = setup.options.clone();
        }
        let answer = self.request("initialize", params)?;
        let encoding = answer["capabilities"]["positionEncoding"].as_str();
        self.state().encoding = encoding.map_or(Encoding::Utf16, Encoding::named);
        self.notify("initialized", json!({}));
        self.initialized = true;
        self.server = answer.clone();
        Ok(answer)
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// The server's.
    pub fn request(&self, method: &str, params: Value) -> Answer {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// `workspace/executeCommand`.
    ///
    /// # Errors
    ///
    /// The server's.
    pub fn command(&self, name: &str, argument: Value) -> Answer {
        let id = self.begin(name, argument);
        self.answer(id)
    }

    /// As [`Client::command`], without waiting: gives the request's id.
    pub fn begin(&self, name: &str, argument: Value) -> i64 {
        let arguments = match argument {
            Value::Null => json!([]),
            Value::Array(all) => all.into(),
            other => json!([other]),
        };
        let params = json!({ "command": name, "arguments": arguments });
        self.ask("workspace/executeCommand", params)
    }

    /// Sends a request; gives its id.
    pub fn ask(&self, method: &str, params: Value) -> i64 {
        let id = {
            let mut state = self.state();
            state.next += 1;
            state.next
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    ///
    /// The server's.
    pub fn answer(&self, id: i64) -> Answer {
        self.wait(&format!("an answer to request {id}"), |state| {
            state.answers.remove(&id)
        })
    }

    /// Gives a request up.
    pub fn cancel(&self, id: i64) {
        self.notify("$/cancelRequest", json!({ "id": id }));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&self, message: &Value) {
        self.bytes(&frames::frame(message));
    }

    /// Sends bytes as they are.
    pub fn bytes(&self, bytes: &[u8]) {
        if let Some(stdin) = &self.stdin {
            stdin.send(bytes.to_vec()).ok();
        }
    }

    /// What the last of these notifications says, once `wanted` takes it.
    ///
    /// # Panics
    ///
    /// When none comes in time; it shows the last ones.
    pub fn until<T>(&self, method: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        self.wait(&format!("`{method}`"), |state| {
            let mut all = state.notifications.iter().rev();
            let last = all.find(|notification| notification["method"] == method)?;
            wanted(&last["params"])
        })
    }

    /// As [`Client::until`], of the last notification about this document.
    ///
    /// # Panics
    ///
    /// As there.
    pub fn until_of<T>(&self, method: &str, uri: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        self.wait(&format!("`{method}` of {uri}"), |state| {
            let mut all = state.notifications.iter().rev();
            let last = all.find(|notification| {
                notification["method"] == method && notification["params"]["uri"] == uri
            })?;
            wanted(&last["params"])
        })
    }

    /// The hunks of a document, once there are so many of them and they are about the text as it is; a client that draws
    /// them has been told the same by then.
    ///
    /// # Panics
    ///
    /// As [`Client::until`], and when the server does not answer.
    pub fn hunks(&self, uri: &str, count: usize) -> Vec<Value> {
        let begun = Instant::now();
        loop {
            let answer = self.request("legwork/hunks", json!({ "uri": uri }));
            let answer = answer.unwrap_or_else(|error| panic!("{uri}: {error}"));
            let hunks = answer["hunks"].as_array().expect("hunks");
            let is_new = answer["version"] == self.version(uri);
            // What it answers it also tells by itself; of what was told meanwhile the answer knows nothing.
            let is_told = !self.native || {
                let state = self.state();
                let mut told = state.notifications.iter().rev();
                match told
                    .find(|told| told["method"] == "legwork/hunks" && told["params"]["uri"] == *uri)
                {
                    Some(told) => told["params"]["hunks"] == answer["hunks"],
                    None => hunks.is_empty(),
                }
            };
            if is_new && is_told && hunks.len() == count {
                return hunks.clone();
            }
            assert!(begun.elapsed() < PATIENCE, "not {count} hunks: {answer:#}");
            thread::sleep(Duration::from_millis(3));
        }
    }

    /// A message that the user is shown, once one has these words; however long ago.
    ///
    /// # Panics
    ///
    /// As [`Client::until`].
    pub fn message(&self, words: &str) -> String {
        self.wait(&format!("a message with `{words}`"), |state| {
            let mut all = state.notifications.iter().rev();
            all.find_map(|notification| {
                let text = notification["params"]["message"].as_str()?;
                let shown = notification["method"] == "window/showMessage" && text.contains(words);
                shown.then(|| text.to_owned())
            })
        })
    }

    /// All notifications of a method so far.
    pub fn notifications(&self, method: &str) -> Vec<Value> {
        let state = self.state();
        let all = state.notifications.iter();
        all.filter(|notification| notification["method"] == method)
            .map(|notification| notification["params"].clone())
            .collect()
    }

    /// All requests of the server of a method so far.
    pub fn requests(&self, method: &str) -> Vec<Value> {
        let state = self.state();
        let all = state.requests.iter();
        all.filter(|request| request["method"] == method)
            .map(|request| request["params"].clone())
            .collect()
    }

    /// What the client does with edits from now on.
    pub fn applies(&self, how: Applies) {
        self.state().applies = how;
    }

    /// A document that cannot be changed.
    pub fn make_read_only(&self, uri: &str) {
        self.state().read_only.push(uri.to_owned());
    }

    /// What `workspace/configuration` gives for each item.
    pub fn configure(&self, value: Value) {
        self.state().configuration = value;
    }

    /// Kills the server.
    ///
    /// # Panics
    ///
    /// When it cannot be.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.initialized = false;
        self.stdin = None;
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    fn wait<T>(&self, what: &str, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        let begun = Instant::now();
        let mut state = self.state();
        loop {
            if let Some(found) = look(&mut state) {
                return found;
            }
            let left = PATIENCE.saturating_sub(begun.elapsed());
            if left.is_zero() || state.ended {
                let garbage = state.garbage.take();
                let from = state.notifications.len().saturating_sub(8);
                let last = state.notifications.split_off(from);
                let ended = state.ended;
                // A poisoned lock would hide this.
                drop(state);
                panic!(
                    "no {what}{}{garbage:?}; the last notifications: {last:#?}",
                    if ended {
                        ", and the server ended: "
                    } else {
                        ": "
                    }
                );
            }
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .expect("nobody panicked")
                .0;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panicked")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stdin = None;
            self.child.kill().ok();
            self.child.wait().ok();
            let said = std::fs::read(self.words.path()).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            let tail: Vec<&str> = said.lines().rev().take(30).collect();
            // The test harness shows this with the failure.
            #[expect(clippy::print_stderr, reason = "a failed test tells what it saw")]
            for line in tail.into_iter().rev() {
                eprintln!("legwork lsp: {line}");
            }
            return;
        }
        let shut = self.initialized && !self.state().ended;
        if shut {
            self.request("shutdown", Value::Null)
                .expect("it shuts down");
            self.notify("exit", Value::Null);
        }
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(begun.elapsed().as_secs() < 10, "the server does not end");
            thread::sleep(Duration::from_millis(5));
            if !shut {
                self.stdin = None;
            }
        };
        assert!(!shut || status.success(), "the server ended with {status}");
        self.stdin = None;
        let reader = self.reader.take().expect("it is joined once");
        reader.join().expect("the reader holds");
        assert_eq!(self.state().garbage, None, "on standard output");
    }
}
