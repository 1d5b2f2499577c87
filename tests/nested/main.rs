//! What needs an emulated machine: what that promises, and the krun driver in one. Apart from the other tests, since
//! such a machine takes both processors for minutes and has a deadline.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod krun;
// The jail's own tests: this very program runs them in the machine as well, whose kernel is another.
#[path = "../jail/stage.rs"]
mod stage;
#[path = "../jail/walls.rs"]
mod walls;

use std::path::Path;
use std::time::Duration;

use kit::nested::Nested;

/// Kept between runs; everything in it can be fetched again.
pub(crate) fn machine() -> anyhow::Result<Nested> {
    Nested::prepare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/nested"))
}

#[test]
fn runs_a_script_on_the_hosts_files_with_kvm_and_keeps_its_writes_away_from_them() {
    let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("written-by-the-emulated-machine");
    let script = format!(
        "echo out; echo err >&2; test -c /dev/kvm || exit 9; test -f {}/Cargo.toml || exit 8; touch {} || exit 7; exit 3",
        env!("CARGO_MANIFEST_DIR"),
        probe.display(),
    );
    let output = machine()
        .unwrap()
        .run(&script, Duration::from_secs(300))
        .unwrap();
    assert_eq!(
        (output.code, output.text.as_str()),
        (3, "out\nerr\n"),
        "{}",
        output.console
    );
    assert!(!probe.exists(), "a write in the machine reached the host");
}

#[test]
fn a_machine_that_does_not_end_is_ended_and_named() {
    let error = machine()
        .unwrap()
        .run("sleep 1000", Duration::from_secs(3))
        .unwrap_err();
    assert!(
        format!("{error:#}").contains("did not end in time"),
        "{error:#}"
    );
}

#[test]
fn the_jail_holds_with_an_older_landlock() {
    let script = format!(
        "{} walls && {} --test-threads=1 walls::",
        kit::product::bin_dir().join("legwork-vmm").display(),
        std::env::current_exe().unwrap().display(),
    );
    let output = machine()
        .unwrap()
        .run(&script, Duration::from_secs(300))
        .unwrap();
    assert_eq!(output.code, 0, "{}\n{}", output.text, output.console);
    // The filter of system calls has to do what this one cannot.
    assert!(output.text.contains("Landlock, ABI 2 "), "{}", output.text);
    assert!(output.text.contains("6 passed"), "{}", output.text);
}
