//! What the client answers the server: edits to its texts, and the small questions.

use std::{
    sync::{Arc, mpsc::Sender},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{Shared, State, frames};

/// What a client does with `workspace/applyEdit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Applies {
    /// Checks the version, changes the text, tells it, and answers `applied: true`.
    #[default]
    Honestly,
    /// As before, but the change is told so many milliseconds after the answer.
    Late(u64),
    /// As `Honestly`, but whatever the version.
    Blindly,
    /// As `Honestly`, but of an edit that is stale, and that it leaves out, it says too that it was made.
    Boldly,
    /// Answers `applied: true` and does nothing.
    Never,
    /// The user types a line at the top first. Then the version is not the one it was, and it refuses.
    AfterTyping,
    /// As before, and says that it was made.
    BoldlyAfterTyping,
    /// As before, but the edit is applied all the same, as to the text it was made for.
    BlindlyAfterTyping,
    /// Answers `applied: false`.
    Refusing,
    /// Answers with an error.
    Failing,
    /// Does not answer.
    Silently,
}

impl Shared {
    /// Takes what the server says.
    pub(super) fn receive(self: &Arc<Self>, message: Value, stdin: &Arc<Sender<Vec<u8>>>) {
        let mut state = self.lock();
        match (message.get("method").is_some(), message.get("id").cloned()) {
            (true, Some(id)) => {
                let reply = state.answer(&message);
                state.requests.push(message);
                let frames = |messages: &[Value]| -> Vec<u8> {
                    messages.iter().flat_map(frames::frame).collect()
                };
                let mut said = reply.before;
                if let Some(mut answer) = reply.answer {
                    answer["jsonrpc"] = "2.0".into();
                    answer["id"] = id;
                    said.push(answer);
                }
                stdin.send(frames(&said)).ok();
                if let Some((delay, uri, changes)) = reply.later {
                    let (own, stdin) = (Arc::clone(self), Arc::clone(stdin));
                    thread::spawn(move || {
                        thread::sleep(delay);
                        let mut state = own.lock();
                        // It may have been closed meanwhile.
                        if state.texts.contains_key(&uri) {
                            let told = state.change(&uri, None, &changes);
                            stdin.send(frames::frame(&told)).ok();
                        }
                    });
                }
            }
            (true, None) => state.notifications.push(message),
            (false, Some(id)) => {
                let answer = match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
                match id.as_i64() {
                    Some(id) => {
                        state.answers.insert(id, answer);
                    }
                    // The answer to what could not be understood.
                    None => state
                        .notifications
                        .push(json!({ "method": "null", "params": message })),
                }
            }
            (false, None) => {
                state.garbage = Some(format!("neither answer nor question: {message}"));
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}

/// What is said to a request.
#[derive(Default)]
struct Reply {
    /// Said before the answer.
    before: Vec<Value>,
    /// Without its id.
    answer: Option<Value>,
    /// A change that is told later.
    later: Option<(Duration, String, Vec<Value>)>,
}

impl State {
    fn answer(&mut self, request: &Value) -> Reply {
        let result = |value: Value| Reply {
            answer: Some(json!({ "result": value })),
            ..Reply::default()
        };
        let params = &request["params"];
        match request["method"].as_str().unwrap_or_default() {
            "workspace/applyEdit" => self.apply(&params["edit"]),
            "workspace/configuration" => {
                let items = params["items"].as_array().map_or(0, Vec::len);
                result(vec![self.configuration.clone(); items].into())
            }
            "window/showDocument" => result(json!({ "success": true })),
            "workspace/workspaceFolders"
            | "window/workDoneProgress/create"
            | "client/registerCapability"
            | "client/unregisterCapability"
            | "workspace/codeLens/refresh"
            | "workspace/diagnostic/refresh"
            | "window/showMessageRequest" => result(Value::Null),
            other => Reply {
                answer: Some(
                    json!({ "error": { "code": -32601, "message": format!("no {other} here") } }),
                ),
                ..Reply::default()
            },
        }
    }

    fn apply(&mut self, edit: &Value) -> Reply {
        let refused = |why: &str| Reply {
            answer: Some(json!({ "result": { "applied": false, "failureReason": why } })),
            ..Reply::default()
        };
        let applied = json!({ "result": { "applied": true } });
        let Some((uri, version, edits)) = one_document(edit) else {
            return refused("only edits of one document are taken");
        };
        match self.applies {
            Applies::Never => {
                return Reply {
                    answer: Some(applied),
                    ..Reply::default()
                };
            }
            Applies::Refusing => return refused("not now"),
            Applies::Failing => {
                return Reply {
                    answer: Some(
                        json!({ "error": { "code": -32603, "message": "the editor failed" } }),
                    ),
                    ..Reply::default()
                };
            }
            Applies::Silently => return Reply::default(),
            _ => {}
        }
        if self.read_only.contains(&uri) {
            return refused("the buffer is not modifiable");
        }
        let Some(document) = self.texts.get(&uri) else {
            return refused("it is not open");
        };
        let changes = in_turn(&edits, &document.text, self.encoding);
        let mut reply = Reply::default();
        if matches!(
            self.applies,
            Applies::AfterTyping | Applies::BoldlyAfterTyping | Applies::BlindlyAfterTyping
        ) {
            let start = json!({ "line": 0, "character": 0 });
            let typed = json!({ "range": { "start": start, "end": start }, "text": "typed\n" });
            reply.before.push(self.change(&uri, None, &[typed]));
        }
        let current = self.texts.get(&uri).map(|document| document.version);
        let blind = matches!(self.applies, Applies::Blindly | Applies::BlindlyAfterTyping);
        if !blind && version.is_some() && version != current {
            let why = "the document was changed meanwhile";
            reply.answer = match self.applies {
                Applies::Boldly | Applies::BoldlyAfterTyping => Some(applied),
                _ => refused(why).answer,
            };
            // Once is enough; the next edit finds the text as it is told.
            if self.applies != Applies::Boldly {
                self.applies = Applies::Honestly;
            }
            return reply;
        }
        if let Applies::Late(millis) = self.applies {
            reply.later = Some((Duration::from_millis(millis), uri, changes));
        } else {
            reply.before.push(self.change(&uri, None, &changes));
        }
        if self.applies == Applies::BlindlyAfterTyping {
            self.applies = Applies::Honestly;
        }
        reply.answer = Some(applied);
        reply
    }
}

/// The document, its version, and the edits.
fn one_document(edit: &Value) -> Option<(String, Option<i64>, Vec<Value>)> {
    if let Some([change]) = edit["documentChanges"].as_array().map(Vec::as_slice) {
        let uri = change["textDocument"]["uri"].as_str()?;
        let version = change["textDocument"]["version"].as_i64();
        return Some((uri.to_owned(), version, change["edits"].as_array()?.clone()));
    }
    let changes = edit["changes"]
        .as_object()
        .filter(|changes| changes.len() == 1)?;
    let (uri, edits) = changes.iter().next()?;
    Some((uri.clone(), None, edits.as_array()?.clone()))
}

/// Edits are about one text; told one after the other they come from its end, where none moves another.
fn in_turn(edits: &[Value], text: &str, encoding: super::Encoding) -> Vec<Value> {
    let mut placed: Vec<(usize, usize, Value)> = edits
        .iter()
        .map(|edit| {
            let start = encoding.offset(text, &edit["range"]["start"]);
            let end = encoding.offset(text, &edit["range"]["end"]);
            let change = json!({ "range": edit["range"], "text": edit["newText"] });
            (start, end, change)
        })
        .collect();
    placed.sort_by_key(|(start, end, _)| (*start, *end));
    for pair in placed.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "edits overlap: {edits:?}");
    }
    placed
        .into_iter()
        .rev()
        .map(|(_, _, change)| change)
        .collect()
}
