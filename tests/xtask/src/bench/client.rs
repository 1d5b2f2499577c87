//! An editor that does nothing but measure: raw LSP over the pipes of `legwork lsp`.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// Whatever is waited for longer than this does not come.
const PATIENCE: Duration = Duration::from_mins(3);

/// A client and its server.
#[derive(Debug)]
pub(super) struct Client {
    child: Child,
    stdin: ChildStdin,
    inbox: Receiver<Value>,
    /// Notifications and requests nobody has asked for yet.
    waiting: VecDeque<Value>,
    next: u64,
}

impl Client {
    /// Starts the server and shakes hands. Gives the time that took, in milliseconds.
    pub(super) fn start(mut command: Command, folder: &Path) -> Result<(Self, f64)> {
        let begun = Instant::now();
        let mut child = command
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the language server does not start")?;
        let stdin = child.stdin.take().context("a pipe")?;
        let stdout = child.stdout.take().context("a pipe")?;
        let (sender, inbox) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            while let Ok(message) = read(&mut reader) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut client = Self {
            child,
            stdin,
            inbox,
            waiting: VecDeque::new(),
            next: 1,
        };
        client.request(
            "initialize",
            &json!({
                "processId": null,
                "capabilities": { "workspace": { "applyEdit": true, "workspaceEdit": { "documentChanges": true } } },
                "workspaceFolders": [{ "uri": uri(folder), "name": "bench" }],
                "initializationOptions": { "legwork": { "ui": { "hunks": "native", "tasks": true } } },
            }),
        )?;
        let ready = begun.elapsed().as_secs_f64() * 1000.0;
        client.notify("initialized", &json!({}))?;
        Ok((client, ready))
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Asks, and does not wait.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Result<u64> {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let id = self.ask(method, params)?;
        self.answer(id)
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, id: u64) -> Result<Value> {
        let answer = self.until(|message| {
            message.get("method").is_none() && message["id"].as_u64() == Some(id)
        })?;
        if let Some(error) = answer.get("error") {
            bail!("the server refused: {error}");
        }
        Ok(answer["result"].clone())
    }

    pub(super) fn respond(&mut self, request: &Value, result: &Value) -> Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))
    }

    /// Waits for a message.
    pub(super) fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(at) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(at).context("it was there");
        }
        let until = Instant::now() + PATIENCE;
        loop {
            let message = match self
                .inbox
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => bail!("the server is silent"),
                Err(RecvTimeoutError::Disconnected) => bail!("the server ended"),
            };
            if wanted(&message) {
                return Ok(message);
            }
            self.waiting.push_back(message);
        }
    }

    /// Whether the answer to a request has come.
    pub(super) fn has_answer(&mut self, id: u64) -> bool {
        self.waiting.extend(self.inbox.try_iter());
        let mut waiting = self.waiting.iter();
        waiting.any(|message| message.get("method").is_none() && message["id"].as_u64() == Some(id))
    }

    /// Forgets what came so far.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        Ok(self.stdin.flush()?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The figures are taken; nothing of the server is needed any more.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}

pub(super) fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn read(reader: &mut impl BufRead) -> Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            bail!("the end");
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
