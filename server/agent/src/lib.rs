//! Agents: model APIs, the built-in loop between a model and the tools it asks for, and the gateway for other agents.
//!
//! | room | what |
//! | --- | --- |
//! | `key` | where a key comes from; it goes into one header and nowhere else |
//! | `client`, `sse` | one request: HTTP, a stream of events, every length bounded |
//! | `anthropic`, `chat`, `responses` | three wire formats, to and from [`Prompt`] and [`Reply`] |
//! | `failure`, `retry` | what can go wrong, and when it is tried again |
//! | `meter` | what was used up of the budget |
//! | `tools`, `hands`, `edit`, `syntax`, `paths`, `clip` | what the model may ask for, and how it is done |
//! | `gateway` | the same API for agents that run in a sandbox: bounded, metered, with the key added here |
//! | `recipe` | how agents of others are installed and started |
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
mod gateway;
mod hands;
mod key;
mod meter;
mod paths;
mod recipe;
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
pub use gateway::Gateway;
pub use key::{ApiKey, KeyError};
pub use recipe::{Order, Package, Recipe, RecipeError, Recipes, Values};
pub use retry::{Gate, Retry};
pub use rounds::{Agent, Earlier, Ended};
pub use transcript::Transcript;
pub use workbench::{BenchError, End, Errand, Lookup, Workbench};
