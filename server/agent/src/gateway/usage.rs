//! What an answer says that it used up, read while it is passed on. An answer that is not understood is passed on all the same.

use hyper::header::HeaderValue;
use legwork_model::Provider;
use serde_json::Value;

use crate::{anthropic, chat, dialogue::Usage, sse::Decoder};

/// The longest answer in one piece that is looked into, in bytes.
const LONGEST: usize = 16 << 20;

/// Reads along.
#[derive(Debug)]
pub(super) struct Reader {
    provider: Provider,
    form: Form,
    usage: Option<Usage>,
}

#[derive(Debug)]
enum Form {
    Events(Decoder),
    Whole(Vec<u8>),
    /// Too long, or broken.
    Lost,
}

impl Reader {
    pub(super) fn new(provider: Provider, kind: &HeaderValue) -> Self {
        let is_stream = kind.as_bytes().starts_with(b"text/event-stream");
        Self {
            provider,
            form: if is_stream {
                Form::Events(Decoder::default())
            } else {
                Form::Whole(Vec::new())
            },
            usage: None,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Events(decoder) => match decoder.push(bytes) {
                Ok(events) => {
                    for event in events {
                        self.look(event.data.as_bytes());
                    }
                }
                Err(_) => self.form = Form::Lost,
            },
            Form::Whole(all) if all.len() + bytes.len() <= LONGEST => all.extend_from_slice(bytes),
            Form::Whole(_) => self.form = Form::Lost,
            Form::Lost => {}
        }
    }

    /// What is known; `None` if nothing was told.
    pub(super) fn usage(&self) -> Option<Usage> {
        match &self.form {
            Form::Whole(all) => {
                let mut whole = Self {
                    provider: self.provider,
                    form: Form::Lost,
                    usage: None,
                };
                whole.look(all);
                whole.usage
            }
            Form::Events(_) | Form::Lost => self.usage,
        }
    }

    fn look(&mut self, json: &[u8]) {
        // Most events say nothing of it.
        if !json.windows(7).any(|window| window == b"\"usage\"") {
            return;
        }
        let Ok(said) = serde_json::from_slice::<Value>(json) else {
            return;
        };
        let places = [
            &said["message"]["usage"],
            &said["response"]["usage"],
            &said["usage"],
        ];
        for told in places.into_iter().filter(|told| told.is_object()) {
            match self.provider {
                Provider::Anthropic => {
                    if let Ok(tokens) = serde_json::from_value::<anthropic::Tokens>(told.clone()) {
                        tokens.add_to(self.usage.get_or_insert_default());
                    }
                }
                Provider::OpenAi | Provider::OpenAiResponses => {
                    if let Ok(tokens) = serde_json::from_value::<chat::Tokens>(told.clone()) {
                        self.usage = Some(tokens.usage());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(provider: Provider, kind: &'static str, text: &str) -> Option<(u64, u64, u64)> {
        let mut reader = Reader::new(provider, &HeaderValue::from_static(kind));
        for byte in text.bytes() {
            reader.take(&[byte]);
        }
        let usage = reader.usage()?;
        Some((usage.input, usage.cache_read, usage.output))
    }

    #[test]
    fn what_was_used_up_is_read_in_every_form() {
        let events = "text/event-stream; charset=utf-8";
        let anthropic = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":7,\"output_tokens\":1}}}\n\n\
             data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":20}}\n\n";
        assert_eq!(
            read(Provider::Anthropic, events, anthropic),
            Some((10, 7, 20))
        );
        let chat = "data: {\"choices\":[],\"usage\":null}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":3,\
             \"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";
        assert_eq!(read(Provider::OpenAi, events, chat), Some((6, 4, 3)));
        let responses = "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":2}}}\r\n\r\n";
        assert_eq!(
            read(Provider::OpenAiResponses, events, responses),
            Some((5, 0, 2))
        );
        let whole = "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}";
        assert_eq!(
            read(Provider::OpenAi, "application/json", whole),
            Some((9, 0, 1))
        );
        for (kind, text) in [
            (events, "data: {\"usage\": 3}\n\n"),
            (events, "data: {\"usage\"\n\n"),
            ("application/json", "nothing"),
            ("application/json", "{\"usage\": {\"prompt_tokens\": -1}}"),
        ] {
            assert_eq!(read(Provider::OpenAi, kind, text), None, "{text}");
        }
    }
}
