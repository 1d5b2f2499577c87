//! `cargo xtask`: what a newcomer, a contributor and CI type. This file parses and dispatches; each
//! subcommand is a file of its own.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people at a terminal; nothing parses its output"
)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod demo;
mod lua;
mod places;
mod product;
mod setup;
mod step;
mod test;
mod vscode;

/// Sets up, builds, shows and tests Legwork.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Install what this machine lacks to run Legwork.
    Setup(setup::Args),
    /// Build the host programs and the static guest agent.
    Build(product::Args),
    /// Run a task in a small project, show its changes and take an accept.
    Demo(demo::Args),
    /// Set up, then run every check and every test.
    Test(test::Args),
    /// Measure speed and memory of the release build.
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Task::Setup(args) => setup::main(&args),
        Task::Build(args) => product::main(&args),
        Task::Demo(args) => demo::main(&args),
        Task::Test(args) => test::main(&args),
        Task::Bench(args) => bench::main(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            step::exit_code(&error)
        }
    }
}
