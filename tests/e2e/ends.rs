//! Every end of a task has its name, its exit code and a next step; what was changed by then is kept.

use kit::{folder::Folder, home::Home};
use serde_json::Value;

fn folder() -> Folder {
    Folder::with(&[("a.txt", "a\n")])
}

fn failure(task: &Value) -> (&str, &str) {
    assert_eq!(task["outcome"]["type"], "failed", "{task}");
    (
        task["outcome"]["kind"]["type"].as_str().unwrap(),
        task["outcome"]["message"].as_str().unwrap(),
    )
}

#[test]
fn failures_are_told_apart_and_keep_what_was_done() {
    let (home, folder) = (Home::new(), folder());
    let here = folder.path();
    let run = |options: &[&str], argv: &[&str]| {
        let arguments = [&["run", "--json"], options, &["--"], argv].concat();
        home.legwork(&here, arguments).expect(1).json()
    };
    let task = run(&[], &["sh", "-c", "echo b >> a.txt; exit 7"]);
    assert_eq!(
        (failure(&task).0, task["outcome"]["kind"]["code"].as_i64()),
        ("exit", Some(7))
    );
    assert_eq!(task["exit_code"], 7);
    assert_eq!(
        (task["state"].as_str(), task["pending"].as_i64()),
        (Some("ready"), Some(1)),
        "{task}"
    );
    home.legwork(&here, ["accept", task["task"].as_str().unwrap()])
        .expect(0);
    assert_eq!(folder.read("a.txt"), "a\nb\n");

    let task = run(&[], &["sh", "-c", "kill -KILL $$"]);
    assert_eq!(
        (failure(&task).0, task["outcome"]["kind"]["signal"].as_i64()),
        ("signal", Some(9))
    );

    let task = run(&[], &["no-such-program", "x"]);
    assert_eq!(failure(&task).0, "not-found");
    assert!(failure(&task).1.contains("no-such-program"), "{task}");

    let task = run(
        &["--timeout", "3s"],
        &["sh", "-c", "echo c >> a.txt; sleep 1000"],
    );
    assert_eq!(failure(&task).0, "timed-out");
    assert_eq!(task["pending"], 1, "the partial result is kept: {task}");

    let task = run(
        &["--memory", "256M"],
        &["perl", "-e", "push @a, 'y' x (16 << 20) while 1"],
    );
    assert_eq!(failure(&task).0, "out-of-memory");

    let task = run(
        &["--disk", "64M"],
        &["sh", "-c", "head -c 100000000 /dev/zero > big"],
    );
    assert_eq!(failure(&task).0, "disk-full");
    assert!(
        task["outcome"]["message"]
            .as_str()
            .unwrap()
            .contains("64 MiB"),
        "{task}"
    );
}

#[test]
fn output_is_streamed_bounded_and_harmless() {
    let (home, folder) = (Home::new(), folder());
    let script = "printf 'plain\\n\\033[31mred\\007\\n'; printf 'latin \\351\\n'; echo problem >&2; head -c 20000000 /dev/zero";
    let ran = home
        .legwork(&folder.path(), ["run", "--", "sh", "-c", script])
        .expect(0);
    assert!(
        ran.stdout.is_empty(),
        "nothing was changed, so there is no diff"
    );
    assert!(
        ran.stderr.contains("plain\n") && ran.stderr.contains("problem\n"),
        "{}",
        &ran.stderr[..500]
    );
    assert!(!ran.stderr.contains('\u{1b}') && !ran.stderr.contains('\u{7}'));
    assert!(ran.stderr.len() < 40 << 20);
    let tasks = home
        .legwork(&folder.path(), ["tasks", "--all", "--json"])
        .json();
    assert!(
        tasks[0]["report"]["output_dropped"].as_u64().unwrap() > 10_000_000,
        "{tasks}"
    );
}

#[test]
fn a_host_that_cannot_run_it_says_so_and_keeps_the_task() {
    let (home, folder) = (Home::new(), folder());
    let ran = home.legwork(
        &folder.path(),
        ["run", "--isolation", "hardware", "--", "true"],
    );
    // A host with usable virtualization runs it behind the wall that was asked for; any other refuses.
    if ran.code != 0 {
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(
            ran.stderr.contains("hardware virtualization"),
            "{}",
            ran.stderr
        );
        let ran = home
            .legwork(&folder.path(), ["run", "--driver", "krun", "--", "true"])
            .expect(3);
        assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
    }

    // The guest kernel is gone.
    let mut bare = Home::new();
    bare.environment
        .push(("LEGWORK_LIBKRUNFW".into(), "/no/such/libkrunfw.so.5".into()));
    let ran = bare
        .legwork(&folder.path(), ["run", "--", "true"])
        .expect(3);
    assert!(ran.stderr.contains("libkrunfw"), "{}", ran.stderr);
    let doctor = bare.legwork(&folder.path(), ["doctor"]);
    assert_ne!(doctor.code, 0);
    assert!(doctor.text().contains("libkrunfw"), "{}", doctor.text());
    // A library that is one, but not the right one.
    bare.legwork(&folder.path(), ["daemon", "stop", "--force"])
        .expect(0);
    bare.environment = vec![(
        "LEGWORK_LIBKRUNFW".into(),
        "/lib/x86_64-linux-gnu/libc.so.6".into(),
    )];
    let ran = bare.legwork(&folder.path(), ["run", "--", "true"]);
    assert_ne!(ran.code, 0);
    assert!(
        ran.stderr.contains("libkrunfw") || ran.stderr.contains("krunfw"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_doctor_explains_this_host_in_a_line() {
    let home = Home::new();
    let ran = home.legwork("/".as_ref(), ["doctor"]).expect(0);
    assert!(
        ran.text().lines().next().unwrap().contains("tasks run in"),
        "{}",
        ran.text()
    );
    let json = home
        .legwork("/".as_ref(), ["doctor", "--json"])
        .expect(0)
        .json();
    assert_eq!(json["able"], true);
}
