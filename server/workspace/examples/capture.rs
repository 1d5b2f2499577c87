//! Measures a capture: `cargo run --release -p legwork-workspace --example capture -- FOLDER`.

use std::{io::Write as _, path::Path, time::Instant};

use legwork_workspace::{CaptureOptions, Snapshot, Workspace, capture};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("which folder?")?;
    let scratch = tempfile::tempdir()?;
    let started = Instant::now();
    let workspace = Workspace::open(Path::new(&folder))?;
    let options = CaptureOptions::default();
    let snapshot = capture(
        &workspace,
        &scratch.path().join("image"),
        &options,
        &mut |_, _| {},
    )?;
    let captured = started.elapsed();
    let saved = scratch.path().join("snapshot.json");
    snapshot.save(&saved)?;
    let stored = started.elapsed() - captured;
    let loaded = Instant::now();
    Snapshot::load(&saved)?;
    writeln!(
        std::io::stderr(),
        "{} files, {} left out, {} bytes: captured in {captured:?}, saved in {stored:?}, loaded in {:?}",
        snapshot.manifest.files(),
        snapshot.manifest.left_out.len(),
        snapshot.bytes,
        loaded.elapsed(),
    )?;
    Ok(())
}
