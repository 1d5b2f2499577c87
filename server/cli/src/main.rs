//! The program `legwork`: reads the arguments, does what they ask for, and says how it went in its exit code.

#![forbid(unsafe_code)]

mod accept;
mod agent;
mod args;
mod asked;
mod cancel;
mod check;
mod daemon;
mod decide;
mod delegate;
mod diff;
mod dispatch;
mod doctor;
mod failure;
mod follow;
mod logs;
mod lsp;
mod model;
mod moment;
mod network;
mod output;
mod printable;
mod progress;
mod retry;
mod review;
mod run;
mod say;
mod setup;
mod show;
mod start;
mod tasks;
mod verdict;
mod watch;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    let done = args::read().and_then(|args| args.map_or(Ok(()), dispatch::dispatch));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
