//! Machines leave nothing behind.

use std::{collections::BTreeSet, fs};

use kit::machine::{small, start};

/// Machines of this very process: its children, by command line.
fn machines() -> usize {
    let us = std::process::id().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().nth(1).map(str::to_owned));
        parent.as_deref() == Some(&us)
    });
    ours.count()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn mounts() -> BTreeSet<String> {
    fs::read_to_string("/proc/self/mounts")
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Runs alone in its process when `cargo xtask test` runs it; beside other tests only growth by itself is judged.
#[tokio::test(flavor = "multi_thread")]
async fn twenty_in_a_row_leave_nothing() {
    let mounts_before = mounts();
    let mut counts = Vec::new();
    for _ in 0..20 {
        let machine = start(small()).await.unwrap();
        assert_eq!(machine.sh("true").await.text(), "");
        let dir = machine.dir.path().to_owned();
        let vm = dir.join("vm");
        assert!(vm.join("scratch.ext4").exists());
        machine.sandbox.stop().await;
        assert!(!vm.exists(), "the machine's directory is left");
        counts.push((machines(), descriptors()));
    }
    assert_eq!(mounts(), mounts_before);
    let (first, last) = (counts[0], counts[19]);
    assert!(last.0 <= first.0.max(4), "processes are left: {counts:?}");
    assert!(last.1 <= first.1 + 24, "descriptors leak: {counts:?}");
}
