//! The body of a request from a sandbox: bounded, an object, with the configured model in it. What is inside of its other members
//! is passed on as it was written.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use legwork_model::Provider;
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};

use super::{BYTES_PER_TOKEN, refusal::Refusal};

/// The largest body, in bytes.
const LARGEST: usize = 32 << 20;

/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request that can be sent on.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    bytes: Bytes,
}

impl Asked {
    /// What is sent.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// About how many tokens that is.
    pub(super) fn tokens(&self) -> u64 {
        self.bytes.len() as u64 / BYTES_PER_TOKEN
    }
}

/// Reads it.
pub(super) async fn read(
    body: hyper::body::Incoming,
    model: &str,
    provider: Provider,
) -> Result<Asked, Refusal> {
    let too_large = || Refusal::new(413, format!("a request may have {} MiB", LARGEST >> 20));
    if hyper::body::Body::size_hint(&body).lower() > LARGEST as u64 {
        return Err(too_large());
    }
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, LARGEST).collect()).await;
    let bytes = match collected {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
            return Err(too_large());
        }
        Ok(Err(_)) => return Err(Refusal::new(400, "the request broke off".to_owned())),
        Err(_) => return Err(Refusal::new(400, "the request did not come".to_owned())),
    };
    understood(&bytes, model, provider)
}

fn understood(bytes: &[u8], model: &str, provider: Provider) -> Result<Asked, Refusal> {
    let wrong = |error: serde_json::Error| {
        Refusal::new(400, format!("the request is no JSON object: {error}"))
    };
    let mut members: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(bytes).map_err(wrong)?;
    // The one that is configured is the one that is paid for, whatever the agent would rather have.
    members.insert("model".to_owned(), to_raw_value(model).map_err(wrong)?);
    let is_stream = members
        .get("stream")
        .is_some_and(|stream| stream.get() == "true");
    if provider == Provider::OpenAi && is_stream {
        // Only then is it told what was used up.
        let options = to_raw_value(&json!({ "include_usage": true })).map_err(wrong)?;
        members.insert("stream_options".to_owned(), options);
    }
    let bytes = serde_json::to_vec(&members).map_err(wrong)?;
    Ok(Asked {
        bytes: bytes.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_the_configured_one_and_the_rest_is_as_it_was_written() {
        let asked = |text: &str, provider| {
            understood(text.as_bytes(), "ours", provider)
                .map(|asked| String::from_utf8(asked.bytes().to_vec()).unwrap())
        };
        let text = "{\"tools\": [{ \"b\": 1.50, \"a\":\"\\u00e9\" }], \"model\": \"opus\", \"stream\": true}";
        assert_eq!(
            asked(text, Provider::Anthropic).unwrap(),
            "{\"model\":\"ours\",\"stream\":true,\"tools\":[{ \"b\": 1.50, \"a\":\"\\u00e9\" }]}"
        );
        let chat = asked(text, Provider::OpenAi).unwrap();
        assert!(
            chat.contains("\"stream_options\":{\"include_usage\":true}"),
            "{chat}"
        );
        for wrong in ["", "[]", "{\"a\":", "{} {}", "\"x\""] {
            assert!(asked(wrong, Provider::Anthropic).is_err(), "{wrong}");
        }
    }
}
