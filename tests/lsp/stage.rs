//! A user with a workspace, and the few steps that most tests begin with.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use kit::{
    folder::Folder,
    home::Home,
    lsp::{Client, Setup},
    plain,
};
use serde_json::{Value, json};

/// A user with a workspace.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) home: Home,
    pub(crate) folder: Folder,
}

impl Stage {
    /// With these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self {
            home: plain::home(),
            folder: Folder::with(files),
        }
    }

    /// A file's path.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A client that can everything.
    pub(crate) fn client(&self) -> Client {
        Client::start(&self.home, &self.folder)
    }

    /// What [`Stage::client`] says of itself.
    pub(crate) fn setup(&self) -> Setup {
        Setup::full(&self.folder.path())
    }
}

/// Puts a shell script into the background from the editor; gives the task's id.
pub(crate) fn begin(client: &Client, script: &str) -> String {
    let argument = json!({ "command": ["sh", "-c", script] });
    let answer = client
        .command("legwork.delegate", argument)
        .unwrap_or_else(|error| panic!("{error}"));
    answer["task"].as_str().expect("a task").to_owned()
}

/// Delegates a shell script and waits until it is over and the editor knows.
pub(crate) fn delegate(client: &Client, script: &str) -> String {
    let task = begin(client, script);
    until_state(client, &task, &["ready", "done", "failed"]);
    task
}

/// Waits until the editor sees a task in one of these states; gives the task.
pub(crate) fn until_state(client: &Client, task: &str, states: &[&str]) -> Value {
    until_task(client, task, |item| {
        states.contains(&item["state"].as_str().unwrap_or_default())
    })
}

/// Waits until the editor sees a task as wanted; gives it.
pub(crate) fn until_task(client: &Client, task: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let tasks = client
            .request("legwork/tasks", json!({}))
            .unwrap_or_else(|error| panic!("{error}"));
        let all = tasks["tasks"].as_array().expect("tasks");
        if let Some(found) = all.iter().find(|item| item["task"] == task)
            && wanted(found)
        {
            return found.clone();
        }
        assert!(begun.elapsed().as_secs() < 60, "{task}: {tasks}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Accepts a hunk as a client names it.
pub(crate) fn accept(client: &Client, hunk: &Value) -> kit::lsp::Answer {
    client.command("legwork.accept", json!({ "hunk": hunk["hunk"] }))
}

/// Rejects a hunk as a client names it.
pub(crate) fn reject(client: &Client, hunk: &Value) -> kit::lsp::Answer {
    client.command("legwork.reject", json!({ "hunk": hunk["hunk"] }))
}

/// The sentence of an answer that must be a refusal.
pub(crate) fn refused(answer: kit::lsp::Answer) -> String {
    match answer {
        Ok(value) => panic!("not refused: {value}"),
        Err(error) => error["message"].as_str().expect("a sentence").to_owned(),
    }
}

/// What the server takes a document to be: a task prints what it finds.
pub(crate) fn seen(client: &Client, name: &str) -> String {
    let task = delegate(client, &format!("cat '{name}'"));
    let log = client
        .request("legwork/log", json!({ "task": task }))
        .unwrap_or_else(|error| panic!("{error}"));
    log["text"].as_str().expect("a text").to_owned()
}

/// The server still answers.
pub(crate) fn is_alive(client: &Client, uri: &str) {
    let hunks = client.request("legwork/hunks", json!({ "uri": uri }));
    assert_eq!(hunks.expect("hunks")["uri"], uri);
}
