//! OpenAI's Chat Completions, as it is spoken by many.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    anthropic::Fault,
    client::Assembly,
    dialogue::{Arguments, Entry, Part, Prompt, Reply, Stop, ToolCall, ToolChoice, Usage},
    failure::ModelError,
    sse::Event,
    tools,
};

/// The body of a request. `is_own` tells that OpenAI itself is asked, which calls one thing otherwise than all others.
pub(crate) fn body(model: &str, prompt: &Prompt, is_own: bool) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": prompt.system })];
    for entry in &prompt.entries {
        match entry {
            Entry::User(text) => messages.push(json!({ "role": "user", "content": text })),
            Entry::Model(parts) => messages.push(said(parts)),
            Entry::Results(results) => messages.extend(results.iter().map(
                |result| json!({ "role": "tool", "tool_call_id": result.call, "content": result.text }),
            )),
        }
    }
    let tools: Vec<Value> = tools::TOOLS
        .iter()
        .map(|tool| {
            json!({
                "type": "function",
                "function": { "name": tool.name, "description": tool.description, "parameters": tool.schema() },
            })
        })
        .collect();
    let limit = if is_own {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let mut body = json!({
        "model": model,
        "messages": messages,
        "tools": tools,
        "stream": true,
        "stream_options": { "include_usage": true },
        limit: prompt.max_output,
    });
    if prompt.choice == ToolChoice::None {
        body["tool_choice"] = "none".into();
    }
    body
}

fn said(parts: &[Part]) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Call(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments.to_object().to_string() },
            })),
            Part::Opaque(_) => {}
        }
    }
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

/// The most calls of one answer.
const MOST_CALLS: usize = 128;

/// Takes the chunks of an answer.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    text: String,
    calls: BTreeMap<usize, Call>,
    usage: Usage,
    stop: Option<Stop>,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Tokens>,
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    index: Option<usize>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
pub(crate) struct Tokens {
    #[serde(default, alias = "input_tokens")]
    prompt_tokens: u64,
    #[serde(default, alias = "output_tokens")]
    completion_tokens: u64,
    #[serde(alias = "input_tokens_details")]
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

impl Tokens {
    /// What is kept is part of the prompt here, and billed for less.
    pub(crate) fn usage(&self) -> Usage {
        let details = self.prompt_tokens_details.as_ref();
        let cached = details
            .and_then(|details| details.cached_tokens)
            .unwrap_or(0)
            .min(self.prompt_tokens);
        Usage {
            input: self.prompt_tokens - cached,
            cache_read: cached,
            cache_write: 0,
            output: self.completion_tokens,
        }
    }
}

impl Chunks {
    fn call(&mut self, delta: CallDelta) -> Result<(), ModelError> {
        // Some give no index: what has a name begins a call, and what has none goes on with the last.
        let begins = delta
            .function
            .as_ref()
            .is_some_and(|function| function.name.is_some());
        let last = self.calls.keys().next_back().copied();
        let index = delta.index.unwrap_or(match last {
            None => 0,
            Some(last) if begins => last + 1,
            Some(last) => last,
        });
        if !self.calls.contains_key(&index) && self.calls.len() >= MOST_CALLS {
            return Err(ModelError::Garbled(format!(
                "it asks for more than {MOST_CALLS} tools at once"
            )));
        }
        let call = self.calls.entry(index).or_default();
        if let Some(id) = delta.id.filter(|id| !id.is_empty()) {
            call.id = id;
        }
        if let Some(function) = delta.function {
            if let Some(name) = function.name.filter(|name| !name.is_empty()) {
                call.name = name;
            }
            match function.arguments {
                Some(Value::String(piece)) => call.arguments.push_str(&piece),
                Some(Value::Null) | None => {}
                // Some send the object itself.
                Some(object) => call.arguments.push_str(&object.to_string()),
            }
        }
        Ok(())
    }
}

impl Assembly for Chunks {
    fn take(&mut self, event: &Event) -> Result<bool, ModelError> {
        if event.data.trim() == "[DONE]" {
            return Ok(true);
        }
        let chunk: Chunk = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Garbled(format!("a chunk: {error}")))?;
        if let Some(fault) = chunk.error {
            return Err(fault.error());
        }
        if let Some(tokens) = chunk.usage {
            self.usage = tokens.usage();
        }
        let Some(choice) = chunk.choices.into_iter().next() else {
            return Ok(false);
        };
        if let Some(text) = choice.delta.content {
            self.text.push_str(&text);
        }
        if let Some(text) = choice.delta.refusal {
            self.text.push_str(&text);
            self.stop = Some(Stop::Refusal);
        }
        for call in choice.delta.tool_calls.unwrap_or_default() {
            self.call(call)?;
        }
        if let Some(reason) = choice.finish_reason {
            let stop = match reason.as_str() {
                "length" => Stop::Length,
                "content_filter" => Stop::Refusal,
                _ => Stop::Done,
            };
            self.stop.get_or_insert(stop);
        }
        Ok(false)
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    /// Not all send `[DONE]`; all say why they finished.
    fn end(self: Box<Self>, _complete: bool) -> Result<Reply, ModelError> {
        let stop = self
            .stop
            .ok_or_else(|| ModelError::Cut("it has no finish_reason".into()))?;
        let text = (!self.text.is_empty()).then_some(Part::Text(self.text));
        let calls = self.calls.into_values().map(|call| {
            Part::Call(ToolCall {
                id: call.id,
                name: call.name,
                arguments: Arguments::parse(&call.arguments),
            })
        });
        Ok(Reply {
            parts: text.into_iter().chain(calls).collect(),
            stop,
            usage: self.usage,
        })
    }
}
