//! The tests' own machine does to a workspace what a virtual machine does: what the sandbox's tests see with real ones.

use std::{fs, path::Path};

use kit::{
    folder::{Folder, standing},
    plain,
};

fn poem() -> Folder {
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
    Folder::with(&[
        ("poem.txt", &(lines.join("\n") + "\n")),
        ("src/a.txt", "alpha\nbeta\n"),
        ("src/b.txt", "one\ntwo\nthree"),
        ("gone/deep/c.txt", "c\n"),
        ("conf", "c\n"),
        ("lib/l.txt", "l\n"),
        ("lib/deep/m.txt", "m\n"),
        ("link", "file\n"),
        ("untouched.md", "# stays\n"),
    ])
}

const SCRIPT: &str = "mkdir deep deep/er empty; mv src/b.txt deep/er/c.txt; chmod 755 untouched.md; ln -s ../poem.txt deep/link; \
    rm src/a.txt; tr a-z A-Z < poem.txt > shout.txt; mv shout.txt poem.txt; \
    rm -r gone; rm conf; mkdir conf; echo main > conf/main; rm -r lib; mkdir -p lib/deep; echo n > lib/deep/n.txt; \
    rm link; ln -s conf link";

#[test]
fn a_task_gives_what_it_gives_in_a_machine() {
    let home = plain::home();
    let (accepted, rejected, direct) = (poem(), poem(), poem());
    direct.sh(SCRIPT);
    let before = accepted.standing();
    for (folder, verb) in [(&accepted, "accept"), (&rejected, "reject")] {
        let task = home.task(&folder.path(), SCRIPT);
        assert_eq!(folder.standing(), before, "the task wrote to the workspace");
        assert_eq!(task["outcome"]["type"], "done", "{task}");
        let id = task["task"].as_str().unwrap();
        let patch = home
            .legwork(&folder.path(), ["show", id, "--diff"])
            .expect(0);
        let copy = poem();
        copy.write("change.patch", &patch.stdout);
        copy.sh(
            "git init -q . && git apply change.patch && rm -r change.patch .git && mkdir empty src",
        );
        assert_eq!(copy.standing(), direct.standing());
        let bulk = ["accept", "--include-sensitive", id];
        let arguments = if verb == "accept" {
            &bulk[..]
        } else {
            &["reject", id]
        };
        home.legwork(&folder.path(), arguments).expect(0);
        if verb == "accept" {
            assert_eq!(folder.standing(), direct.standing());
            home.legwork(&folder.path(), ["undo", id]).expect(0);
        }
        assert_eq!(folder.standing(), before);
    }
}

#[test]
fn it_says_that_it_is_no_sandbox() {
    let (home, folder) = (plain::home(), poem());
    let doctor = home.legwork(&folder.path(), ["doctor"]);
    assert!(doctor.text().contains("this is no sandbox"), "{doctor:?}");
}

#[test]
fn commands_end_as_they_end_and_leave_nothing_running() {
    let (home, folder) = (plain::home(), poem());
    let outcome = |script: &str| {
        let task = home.task(&folder.path(), script);
        let id = task["task"].as_str().unwrap().to_owned();
        let log = home.legwork(&folder.path(), ["logs", &id]).text();
        (task["outcome"].clone(), log)
    };
    let (ended, log) = outcome("echo out; echo err >&2; cat; pwd; exit 3");
    assert_eq!(ended["kind"]["code"], 3, "{ended}");
    assert_eq!(log, format!("out\nerr\n{}\n", folder.path().display()));
    let (killed, _) = outcome("kill -9 $$");
    assert_eq!(killed["kind"]["signal"], 9, "{killed}");
    // What it leaves behind ends with it.
    let mark = format!("sleep 98{}", std::process::id());
    outcome(&format!("{mark} & echo begun"));
    assert!(!is_running(&mark));
    // And with the machine.
    let task = home.delegate(&folder.path(), &format!("echo x > new.txt; {mark}"));
    home.wait_for(&folder.path(), &task, &["running"]);
    let begun = std::time::Instant::now();
    while !is_running(&mark) {
        assert!(begun.elapsed().as_secs() < 20);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    home.legwork(&folder.path(), ["cancel", &task]).expect(0);
    home.wait_for(&folder.path(), &task, &["ready"]);
    assert!(!is_running(&mark));
    let machine = home.state().join("tasks").join(&task).join("vm");
    assert!(!fs::exists(machine).unwrap());
}

/// Whether any process was started with this line.
fn is_running(line: &str) -> bool {
    let wanted: Vec<u8> = line
        .bytes()
        .map(|byte| if byte == b' ' { 0 } else { byte })
        .collect();
    let processes = fs::read_dir("/proc").expect("a mounted /proc").flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|command| command.starts_with(&wanted))
}

#[test]
fn the_workspace_itself_is_never_touched() {
    let (home, folder) = (plain::home(), poem());
    folder.sh("git init -q .");
    let before = standing(&folder.path());
    let script = format!(
        "cd {0} && rm -rf poem.txt src && echo mine > {0}/conf && ls -A",
        folder.path().display()
    );
    let task = home.task(Path::new(&folder.path()), &script);
    assert_eq!(standing(&folder.path()), before);
    let log = home.legwork(&folder.path(), ["logs", task["task"].as_str().unwrap()]);
    assert_eq!(log.text(), "conf\ngone\nlib\nlink\nuntouched.md\n");
}
