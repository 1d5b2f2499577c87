//! Anthropic's Messages API, version 2023-06-01.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::Assembly,
    dialogue::{Arguments, Entry, Part, Prompt, Reply, Stop, ToolCall, ToolChoice, Usage},
    failure::ModelError,
    sse::Event,
    tools,
};

/// The body of a request.
pub(crate) fn body(model: &str, prompt: &Prompt) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for entry in &prompt.entries {
        let (role, content) = match entry {
            Entry::User(text) => ("user", vec![text_block(text)]),
            Entry::Model(parts) => ("assistant", parts.iter().filter_map(part).collect()),
            Entry::Results(results) => {
                let blocks = results.iter().map(|result| {
                    json!({
                        "type": "tool_result",
                        "tool_use_id": result.call,
                        "content": result.text,
                        "is_error": !result.ok,
                    })
                });
                ("user", blocks.collect())
            }
        };
        match messages.last_mut() {
            Some((last, blocks)) if *last == role => blocks.extend(content),
            _ => messages.push((role, content)),
        }
    }
    // The history only grows, so all of it but the newest is read from what the API kept.
    if let Some(block) = messages
        .last_mut()
        .and_then(|(_, blocks)| blocks.last_mut())
    {
        block["cache_control"] = json!({ "type": "ephemeral" });
    }
    let messages: Vec<Value> = messages
        .into_iter()
        .filter(|(_, blocks)| !blocks.is_empty())
        .map(|(role, blocks)| json!({ "role": role, "content": blocks }))
        .collect();
    let tools: Vec<Value> = tools::TOOLS
        .iter()
        .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema() }))
        .collect();
    let mut body = json!({
        "model": model,
        "max_tokens": prompt.max_output,
        "system": [{ "type": "text", "text": prompt.system, "cache_control": { "type": "ephemeral" } }],
        "messages": messages,
        "tools": tools,
        "stream": true,
    });
    if prompt.choice == ToolChoice::None {
        body["tool_choice"] = json!({ "type": "none" });
    }
    body
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn part(part: &Part) -> Option<Value> {
    match part {
        // An empty block is refused.
        Part::Text(text) => (!text.trim().is_empty()).then(|| text_block(text)),
        Part::Call(call) => Some(json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.arguments.to_object(),
        })),
        Part::Opaque(value) => Some(value.clone()),
    }
}

/// Takes the events of an answer.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    blocks: Vec<Block>,
    usage: Usage,
    stop: Option<Stop>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        json: String,
    },
    /// Thoughts, with the parts that came one by one.
    Opaque {
        value: Value,
        thinking: String,
        signature: String,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Said {
    MessageStart {
        message: Begun,
    },
    ContentBlockStart {
        index: usize,
        content_block: Value,
    },
    ContentBlockDelta {
        index: usize,
        delta: Delta,
    },
    ContentBlockStop {},
    MessageDelta {
        delta: Ending,
        #[serde(default)]
        usage: Tokens,
    },
    MessageStop {},
    Error {
        error: Fault,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Begun {
    #[serde(default)]
    usage: Tokens,
}

#[derive(Default, Deserialize)]
pub(crate) struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: String },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: String },
    #[serde(rename = "signature_delta")]
    Signature { signature: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Ending {
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Fault {
    #[serde(default, rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) code: Option<Value>,
    #[serde(default)]
    pub(crate) message: Option<String>,
}

impl Fault {
    /// The code says more where there is one.
    pub(crate) fn error(&self) -> ModelError {
        let code = self.code.as_ref().and_then(Value::as_str);
        let kind = code.or(self.kind.as_deref()).unwrap_or_default();
        ModelError::of_event(kind, self.message.as_deref().unwrap_or_default())
    }
}

impl Tokens {
    /// What is told later stands for what was told before.
    pub(crate) fn add_to(&self, usage: &mut Usage) {
        usage.input = self.input_tokens.unwrap_or(usage.input);
        usage.output = self.output_tokens.unwrap_or(usage.output);
        usage.cache_read = self.cache_read_input_tokens.unwrap_or(usage.cache_read);
        usage.cache_write = self
            .cache_creation_input_tokens
            .unwrap_or(usage.cache_write);
    }
}

impl Messages {
    fn delta(&mut self, index: usize, delta: Delta) -> Result<(), ModelError> {
        let block = self
            .blocks
            .get_mut(index)
            .ok_or_else(|| ModelError::Garbled(format!("there is no block {index}")))?;
        match (block, delta) {
            (Block::Text(text), Delta::Text { text: more }) => text.push_str(&more),
            (Block::Call { json, .. }, Delta::InputJson { partial_json }) => {
                json.push_str(&partial_json);
            }
            (Block::Opaque { thinking, .. }, Delta::Thinking { thinking: more }) => {
                thinking.push_str(&more);
            }
            (Block::Opaque { signature, .. }, Delta::Signature { signature: more }) => {
                signature.push_str(&more);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Assembly for Messages {
    fn take(&mut self, event: &Event) -> Result<bool, ModelError> {
        let said: Said = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Garbled(format!("an event: {error}")))?;
        match said {
            Said::MessageStart { message } => message.usage.add_to(&mut self.usage),
            Said::ContentBlockStart {
                index,
                content_block,
            } => {
                if index != self.blocks.len() {
                    return Err(ModelError::Garbled(format!(
                        "block {index} comes out of turn"
                    )));
                }
                let word = |name: &str| content_block[name].as_str().unwrap_or_default().to_owned();
                self.blocks.push(match content_block["type"].as_str() {
                    Some("text") => Block::Text(word("text")),
                    Some("tool_use") => Block::Call {
                        id: word("id"),
                        name: word("name"),
                        json: String::new(),
                    },
                    _ => Block::Opaque {
                        thinking: word("thinking"),
                        signature: word("signature"),
                        value: content_block,
                    },
                });
            }
            Said::ContentBlockDelta { index, delta } => self.delta(index, delta)?,
            Said::MessageDelta { delta, usage } => {
                usage.add_to(&mut self.usage);
                if let Some(reason) = delta.stop_reason {
                    self.stop = Some(match reason.as_str() {
                        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
                        "refusal" => Stop::Refusal,
                        _ => Stop::Done,
                    });
                }
            }
            Said::MessageStop {} => return Ok(true),
            Said::Error { error } => return Err(error.error()),
            Said::ContentBlockStop {} | Said::Other => {}
        }
        Ok(false)
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn end(self: Box<Self>, complete: bool) -> Result<Reply, ModelError> {
        let stop = self
            .stop
            .filter(|_| complete)
            .ok_or_else(|| ModelError::Cut("it has no end".into()))?;
        let parts = self.blocks.into_iter().map(|block| match block {
            Block::Text(text) => Part::Text(text),
            Block::Call { id, name, json } => Part::Call(ToolCall {
                id,
                name,
                arguments: Arguments::parse(&json),
            }),
            Block::Opaque {
                mut value,
                thinking,
                signature,
            } => {
                if value["type"] == "thinking" {
                    value["thinking"] = thinking.into();
                    value["signature"] = signature.into();
                }
                Part::Opaque(value)
            }
        });
        Ok(Reply {
            parts: parts.collect(),
            stop,
            usage: self.usage,
        })
    }
}
