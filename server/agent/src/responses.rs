//! OpenAI's Responses API. Nothing is kept there: each request has the whole dialogue.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    anthropic::Fault,
    chat::Tokens,
    client::Assembly,
    dialogue::{Arguments, Entry, Part, Prompt, Reply, Stop, ToolCall, ToolChoice, Usage},
    failure::ModelError,
    sse::Event,
    tools,
};

/// The body of a request.
pub(crate) fn body(model: &str, prompt: &Prompt) -> Value {
    let mut input = Vec::new();
    for entry in &prompt.entries {
        match entry {
            Entry::User(text) => input.push(json!({ "role": "user", "content": text })),
            Entry::Model(parts) => input.extend(parts.iter().map(part)),
            Entry::Results(results) => input.extend(results.iter().map(
                |result| json!({ "type": "function_call_output", "call_id": result.call, "output": result.text }),
            )),
        }
    }
    let tools: Vec<Value> = tools::TOOLS
        .iter()
        .map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema(),
                "strict": false,
            })
        })
        .collect();
    let mut body = json!({
        "model": model,
        "instructions": prompt.system,
        "input": input,
        "tools": tools,
        "max_output_tokens": prompt.max_output,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "stream": true,
    });
    if prompt.choice == ToolChoice::None {
        body["tool_choice"] = "none".into();
    }
    body
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "role": "assistant", "content": text }),
        Part::Call(call) => json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments.to_object().to_string(),
        }),
        Part::Opaque(value) => value.clone(),
    }
}

/// Takes the events of an answer.
#[derive(Debug, Default)]
pub(crate) struct Items {
    parts: Vec<Part>,
    usage: Usage,
    stop: Option<Stop>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Said {
    #[serde(rename = "response.output_item.done")]
    Item { item: Value },
    #[serde(rename = "response.completed")]
    Completed { response: Whole },
    #[serde(rename = "response.incomplete")]
    Incomplete { response: Whole },
    #[serde(rename = "response.failed")]
    Failed { response: Whole },
    #[serde(rename = "error")]
    Error {
        #[serde(flatten)]
        fault: Fault,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Whole {
    usage: Option<Tokens>,
    error: Option<Fault>,
    incomplete_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    reason: Option<String>,
}

impl Items {
    fn item(&mut self, item: Value) {
        let word = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str() {
            Some("message") => {
                for content in item["content"].as_array().into_iter().flatten() {
                    if let Some(text) = content["text"].as_str() {
                        self.parts.push(Part::Text(text.to_owned()));
                    } else if let Some(text) = content["refusal"].as_str() {
                        self.parts.push(Part::Text(text.to_owned()));
                        self.stop = Some(Stop::Refusal);
                    }
                }
            }
            Some("function_call") => self.parts.push(Part::Call(ToolCall {
                id: word("call_id"),
                name: word("name"),
                arguments: Arguments::parse(&word("arguments")),
            })),
            Some("reasoning") => self.parts.push(Part::Opaque(item)),
            _ => {}
        }
    }

    fn count(&mut self, whole: &Whole) {
        if let Some(tokens) = &whole.usage {
            self.usage = tokens.usage();
        }
    }
}

impl Assembly for Items {
    fn take(&mut self, event: &Event) -> Result<bool, ModelError> {
        if event.data.trim() == "[DONE]" {
            return Ok(true);
        }
        let said: Said = serde_json::from_str(&event.data)
            .map_err(|error| ModelError::Garbled(format!("an event: {error}")))?;
        match said {
            Said::Item { item } => self.item(item),
            Said::Completed { response } => {
                self.count(&response);
                self.stop.get_or_insert(Stop::Done);
                return Ok(true);
            }
            Said::Incomplete { response } => {
                self.count(&response);
                let reason = response
                    .incomplete_details
                    .and_then(|details| details.reason);
                self.stop = Some(match reason.as_deref() {
                    Some("content_filter") => Stop::Refusal,
                    _ => Stop::Length,
                });
                return Ok(true);
            }
            Said::Failed { response } => {
                self.count(&response);
                return Err(response.error.map_or_else(
                    || ModelError::of_event("server_error", "the response failed"),
                    |fault| fault.error(),
                ));
            }
            Said::Error { fault } => return Err(fault.error()),
            Said::Other => {}
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
        Ok(Reply {
            parts: self.parts,
            stop,
            usage: self.usage,
        })
    }
}
