//! The model API as a program in a sandbox reaches it: HTTP over one stream, a fixed method and path for the configured
//! provider, one model.
//!
//! What comes is hostile: head and body are bounded, no header of it is passed on but a list of beta features, and whatever
//! credentials it has are dropped. The key is added on this side. The budget is looked at before each request, with what other
//! requests have under way; one that is used up is told as an error of the provider's own form, which agents show and do not
//! try again. A request that fails is tried again only as long as nothing of its answer has been passed on.

mod body;
mod refusal;
mod usage;

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use futures::StreamExt as _;
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use legwork_model::{AgentStep, Budget, Failure, FailureKind, ModelConfig, Provider, Spent};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
};

use self::{body::Asked, refusal::Refusal, usage::Reader};
use crate::{
    client::{Begun, LONGEST_ANSWER, ModelClient},
    dialogue::Usage,
    failure::ModelError,
    meter::{Mark, Meter},
    retry::{Gate, Retry},
};

/// Requests that are under way at once, over all connections. More wait.
const MOST_AT_ONCE: usize = 4;

/// How long a head may take to come, also of the next request on a connection.
const HEAD: Duration = Duration::from_secs(60);

/// The largest head, in bytes.
const LARGEST_HEAD: usize = 64 << 10;

/// Tokens of a text are about its bytes divided by this.
const BYTES_PER_TOKEN: u64 = 4;

type Body = UnsyncBoxBody<Bytes, std::io::Error>;

/// The way to one model for one task.
#[derive(Debug)]
pub struct Gateway {
    client: ModelClient,
    gate: Arc<Gate>,
    places: Arc<Semaphore>,
    state: Mutex<State>,
    tell: mpsc::UnboundedSender<AgentStep>,
}

#[derive(Debug)]
struct State {
    meter: Meter,
    /// Requests that are under way, and the tokens that they send.
    flying: (u32, u64),
    over: Option<Mark>,
    /// The last request failed for this.
    failed: Option<ModelError>,
}

impl Gateway {
    /// A gateway that tells what goes through it. `wall` is the time that the task has.
    pub fn new(
        client: ModelClient,
        gate: Arc<Gate>,
        model: &ModelConfig,
        budget: Budget,
        wall: Duration,
        tell: mpsc::UnboundedSender<AgentStep>,
    ) -> Self {
        let meter = Meter::new(budget, model.price, wall, client.name());
        Self {
            client,
            gate,
            places: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            state: Mutex::new(State {
                meter,
                flying: (0, 0),
                over: None,
                failed: None,
            }),
            tell,
        }
    }

    /// Answers what comes over one stream until it ends.
    pub async fn serve<S>(self: Arc<Self>, stream: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = hyper::service::service_fn(move |request| {
            let own = Arc::clone(&self);
            async move { Ok::<_, Infallible>(own.answer(request).await) }
        });
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(LARGEST_HEAD)
            .serve_connection(TokioIo::new(stream), service)
            .await;
        if let Err(error) = served {
            tracing::debug!(%error, "a connection to the model gateway ended");
        }
    }

    /// What was used up so far.
    pub fn spent(&self) -> Spent {
        self.with(|state| state.meter.spent().clone())
    }

    /// Tells how many lines are changed by now, for the next look at the budget.
    pub fn lines(&self, lines: u64) {
        self.with(|state| state.meter.lines(lines));
    }

    /// What is left of the time.
    pub fn time(&self) -> Duration {
        self.with(|state| state.meter.time())
    }

    /// Why the work could not go on, if it could not: a budget that is used up, or a model that gives no answers.
    pub fn failure(&self) -> Option<Failure> {
        self.with(|state| match (&state.over, &state.failed) {
            (Some(mark), _) => Some(Failure::new(
                FailureKind::Budget,
                format!("the budget of {} is used up", mark.limit),
                "review what it has changed so far, or raise `[budget]` in config.toml and run it again with `legwork retry`",
            )),
            (None, Some(error)) => Some(error.failure()),
            (None, None) => None,
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn answer(self: &Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        let provider = self.client.provider();
        match self.take(request).await {
            Ok(response) => response,
            Err(refusal) => whole(refusal.status(), &refusal.body(provider)),
        }
    }

    async fn take(self: &Arc<Self>, request: Request<Incoming>) -> Result<Response<Body>, Refusal> {
        let provider = self.client.provider();
        let path = request.uri().path();
        match *request.method() {
            // Some look whether there is anybody before they ask.
            Method::HEAD => return Ok(whole(StatusCode::OK, "")),
            Method::GET if path == "/v1/models" => {
                let model = json!({ "id": self.client.name(), "object": "model", "type": "model", "created": 0, "owned_by": "legwork" });
                let list = json!({ "object": "list", "data": [model], "has_more": false });
                return Ok(whole(StatusCode::OK, &list.to_string()));
            }
            Method::POST if path == format!("/v1/{}", provider_path(provider)) => {}
            _ => {
                return Err(Refusal::new(
                    404,
                    format!(
                        "the model gateway has nothing here: it takes POST /v1/{} only, since the configured provider is `{}`",
                        provider_path(provider),
                        provider.name()
                    ),
                ));
            }
        }
        let encoding = request.headers().get(CONTENT_ENCODING);
        if encoding.is_some_and(|encoding| encoding != "identity") {
            return Err(Refusal::new(
                415,
                "the model gateway takes plain JSON only, with no content encoding".to_owned(),
            ));
        }
        let betas = request.headers().get("anthropic-beta").cloned();
        let betas = betas.filter(|_| provider == Provider::Anthropic);
        let asked = body::read(request.into_body(), self.client.name(), provider).await?;
        let place = self.wait_for_place().await;
        self.budgeted(&asked)?;
        let flight = Flight::new(Arc::clone(self), &asked, place);
        self.forward(asked, betas, flight).await
    }

    async fn wait_for_place(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Refuses what the budget has no room for.
    fn budgeted(&self, asked: &Asked) -> Result<(), Refusal> {
        let (over, first) = self.with(|state| {
            let (steps, tokens) = state.flying;
            let over = state
                .meter
                .over_with(steps, tokens.saturating_add(asked.tokens()));
            let first = over.is_some() && state.over.is_none();
            if first {
                state.over.clone_from(&over);
            }
            (over, first)
        });
        let Some(mark) = over else { return Ok(()) };
        let text = format!(
            "The budget of {} is used up: nothing more is asked of the model for this task.",
            mark.limit
        );
        if first {
            let _gone = self.tell.send(AgentStep::Told { text: text.clone() });
        }
        Err(Refusal::new(400, text))
    }

    /// Asks until there is an answer, and passes that on as it comes.
    async fn forward(
        &self,
        asked: Asked,
        betas: Option<HeaderValue>,
        mut flight: Flight,
    ) -> Result<Response<Body>, Refusal> {
        let mut retry = Retry::default();
        // One that has failed for good once has had its pauses.
        let is_patient = self.with(|state| state.failed.is_none());
        let begun = Instant::now();
        let Begun { kind, first, rest } = loop {
            if let Some(wait) = self.gate.wait(self.client.address()) {
                self.pause(wait, "the model API asks for it").await;
            }
            let error = match self.client.forward(asked.bytes(), betas.clone()).await {
                Ok(answer) => break answer,
                Err(error) => error,
            };
            self.with(|state| state.meter.request(Usage::default(), false));
            let pause = retry.pause(&error).filter(|_| is_patient);
            let left = self.with(|state| state.meter.time());
            let Some(pause) = pause.filter(|pause| *pause < left) else {
                self.with(|state| state.failed = Some(error.clone()));
                return Err(Refusal::of(&error));
            };
            self.gate
                .close(self.client.address(), Instant::now() + pause);
            self.pause(pause, &error.to_string()).await;
        };
        self.with(|state| state.failed = None);
        flight.begin(Reader::new(self.client.provider(), &kind), begun.elapsed());
        flight.take(&first);
        let idle = self.client.idle();
        let stream = futures::stream::once(async move { Ok(first) }).chain(
            futures::stream::try_unfold((rest, flight), move |(mut rest, mut flight)| async move {
                let broken = |text: &str| std::io::Error::other(text.to_owned());
                match tokio::time::timeout(idle, rest.next()).await {
                    Ok(Some(Ok(bytes))) if flight.take(&bytes) => Ok(Some((bytes, (rest, flight)))),
                    Ok(Some(Ok(_))) => Err(broken("the answer is too long")),
                    Ok(None) => {
                        flight.end();
                        Ok(None)
                    }
                    Ok(Some(Err(_))) => Err(broken("the answer broke off")),
                    Err(_) => Err(broken("the model API is silent")),
                }
            }),
        );
        let frames = stream.map(|bytes| bytes.map(hyper::body::Frame::data));
        let body = http_body_util::StreamBody::new(frames);
        let mut response = Response::new(UnsyncBoxBody::new(body));
        response.headers_mut().insert(CONTENT_TYPE, kind);
        Ok(response)
    }

    async fn pause(&self, wait: Duration, why: &str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let until = now.unwrap_or_default() + wait;
        let _gone = self.tell.send(AgentStep::Waiting {
            until: i64::try_from(until.as_millis()).unwrap_or(i64::MAX),
            why: why.to_owned(),
        });
        tokio::time::sleep(wait).await;
    }
}

/// The path of a provider's requests, below the version.
pub(crate) fn provider_path(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "messages",
        Provider::OpenAi => "chat/completions",
        Provider::OpenAiResponses => "responses",
    }
}

fn whole(status: StatusCode, body: &str) -> Response<Body> {
    let full = Full::new(Bytes::copy_from_slice(body.as_bytes()));
    let mut response = Response::new(UnsyncBoxBody::new(full.map_err(|never| match never {})));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// A request that is under way. What it has used up is counted when it is dropped, however it ended.
#[derive(Debug)]
struct Flight {
    gateway: Arc<Gateway>,
    prompt: u64,
    answer: Option<(Reader, Duration)>,
    seen: usize,
    ended: bool,
    _place: Option<OwnedSemaphorePermit>,
}

impl Flight {
    fn new(gateway: Arc<Gateway>, asked: &Asked, place: Option<OwnedSemaphorePermit>) -> Self {
        let prompt = asked.tokens();
        gateway.with(|state| {
            state.flying.0 += 1;
            state.flying.1 = state.flying.1.saturating_add(prompt);
        });
        Self {
            gateway,
            prompt,
            answer: None,
            seen: 0,
            ended: false,
            _place: place,
        }
    }

    fn begin(&mut self, reader: Reader, first_byte: Duration) {
        self.answer = Some((reader, first_byte));
    }

    /// Reads along; gives whether there may be more.
    fn take(&mut self, bytes: &[u8]) -> bool {
        self.seen += bytes.len();
        if let Some((reader, _)) = &mut self.answer {
            reader.take(bytes);
        }
        self.seen <= LONGEST_ANSWER
    }

    fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let answer = self.answer.take();
        let mut nearly = Vec::new();
        let spent = self.gateway.with(|state| {
            state.flying.0 -= 1;
            state.flying.1 = state.flying.1.saturating_sub(self.prompt);
            let (reader, _) = answer.as_ref()?;
            // What is not told is never free: it is guessed from the length.
            let guess = Usage {
                input: self.prompt,
                output: self.seen as u64 / BYTES_PER_TOKEN,
                ..Usage::default()
            };
            let told = reader.usage().unwrap_or(guess);
            let usage = if self.ended || told.output > 0 {
                told
            } else {
                guess
            };
            state.meter.request(usage, true);
            nearly = state.meter.nearly();
            Some(state.meter.spent().clone())
        });
        if let (Some(spent), Some((_, first_byte))) = (spent, answer) {
            let _gone = self.gateway.tell.send(AgentStep::Turn {
                spent,
                first_byte: u64::try_from(first_byte.as_millis()).unwrap_or(u64::MAX),
            });
        }
        for mark in nearly {
            let limit = mark.limit;
            let _gone = self.gateway.tell.send(AgentStep::Nearly { limit });
        }
    }
}

#[cfg(test)]
mod tests;
