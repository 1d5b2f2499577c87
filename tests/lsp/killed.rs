//! The daemon is killed at every system call that leaves something on disk, one after the other: in an accept and an undo
//! that it writes itself, and in an accept that an editor carries out.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use kit::{folder::Folder, plain};

use crate::stage::{Stage, accept, delegate, until_task};

/// After any of these something else is on disk.
const DURABLE: &str =
    "pwrite64,fsync,fdatasync,ftruncate,renameat,renameat2,rename,linkat,unlinkat,unlink,mkdirat";

/// A process is killed as it enters the n-th such call of any of its threads, before anything is done.
struct Trap(Child);

impl Trap {
    fn set(process: i32, call: usize) -> Self {
        let strace = Command::new("strace")
            .args([
                "-f",
                "-qq",
                "-o",
                "/dev/null",
                "-e",
                &format!("trace={DURABLE}"),
            ])
            .args(["-e", &format!("inject={DURABLE}:signal=KILL:when={call}")])
            .args(["-p", &process.to_string()])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("strace");
        let begun = Instant::now();
        while !is_traced(process) {
            assert!(begun.elapsed().as_secs() < 30, "strace takes no hold");
            sleep(Duration::from_millis(2));
        }
        Self(strace)
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        // A gentler signal waits for threads that are gone. What it held goes on.
        self.0.kill().expect("it is ours");
        self.0.wait().expect("it ends");
    }
}

/// Whether every thread of a process has a tracer.
fn is_traced(process: i32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return false;
    };
    threads.flatten().all(|thread| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        !status.contains("TracerPid:\t0\n")
    })
}

/// B51.
#[test]
fn a_daemon_killed_at_any_step_leaves_before_or_after_and_says_which() {
    let home = plain::home();
    let files = [
        ("a.txt", "one\n"),
        ("b.txt", "two\n"),
        ("dir/c.txt", "three\n"),
    ];
    let (folder, direct) = (Folder::with(&files), Folder::with(&files));
    let script =
        "echo more >> a.txt; rm b.txt; echo other > dir/c.txt; mkdir new; echo d > new/d.txt";
    direct.sh(script);
    let here = folder.path();
    let id = home.task(&here, script)["task"]
        .as_str()
        .expect("an id")
        .to_owned();
    let (before, after) = (folder.standing(), direct.standing());
    let pending = || {
        let shown = home.legwork(&here, ["show", &id, "--json"]).expect(0);
        shown.json()["detail"]["task"]["pending"]
            .as_i64()
            .expect("a number")
    };
    let agrees = |step: usize| {
        let waits = pending();
        let expected = if waits == 0 { &after } else { &before };
        assert_eq!(&folder.standing(), expected, "step {step}: {waits} pending");
        assert!(waits == 0 || waits == 4, "step {step}: {waits} pending");
        waits
    };
    for verb in ["accept", "undo"] {
        let (mut neither, mut both) = (0, 0);
        for step in 1.. {
            // As it was before the verb, whatever the step before it left.
            let undone = pending() == 4;
            match (verb, undone) {
                ("accept", false) => drop(home.legwork(&here, ["undo", &id]).expect(0)),
                ("undo", true) => drop(home.legwork(&here, ["accept", &id]).expect(0)),
                _ => {}
            }
            let trap = Trap::set(home.daemon().expect("a daemon"), step);
            let ran = home.legwork(&here, [verb, &id]);
            drop(trap);
            let done = (agrees(step) == 0) == (verb == "accept");
            if ran.code == 0 {
                assert!(done, "{verb} was said to be done");
                assert!(
                    step > 20 && neither > 5 && both > 0,
                    "{verb}: {step} steps, {neither} without effect, {both} with it"
                );
                break;
            }
            *(if done { &mut both } else { &mut neither }) += 1;
        }
    }
}

/// B51: the text is in the buffer, and the record of it is cut off.
#[test]
fn a_daemon_killed_while_it_records_what_an_editor_did_loses_nothing() {
    let stage = Stage::with(&[("f.txt", "a\nb\nc\n")]);
    let client = stage.client();
    let uri = client.open(&stage.path("f.txt"));
    let task = delegate(&client, "sed -i 's/b/B/' f.txt");
    for step in 1.. {
        let hunk = client.hunks(&uri, 1).remove(0);
        let daemon = stage.home.daemon().expect("a daemon");
        let trap = Trap::set(daemon, step);
        let accepted = accept(&client, &hunk);
        drop(trap);
        assert_eq!(client.text(&uri), "a\nB\nc\n", "step {step}: {accepted:?}");
        // It is found in the buffer, and nobody is asked to accept it again.
        stage
            .home
            .legwork(&stage.folder.path(), ["tasks"])
            .expect(0);
        client.hunks(&uri, 0);
        until_task(&client, &task, |item| item["pending"] == 0);
        if stage.home.daemon() == Some(daemon) {
            assert!(step > 3, "{step} steps");
            break;
        }
        client.replace(&uri, "B", "b");
        until_task(&client, &task, |item| item["pending"] == 1);
    }
}
