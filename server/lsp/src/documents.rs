//! The client's open buffers, as they are this moment.

mod early;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use gen_lsp_types::{TextDocumentContentChangeEvent, TextDocumentItem};
use legwork_model::Digest;

use early::Early;

pub(crate) use early::PATIENCE;

use crate::{
    roots,
    text::{Encoding, LineEnds, Text},
    uri,
};

/// An open buffer.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// In the client's own spelling.
    pub(crate) uri: String,
    /// The file, without any link; `None` for what is no file.
    pub(crate) real: Option<PathBuf>,
    pub(crate) language: String,
    /// As the client counts; it does not count by one.
    pub(crate) version: i32,
    pub(crate) text: Text,
    /// Of the text when it was last opened or saved.
    clean: Digest,
    early: Early,
}

impl Document {
    /// Whether it waits for a change that others, which are here, build on.
    pub(crate) fn waits(&self) -> bool {
        self.early.waits()
    }

    fn apply(
        &mut self,
        sorted: Vec<(i32, Vec<TextDocumentContentChangeEvent>)>,
        encoding: Encoding,
    ) {
        for (version, changes) in sorted {
            self.text.apply(&changes, encoding);
            self.version = version;
        }
    }

    /// Whether the user has changed it since it was opened or saved.
    pub(crate) fn is_touched(&self) -> bool {
        Digest::of(self.text.as_str().as_bytes()) != self.clean
    }
}

/// All open buffers.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    by_uri: HashMap<String, Document>,
}

impl Documents {
    pub(crate) fn open(&mut self, item: TextDocumentItem, line_ends: LineEnds) -> &Document {
        let uri = item.uri.0;
        let real = uri::to_path(&uri).and_then(|path| roots::real(&path));
        let clean = Digest::of(item.text.as_bytes());
        let language = serde_json::to_value(&item.language_id)
            .ok()
            .and_then(|id| id.as_str().map(str::to_owned))
            .unwrap_or_default();
        let document = Document {
            uri: uri.clone(),
            real,
            language,
            version: item.version,
            text: Text::new(item.text, line_ends),
            clean,
            early: Early::default(),
        };
        let entry = self.by_uri.entry(uri);
        entry.insert_entry(document).into_mut()
    }

    /// Gives the buffer as it is now; `None` if it is not open. With `by_one` its versions count by one, and a change that
    /// comes before its time waits for it.
    pub(crate) fn change(
        &mut self,
        uri: &str,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
        by_one: bool,
    ) -> Option<&Document> {
        let document = self.by_uri.get_mut(uri)?;
        let sorted = if by_one {
            document.early.sort(document.version, version, changes)
        } else {
            vec![(version, changes)]
        };
        document.apply(sorted, encoding);
        Some(document)
    }

    /// Applies what waits in vain. Gives the buffer if it is open and nothing waits any more.
    pub(crate) fn give_up(&mut self, uri: &str, encoding: Encoding) -> Option<&Document> {
        let document = self.by_uri.get_mut(uri)?;
        if document.early.is_late() {
            let sorted = document.early.all();
            document.apply(sorted, encoding);
        }
        (!document.waits()).then_some(document)
    }

    pub(crate) fn save(&mut self, uri: &str) -> Option<&Document> {
        let document = self.by_uri.get_mut(uri)?;
        document.clean = Digest::of(document.text.as_str().as_bytes());
        // A file that was saved for the first time may stand behind a link only now.
        document.real = uri::to_path(uri).and_then(|path| roots::real(&path));
        Some(document)
    }

    pub(crate) fn close(&mut self, uri: &str) -> Option<Document> {
        self.by_uri.remove(uri)
    }

    pub(crate) fn get(&self, uri: &str) -> Option<&Document> {
        self.by_uri.get(uri)
    }

    /// The buffer of a file, however the client spells its name.
    pub(crate) fn of_file(&self, real: &Path) -> Option<&Document> {
        self.by_uri
            .values()
            .find(|document| document.real.as_deref() == Some(real))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Document> {
        self.by_uri.values()
    }
}
