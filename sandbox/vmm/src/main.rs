//! `legwork-vmm`: the one process of a virtual machine, and the three small tools that only this program can be.
//!
//! Dispatches to a subcommand, prints a failure as one sentence, and decides nothing else.

mod boot;
mod command_line;
mod jail;
mod krun;
mod krunfw;
mod probe;
mod pvh;
mod qemu;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "usage: legwork-vmm boot FILE | kernel LIBRARY OUTPUT | probe | walls";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to try when even standard error is gone.
            writeln!(std::io::stderr(), "legwork-vmm: {error:#}").ok();
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[OsString]) -> Result<()> {
    let words: Vec<&Path> = arguments.iter().map(Path::new).collect();
    match words.as_slice() {
        [command, file] if *command == "boot" => match boot::run(file)? {},
        [command, library, output] if *command == "kernel" => krunfw::write_kernel(library, output),
        [command] if *command == "probe" => probe::run(),
        [command] if *command == "walls" => jail::tell(),
        _ => bail!(USAGE),
    }
}
