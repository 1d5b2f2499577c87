//! What is said between the agent and a model, whatever is spoken on the wire.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A request: everything that was said so far. The model keeps nothing.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Who the model is to be.
    pub system: String,
    /// What was said, oldest first. The first entry is the user's.
    pub entries: Vec<Entry>,
    /// Whether the model may ask for tools.
    pub choice: ToolChoice,
    /// How many tokens the answer may have.
    pub max_output: u32,
}

/// Whether the model may ask for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    Free,
    /// Not any more.
    None,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// By the user, or by Legwork.
    User(String),
    /// By the model.
    Model(Vec<Part>),
    /// What became of the calls of the entry before: one for each, in order.
    Results(Vec<ToolResult>),
}

/// A part of what a model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Words.
    Text(String),
    /// A wish to use a tool.
    Call(ToolCall),
    /// Something that only the provider understands and wants back as it is, such as signed thoughts.
    Opaque(Value),
}

/// A wish to use a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its name in this dialogue: given by the loop where the model gives none or gives one twice.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the tool is told.
    pub arguments: Arguments,
}

/// What a tool is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arguments {
    /// As it should be.
    Object(Map<String, Value>),
    /// Anything else. It is never run.
    Unreadable {
        /// What came.
        raw: String,
        /// Why it is none.
        why: String,
    },
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call's name.
    pub call: String,
    /// The tool's name.
    pub tool: String,
    /// Whether it did what it was asked.
    pub ok: bool,
    /// What the model is told.
    pub text: String,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// What was said, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub stop: Stop,
    /// What it used up.
    pub usage: Usage,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It was all said, or a tool is wanted.
    Done,
    /// It would have been too long.
    Length,
    /// The model, or a filter, does not want to.
    Refusal,
}

/// Tokens, as they are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sent, and not kept from earlier.
    pub input: u64,
    /// Kept by the API from an earlier request.
    pub cache_read: u64,
    /// Sent, and kept by the API from now on.
    pub cache_write: u64,
    /// Written by the model.
    pub output: u64,
}

/// The longest raw arguments that are told back, in bytes.
const LONGEST_RAW: usize = 2_000;

impl Arguments {
    /// Understands what a model wrote.
    pub fn parse(raw: &str) -> Self {
        let unreadable = |why: String| Self::Unreadable {
            raw: raw[..raw.floor_char_boundary(LONGEST_RAW)].to_owned(),
            why,
        };
        match serde_json::from_str(raw) {
            Ok(Value::Object(object)) => Self::Object(object),
            Ok(Value::String(_)) => unreadable("they are a string, not an object".into()),
            Ok(Value::Array(_)) => unreadable("they are an array, not an object".into()),
            Ok(other) => unreadable(format!("they are {other}, not an object")),
            Err(_) if raw.trim().is_empty() => unreadable("there are none".into()),
            Err(error) => unreadable(format!("they are no JSON: {error}")),
        }
    }

    /// As an object that every API takes, so that the history stays valid.
    pub(crate) fn to_object(&self) -> Value {
        match self {
            Self::Object(object) => Value::Object(object.clone()),
            Self::Unreadable { raw, .. } => json!({ "unreadable_arguments": raw }),
        }
    }
}

impl Reply {
    /// The calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The words in it.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Usage {
    /// All tokens.
    pub fn total(self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// The tokens of the request.
    pub fn prompt(self) -> u64 {
        self.input
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}
