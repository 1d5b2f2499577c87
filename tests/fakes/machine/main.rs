//! Stands in for `legwork-vmm` in tests of what lies above the sandbox. **This is no sandbox.** There is no machine: it
//! speaks the real link, and runs commands on this very host, on a copy of the workspace that it unpacked. It is built
//! by the tests' package alone and is never part of the product.
//!
//! `boot FILE` answers the link ([`link`]): the workspace's image is unpacked ([`unpack`]), programs run in it
//! ([`program`], and [`within`] in a process of their own), and what they changed is told as an overlay's upper layer
//! would tell it ([`layer`], [`watch`]). `probe`, `kernel` and `walls` answer so that the host takes it for an emulator in a
//! whole jail.

mod lay;
mod layer;
mod link;
mod program;
mod unpack;
mod watch;
mod within;

use std::{ffi::OsString, fs, io::Write as _, path::Path, process::ExitCode};

use anyhow::{Context as _, bail};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to try when even standard error is gone.
            writeln!(std::io::stderr(), "the tests' machine: {error:#}").ok();
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[OsString]) -> anyhow::Result<()> {
    let words: Vec<&Path> = arguments.iter().map(Path::new).collect();
    match words.as_slice() {
        [command, file] if *command == "boot" => link::boot(file),
        [command, _library, output] if *command == "kernel" => {
            fs::write(output, "no kernel: the tests' machine needs none\n").context("no output")
        }
        [command] if *command == "probe" => {
            let detail = "the tests run commands on this host: this is no sandbox";
            let verdict =
                serde_json::json!({ "verdict": "emulated", "detail": detail, "micros": 0 });
            writeln!(std::io::stdout(), "{verdict}").context("no output")
        }
        [command] if *command == "walls" => {
            writeln!(std::io::stdout(), "{}", link::walls()?).context("no output")
        }
        [command] if *command == "within" => within::run(),
        _ => bail!("usage: boot FILE | kernel LIBRARY OUTPUT | probe | walls | within"),
    }
}
