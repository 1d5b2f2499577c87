//! `cargo xtask test`: all that CI does, in the order in which failures are cheapest. What concerns the
//! VS Code extension can be left out, and a filter after `--` narrows the last step; the end says so.

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
    /// Leave out what concerns the VS Code extension, for quick runs: CI does not.
    #[arg(long)]
    no_vscode: bool,
    /// Passed on to `cargo test`, such as the name of a test.
    #[arg(last = true)]
    cargo_test: Vec<String>,
}

pub(crate) fn main(args: &Args) -> Result<()> {
    let start = Instant::now();
    step("setup", || {
        let purpose = if args.no_vscode {
            setup::Purpose::TestWithoutVsCode
        } else {
            setup::Purpose::Test
        };
        setup::ensure(purpose, setup::Mode::Install)
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
    if !args.no_vscode {
        step("vscode", vscode::check)?;
    }
    step("test", || {
        let mut command = places::cargo();
        // Every failing test is worth seeing, not only those of the first package.
        command
            .args(["test", "--workspace", "--no-fail-fast"])
            .args(&args.cargo_test);
        if args.no_vscode {
            if !args.cargo_test.iter().any(|word| word == "--") {
                command.arg("--");
            }
            command.args(["--skip", vscode::TESTS]);
        }
        if let Some(product) = &built {
            command.env("LEGWORK_BIN_DIR", &product.dir);
        }
        step::run(&mut command)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    if args.no_vscode {
        println!(
            "\n== passed, {seconds:.1} s; this was not the whole suite: what concerns the VS Code extension was left out"
        );
    } else if args.cargo_test.is_empty() {
        println!("\n== all checks and tests passed, {seconds:.1} s");
    } else {
        println!(
            "\n== all checks passed, and the tests of `{}`, {seconds:.1} s; this was not the whole suite",
            args.cargo_test.join(" ")
        );
    }
    Ok(())
}
