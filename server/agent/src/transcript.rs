//! What was said so far, kept so that the work can go on in another machine and under another daemon. It holds words and
//! outputs of tools, and no key: a key is in no entry.

use serde::{Deserialize, Serialize};

use crate::dialogue::{Entry, Part};

/// Version of the form; one that is not known is not read.
const VERSION: u32 = 1;

/// A dialogue at the end of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    version: u32,
    /// With which model, as the API knows it.
    model: String,
    entries: Vec<Entry>,
}

impl Transcript {
    pub(crate) fn new(model: &str, entries: &[Entry]) -> Self {
        Self {
            version: VERSION,
            model: model.to_owned(),
            entries: entries.to_vec(),
        }
    }

    /// Reads one; `None` if it is no whole one of this version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let transcript: Self = serde_json::from_slice(bytes).ok()?;
        let begins = matches!(transcript.entries.first(), Some(Entry::User(_)));
        (transcript.version == VERSION && begins).then_some(transcript)
    }

    /// What [`Transcript::parse`] reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The dialogue for this model. What only the provider of another one understands is left out.
    pub(crate) fn entries(mut self, model: &str) -> Vec<Entry> {
        if self.model != model {
            for entry in &mut self.entries {
                if let Entry::Model(parts) = entry {
                    parts.retain(|part| !matches!(part, Part::Opaque(_)));
                }
            }
        }
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialogue::{Arguments, ToolCall, ToolResult};

    #[test]
    fn a_dialogue_comes_back_as_it_was_and_without_thoughts_for_another_model() {
        let call = ToolCall {
            id: "c1".to_owned(),
            name: "bash".to_owned(),
            arguments: Arguments::parse("{\"command\": \"true\"}"),
        };
        let result = ToolResult {
            call: "c1".to_owned(),
            tool: "bash".to_owned(),
            ok: true,
            text: "[exit code 0]".to_owned(),
        };
        let thought = Part::Opaque(json!({ "type": "thinking", "signature": "x" }));
        let entries = vec![
            Entry::User("do it".to_owned()),
            Entry::Model(vec![thought, Part::Call(call.clone())]),
            Entry::Results(vec![result]),
        ];
        let bytes = Transcript::new("one", &entries).to_bytes();
        let read = Transcript::parse(&bytes).unwrap();
        assert_eq!(read.clone().entries("one"), entries);
        let other = read.entries("two");
        assert_eq!(other[1], Entry::Model(vec![Part::Call(call)]));
        assert!(Transcript::parse(&bytes[..bytes.len() - 1]).is_none());
        assert!(Transcript::parse(b"{\"version\":2,\"model\":\"\",\"entries\":[]}").is_none());
    }
}
