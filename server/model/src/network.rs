//! What a task reached beyond its machine, and what it was refused.

use legwork_spec::Destination;
use serde::{Deserialize, Serialize};

/// One connection, when it is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The name that was asked for; empty if that could not be understood.
    pub host: String,
    /// The port; 0 if that could not be understood.
    pub port: u16,
    /// How it went.
    pub end: ConnectionEnd,
}

/// How a connection went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum ConnectionEnd {
    /// It went out.
    Passed {
        /// To this address and port.
        address: String,
        /// Bytes that were sent.
        up: u64,
        /// Bytes that came back.
        down: u64,
        /// How long it was open, in milliseconds.
        millis: u64,
    },
    /// It was refused.
    Denied {
        /// Why, as the part of a sentence behind a colon.
        reason: String,
        /// The entry that would allow it, where that is the user's to say.
        allow: Option<Destination>,
    },
}

/// All connections of a task to one host and port, or to none that could be understood.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    /// The name that was asked for; empty if that could not be understood.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Connections that went out.
    pub passed: u64,
    /// Connections that were refused.
    pub denied: u64,
    /// Bytes that were sent.
    pub up: u64,
    /// Bytes that came back.
    pub down: u64,
    /// Why one was refused, the last time.
    pub reason: Option<String>,
    /// The entry that would allow it, where that is the user's to say.
    pub allow: Option<Destination>,
}

impl Reached {
    /// Adds one connection.
    pub fn add(&mut self, end: &ConnectionEnd) {
        match end {
            ConnectionEnd::Passed { up, down, .. } => {
                self.passed += 1;
                self.up = self.up.saturating_add(*up);
                self.down = self.down.saturating_add(*down);
            }
            ConnectionEnd::Denied { reason, allow } => {
                self.denied += 1;
                self.reason = Some(reason.clone());
                self.allow.clone_from(allow);
            }
        }
    }

    /// What was asked for, in a word.
    pub fn target(&self) -> String {
        target(&self.host, self.port)
    }
}

impl Connection {
    /// As a line of a log.
    pub fn line(&self) -> String {
        let target = target(&self.host, self.port);
        match &self.end {
            ConnectionEnd::Passed {
                address,
                up,
                down,
                millis,
            } => {
                format!(
                    "network: {target} at {address}: {up} bytes sent, {down} received, {millis} ms"
                )
            }
            ConnectionEnd::Denied { reason, .. } => {
                format!("network: {target} is refused: {reason}")
            }
        }
    }
}

fn target(host: &str, port: u16) -> String {
    match host {
        "" => "a connection".to_owned(),
        _ => format!("{host}:{port}"),
    }
}
