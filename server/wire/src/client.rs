//! The client: one method for each row of the table in the crate's documentation. It never starts a daemon; that is
//! for who knows which program to start.
//!
//! Each call has a connection of its own, so that a client outlives a daemon that was replaced, and a stream of events
//! holds up nothing else.

mod sse;
mod stream;
#[cfg(test)]
mod tests;

pub use stream::EventStream;

use std::{
    fmt::Write as _,
    io,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::{Method, Request, Response, StatusCode, body::Incoming, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use legwork_model::{Digest, Event, Manifest, Task};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{net::UnixStream, time::timeout};

use crate::{
    Card, CheckAgain, Claimed, Decide, Decided, Desk, ErrorBody, GENERATION, GENERATION_HEADER,
    Last, Places, Reopen, Review, Said, Say, Settle, Status, Stop, Submit, Submitted, TaskDetail,
    Undo, WireError,
};

/// The largest answer that is read, in bytes.
const LARGEST_ANSWER: usize = 256 << 20;

/// The largest error answer that is read, in bytes.
const LARGEST_ERROR: usize = 1 << 20;

/// What is asked in this generation's words is understood by every daemon: an old one can be asked how it is, and to end.
const OLDEST_GENERATION: u32 = 1;

/// How long a daemon may take to accept a connection.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// How long a daemon may take to begin an answer. An accept of many files writes each of them durably first.
const ANSWER_DEADLINE: Duration = Duration::from_mins(5);

/// Speaks to the daemon of one set of [`Places`].
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
}

impl Client {
    /// Checks that a daemon of ours listens there, or where the one that has this state says.
    ///
    /// # Errors
    ///
    /// [`WireError::Unreachable`] when nobody listens; [`WireError::Garbled`] when it is another user's process.
    pub async fn connect(places: &Places) -> Result<Self, WireError> {
        let client = Self {
            socket: places.socket(),
        };
        let Err(failed) = client.open().await else {
            return Ok(client);
        };
        if let (WireError::Unreachable { .. }, Some(socket)) = (&failed, places.other_socket()) {
            let other = Self { socket };
            if other.open().await.is_ok() {
                return Ok(other);
            }
        }
        Err(failed)
    }

    /// What the daemon says of itself.
    ///
    /// # Errors
    ///
    /// As every call: [`WireError::Refused`] with the daemon's reason, [`WireError::Unreachable`],
    /// [`WireError::Garbled`].
    pub async fn status(&self) -> Result<Status, WireError> {
        self.get("/v1/status").await
    }

    /// Asks the daemon to end. It has answered, but may not have ended, when this returns.
    ///
    /// # Errors
    ///
    /// As every call; a conflict when tasks are running and `force` is not set.
    pub async fn stop(&self, stop: Stop) -> Result<(), WireError> {
        let _answer: serde_json::Value = self.post("/v1/stop", &stop).await?;
        Ok(())
    }

    /// Asks for a task; it is stored durably when this returns.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn submit(&self, submit: &Submit) -> Result<Submitted, WireError> {
        self.post("/v1/tasks", submit).await
    }

    /// All tasks, newest first; only those of `workspace` if it is given.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn tasks(&self, workspace: Option<&Path>) -> Result<Vec<Task>, WireError> {
        match workspace {
            Some(path) => {
                let path = percent(path.as_os_str().as_bytes());
                self.get(&format!("/v1/tasks?workspace={path}")).await
            }
            None => self.get("/v1/tasks").await,
        }
    }

    /// All about a task. Here and below, `id` may be a unique prefix of an id.
    ///
    /// # Errors
    ///
    /// As every call; usage when no task, or more than one, begins like that.
    pub async fn task(&self, id: &str) -> Result<TaskDetail, WireError> {
        self.get(&of(id, "")).await
    }

    /// The changes of a task as they stand now.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn review(&self, id: &str) -> Result<Review, WireError> {
        self.get(&of(id, "/review")).await
    }

    /// What the task's guest saw.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn manifest(&self, id: &str) -> Result<Manifest, WireError> {
        self.get(&of(id, "/manifest")).await
    }

    /// The output of a task so far.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn log(&self, id: &str) -> Result<Vec<Event>, WireError> {
        self.get(&of(id, "/log")).await
    }

    /// All that a task changed as a unified diff, byte for byte. The bytes come from the guest: they are not safe for a
    /// terminal.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn diff(&self, id: &str) -> Result<Vec<u8>, WireError> {
        let answer = self.call(Method::GET, &of(id, "/diff"), None).await?;
        Ok(self.whole(answer, LARGEST_ANSWER).await?.into())
    }

    /// The events of one task after number `after`; it ends when the task is over.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn task_events(&self, id: &str, after: u64) -> Result<EventStream, WireError> {
        self.stream(&of(id, &format!("/events?after={after}")))
            .await
    }

    /// The events of all tasks after number `after`, or from now on; it does not end by itself.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn events(&self, after: Option<u64>) -> Result<EventStream, WireError> {
        match after {
            Some(after) => self.stream(&format!("/v1/events?after={after}")).await,
            None => self.stream("/v1/events").await,
        }
    }

    /// Takes changes into the workspace.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`]; a conflict or a policy when nothing was done.
    pub async fn accept(&self, id: &str, decide: &Decide) -> Result<Decided, WireError> {
        self.post(&of(id, "/accept"), decide).await
    }

    /// Turns changes down for good.
    ///
    /// # Errors
    ///
    /// As for [`Client::accept`].
    pub async fn reject(&self, id: &str, decide: &Decide) -> Result<Decided, WireError> {
        self.post(&of(id, "/reject"), decide).await
    }

    /// Takes a decision of a task back.
    ///
    /// # Errors
    ///
    /// As for [`Client::accept`].
    pub async fn undo(&self, id: &str, undo: &Undo) -> Result<Decided, WireError> {
        self.post(&of(id, "/undo"), undo).await
    }

    /// What an editor needs to place a task's hunks in its own buffers.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn desk(&self, id: &str) -> Result<Desk, WireError> {
        self.get(&of(id, "/desk")).await
    }

    /// One version of a file that a [`Desk`] names, byte for byte.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`]; usage when the desk does not name it.
    pub async fn blob(&self, id: &str, digest: Digest) -> Result<Vec<u8>, WireError> {
        let path = of(id, &format!("/blobs/{digest}"));
        let answer = self.call(Method::GET, &path, None).await?;
        Ok(self.whole(answer, LARGEST_ANSWER).await?.into())
    }

    /// Keeps hunks for an editor that is about to put them into its buffers.
    ///
    /// # Errors
    ///
    /// As for [`Client::accept`].
    pub async fn claim(&self, id: &str, decide: &Decide) -> Result<Claimed, WireError> {
        self.post(&of(id, "/claim"), decide).await
    }

    /// Says what became of a claim.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`]; a conflict when the claim is not held any more.
    pub async fn settle(&self, id: &str, settle: &Settle) -> Result<Decided, WireError> {
        self.post(&of(id, "/settle"), settle).await
    }

    /// Makes decided hunks pending again.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn reopen(&self, id: &str, reopen: &Reopen) -> Result<Decided, WireError> {
        self.post(&of(id, "/reopen"), reopen).await
    }

    /// What the last decision of a task accepted, which [`Client::undo`] would take back.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn last(&self, id: &str) -> Result<Last, WireError> {
        self.get(&of(id, "/last")).await
    }

    /// Stops a task.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`]; a conflict when it is over.
    pub async fn cancel(&self, id: &str) -> Result<Task, WireError> {
        self.post_empty(&of(id, "/cancel")).await
    }

    /// Asks for the same once more, on a new snapshot.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`].
    pub async fn retry(&self, id: &str) -> Result<Submitted, WireError> {
        self.post_empty(&of(id, "/retry")).await
    }

    /// Says something to the agent of a task; it is stored durably when this returns.
    ///
    /// # Errors
    ///
    /// As for [`Client::task`]; a conflict when nobody can hear it.
    pub async fn say(&self, id: &str, say: &Say) -> Result<Said, WireError> {
        self.post(&of(id, "/say"), say).await
    }

    /// What the checks of a task say, if it has any.
    ///
    /// # Errors
    ///
    /// As every call.
    pub async fn evidence(&self, id: &str) -> Result<Option<Card>, WireError> {
        self.get(&of(id, "/evidence")).await
    }

    /// Has a task that is over checked once more.
    ///
    /// # Errors
    ///
    /// As every call; a conflict while it runs or is being checked.
    pub async fn check(&self, id: &str, again: CheckAgain) -> Result<Card, WireError> {
        self.post(&of(id, "/check"), &again).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, WireError> {
        let answer = self.call(Method::GET, path, None).await?;
        self.json(answer).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, WireError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            WireError::Garbled(format!("the request cannot be written as JSON: {error}"))
        })?;
        let answer = self.call(Method::POST, path, Some(body)).await?;
        self.json(answer).await
    }

    async fn post_empty<T: DeserializeOwned>(&self, path: &str) -> Result<T, WireError> {
        let answer = self.call(Method::POST, path, None).await?;
        self.json(answer).await
    }

    async fn stream(&self, path: &str) -> Result<EventStream, WireError> {
        let answer = self.call(Method::GET, path, None).await?;
        Ok(EventStream::new(self.socket.clone(), answer.into_body()))
    }

    /// Sends one request; the answer is a success, its body is not read yet.
    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Response<Incoming>, WireError> {
        let ageless = matches!(path, "/v1/status" | "/v1/stop");
        let generation = if ageless {
            OLDEST_GENERATION
        } else {
            GENERATION
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "legwork")
            .header(GENERATION_HEADER, generation);
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| {
                WireError::Garbled(format!("the request cannot be written: {error}"))
            })?;
        let mut sender = self.open().await?;
        let answer = timeout(ANSWER_DEADLINE, sender.send_request(request))
            .await
            .map_err(|_| self.lost(io::ErrorKind::TimedOut.into()))?
            .map_err(|error| self.broken(&error))?;
        if answer.status().is_success() {
            Ok(answer)
        } else {
            Err(self.refusal(answer).await)
        }
    }

    /// A connection to a process of this user.
    async fn open(&self) -> Result<http1::SendRequest<Full<Bytes>>, WireError> {
        let stream = timeout(CONNECT_DEADLINE, UnixStream::connect(&self.socket))
            .await
            .map_err(|_| self.lost(io::ErrorKind::TimedOut.into()))?
            .map_err(|error| self.lost(error))?;
        let peer = stream.peer_cred().map_err(|error| self.lost(error))?.uid();
        if peer != rustix::process::geteuid().as_raw() {
            let socket = self.socket.display();
            return Err(WireError::Garbled(format!(
                "{socket} is served by another user (uid {peer}), not by you"
            )));
        }
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| self.broken(&error))?;
        tokio::spawn(async move {
            // What goes wrong here is told by the request or the body that it belongs to.
            let _outcome = connection.await;
        });
        Ok(sender)
    }

    async fn json<T: DeserializeOwned>(&self, answer: Response<Incoming>) -> Result<T, WireError> {
        let body = self.whole(answer, LARGEST_ANSWER).await?;
        serde_json::from_slice(&body).map_err(|error| WireError::Garbled(error.to_string()))
    }

    async fn refusal(&self, answer: Response<Incoming>) -> WireError {
        let status = answer.status();
        match self.whole(answer, LARGEST_ERROR).await {
            Ok(body) => match serde_json::from_slice::<ErrorBody>(&body) {
                Ok(refused) => WireError::Refused(refused),
                Err(_) => WireError::Garbled(stray(status, &body)),
            },
            Err(error) => error,
        }
    }

    async fn whole(&self, answer: Response<Incoming>, limit: usize) -> Result<Bytes, WireError> {
        match Limited::new(answer.into_body(), limit).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(WireError::Garbled(format!(
                "it is longer than {limit} bytes"
            ))),
            Err(error) => Err(self.lost(io::Error::other(error))),
        }
    }

    fn lost(&self, source: io::Error) -> WireError {
        WireError::Unreachable {
            socket: self.socket.clone(),
            source,
        }
    }

    fn broken(&self, error: &hyper::Error) -> WireError {
        stream::broken(&self.socket, error)
    }
}

/// Tells of an answer that is no success and has no [`ErrorBody`].
fn stray(status: StatusCode, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("{status}: {}", text.trim())
}

/// The path of something of a task.
fn of(id: &str, rest: &str) -> String {
    format!("/v1/tasks/{}{rest}", percent(id.as_bytes()))
}

/// Escapes all that is not plain in a path segment or a query value.
fn percent(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ok = write!(text, "%{byte:02X}");
        }
    }
    text
}
