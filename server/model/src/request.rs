//! What a task was asked for in words, and where the user stood when they said it.

use serde::{Deserialize, Serialize};

use crate::TreePath;

/// A sentence and its context, as an editor knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What the user said.
    pub text: String,
    /// Where they stood.
    #[serde(default)]
    pub place: Option<Place>,
    /// Text that they selected where nothing says which file it is in; else it is [`Place::text`]. It is cut at
    /// [`Request::LONGEST_TEXT`].
    #[serde(default)]
    pub selection: Option<String>,
    /// What the editor's other servers say about that place.
    #[serde(default)]
    pub diagnostics: Vec<Finding>,
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub path: TreePath,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// The text that was selected; it is cut at [`Request::LONGEST_TEXT`].
    #[serde(default)]
    pub text: String,
    /// The editor's name for the language.
    #[serde(default)]
    pub language: Option<String>,
    /// The function, type or section that these lines are in.
    #[serde(default)]
    pub symbol: Option<String>,
}

/// Something that a compiler or a linter says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Line, from 1.
    pub line: u32,
    /// `error`, `warning`, `information` or `hint`.
    pub severity: String,
    /// Who says so.
    #[serde(default)]
    pub source: Option<String>,
    /// What.
    pub message: String,
}

/// Why a request is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Something is too long.
    #[error("{what} is {size} bytes long, and {limit} are the most")]
    Long {
        /// What.
        what: &'static str,
        /// Its length in bytes.
        size: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// There are too many diagnostics.
    #[error("there are {0} diagnostics, and {limit} are the most", limit = Request::MOST_FINDINGS)]
    Many(usize),
    /// The sentence cannot be told to a program.
    #[error("the text holds a NUL byte")]
    Nul,
    /// A range of lines that is none.
    #[error("{0}-{1} are no lines: the first is line 1, and the last is not above it")]
    Lines(u32, u32),
}

impl Request {
    /// The longest selection, in bytes, that comes along as text; the file itself is in the snapshot.
    pub const LONGEST_TEXT: usize = 32 << 10;
    /// The longest sentence, in bytes.
    pub const LONGEST_PROMPT: usize = 16 << 10;
    /// The longest message of a diagnostic, in bytes.
    pub const LONGEST_MESSAGE: usize = 4 << 10;
    /// The longest of all other texts, in bytes.
    pub const LONGEST_NAME: usize = 256;
    /// The most diagnostics.
    pub const MOST_FINDINGS: usize = 100;

    /// Cut to what is taken, but for the sentence: whoever asks should know that it is too long.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.diagnostics.truncate(Self::MOST_FINDINGS);
        for finding in &mut self.diagnostics {
            cut(&mut finding.severity, Self::LONGEST_NAME);
            cut(&mut finding.message, Self::LONGEST_MESSAGE);
            if let Some(source) = &mut finding.source {
                cut(source, Self::LONGEST_NAME);
            }
        }
        if let Some(selection) = &mut self.selection {
            cut(selection, Self::LONGEST_TEXT);
        }
        if let Some(place) = &mut self.place {
            cut(&mut place.text, Self::LONGEST_TEXT);
            for name in [&mut place.language, &mut place.symbol]
                .into_iter()
                .flatten()
            {
                cut(name, Self::LONGEST_NAME);
            }
        }
        self
    }

    /// Whether it is of a size and a sense that a task can be made of.
    ///
    /// # Errors
    ///
    /// [`RequestError`].
    pub fn check(&self) -> Result<(), RequestError> {
        let bound = |what, text: Option<&String>, limit| match text.map_or(0, String::len) {
            size if size > limit => Err(RequestError::Long { what, size, limit }),
            _ => Ok(()),
        };
        bound("the text", Some(&self.text), Self::LONGEST_PROMPT)?;
        if self.text.contains('\0') {
            return Err(RequestError::Nul);
        }
        bound("the selection", self.selection.as_ref(), Self::LONGEST_TEXT)?;
        if let Some(place) = &self.place {
            let (first, last) = place.lines;
            if first == 0 || last < first {
                return Err(RequestError::Lines(first, last));
            }
            bound("the selection", Some(&place.text), Self::LONGEST_TEXT)?;
            bound("the language", place.language.as_ref(), Self::LONGEST_NAME)?;
            bound("the symbol", place.symbol.as_ref(), Self::LONGEST_NAME)?;
        }
        if self.diagnostics.len() > Self::MOST_FINDINGS {
            return Err(RequestError::Many(self.diagnostics.len()));
        }
        for finding in &self.diagnostics {
            bound(
                "a diagnostic",
                Some(&finding.message),
                Self::LONGEST_MESSAGE,
            )?;
            bound("a severity", Some(&finding.severity), Self::LONGEST_NAME)?;
            bound("a source", finding.source.as_ref(), Self::LONGEST_NAME)?;
        }
        Ok(())
    }
}

/// Cuts a text between two characters.
fn cut(text: &mut String, limit: usize) {
    text.truncate(text.floor_char_boundary(limit));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        let finding = Finding {
            line: 1,
            severity: "s".repeat(300),
            source: Some("s".repeat(300)),
            message: "ü".repeat(Request::LONGEST_MESSAGE),
        };
        Request {
            text: "fix it".to_owned(),
            place: Some(Place {
                path: "a/b".parse().unwrap(),
                lines: (2, 3),
                text: "ü".repeat(Request::LONGEST_TEXT),
                language: Some("l".repeat(300)),
                symbol: Some("y".repeat(300)),
            }),
            selection: Some(format!("x{}", "ü".repeat(Request::LONGEST_TEXT))),
            diagnostics: vec![finding; Request::MOST_FINDINGS + 1],
        }
    }

    #[test]
    fn what_is_cut_is_taken_and_each_part_is_bounded() {
        let bounded = request().bounded();
        assert_eq!(bounded.check(), Ok(()));
        assert_eq!(
            bounded.selection.as_ref().map(String::len),
            Some(Request::LONGEST_TEXT - 1),
            "between two characters"
        );
        let breaks: [fn(&mut Request, Request); 9] = [
            |request, _| request.text = "x".repeat(Request::LONGEST_PROMPT + 1),
            |request, _| request.text.push('\0'),
            |request, long| request.selection = long.selection,
            |request, long| request.diagnostics = long.diagnostics,
            |request, long| {
                request.diagnostics[0]
                    .message
                    .clone_from(&long.diagnostics[0].message);
            },
            |request, long| {
                request.diagnostics[0]
                    .source
                    .clone_from(&long.diagnostics[0].source);
            },
            |request, long| request.place = long.place,
            |request, _| request.place.as_mut().unwrap().lines = (0, 3),
            |request, _| request.place.as_mut().unwrap().lines = (3, 2),
        ];
        for (number, change) in breaks.into_iter().enumerate() {
            let mut broken = bounded.clone();
            change(&mut broken, request());
            assert!(broken.check().is_err(), "{number}");
        }
    }
}
