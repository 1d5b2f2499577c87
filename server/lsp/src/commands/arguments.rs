//! What a client passes along: nothing, one object, or what a client without objects can write.

use gen_lsp_types::{Diagnostic, Range};
use legwork_model::TaskId;
use legwork_spec::Destination;
use serde::Deserialize;
use serde_json::Value;

use crate::{failure::Failure, name::HunkName, session::Session};

/// All that any command takes; each looks at its own.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Arguments {
    pub(super) text: Option<String>,
    pub(super) command: Option<Vec<String>>,
    pub(super) uri: Option<String>,
    pub(super) range: Option<Range>,
    pub(super) selection: Option<String>,
    pub(super) diagnostics: Option<Vec<Diagnostic>>,
    pub(super) template: Option<String>,
    pub(super) agent: Option<Value>,
    pub(super) allow: Option<Vec<String>>,
    pub(super) scope: Option<Vec<String>>,
    /// Shell command lines that check the result.
    pub(super) check: Option<Vec<String>>,
    /// A shell command line that shows the bug.
    pub(super) reproduce: Option<String>,
    /// A file as the editor names it, and its first and last line, from 1.
    pub(super) file: Option<String>,
    pub(super) from: Option<u32>,
    pub(super) to: Option<u32>,
    pub(super) hunk: Option<String>,
    pub(super) task: Option<String>,
    /// Why something is rejected.
    pub(super) reason: Option<String>,
    /// From 0.
    pub(super) line: Option<u32>,
}

impl Arguments {
    /// What the user lets a task reach.
    pub(super) fn allowed(&self) -> Result<Vec<Destination>, Failure> {
        let mut all = Vec::new();
        for entry in self.allow.iter().flatten() {
            let entries = legwork_spec::allow(entry);
            all.extend(entries.map_err(|error| Failure::new(error.to_string()))?);
        }
        Ok(all)
    }

    /// Nothing, an object, an object and a text behind it, or a text.
    pub(super) fn parse(given: Vec<Value>) -> Result<Self, Failure> {
        let mut arguments = Self::default();
        let mut text = None;
        for (index, value) in given.into_iter().enumerate() {
            match value {
                Value::Null => {}
                Value::String(more) if text.is_none() => text = Some(more),
                Value::Object(_) if index == 0 => {
                    arguments = serde_json::from_value(value).map_err(|error| {
                        Failure::new(format!("the argument cannot be understood: {error}"))
                    })?;
                }
                other => {
                    return Err(Failure::new(format!(
                        "`{}` is no argument: pass nothing, or one object",
                        crate::tell::cut(&other.to_string())
                    )));
                }
            }
        }
        if text.is_some() {
            if arguments.text.is_some() {
                return Err(Failure::new("the text is given twice"));
            }
            arguments.text = text;
        }
        Ok(arguments)
    }

    /// The hunk that is named, if one is.
    pub(super) fn hunk(&self) -> Result<Option<HunkName>, Failure> {
        let parse = |name: &String| {
            name.parse().map_err(|_| {
                Failure::new(format!(
                    "`{name}` is no hunk: name it as it was told, TASK:NUMBER:PATH"
                ))
            })
        };
        self.hunk.as_ref().map(parse).transpose()
    }

    /// The task that is named by its id or the beginning of it, if one is.
    pub(super) fn task(&self, session: &Session) -> Result<Option<TaskId>, Failure> {
        let name = self.task.as_deref();
        name.map(|name| session.state().tasks.named(name))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_may_be_reached_is_written_as_on_the_command_line() {
        let allowed = |entries: Value| {
            let arguments = Arguments::parse(vec![json!({ "allow": entries })]).unwrap();
            arguments.allowed().map(|all| all.len())
        };
        assert_eq!(allowed(json!(["example.com", "crates"])).unwrap(), 3);
        assert_eq!(allowed(Value::Null).unwrap(), 0);
        for wrong in ["", "*", "*.com", "1.2.3.4"] {
            assert!(allowed(json!([wrong])).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_client_can_write_its_own_form() {
        assert_eq!(Arguments::parse(vec![]).unwrap(), Arguments::default());
        assert_eq!(
            Arguments::parse(vec![Value::Null]).unwrap(),
            Arguments::default()
        );
        let helix = Arguments::parse(vec![
            json!({"file": "a.rs", "from": 1, "to": 3}),
            json!("do it"),
        ])
        .unwrap();
        assert_eq!(
            (helix.file.as_deref(), helix.from, helix.text.as_deref()),
            (Some("a.rs"), Some(1), Some("do it"))
        );
        assert_eq!(
            Arguments::parse(vec![json!("do it")])
                .unwrap()
                .text
                .as_deref(),
            Some("do it")
        );
        for bad in [
            vec![json!(3)],
            vec![json!({"unknown": 1})],
            vec![json!({"text": "a"}), json!("b")],
            vec![json!([])],
            vec![json!({"range": 3})],
        ] {
            assert!(Arguments::parse(bad.clone()).is_err(), "{bad:?}");
        }
    }
}
