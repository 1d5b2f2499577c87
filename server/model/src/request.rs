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

impl Request {
    /// The longest selection, in bytes, that comes along as text; the file itself is in the snapshot.
    pub const LONGEST_TEXT: usize = 32 << 10;
}
