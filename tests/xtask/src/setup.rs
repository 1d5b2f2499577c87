//! `cargo xtask setup`: what a machine lacks, installed or told. What each need is stands in
//! `setup/need.rs`, how a system installs in `setup/system.rs` and `setup/apt.rs`.

use anyhow::{Error, Result};

use crate::step::{CANNOT_RUN_HERE, Stop};

mod apt;
mod code_server;
pub(crate) mod editors;
mod kernel;
mod need;
mod sources;
mod system;

use need::Need;
use system::System;

/// What to look for and whether to install it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only say what is missing; ends with code 3 when something is.
    #[arg(long)]
    check: bool,
    /// Also what the tests use.
    #[arg(long)]
    tests: bool,
}

/// What the machine shall be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Build Legwork and run tasks.
    Run,
    /// Run the tests as well, but for those of the VS Code extension.
    TestWithoutVsCode,
    /// Run the tests as well.
    Test,
}

/// What may be done about a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Install it.
    Install,
    /// Say it.
    Check,
}

pub(crate) fn main(args: &Args) -> Result<()> {
    let purpose = if args.tests {
        Purpose::Test
    } else {
        Purpose::Run
    };
    let mode = if args.check {
        Mode::Check
    } else {
        Mode::Install
    };
    ensure(purpose, mode)
}

/// Makes the machine able to serve the purpose.
///
/// # Errors
/// A [`Stop`] with code 3 that holds the exact commands, when something is missing that this user
/// may not install or that this program does not install on this system.
pub(crate) fn ensure(purpose: Purpose, mode: Mode) -> Result<()> {
    let missing = lacking(purpose);
    if missing.is_empty() {
        println!("setup: nothing is missing");
        return Ok(());
    }
    for need in &missing {
        println!("setup: missing: {}", need.title());
    }
    let system = System::detect();
    if mode == Mode::Check || !matches!(system, System::Apt { .. }) {
        return Err(cannot(&system.advice(&missing)));
    }
    let failures = install(&missing);
    let still = lacking(purpose);
    if still.is_empty() {
        println!("setup: done");
        return Ok(());
    }
    let mut message = String::new();
    for failure in failures {
        message = message + &format!("{failure:#}") + "\n";
    }
    Err(cannot(&(message + &system.advice(&still))))
}

fn lacking(purpose: Purpose) -> Vec<Need> {
    Need::of(purpose)
        .iter()
        .copied()
        .filter(|need| !need.is_met())
        .collect()
}

/// Does all it can: that one thing may not be installed is no reason to leave out another.
fn install(missing: &[Need]) -> Vec<Error> {
    let mut outcomes = Vec::new();
    let packages = system::apt_packages(missing);
    if !packages.is_empty() {
        outcomes.push(apt::install(&packages));
    }
    // The installation may have read them already.
    if missing.contains(&Need::PackageLists) && !apt::has_lists() {
        outcomes.push(apt::refresh());
    }
    let components = need::rust_components(missing);
    if !components.is_empty() {
        outcomes.push(need::add_rust_components(&components));
    }
    if missing.contains(&Need::GuestKernel) {
        outcomes.push(kernel::provide());
    }
    if missing.contains(&Need::Editors) {
        outcomes.push(editors::provide());
    }
    if missing.contains(&Need::CodeServer) {
        outcomes.push(code_server::provide());
    }
    outcomes.into_iter().filter_map(Result::err).collect()
}

fn cannot(message: &str) -> Error {
    Error::new(Stop {
        code: CANNOT_RUN_HERE,
        message: message.to_owned(),
    })
}
