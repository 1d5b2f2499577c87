//! The tools that a model is offered, and what it asks of them as types. A call that is not understood is never run.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    dialogue::{Arguments, ToolCall},
    edit::Replacement,
    workbench::Lookup,
};

/// A tool, as a model is told of it.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    schema: fn() -> Value,
}

impl Tool {
    /// The JSON schema of its arguments.
    pub(crate) fn schema(&self) -> Value {
        (self.schema)()
    }
}

/// All there are.
pub(crate) const TOOLS: [Tool; 6] = [
    Tool {
        name: "bash",
        description: "Run a shell script at the top of the workspace, in a process of its own: nothing of it is left when it \
            ends, neither a directory nor a variable nor a background process. Of its output the beginning and the end are \
            told. When its time is up it is ended, and what it wrote so far is told.",
        schema: || {
            object(
                &json!({
                    "command": { "type": "string", "description": "The script." },
                    "timeout": { "type": "integer", "description": "Seconds it may take; 120 if not said." },
                }),
                &["command"],
            )
        },
    },
    Tool {
        name: "read",
        description: "Read a text file, or lines of it. Each line comes with its number and a tab, which are not part of the \
            file. A file has to be read before it is edited, and again if something else changed it since.",
        schema: || {
            object(
                &json!({
                    "path": { "type": "string", "description": "Relative to the workspace." },
                    "from": { "type": "integer", "description": "The first line, counted from 1." },
                    "to": { "type": "integer", "description": "The last line." },
                }),
                &["path"],
            )
        },
    },
    Tool {
        name: "search",
        description: "By `pattern`: find the lines that match an extended regular expression (as of `grep -E`) in the text \
            files of the workspace; how many there are in which files is told first. Or by `name`: where a function, type or \
            constant is defined, and which files use it. Or by `from`: which files a file imports and which import it; with \
            `to` as well, the chain of imports from the one to the other.",
        schema: || {
            object(
                &json!({
                    "pattern": { "type": "string" },
                    "path": { "type": "string", "description": "For `pattern`: a file or folder; the whole workspace if not said." },
                    "name": { "type": "string", "description": "A name as the code says it." },
                    "from": { "type": "string", "description": "A file, relative to the workspace." },
                    "to": { "type": "string", "description": "Another file." },
                }),
                &[],
            )
        },
    },
    Tool {
        name: "edit",
        description: "Change a file by `edits`, or write all of it by `content` (also to make a new one). Each old text must \
            stand in the file exactly once, byte for byte, with enough lines around it to be the only one. All edits are made, \
            or none. An edit after which the file would not parse any more is not made; the very same call made once more is.",
        schema: || {
            object(
                &json!({
                    "path": { "type": "string", "description": "Relative to the workspace." },
                    "edits": {
                        "type": "array",
                        "items": object(&json!({ "old": { "type": "string" }, "new": { "type": "string" } }), &["old", "new"]),
                    },
                    "content": { "type": "string", "description": "The whole file, instead of edits." },
                }),
                &["path"],
            )
        },
    },
    Tool {
        name: "ask",
        description: "Ask the user one question and wait for the answer, which can take long. Only for what they alone can \
            decide and the work depends on; say what you would do otherwise.",
        schema: || object(&json!({ "question": { "type": "string" } }), &["question"]),
    },
    Tool {
        name: "finish",
        description: "End the work. Call it when the task is done, or when it cannot be done.",
        schema: || {
            object(
                &json!({
                    "summary": {
                        "type": "string",
                        "description": "In a few sentences: what was changed and why, what was run to check it, what is left.",
                    },
                }),
                &["summary"],
            )
        },
    },
];

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// What is asked of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    Bash {
        command: String,
        timeout: Option<u64>,
    },
    Read {
        path: String,
        from: Option<u64>,
        to: Option<u64>,
    },
    Search {
        pattern: String,
        path: Option<String>,
    },
    LookUp(Lookup),
    Edit {
        path: String,
        edits: Vec<Replacement>,
    },
    Write {
        path: String,
        content: String,
    },
    Ask {
        question: String,
    },
    Finish {
        summary: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bash {
    command: String,
    timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    path: String,
    from: Option<u64>,
    to: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    pattern: Option<String>,
    path: Option<String>,
    name: Option<String>,
    from: Option<String>,
    to: Option<String>,
}

impl Search {
    fn job(self) -> Result<Job, String> {
        let given = [&self.pattern, &self.name, &self.from];
        if given
            .into_iter()
            .flatten()
            .any(|text| text.is_empty() || text.contains('\0'))
        {
            return Err("`pattern`, `name` or `from` is empty or holds a NUL byte".to_owned());
        }
        Ok(match (self.pattern, self.name, self.from, self.to) {
            (Some(pattern), None, None, None) => Job::Search {
                pattern,
                path: self.path,
            },
            (None, Some(name), None, None) => Job::LookUp(Lookup::Name(name)),
            (None, None, Some(from), None) => Job::LookUp(Lookup::Imports(from)),
            (None, None, Some(from), Some(to)) => Job::LookUp(Lookup::Chain { from, to }),
            _ => {
                return Err(
                    "give one of `pattern`, `name` and `from`; `to` goes with `from`, `path` with `pattern`"
                        .to_owned(),
                );
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    path: String,
    edits: Option<Vec<Pair>>,
    content: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    old: String,
    new: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    question: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finish {
    summary: String,
}

impl Job {
    /// Understands a call.
    ///
    /// # Errors
    ///
    /// A sentence for the model. Nothing is guessed.
    pub(crate) fn of(call: &ToolCall) -> Result<Self, String> {
        Ok(match call.name.as_str() {
            "bash" => {
                let Bash { command, timeout } = arguments(call)?;
                if command.trim().is_empty() || command.contains('\0') {
                    return Err("`command` is empty or holds a NUL byte".to_owned());
                }
                Self::Bash { command, timeout }
            }
            "read" => {
                let Read { path, from, to } = arguments(call)?;
                Self::Read { path, from, to }
            }
            "search" => {
                let search: Search = arguments(call)?;
                search.job()?
            }
            "edit" => {
                let Edit {
                    path,
                    edits,
                    content,
                } = arguments(call)?;
                match (edits, content) {
                    (Some(edits), None) if !edits.is_empty() => Self::Edit {
                        path,
                        edits: edits
                            .into_iter()
                            .map(|Pair { old, new }| Replacement { old, new })
                            .collect(),
                    },
                    (None, Some(content)) => Self::Write { path, content },
                    _ => return Err("give either `edits`, at least one, or `content`".to_owned()),
                }
            }
            "ask" => {
                let Ask { question } = arguments(call)?;
                if question.trim().is_empty() {
                    return Err("`question` is empty".to_owned());
                }
                Self::Ask { question }
            }
            "finish" => {
                let Finish { summary } = arguments(call)?;
                Self::Finish { summary }
            }
            other => {
                let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
                return Err(format!(
                    "there is no tool `{other}`: there are {}",
                    names.join(", ")
                ));
            }
        })
    }

    /// In one line, for people.
    pub(crate) fn about(&self) -> String {
        match self {
            Self::Bash { command, .. } => one_line(command),
            Self::Read { path, from, to } => match (from, to) {
                (None, None) => one_line(path),
                _ => format!(
                    "{} {}-{}",
                    one_line(path),
                    from.unwrap_or(1),
                    to.map_or(String::new(), |to| to.to_string())
                ),
            },
            Self::Search { pattern, path } => format!(
                "{} in {}",
                one_line(pattern),
                one_line(path.as_deref().unwrap_or("."))
            ),
            Self::LookUp(Lookup::Name(name)) => format!("the name {}", one_line(name)),
            Self::LookUp(Lookup::Imports(from)) => format!("imports of {}", one_line(from)),
            Self::LookUp(Lookup::Chain { from, to }) => {
                format!("imports from {} to {}", one_line(from), one_line(to))
            }
            Self::Edit { path, edits } => format!("{} ({} places)", one_line(path), edits.len()),
            Self::Write { path, content } => {
                format!("{} (all of it, {} bytes)", one_line(path), content.len())
            }
            Self::Ask { question } => one_line(question),
            Self::Finish { .. } => String::new(),
        }
    }
}

/// At most 300 bytes, with what is behind a line end marked.
pub(crate) fn one_line(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().collect::<Vec<_>>().join("; ");
    let end = line.floor_char_boundary(300);
    if end < line.len() {
        format!("{}...", &line[..end])
    } else {
        line
    }
}

fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, String> {
    match &call.arguments {
        Arguments::Object(object) => serde_json::from_value(Value::Object(object.clone()))
            .map_err(|error| format!("the arguments of `{}` are wrong: {error}", call.name)),
        Arguments::Unreadable { why, .. } => Err(format!(
            "the arguments of `{}` cannot be read: {why}. Nothing was run",
            call.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, raw: &str) -> Result<Job, String> {
        Job::of(&ToolCall {
            id: "c".to_owned(),
            name: name.to_owned(),
            arguments: Arguments::parse(raw),
        })
    }

    #[test]
    fn b122_odd_calls_are_told_and_never_run() {
        for (name, raw, part) in [
            ("read", "{\"path\": a.txt}", "no JSON"),
            ("read", "", "there are none"),
            ("read", "null", "they are null"),
            ("read", "[]", "array"),
            ("read", "\"{\\\"path\\\": \\\"a\\\"}\"", "a string"),
            ("read", "{}", "missing field `path`"),
            ("read", "{\"path\": 3}", "invalid type"),
            (
                "read",
                "{\"path\": \"a\", \"mode\": 1}",
                "unknown field `mode`",
            ),
            ("bash", "{\"command\": \" \"}", "empty"),
            ("search", "{}", "give one of"),
            (
                "search",
                "{\"pattern\": \"a\", \"name\": \"b\"}",
                "give one of",
            ),
            ("search", "{\"to\": \"a\"}", "give one of"),
            ("search", "{\"name\": \"\"}", "empty"),
            ("edit", "{\"path\": \"a\"}", "either"),
            ("edit", "{\"path\": \"a\", \"edits\": []}", "either"),
            (
                "edit",
                "{\"path\": \"a\", \"edits\": [], \"content\": \"\"}",
                "either",
            ),
            (
                "write_file",
                "{}",
                "there are bash, read, search, edit, ask, finish",
            ),
            ("", "{}", "no tool"),
        ] {
            let why = job(name, raw).unwrap_err();
            assert!(why.contains(part), "{name} {raw}: {why}");
        }
        assert!(matches!(
            job("edit", "{\"path\": \"a\", \"content\": \"\"}"),
            Ok(Job::Write { .. })
        ));
        assert!(matches!(
            job("read", "{\"path\": \"a\", \"from\": 2}"),
            Ok(Job::Read { from: Some(2), .. })
        ));
        assert!(matches!(
            job("search", "{\"from\": \"a\", \"to\": \"b\"}"),
            Ok(Job::LookUp(Lookup::Chain { .. }))
        ));
    }

    #[test]
    fn schemas_name_what_is_needed() {
        for tool in &TOOLS {
            let schema = tool.schema();
            let required = schema["required"].as_array().unwrap();
            assert!(
                required
                    .iter()
                    .all(|name| schema["properties"].get(name.as_str().unwrap()).is_some())
            );
        }
    }
}
