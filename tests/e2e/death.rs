//! Whatever is killed, nothing is lost and nothing is left running.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::Path,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use kit::{folder::Folder, home::Home};
use rustix::process::{Pid, Signal, kill_process};

fn folder() -> Folder {
    Folder::with(&[("a.txt", "a\n")])
}

fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Processes whose parent is `pid`.
fn children(pid: i32) -> Vec<i32> {
    let stat = |dir: &Path| {
        let stat = fs::read_to_string(dir.join("stat")).ok()?;
        stat.rsplit(')')
            .next()?
            .split_whitespace()
            .nth(1)?
            .parse::<i32>()
            .ok()
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter(|process| stat(&process.path()) == Some(pid));
    ours.filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect()
}

fn alive(pid: i32) -> bool {
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

#[test]
fn a_killed_daemon_takes_its_machines_with_it_and_loses_no_task() {
    let (home, folder) = (Home::new(), folder());
    let here = folder.path();
    let done = home.task(&here, "echo done >> a.txt")["task"]
        .as_str()
        .unwrap()
        .to_owned();
    let running = home.delegate(&here, "echo changed > a.txt; sleep 1000");
    home.wait_for(&here, &running, &["running"]);
    let daemon = home.daemon().unwrap();
    let machines = children(daemon);
    assert_eq!(machines.len(), 1, "one machine for one task");
    kill(daemon, Signal::KILL);
    let killed = Instant::now();
    while machines.iter().any(|&machine| alive(machine)) {
        assert!(
            killed.elapsed() < Duration::from_secs(1),
            "the machine outlives its supervisor"
        );
        sleep(Duration::from_millis(10));
    }
    // The socket is stale now; the next command starts a new daemon all the same, and it knows everything.
    assert!(home.runtime().join("daemon.sock").exists());
    let detail = home
        .legwork(&here, ["show", &running, "--json"])
        .expect(0)
        .json()["detail"]
        .clone();
    assert_eq!(
        detail["task"]["outcome"]["kind"]["type"], "interrupted",
        "{detail}"
    );
    assert_ne!(home.daemon().unwrap(), daemon);
    assert!(
        !home
            .state()
            .join("tasks")
            .join(&running)
            .join("vm")
            .exists()
    );
    assert_eq!(folder.read("a.txt"), "a\n");
    home.legwork(&here, ["accept", &done]).expect(0);
    assert_eq!(folder.read("a.txt"), "a\ndone\n");
    let retried = home
        .legwork(&here, ["retry", &running])
        .expect(0)
        .text()
        .trim()
        .to_owned();
    home.wait_for(&here, &retried, &["running"]);
    home.legwork(&here, ["cancel", &retried]).expect(0);
}

#[test]
fn a_queued_task_survives_the_daemon_and_runs_later() {
    let (mut home, folder) = (Home::new(), folder());
    home.environment
        .push(("LEGWORK_CONCURRENCY".into(), "1".into()));
    let here = folder.path();
    let first = home.delegate(&here, "sleep 1000");
    home.wait_for(&here, &first, &["running"]);
    let second = home.delegate(&here, "echo second > b.txt");
    home.wait_for(&here, &second, &["queued"]);
    kill(home.daemon().unwrap(), Signal::KILL);
    sleep(Duration::from_millis(200));
    home.wait_for(&here, &second, &["ready"]);
    home.legwork(&here, ["accept", &second]).expect(0);
    assert_eq!(folder.read("b.txt"), "second\n");
}

#[test]
fn a_closed_terminal_ends_no_task() {
    let (home, folder) = (Home::new(), folder());
    let here = folder.path();
    let mut run = home
        .command(
            &here,
            ["run", "--", "sh", "-c", "sleep 3; echo late >> a.txt"],
        )
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let id = loop {
        let tasks = home.legwork(&here, ["tasks", "--json"]).json();
        match tasks[0]["id"].as_str() {
            Some(id) if tasks[0]["state"] == "running" => break id.to_owned(),
            _ => assert!(begun.elapsed() < Duration::from_secs(60)),
        }
        sleep(Duration::from_millis(50));
    };
    let pid = i32::try_from(run.id()).unwrap();
    rustix::process::kill_process_group(Pid::from_raw(pid).unwrap(), Signal::HUP).unwrap();
    run.wait().unwrap();
    home.wait_for(&here, &id, &["ready"]);
    // Interrupting is another matter: it cancels.
    let mut run = home
        .command(&here, ["run", "--", "sleep", "1000"])
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    sleep(Duration::from_secs(1));
    kill(i32::try_from(run.id()).unwrap(), Signal::INT);
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_machine_that_is_killed_fails_its_task_by_name() {
    let (home, folder) = (Home::new(), folder());
    let here = folder.path();
    let task = home.delegate(&here, "sleep 1000");
    home.wait_for(&here, &task, &["running"]);
    kill(children(home.daemon().unwrap())[0], Signal::KILL);
    let detail = home.wait_for(&here, &task, &["ended"]);
    assert_eq!(
        detail["task"]["outcome"]["kind"]["type"], "vm-died",
        "{detail}"
    );
}

#[test]
fn there_is_one_daemon_however_many_start_it() {
    let (home, folder) = (Home::new(), folder());
    let here = folder.path();
    let starts: Vec<_> = (0..12)
        .map(|_| {
            home.command(&here, ["tasks", "--json"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for start in starts {
        let output = start.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let daemon = home.daemon().unwrap();
    let second = home.legwork(&here, ["daemon", "start", "--foreground"]);
    assert_ne!(second.code, 0);
    assert!(second.stderr.contains("already"), "{}", second.stderr);
    assert_eq!(home.daemon(), Some(daemon));
    // A graceful stop refuses while something runs, and says how to insist.
    let task = home.delegate(&here, "sleep 1000");
    home.wait_for(&here, &task, &["running"]);
    let ran = home.legwork(&here, ["daemon", "stop"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("--force"), "{}", ran.stderr);
}

#[test]
fn a_daemon_killed_in_the_middle_of_an_accept_leaves_all_or_nothing() {
    let (home, folder) = (Home::new(), Folder::with(&[]));
    let here = folder.path();
    for file in 0..40 {
        folder.write(format!("f{file}.txt"), "before\n");
    }
    let task = home.task(
        &here,
        "for f in *.txt; do echo after > $f; done; rm f7.txt; echo new > new.txt",
    );
    let id = task["task"].as_str().unwrap();
    let before = folder.standing();
    let reference = Folder::with(&[]);
    for file in (0..40).filter(|&file| file != 7) {
        reference.write(format!("f{file}.txt"), "after\n");
    }
    reference.write("new.txt", "new\n");
    let after = reference.standing();
    for round in 0..24 {
        let mut accept = home
            .command(&here, ["accept", id])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(round * 4));
        if let Some(daemon) = home.daemon() {
            kill(daemon, Signal::KILL);
        }
        accept.wait().unwrap();
        // Any command starts the next daemon, which finishes or undoes what it finds.
        let pending = home.legwork(&here, ["show", id, "--json"]).expect(0).json()["detail"]["task"]["pending"].clone();
        let standing = folder.standing();
        if pending == 0 {
            assert_eq!(standing, after, "round {round}");
            home.legwork(&here, ["undo", id]).expect(0);
        } else {
            assert_eq!(
                (standing, pending.as_i64()),
                (before.clone(), Some(41)),
                "round {round}"
            );
        }
        assert_eq!(folder.standing(), before, "round {round}");
    }
}
