//! `cargo xtask bench`: how fast and how large, as medians, each beside a peer of the same run. Nothing here passes or
//! fails: these are figures for people, measured on a machine that may be busy with other things.

mod agent;
mod client;
mod editor;
mod figures;
mod stage;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::product;
use figures::{Table, median, memory, processor_ticks};
use stage::{Stage, folder};

/// Memory of the machine whose cost is measured, in MiB.
const GUEST: u32 = 1024;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many times each figure is taken.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
}

pub(crate) fn main(args: &Args) -> Result<()> {
    let product = product::build(&product::Args { release: true })?;
    let stage = Stage::set(&product.legwork())?;
    let mut table = Table::default();
    starts(&stage, args.runs, &mut table)?;
    changes(&stage, args.runs, &mut table)?;
    captures(&stage, args.runs, &mut table)?;
    at_rest(&stage, &mut table)?;
    machine_memory(&stage, &mut table)?;
    editor::measure(&stage, args.runs, &mut table)?;
    agent::measure(&product.legwork(), args.runs, &mut table)?;
    table.print();
    Ok(())
}

/// From Enter to the first guest command, and where the time goes.
fn starts(stage: &Stage, runs: u32, table: &mut Table) -> Result<()> {
    let project = folder(1_000)?;
    // The first run builds what is built once on a machine.
    stage.run(project.path(), &[], "true")?;
    let mut phases: Vec<(&str, Vec<f64>)> = ["queued", "capture", "image", "boot", "mount"]
        .map(|phase| (phase, Vec::new()))
        .into();
    let (mut totals, mut jails) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let begun = Instant::now();
        let task = stage.run(project.path(), &[], "true")?;
        let whole = begun.elapsed();
        let mut after = timing(&task, "command")? + timing(&task, "collect")?;
        jails.push(timing(&task, "jail")?);
        for (phase, times) in &mut phases {
            times.push(timing(&task, phase)?);
        }
        // The end of the run, the diff and the exit of the command line come after the command too; they are small and
        // counted against us.
        after = after.min(millis(whole));
        totals.push(millis(whole) - after);
    }
    table.row(
        "Enter to the first guest command, 1,000 files",
        median(&mut totals),
        "ms",
        "at most 3,000",
    );
    table.row(
        "  of it the jail, within boot",
        median(&mut jails),
        "ms",
        "at most 10",
    );
    for (phase, mut times) in phases {
        table.row(&format!("  of it {phase}"), median(&mut times), "ms", "");
    }
    Ok(())
}

/// The change set of ten files in a large workspace, beside `git status` in a copy that was changed the same way.
fn changes(stage: &Stage, runs: u32, table: &mut Table) -> Result<()> {
    let project = folder(10_000)?;
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do echo changed >> d$i/f$i.txt; done";
    let mut collects = Vec::new();
    for _ in 0..runs {
        collects.push(timing(&stage.run(project.path(), &[], script)?, "collect")?);
    }
    stage::sh(
        project.path(),
        "git init -q . && git add -A && git -c user.name=b -c user.email=b@example.com commit -qm b",
    )?;
    stage::sh(project.path(), script)?;
    let mut peers = Vec::new();
    for _ in 0..runs {
        let begun = Instant::now();
        stage::sh(project.path(), "git status --porcelain > /dev/null")?;
        peers.push(millis(begun.elapsed()));
    }
    let collect = median(&mut collects);
    table.row(
        "change set of 10 files in 10,000, after the command",
        collect,
        "ms",
        "at most 100",
    );
    table.ratio(
        "  beside `git status` on the host",
        collect,
        median(&mut peers),
    );
    Ok(())
}

/// The first snapshot, beside the copy that most tools make.
fn captures(stage: &Stage, runs: u32, table: &mut Table) -> Result<()> {
    let project = folder(10_000)?;
    let (mut captures, mut copies) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        captures.push(timing(&stage.run(project.path(), &[], "true")?, "capture")?);
        let copy = tempfile::tempdir()?;
        let begun = Instant::now();
        stage::sh(
            project.path(),
            &format!("cp -a . {}", copy.path().display()),
        )?;
        copies.push(millis(begun.elapsed()));
    }
    let capture = median(&mut captures);
    table.row("snapshot of 10,000 files, 40 MB", capture, "ms", "");
    table.ratio("  beside `cp -a`", capture, median(&mut copies));
    Ok(())
}

/// What the daemon costs while nothing runs.
fn at_rest(stage: &Stage, table: &mut Table) -> Result<()> {
    stage.stop()?;
    let pid = stage.daemon()?;
    std::thread::sleep(Duration::from_secs(2));
    let before = processor_ticks(pid)?;
    std::thread::sleep(Duration::from_secs(20));
    let ticks = processor_ticks(pid)? - before;
    table.row(
        "daemon at rest, resident",
        memory(pid)?.resident,
        "MiB",
        "at most 25",
    );
    table.row(
        "daemon at rest, processor time in 20 s",
        f64::from(ticks) * 10.0,
        "ms",
        "none",
    );
    Ok(())
}

/// What a machine costs beyond what its guest uses.
fn machine_memory(stage: &Stage, table: &mut Table) -> Result<()> {
    let project = folder(1_000)?;
    // What is not free is in use. The kernel's own part is not in `MemTotal`, so the machine's whole size is counted from.
    let script = format!("awk '/MemFree/ {{print {GUEST} - $2 / 1024}}' /proc/meminfo; sleep 8");
    let id = stage.delegate(project.path(), &["--memory", &format!("{GUEST}M")], &script)?;
    let daemon = stage.daemon()?;
    let begun = Instant::now();
    let guest: f64 = loop {
        if let Ok(used) = stage.log(&id)?.trim().parse() {
            break used;
        }
        anyhow::ensure!(
            begun.elapsed() < Duration::from_mins(1),
            "the guest did not say how much memory it uses"
        );
        std::thread::sleep(Duration::from_millis(100));
    };
    let machine = figures::child(daemon)?.context("the machine has no process")?;
    let host = memory(machine)?;
    table.row("machine, resident on the host", host.resident, "MiB", "");
    table.row(
        "  of it files that all machines share",
        host.files,
        "MiB",
        "",
    );
    table.row(
        "  beyond what its guest uses",
        host.resident - host.files - guest,
        "MiB",
        "at most 80",
    );
    stage.stop()
}

fn timing(task: &Value, phase: &str) -> Result<f64> {
    task["report"]["timings"][phase]
        .as_f64()
        .with_context(|| format!("no time for {phase} in {task}"))
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
