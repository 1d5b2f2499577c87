//! One request to a model API and its answer. No redirect is followed, since the key would follow too; every length and every
//! silence is bounded; the key goes into one header.

use std::{
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use futures::StreamExt as _;
use legwork_model::{Failure, FailureKind, ModelConfig, Provider};
use reqwest::{
    Certificate, Response, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;

use crate::{
    anthropic, chat,
    dialogue::{Prompt, Reply, Usage},
    failure::ModelError,
    gateway::provider_path,
    key::ApiKey,
    responses, retry,
    sse::{Broken, Decoder, Event},
};

/// The longest answer, in bytes on the wire.
pub(crate) const LONGEST_ANSWER: usize = 64 << 20;

/// The longest answer that is no stream, in bytes.
const LONGEST_BODY: usize = 4 << 20;

/// How much of an error is read, and how much of it is told.
const LONGEST_ERROR: (usize, usize) = (64 << 10, 300);

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(20);

/// The largest file of certificates, in bytes.
const LARGEST_CA: u64 = 4 << 20;

mod forward;

pub(crate) use forward::Begun;

/// Puts an answer together from its events.
pub(crate) trait Assembly: Send {
    /// Takes one event; gives whether the answer is complete.
    fn take(&mut self, event: &Event) -> Result<bool, ModelError>;

    /// What is known to be used up so far.
    fn usage(&self) -> Usage;

    /// The answer, if it has come to its end.
    fn end(self: Box<Self>, complete: bool) -> Result<Reply, ModelError>;
}

/// A model that can be asked.
#[derive(Debug)]
pub struct ModelClient {
    http: reqwest::Client,
    provider: Provider,
    /// With the version in its path, without a slash behind it.
    base: String,
    name: String,
    key: Option<ApiKey>,
    idle: Duration,
}

/// What came of one request.
#[derive(Debug)]
pub struct Attempt {
    /// The answer.
    pub reply: Result<Reply, ModelError>,
    /// What it used up, also where there is no answer.
    pub usage: Usage,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
}

impl ModelClient {
    /// A client for what is configured. Nothing is sent.
    ///
    /// # Errors
    ///
    /// A [`Failure`] that names what is wrong with the address, the certificates or the key.
    pub fn new(config: &ModelConfig, key: Option<ApiKey>) -> Result<Self, Failure> {
        let wrong = |message: String, hint: &str| Failure::new(FailureKind::Setup, message, hint);
        let given = config.url.as_deref().unwrap_or(config.provider.url());
        let url: Url = given.parse().map_err(|error| {
            wrong(
                format!("`{given}` is no address: {error}"),
                "correct `model.url` in config.toml",
            )
        })?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(wrong(
                "`model.url` holds a login or a query".to_owned(),
                "leave it out; a key is named by `model.key_env` or `model.key_file`",
            ));
        }
        let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        if key.is_some() && url.scheme() != "https" && !is_local {
            return Err(wrong(
                format!("a key is not sent to {given}, where everybody on the way could read it"),
                "use an address that begins with https://",
            ));
        }
        // One provider of cryptography for the whole process; somebody else may have set it.
        let _set = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("legwork/", env!("CARGO_PKG_VERSION")));
        if let Some(path) = &config.ca {
            let certificates = certificates(path).map_err(|error| {
                wrong(
                    format!("the certificates in {path} cannot be used: {error}"),
                    "correct `model.ca` in config.toml",
                )
            })?;
            for certificate in certificates {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let http = builder.build().map_err(|error| {
            wrong(
                format!("the HTTP client cannot be made: {}", chain(&error)),
                "",
            )
        })?;
        Ok(Self {
            http,
            provider: config.provider,
            base: base(config.provider, &url),
            name: config.name.clone(),
            key,
            idle: Duration::from_secs(config.idle.into()),
        })
    }

    /// Where it is asked.
    pub fn address(&self) -> &str {
        &self.base
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The models that the API offers.
    ///
    /// # Errors
    ///
    /// [`ModelError`].
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        let url = format!("{}/models", self.base);
        let response = self.send(self.http.get(url)).await?;
        let body = self.read(response, LONGEST_BODY).await?;
        let body: Value = serde_json::from_slice(&body)
            .map_err(|error| ModelError::Garbled(format!("the list of models: {error}")))?;
        let listed = body["data"]
            .as_array()
            .ok_or_else(|| ModelError::Garbled("there is no list of models".into()))?;
        let names = listed.iter().filter_map(|model| model["id"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// Whether the API is there and takes the key, as far as it can be known without a request that costs. An API that
    /// lists no models passes.
    ///
    /// # Errors
    ///
    /// [`ModelError::Key`], [`ModelError::Credit`] or [`ModelError::Unreachable`].
    pub async fn check(&self) -> Result<(), ModelError> {
        let asked = tokio::time::timeout(CONNECT, self.models()).await;
        match asked {
            Ok(Err(
                error @ (ModelError::Key(_) | ModelError::Credit(_) | ModelError::Unreachable(_)),
            )) => Err(error),
            _ => Ok(()),
        }
    }

    /// Asks once.
    pub async fn ask(&self, prompt: &Prompt) -> Attempt {
        let (body, mut assembly): (_, Box<dyn Assembly>) = match self.provider {
            Provider::Anthropic => (
                anthropic::body(&self.name, prompt),
                Box::new(anthropic::Messages::default()),
            ),
            Provider::OpenAi => (
                chat::body(
                    &self.name,
                    prompt,
                    self.base.starts_with("https://api.openai.com/"),
                ),
                Box::new(chat::Chunks::default()),
            ),
            Provider::OpenAiResponses => (
                responses::body(&self.name, prompt),
                Box::new(responses::Items::default()),
            ),
        };
        let path = provider_path(self.provider);
        let started = Instant::now();
        let mut first_byte = None;
        let request = self
            .http
            .post(format!("{}/{path}", self.base))
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let streamed = async {
            let response = self.send(request).await?;
            self.stream(response, assembly.as_mut(), || {
                first_byte.get_or_insert_with(|| started.elapsed());
            })
            .await
        };
        let streamed = streamed.await;
        let usage = assembly.usage();
        let reply = streamed.and_then(|complete| assembly.end(complete));
        Attempt {
            reply: reply.map_err(|error| self.redacted(error)),
            usage,
            first_byte: first_byte.unwrap_or_else(|| started.elapsed()),
        }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, ModelError> {
        let sent = request.headers(self.headers()?).send();
        let response = tokio::time::timeout(self.idle, sent)
            .await
            .map_err(|_| ModelError::Silent(self.idle.as_secs()))?
            .map_err(|error| self.redacted(ModelError::Unreachable(chain(&error))))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            let message = "it answers with a redirect, which is not followed".to_owned();
            return Err(ModelError::Unknown(format!(
                "{}: {message}",
                status.as_u16()
            )));
        }
        let header = |name: &str| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let asked = retry::asked(
            header("retry-after-ms"),
            header("retry-after"),
            SystemTime::now(),
        );
        let body = self
            .read(response, LONGEST_ERROR.0)
            .await
            .unwrap_or_default();
        let message = self.said(&body);
        let after = asked.or_else(|| retry::told(&message));
        Err(ModelError::of_status(status.as_u16(), message, after))
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        if self.provider == Provider::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &self.key {
            let (name, value) = match self.provider {
                Provider::Anthropic => ("x-api-key", key.expose().to_owned()),
                _ => ("authorization", format!("Bearer {}", key.expose())),
            };
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| ModelError::Key("it cannot stand in a header".into()))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(headers)
    }

    /// Reads a body to its end, or to a bound behind which it is cut.
    async fn read(&self, response: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        let mut chunks = response.bytes_stream();
        while body.len() < limit {
            let next = tokio::time::timeout(self.idle, chunks.next())
                .await
                .map_err(|_| ModelError::Silent(self.idle.as_secs()))?;
            match next {
                Some(Ok(bytes)) => body.extend_from_slice(&bytes),
                Some(Err(error)) => return Err(ModelError::Cut(chain(&error))),
                None => break,
            }
        }
        body.truncate(limit);
        Ok(body)
    }

    /// Takes events until the answer is complete or the stream ends.
    async fn stream(
        &self,
        response: Response,
        assembly: &mut dyn Assembly,
        mut came: impl FnMut(),
    ) -> Result<bool, ModelError> {
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if !kind.is_empty() && !kind.starts_with("text/event-stream") {
            let body = self.read(response, LONGEST_ERROR.0).await?;
            // Some say so that something went wrong, with a status that says that nothing did.
            return Err(match serde_json::from_slice::<Value>(&body) {
                Ok(body) if body.get("error").is_some() => ModelError::Overloaded {
                    message: self.said(body.to_string().as_bytes()),
                    after: None,
                },
                _ => {
                    ModelError::Garbled(format!("it is `{}`, no stream of events", cut(&kind, 80)))
                }
            });
        }
        let (mut decoder, mut size) = (Decoder::default(), 0_usize);
        let mut chunks = response.bytes_stream();
        loop {
            let next = tokio::time::timeout(self.idle, chunks.next())
                .await
                .map_err(|_| ModelError::Silent(self.idle.as_secs()))?;
            let bytes = match next {
                Some(Ok(bytes)) => bytes,
                Some(Err(error)) => return Err(ModelError::Cut(chain(&error))),
                None => return Ok(false),
            };
            came();
            size += bytes.len();
            if size > LONGEST_ANSWER {
                return Err(ModelError::Garbled(format!(
                    "it is longer than {} MiB",
                    LONGEST_ANSWER >> 20
                )));
            }
            let events = decoder.push(&bytes).map_err(|broken| {
                ModelError::Garbled(match broken {
                    Broken::TooLarge => "an event is too large".into(),
                    Broken::NotText => "an event is not UTF-8".into(),
                })
            })?;
            for event in events {
                if assembly.take(&event)? {
                    return Ok(true);
                }
            }
        }
    }

    /// What an error body says. The key is taken out before anything is cut, or a part of it could be left.
    fn said(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        match &self.key {
            Some(key) => said(key.redact(&text).as_bytes()),
            None => said(text.as_bytes()),
        }
    }

    /// An API may say the key back.
    fn redacted(&self, error: ModelError) -> ModelError {
        let Some(key) = &self.key else { return error };
        let clean = |text: String| key.redact(&text);
        match error {
            ModelError::Key(text) => ModelError::Key(clean(text)),
            ModelError::Credit(text) => ModelError::Credit(clean(text)),
            ModelError::Unknown(text) => ModelError::Unknown(clean(text)),
            ModelError::TooLong(text) => ModelError::TooLong(clean(text)),
            ModelError::Refused(text) => ModelError::Refused(clean(text)),
            ModelError::RateLimited { message, after } => ModelError::RateLimited {
                message: clean(message),
                after,
            },
            ModelError::Overloaded { message, after } => ModelError::Overloaded {
                message: clean(message),
                after,
            },
            ModelError::Cut(text) => ModelError::Cut(clean(text)),
            ModelError::Garbled(text) => ModelError::Garbled(clean(text)),
            ModelError::Unreachable(text) => ModelError::Unreachable(clean(text)),
            ModelError::Silent(seconds) => ModelError::Silent(seconds),
        }
    }
}

/// The address with the API's version in it, whether it was written or not.
fn base(provider: Provider, url: &Url) -> String {
    let text = url.as_str().trim_end_matches('/');
    let has_path = !url.path().trim_matches('/').is_empty();
    match provider {
        Provider::Anthropic if text.ends_with("/v1") => text.to_owned(),
        Provider::Anthropic => format!("{text}/v1"),
        _ if has_path => text.to_owned(),
        _ => format!("{text}/v1"),
    }
}

fn certificates(path: &str) -> Result<Vec<Certificate>, String> {
    let path = match path.strip_prefix("~/") {
        Some(below) => Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(below),
        None => path.into(),
    };
    let size = std::fs::metadata(&path)
        .map_err(|error| error.to_string())?
        .len();
    if size > LARGEST_CA {
        return Err("it is too large".to_owned());
    }
    let pem = std::fs::read(&path).map_err(|error| error.to_string())?;
    let all = Certificate::from_pem_bundle(&pem).map_err(|error| chain(&error))?;
    if all.is_empty() {
        return Err("there is none in it".to_owned());
    }
    Ok(all)
}

/// What an error body says, in one line: the message in it, else its beginning.
fn said(body: &[u8]) -> String {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    let error = parsed.as_ref().map(|body| &body["error"]);
    let message = error.and_then(|error| error["message"].as_str().or(error.as_str()));
    let code = error.and_then(|error| error["code"].as_str());
    let text = match (message, code) {
        (Some(message), Some(code)) => format!("{message} [{code}]"),
        (Some(message), None) => message.to_owned(),
        (None, _) => String::from_utf8_lossy(body).into_owned(),
    };
    cut(text.trim(), LONGEST_ERROR.1)
}

/// One line of at most so many bytes.
fn cut(text: &str, limit: usize) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    line[..line.floor_char_boundary(limit)].to_owned()
}

/// An error and its causes. The address is told elsewhere.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&said);
        }
        cause = error.source();
    }
    if text.is_empty() {
        text = if error.is_timeout() {
            "it took too long".into()
        } else {
            "the connection broke".into()
        };
    }
    cut(&text, LONGEST_ERROR.1)
}

#[cfg(test)]
mod tests;
