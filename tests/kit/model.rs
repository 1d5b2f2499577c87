//! A model API that replays a script, byte for byte: what each request gets is written down beforehand, and where its bytes are cut
//! and when the connection breaks is part of it. It keeps what it was asked.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The longest request that is taken, in bytes.
const LONGEST: usize = 32 << 20;

/// What one request gets.
#[derive(Clone, Debug)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Piece>,
}

/// A part of an answer. Each is sent by itself.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Silence.
    Pause(Duration),
    /// The end of the connection, in the middle of everything.
    Reset,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// When.
    pub at: Instant,
    /// Method and path.
    pub line: String,
    /// The head as it came, in lower case.
    pub head: String,
    /// The body, if it is JSON.
    pub body: Value,
}

/// What a request gets, by how many came before it and what it says; `None` breaks the connection.
type Script = dyn Fn(usize, &Asked) -> Option<Answer> + Send + Sync;

/// A running API.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Model {
    /// Serves the answers to `POST`s one by one; the last one again and again. A `GET` gets `list`.
    ///
    /// # Panics
    ///
    /// When there is no port.
    pub fn new(list: Answer, answers: Vec<Answer>) -> Self {
        Self::answering(list, move |turn, _| {
            answers.get(turn).or(answers.last()).cloned()
        })
    }

    /// Serves what a function says to each `POST`, which is told how many came before it. A `GET` gets `list`.
    ///
    /// # Panics
    ///
    /// When there is no port.
    pub fn answering(
        list: Answer,
        script: impl Fn(usize, &Asked) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let script: Arc<(Answer, Box<Script>)> = Arc::new((list, Box::new(script)));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, script) = (Arc::clone(&kept), Arc::clone(&script));
                std::thread::spawn(move || serve(stream, &kept, &script));
            }
        });
        Self { address, asked }
    }

    /// Serves these answers and a list with the model `fake`.
    pub fn replaying(answers: Vec<Answer>) -> Self {
        let list = json!({ "data": [{ "id": "fake" }, { "id": "other" }] });
        Self::new(Answer::json(200, &list), answers)
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All `POST`s so far.
    pub fn asked(&self) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked
            .iter()
            .filter(|asked| asked.line.starts_with("POST "))
            .cloned()
            .collect()
    }
}

impl Answer {
    /// A JSON body.
    pub fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            pieces: vec![Piece::Bytes(body.to_string().into_bytes())],
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A stream of events.
    pub fn stream(pieces: Vec<Piece>) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            pieces,
        }
    }

    /// An answer of Anthropic's API: words, then calls of tools (name and arguments as they are written).
    pub fn anthropic(words: &str, calls: &[(&str, &str)]) -> Self {
        let stop = if calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        };
        let mut pieces = vec![begun()];
        let mut index = 0;
        if !words.is_empty() {
            let block = json!({ "type": "text", "text": "" });
            let delta = json!({ "type": "text_delta", "text": words });
            pieces.extend(block_of(index, &block, &delta));
            index += 1;
        }
        for (name, arguments) in calls {
            let block = json!({ "type": "tool_use", "id": format!("toolu_{index}_{name}"), "name": name, "input": {} });
            let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
            pieces.extend(block_of(index, &block, &delta));
            index += 1;
        }
        pieces.push(event(&json!({
            "type": "message_delta", "delta": { "stop_reason": stop }, "usage": { "output_tokens": 20 },
        })));
        pieces.push(event(&json!({ "type": "message_stop" })));
        Self::stream(pieces)
    }

    /// An answer of Chat Completions: words, and calls of tools.
    pub fn chat(words: &str, calls: &[(&str, &str)]) -> Self {
        let delta = |delta: Value| {
            data(&json!({ "choices": [{ "index": 0, "delta": delta }] }).to_string())
        };
        let mut pieces = vec![delta(json!({ "role": "assistant", "content": words }))];
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let id = format!("call_{index}_{name}");
            let begun = json!({ "index": index, "id": id, "type": "function", "function": { "name": name, "arguments": "" } });
            pieces.push(delta(json!({ "tool_calls": [begun] })));
            let more = json!({ "index": index, "function": { "arguments": arguments } });
            pieces.push(delta(json!({ "tool_calls": [more] })));
        }
        let reason = if calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
        let usage =
            json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 20 } });
        pieces.extend([
            data(&end.to_string()),
            data(&usage.to_string()),
            data("[DONE]"),
        ]);
        Self::stream(pieces)
    }

    /// An answer of the Responses API: words, and calls of tools.
    pub fn responses(words: &str, calls: &[(&str, &str)]) -> Self {
        let mut pieces = vec![event(
            &json!({ "type": "response.created", "response": {} }),
        )];
        let done =
            |item: Value| event(&json!({ "type": "response.output_item.done", "item": item }));
        if !words.is_empty() {
            let content = json!([{ "type": "output_text", "text": words }]);
            pieces.push(done(
                json!({ "type": "message", "role": "assistant", "content": content }),
            ));
        }
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let id = format!("call_{index}_{name}");
            pieces.push(done(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })));
        }
        let usage = json!({
            "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120,
        });
        pieces.push(event(
            &json!({ "type": "response.completed", "response": { "id": "resp_1", "usage": usage } }),
        ));
        Self::stream(pieces)
    }

    /// It begins after a while.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        self.pieces.insert(0, Piece::Pause(pause));
        self
    }

    /// Every byte of it sent by itself.
    #[must_use]
    pub fn shredded(mut self) -> Self {
        let pieces = self.pieces.into_iter().flat_map(|piece| match piece {
            Piece::Bytes(bytes) => bytes
                .into_iter()
                .map(|byte| Piece::Bytes(vec![byte]))
                .collect(),
            other => vec![other],
        });
        self.pieces = pieces.collect();
        self
    }
}

/// How an answer of Anthropic's API begins.
pub fn begun() -> Piece {
    event(&json!({
        "type": "message_start",
        "message": { "id": "m", "type": "message", "role": "assistant", "model": "fake", "content": [], "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 100, "output_tokens": 1 } },
    }))
}

/// An event with its type as its name.
pub fn event(data: &Value) -> Piece {
    let name = data["type"].as_str().unwrap_or_default();
    Piece::Bytes(format!("event: {name}\ndata: {data}\n\n").into_bytes())
}

/// An event without a name.
pub fn data(data: &str) -> Piece {
    Piece::Bytes(format!("data: {data}\n\n").into_bytes())
}

fn block_of(index: usize, block: &Value, delta: &Value) -> [Piece; 3] {
    [
        event(&json!({ "type": "content_block_start", "index": index, "content_block": block })),
        event(&json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        event(&json!({ "type": "content_block_stop", "index": index })),
    ]
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<Asked>>, (list, script): &(Answer, Box<Script>)) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 64 << 10];
    let request = loop {
        if let Some(request) = whole(&bytes) {
            break request;
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) if bytes.len() < LONGEST => bytes.extend_from_slice(&buffer[..count]),
            _ => return,
        }
    };
    let answer = {
        let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
        let posts = asked
            .iter()
            .filter(|asked| asked.line.starts_with("POST "))
            .count();
        let answer = if request.line.starts_with("POST ") {
            script(posts, &request)
        } else {
            Some(list.clone())
        };
        asked.push(request);
        answer
    };
    let Some(answer) = answer else { return };
    let headers: String = answer
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "HTTP/1.1 {} X\r\nconnection: close\r\n{headers}\r\n",
        answer.status
    );
    let _nodelay = stream.set_nodelay(true);
    if stream.write_all(head.as_bytes()).is_err() {
        return;
    }
    for piece in &answer.pieces {
        match piece {
            Piece::Bytes(bytes) => {
                if stream.write_all(bytes).is_err() {
                    return;
                }
            }
            Piece::Pause(pause) => std::thread::sleep(*pause),
            Piece::Reset => {
                let linger = Some(Duration::ZERO);
                let _reset = rustix::net::sockopt::set_socket_linger(&stream, linger);
                return;
            }
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Asked> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let body = bytes.get(end + 4..end + 4 + length.unwrap_or(0))?;
    let line = head.lines().next().unwrap_or_default();
    Some(Asked {
        at: Instant::now(),
        line: line.trim_end_matches(" HTTP/1.1").to_owned(),
        head: head.to_ascii_lowercase(),
        body: serde_json::from_slice(body).unwrap_or(Value::Null),
    })
}
