//! Changes while the task runs: they are seen, decided, and stay decided when it ends.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use kit::{folder::Folder, home::Home};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn poem() -> Folder {
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
    Folder::with(&[
        ("poem.txt", &(lines.join("\n") + "\n")),
        ("src/a.txt", "alpha\n"),
        ("src/b.txt", "beta\n"),
        (".gitignore", "*.log\n"),
    ])
}

/// What is shown of a task once this many hunks wait, while it runs.
fn wait_for_pending(home: &Home, folder: &Folder, id: &str, pending: i64) -> Value {
    let begun = Instant::now();
    loop {
        let shown = home
            .legwork(&folder.path(), ["show", id, "--json"])
            .expect(0)
            .json();
        let task = &shown["detail"]["task"];
        if task["state"] == "running" && task["pending"] == pending {
            return shown;
        }
        let over = ["ready", "ended"].map(Value::from).contains(&task["state"]);
        assert!(
            !over && begun.elapsed() < Duration::from_mins(1),
            "{pending} hunks never waited: {shown}"
        );
        sleep(Duration::from_millis(50));
    }
}

fn states(shown: &Value, path: &str) -> Vec<(i64, String)> {
    let files = shown["review"]["files"].as_array().unwrap().iter();
    let hunks = files
        .filter(|file| file["path"] == path)
        .flat_map(|file| file["hunks"].as_array().unwrap());
    hunks
        .map(|hunk| {
            let state = hunk["state"].as_str().unwrap().to_owned();
            (hunk["id"].as_i64().unwrap(), state)
        })
        .collect()
}

fn state(id: i64, state: &str) -> (i64, String) {
    (id, state.to_owned())
}

#[test]
fn hunks_are_decided_while_the_task_goes_on() {
    let (home, folder, direct) = (Home::new(), poem(), poem());
    let here = folder.path();
    let first = "sed -i 's/^line 3$/LINE 3/' poem.txt; echo no > src/no.txt; echo noise > some.log";
    let second = "sed -i 's/^line 30$/LINE 30/' poem.txt; rm src/a.txt; mkdir -p deep; echo new > deep/new.txt";
    let before = folder.standing();
    let script = format!("{first}; sleep 20; {second}");
    let id = home.delegate(&here, &script);
    let shown = wait_for_pending(&home, &folder, &id, 2);
    assert_eq!(states(&shown, "poem.txt"), [state(1, "pending")]);
    assert!(states(&shown, "some.log").is_empty(), "ignored as ever");
    assert_eq!(folder.standing(), before, "nothing comes by itself");
    let diff = home.legwork(&here, ["show", &id, "--diff"]).expect(0);
    assert!(diff.text().contains("+LINE 3\n"));

    home.legwork(&here, ["accept", &id, "poem.txt:1"]).expect(0);
    assert!(folder.read("poem.txt").contains("LINE 3\n"));
    home.legwork(&here, ["reject", &id, "src/no.txt"]).expect(0);
    let task = &home.legwork(&here, ["show", &id, "--json"]).json()["detail"]["task"];
    assert_eq!(
        (task["state"].as_str(), task["pending"].as_i64()),
        (Some("running"), Some(0))
    );

    let detail = home.wait_for(&here, &id, &["ready", "ended"]);
    assert_eq!(detail["task"]["state"], "ready");
    assert_eq!(detail["task"]["outcome"]["type"], "done");
    assert_eq!(detail["task"]["pending"], 3);
    let notices = detail["notices"].to_string();
    assert!(!notices.contains("not all changes were shown"), "{notices}");
    let shown = home.legwork(&here, ["show", &id, "--json"]).json();
    let poem = [state(1, "accepted"), state(2, "pending")];
    assert_eq!(states(&shown, "poem.txt"), poem);
    assert_eq!(states(&shown, "src/no.txt"), [state(1, "rejected")]);
    home.legwork(&here, ["accept", &id]).expect(0);
    direct.sh(&format!("{first}; rm src/no.txt some.log; {second}"));
    assert_eq!(folder.standing(), direct.standing());
    for _ in 0..3 {
        home.legwork(&here, ["undo", &id]).expect(0);
    }
    assert_eq!(folder.standing(), before);
}

#[test]
fn what_was_shown_survives_the_daemon() {
    let (home, folder) = (Home::new(), poem());
    let here = folder.path();
    let script = "sed -i 's/^line 3$/LINE 3/; s/^line 30$/LINE 30/' poem.txt; sleep 1000";
    let id = home.delegate(&here, script);
    wait_for_pending(&home, &folder, &id, 2);
    home.legwork(&here, ["accept", &id, "poem.txt:2"]).expect(0);
    let daemon = home.daemon().and_then(Pid::from_raw).unwrap();
    kill_process(daemon, Signal::KILL).unwrap();
    let shown = home
        .legwork(&here, ["show", &id, "--json"])
        .expect(0)
        .json();
    let task = &shown["detail"]["task"];
    assert_eq!(task["outcome"]["kind"]["type"], "interrupted", "{task}");
    assert_eq!(task["state"], "ready");
    let poem = [state(1, "pending"), state(2, "accepted")];
    assert_eq!(states(&shown, "poem.txt"), poem);
    home.legwork(&here, ["accept", &id]).expect(0);
    assert!(folder.read("poem.txt").contains("LINE 3\n"));
}
