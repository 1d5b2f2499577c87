//! The client's own text of a document, and changes to it, counted in the encoding that was agreed on.

use std::path::Path;

use serde_json::{Value, json};

use super::{Client, State, uri};

/// What a column counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
}

/// A document as the editor has it.
#[derive(Clone, Debug)]
pub struct Text {
    /// All of it.
    pub text: String,
    /// As last told to the server.
    pub version: i64,
}

impl Encoding {
    /// By its name in the protocol.
    ///
    /// # Panics
    ///
    /// When there is none of this name.
    pub fn named(name: &str) -> Self {
        match name {
            "utf-8" => Self::Utf8,
            "utf-16" => Self::Utf16,
            "utf-32" => Self::Utf32,
            other => panic!("the server chose the encoding {other}"),
        }
    }

    fn width(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// The byte that a position is at. Past the end of a line is the end of the line, past the last line the end.
    ///
    /// # Panics
    ///
    /// When it is inside of a character.
    pub fn offset(self, text: &str, position: &Value) -> usize {
        let number = |name: &str| {
            let value = position[name].as_u64().expect("a position");
            usize::try_from(value).expect("a small number")
        };
        let (line, column) = (number("line"), number("character"));
        let mut start = 0;
        for _ in 0..line {
            match text[start..].find('\n') {
                Some(end) => start += end + 1,
                None => return text.len(),
            }
        }
        let mut seen = 0;
        for (at, character) in text[start..].char_indices() {
            if seen == column || character == '\n' {
                return start + at;
            }
            seen += self.width(character);
            assert!(
                seen <= column || column == 0,
                "{position} is inside of a character"
            );
        }
        text.len()
    }

    /// The position of a byte.
    pub fn position(self, text: &str, offset: usize) -> Value {
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = text[..start].matches('\n').count();
        let column: usize = text[start..offset]
            .chars()
            .map(|character| self.width(character))
            .sum();
        json!({ "line": line, "character": column })
    }
}

impl Client {
    /// Opens a file as it is on disk. Gives its URI.
    ///
    /// # Panics
    ///
    /// When it cannot be read as text.
    pub fn open(&self, path: &Path) -> String {
        let text = std::fs::read_to_string(path).expect("a file of text");
        self.open_as(&uri(path), &text)
    }

    /// Opens a document with this text, whatever is on disk. Gives the URI back.
    pub fn open_as(&self, uri: &str, text: &str) -> String {
        let version = 1;
        let kept = Text {
            text: text.to_owned(),
            version,
        };
        self.state().texts.insert(uri.to_owned(), kept);
        let document =
            json!({ "uri": uri, "languageId": "plaintext", "version": version, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
        uri.to_owned()
    }

    /// Closes a document.
    pub fn close(&self, uri: &str) {
        self.state().texts.remove(uri);
        self.notify(
            "textDocument/didClose",
            json!({ "textDocument": { "uri": uri } }),
        );
    }

    /// Writes a document to disk, and says so.
    ///
    /// # Panics
    ///
    /// When it is not open or cannot be written.
    pub fn save(&self, uri: &str, path: &Path) {
        std::fs::write(path, self.text(uri)).expect("a file that can be written");
        self.notify(
            "textDocument/didSave",
            json!({ "textDocument": { "uri": uri } }),
        );
    }

    /// The text of an open document.
    ///
    /// # Panics
    ///
    /// When it is not open.
    pub fn text(&self, uri: &str) -> String {
        self.state()
            .texts
            .get(uri)
            .expect("an open document")
            .text
            .clone()
    }

    /// Its version.
    ///
    /// # Panics
    ///
    /// When it is not open.
    pub fn version(&self, uri: &str) -> i64 {
        self.state()
            .texts
            .get(uri)
            .expect("an open document")
            .version
    }

    /// Waits until a document has this text.
    ///
    /// # Panics
    ///
    /// When that takes too long.
    pub fn until_text(&self, uri: &str, wanted: &str) {
        let begun = std::time::Instant::now();
        while self.text(uri) != wanted {
            assert!(
                begun.elapsed() < super::PATIENCE,
                "{uri} is {:?}",
                self.text(uri)
            );
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// The user replaces the first place with these words by others; told as a range.
    ///
    /// # Panics
    ///
    /// When there is no such place.
    pub fn replace(&self, uri: &str, old: &str, new: &str) {
        let at = self
            .text(uri)
            .find(old)
            .unwrap_or_else(|| panic!("no {old:?} in {uri}"));
        self.splice(uri, at..at + old.len(), new);
    }

    /// The user replaces these bytes; told as a range.
    pub fn splice(&self, uri: &str, bytes: std::ops::Range<usize>, new: &str) {
        let state = self.state();
        let text = &state.texts.get(uri).expect("an open document").text;
        let position = |offset| state.encoding.position(text, offset);
        let change = json!({
            "range": { "start": position(bytes.start), "end": position(bytes.end) }, "text": new,
        });
        drop(state);
        self.change(uri, &[change]);
    }

    /// The user replaces all of it; told whole.
    pub fn set_text(&self, uri: &str, text: &str) {
        self.change(uri, &[json!({ "text": text })]);
    }

    /// `didChange` with these `contentChanges`, one after the other.
    pub fn change(&self, uri: &str, changes: &[Value]) {
        self.change_to(uri, None, changes);
    }

    /// As [`Client::change`], with a version of the test's choice.
    pub fn change_to(&self, uri: &str, version: Option<i64>, changes: &[Value]) {
        // The lock is kept, so that what is told is told in the order in which it happened.
        let mut state = self.state();
        let message = state.change(uri, version, changes);
        self.send(&message);
    }
}

impl State {
    /// Changes the text, and gives the notification of it.
    pub(super) fn change(&mut self, uri: &str, version: Option<i64>, changes: &[Value]) -> Value {
        let encoding = self.encoding;
        let document = self.texts.get_mut(uri).expect("an open document");
        for change in changes {
            let new = change["text"].as_str().expect("a text");
            match change.get("range") {
                None => new.clone_into(&mut document.text),
                Some(range) => {
                    let start = encoding.offset(&document.text, &range["start"]);
                    let end = encoding.offset(&document.text, &range["end"]);
                    document.text.replace_range(start..end, new);
                }
            }
        }
        document.version = version.unwrap_or(document.version + 1);
        json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": { "uri": uri, "version": document.version }, "contentChanges": changes,
        } })
    }
}
