//! `cargo xtask test`: all that CI does, in the order in which failures are cheapest. Nothing here
//! can be switched off; a filter after `--` narrows only the last step, and the end says so.

use std::time::Instant;

use anyhow::Result;

use crate::lua;
use crate::places;
use crate::product;
use crate::setup;
use crate::step::{self, step};
use crate::vscode;

/// What reaches `cargo test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Passed on to `cargo test`, such as the name of a test.
    #[arg(last = true)]
    cargo_test: Vec<String>,
}

pub(crate) fn main(args: &Args) -> Result<()> {
    let start = Instant::now();
    step("setup", || {
        setup::ensure(setup::Purpose::Test, setup::Mode::Install)
    })?;
    step("format", || {
        step::run(places::cargo().args(["fmt", "--all", "--check"]))
    })?;
    let mut built = None;
    step("build", || {
        built = Some(product::build(&product::Args { release: false })?);
        Ok(())
    })?;
    step("clippy", || {
        step::run(places::cargo().args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny=warnings",
        ]))
    })?;
    step("doc", || {
        step::run(
            places::cargo()
                .args(["doc", "--no-deps", "--workspace"])
                .env("RUSTDOCFLAGS", "-D warnings"),
        )
    })?;
    step("lua", lua::check)?;
    step("vscode", vscode::check)?;
    step("test", || {
        let mut command = places::cargo();
        // Every failing test is worth seeing, not only those of the first package.
        command
            .args(["test", "--workspace", "--no-fail-fast"])
            .args(&args.cargo_test);
        if let Some(product) = &built {
            command.env("LEGWORK_BIN_DIR", &product.dir);
        }
        step::run(&mut command)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    if args.cargo_test.is_empty() {
        println!("\n== all checks and tests passed, {seconds:.1} s");
    } else {
        println!(
            "\n== all checks passed, and the tests of `{}`, {seconds:.1} s; this was not the whole suite",
            args.cargo_test.join(" ")
        );
    }
    Ok(())
}
