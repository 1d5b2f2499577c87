//! What this client can do and wants, fixed at `initialize`.

use gen_lsp_types::{CodeActionTag, InitializeParams};
use serde::Deserialize;
use serde_json::Value;

use crate::text::{Encoding, LineEnds};

/// A client.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) encoding: Encoding,
    pub(crate) line_ends: LineEnds,
    /// It takes `documentChanges`, with versions.
    pub(crate) document_changes: bool,
    /// It never compares the version 0, that of a text which was not changed since it was opened: Neovim.
    pub(crate) takes_zero_for_any: bool,
    /// It keeps the end of the last line apart from its text: an edit that brings one brings an empty line: Neovim.
    pub(crate) ends_last_line: bool,
    /// What it tells of a text after an answer has all that it did before the answer, and it says of a stale edit that it
    /// was made: Neovim.
    pub(crate) tells_all_after_answer: bool,
    /// The versions of its buffers count by one, and its changes come in any order: Helix.
    pub(crate) versions_by_one: bool,
    pub(crate) apply_edit: bool,
    pub(crate) progress: bool,
    pub(crate) show_document: bool,
    pub(crate) lens_refresh: bool,
    /// It marks what a machine wrote.
    pub(crate) machine_tag: bool,
    pub(crate) options: Options,
    /// Options that were not understood, as a sentence.
    pub(crate) complaint: Option<String>,
}

/// `initializationOptions.legwork`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) ui: Ui,
    /// Does tasks given in words.
    pub(crate) agent: Option<Vec<String>>,
}

/// What the client draws itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ui {
    /// `legwork/hunks` in place of diagnostics and lenses.
    pub(crate) native: bool,
    /// `legwork/tasks`.
    pub(crate) tasks: bool,
    /// `legwork:` URIs.
    pub(crate) content: bool,
}

impl Profile {
    pub(crate) fn new(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let workspace = capabilities.workspace.as_ref();
        let window = capabilities.window.as_ref();
        let text = capabilities.text_document.as_ref();
        let name = params
            .client_info
            .as_ref()
            .map(|info| info.name.to_lowercase());
        let is = |wanted: &str| name.as_deref().is_some_and(|name| name.contains(wanted));
        let offered = capabilities
            .general
            .as_ref()
            .and_then(|general| general.position_encodings.as_deref());
        let (options, complaint) = Options::parse(params.initialization_options.as_ref());
        Self {
            encoding: Encoding::negotiate(offered),
            // As the specification says it, only editors that follow it in this count a lone carriage return.
            line_ends: if is("code") {
                LineEnds::Lsp
            } else {
                LineEnds::Newline
            },
            // Neovim 0.10 says only that it creates and renames files, which it could not without them.
            document_changes: workspace
                .and_then(|workspace| workspace.workspace_edit.as_ref())
                .is_some_and(|edit| {
                    edit.document_changes
                        .unwrap_or(edit.resource_operations.is_some())
                }),
            takes_zero_for_any: is("neovim"),
            ends_last_line: is("neovim"),
            tells_all_after_answer: is("neovim"),
            versions_by_one: is("helix"),
            apply_edit: workspace
                .and_then(|workspace| workspace.apply_edit)
                .unwrap_or(false),
            progress: window
                .and_then(|window| window.work_done_progress)
                .unwrap_or(false),
            // Helix 25 does it and does not say so.
            show_document: is("helix")
                || window
                    .and_then(|window| window.show_document.as_ref())
                    .is_some_and(|show| show.support),
            lens_refresh: workspace
                .and_then(|workspace| workspace.code_lens.as_ref())
                .and_then(|lens| lens.refresh_support)
                .unwrap_or(false),
            machine_tag: text
                .and_then(|text| text.code_action.as_ref())
                .and_then(|action| action.tag_support.as_ref())
                .is_some_and(|tags| tags.value_set.contains(&CodeActionTag::LLMGenerated)),
            options,
            complaint,
        }
    }
}

impl Options {
    /// Takes what it understands; the rest is told.
    fn parse(options: Option<&Value>) -> (Self, Option<String>) {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Raw {
            ui: Value,
            agent: Value,
        }
        let mut taken = Self::default();
        let Some(options) = options.and_then(|options| options.get("legwork")) else {
            return (taken, None);
        };
        let mut bad = Vec::new();
        // A list would do for a struct.
        let raw = Some(options).filter(|options| options.is_object());
        let raw = raw.and_then(|options| Raw::deserialize(options).ok());
        let raw = raw.unwrap_or_else(|| {
            bad.push("legwork");
            Raw::default()
        });
        for (value, name) in [(&raw.ui, "legwork.ui"), (&raw.agent, "legwork.agent")] {
            if !value.is_object() && !value.is_null() {
                bad.push(name);
            }
        }
        match raw.ui.get("hunks").map(Value::as_str) {
            None => {}
            Some(Some("native")) => taken.ui.native = true,
            Some(Some("diagnostics")) => {}
            Some(_) => bad.push("legwork.ui.hunks"),
        }
        for (key, name, field) in [
            ("tasks", "legwork.ui.tasks", &mut taken.ui.tasks),
            ("content", "legwork.ui.content", &mut taken.ui.content),
        ] {
            match raw.ui.get(key) {
                None => {}
                Some(Value::Bool(value)) => *field = *value,
                Some(_) => bad.push(name),
            }
        }
        if let Some(command) = raw.agent.get("command") {
            match Vec::<String>::deserialize(command) {
                Ok(command) if !command.is_empty() => taken.agent = Some(command),
                _ => bad.push("legwork.agent.command"),
            }
        }
        let complaint = (!bad.is_empty()).then(|| {
            format!(
                "initializationOptions: {} cannot be understood and is left at its default",
                bad.join(", ")
            )
        });
        (taken, complaint)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_understood_is_told_and_the_rest_is_taken() {
        let options = json!({"legwork": {"ui": {"hunks": "native", "tasks": "yes", "content": true}, "agent": {"command": []}}});
        let (taken, complaint) = Options::parse(Some(&options));
        assert!(taken.ui.native && taken.ui.content && !taken.ui.tasks);
        let complaint = complaint.unwrap_or_default();
        assert!(
            complaint.contains("legwork.ui.tasks, legwork.agent.command"),
            "{complaint}"
        );
        assert_eq!(
            Options::parse(Some(&json!({"other": 1}))),
            (Options::default(), None)
        );
        for bad in [
            json!(3),
            json!([]),
            json!({"ui": []}),
            json!({"agent": "sh"}),
        ] {
            let complaint = Options::parse(Some(&json!({ "legwork": bad }))).1;
            assert!(complaint.is_some(), "{bad}");
        }
        assert_eq!(Options::parse(None), (Options::default(), None));
    }
}
