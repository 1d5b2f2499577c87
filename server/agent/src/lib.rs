//! The built-in agent: model APIs, and the loop between a model and the tools it asks for.
//!
//! | room | what |
//! | --- | --- |
//! | `key` | where a key comes from; it goes into one header and nowhere else |
//! | `client`, `sse` | one request: HTTP, a stream of events, every length bounded |
//! | `anthropic`, `chat`, `responses` | three wire formats, to and from [`Prompt`] and [`Reply`] |
//! | `failure`, `retry` | what can go wrong, and when it is tried again |
//! | `meter` | what was used up of the budget |
//! | `tools`, `hands`, `edit`, `syntax`, `paths`, `clip` | what the model may ask for, and how it is done |
//! | `rounds`, `stuck`, `brief` | the loop itself |
//! | `transcript` | what was said, kept for later |
//!
//! The loop runs on the host. What it does to files and programs goes through a [`Workbench`], which the daemon makes of a
//! sandbox: nothing here knows of machines.

#![forbid(unsafe_code)]

mod anthropic;
mod brief;
mod chat;
mod client;
mod clip;
mod dialogue;
mod edit;
mod failure;
mod hands;
mod key;
mod meter;
mod paths;
mod responses;
mod retry;
mod rounds;
mod sse;
mod stuck;
mod syntax;
mod tools;
mod transcript;
mod workbench;

pub use brief::{Brief, Guide};
pub use client::{Attempt, ModelClient};
pub use dialogue::{
    Arguments, Entry, Part, Prompt, Reply, Stop, ToolCall, ToolChoice, ToolResult, Usage,
};
pub use failure::ModelError;
pub use key::{ApiKey, KeyError};
pub use retry::{Gate, Retry};
pub use rounds::{Agent, Earlier, Ended};
pub use transcript::Transcript;
pub use workbench::{BenchError, End, Errand, Lookup, Workbench};
