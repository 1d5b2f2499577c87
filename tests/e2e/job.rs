//! The main line: a task on a folder, its diff, and decisions on its hunks.

use std::{collections::BTreeMap, fs, process::Command};

use kit::{
    folder::{Folder, standing},
    home::Home,
};

fn poem() -> Folder {
    let lines: Vec<String> = (1..=40).map(|number| format!("line {number}")).collect();
    Folder::with(&[
        ("poem.txt", &(lines.join("\n") + "\n")),
        ("src/a.txt", "alpha\nbeta\n"),
        ("src/b.txt", "one\ntwo\nthree"),
        ("untouched.md", "# stays\n"),
    ])
}

const SCRIPT: &str = "sed -i 's/^line 3$/LINE 3/; s/^line 30$/LINE 30/' poem.txt; printf 'new\\n' > src/new.txt; \
    rm src/a.txt; printf 'four' >> src/b.txt; cat untouched.md > /dev/null";

#[test]
fn a_task_changes_nothing_until_it_is_accepted() {
    let (home, folder) = (Home::new(), poem());
    let before = folder.standing();
    let ran = home
        .legwork(&folder.path(), ["run", "--", "sh", "-c", SCRIPT])
        .expect(0);
    assert_eq!(folder.standing(), before);
    // The diff on standard output is one that `git apply` takes.
    let copy = poem();
    copy.write("change.patch", &ran.stdout);
    copy.sh("git init -q . && git apply change.patch && rm change.patch && rm -rf .git");
    let direct = poem();
    direct.sh(SCRIPT);
    assert_eq!(copy.standing(), direct.standing());
    assert!(
        ran.stderr.contains("legwork accept"),
        "it says what to do next: {}",
        ran.stderr
    );

    let tasks = home.legwork(&folder.path(), ["tasks", "--json"]).json();
    let id = tasks[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(tasks[0]["state"], "ready");
    assert_eq!(tasks[0]["pending"], 5);
    // One hunk; then the other of that file is turned down.
    home.legwork(&folder.path(), ["accept", &id[..5], "poem.txt:2"])
        .expect(0);
    assert!(
        folder.read("poem.txt").contains("line 3\n")
            && folder.read("poem.txt").contains("LINE 30\n")
    );
    home.legwork(&folder.path(), ["reject", &id, "poem.txt"])
        .expect(0);
    home.legwork(&folder.path(), ["accept", &id]).expect(0);
    assert!(!folder.read("poem.txt").contains("LINE 3\n"));
    let mut wanted = direct.standing();
    let poem = wanted.get_mut(std::path::Path::new("poem.txt")).unwrap();
    poem.bytes = String::from_utf8(poem.bytes.clone())
        .unwrap()
        .replace("LINE 3\n", "line 3\n")
        .into_bytes();
    assert_eq!(folder.standing(), wanted);
    let shown = home.legwork(&folder.path(), ["show", &id, "--json"]).json();
    assert_eq!(shown["detail"]["task"]["state"], "ended");
    assert_eq!(shown["detail"]["task"]["pending"], 0);

    // Decisions are taken back one by one, the last one first.
    for _ in 0..3 {
        home.legwork(&folder.path(), ["undo", &id]).expect(0);
    }
    assert_eq!(folder.standing(), before);
    home.legwork(&folder.path(), ["undo", &id]).expect(1);
}

#[test]
fn accepting_all_equals_running_it_here_and_rejecting_all_leaves_everything() {
    let home = Home::new();
    let script = "mkdir deep deep/er empty; mv src/b.txt deep/er/c.txt; chmod 755 untouched.md; ln -s ../poem.txt deep/link; \
        printf '\\000\\001binary' > blob; rm src/a.txt; tr a-z A-Z < poem.txt > shout.txt; mv shout.txt poem.txt";
    let (accepted, rejected, direct) = (poem(), poem(), poem());
    direct.sh(script);
    let before = rejected.standing();
    for (folder, verb) in [(&accepted, "accept"), (&rejected, "reject")] {
        let task = home.task(&folder.path(), script);
        let id = task["task"].as_str().unwrap();
        home.legwork(
            &folder.path(),
            [verb, id, "--include-sensitive"][..if verb == "accept" { 3 } else { 2 }].iter(),
        )
        .expect(0);
    }
    assert_eq!(accepted.standing(), direct.standing());
    assert_eq!(rejected.standing(), before);
}

#[test]
fn files_and_folders_take_each_others_place() {
    let home = Home::new();
    let folder = || {
        Folder::with(&[
            ("conf", "c\n"),
            ("lib/l.txt", "l\n"),
            ("lib/deep/m.txt", "m\n"),
            ("link", "file\n"),
        ])
    };
    let script = "rm conf; mkdir conf; echo main > conf/main; rm -r lib; echo flat > lib; rm link; ln -s conf link";
    let (accepted, direct) = (folder(), folder());
    direct.sh(script);
    let before = accepted.standing();
    let task = home.task(&accepted.path(), script);
    let id = task["task"].as_str().unwrap();
    // Half of it would leave a folder in the way: refused, and nothing is written.
    let half = home.legwork(&accepted.path(), ["accept", id, "lib:1"]);
    assert_ne!(half.code, 0, "{half:?}");
    assert_eq!(accepted.standing(), before);
    home.legwork(&accepted.path(), ["accept", id, "--include-sensitive"])
        .expect(0);
    assert_eq!(accepted.standing(), direct.standing());
    home.legwork(&accepted.path(), ["undo", id]).expect(0);
    assert_eq!(accepted.standing(), before);
}

#[test]
fn the_copy_is_frozen_and_everything_of_it_is_seen() {
    let (home, folder) = (Home::new(), poem());
    folder.sh("git init -q . && git add src poem.txt && git -c user.name=t -c user.email=t@example.com commit -qm first");
    folder.write("src/b.txt", "staged\n");
    folder.sh("git add src/b.txt");
    folder.write("src/a.txt", "unstaged\n");
    folder.write("src/untracked.txt", "untracked\n");
    folder.write(".gitignore", "ignored.txt\n");
    folder.write("ignored.txt", "secretive\n");
    folder.write(".env", "TOKEN=canary-1234\n");
    let git_before = standing(&folder.path().join(".git"));
    let task = home.delegate(&folder.path(), "cat src/a.txt src/b.txt src/untracked.txt; ls -A; grep -r canary / --include=.env 2>/dev/null; sleep 2; cat src/a.txt");
    home.wait_for(&folder.path(), &task, &["running"]);
    folder.write("src/a.txt", "edited while it runs\n");
    home.wait_for(&folder.path(), &task, &["ended"]);
    let log = home
        .legwork(&folder.path(), ["logs", &task])
        .expect(0)
        .text();
    assert_eq!(
        log,
        "unstaged\nstaged\nuntracked\n.gitignore\npoem.txt\nsrc\nuntouched.md\nunstaged\n",
    );
    let manifest = home
        .legwork(&folder.path(), ["show", &task, "--manifest", "--json"])
        .json();
    let out: BTreeMap<&str, &str> = manifest["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|out| {
            (
                out["path"].as_str().unwrap(),
                out["reason"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        out,
        BTreeMap::from([
            (".env", "secret"),
            (".git", "version-control"),
            ("ignored.txt", "ignored")
        ])
    );
    assert_eq!(
        standing(&folder.path().join(".git")),
        git_before,
        "the repository was written to"
    );
    // Named by the user, they come along.
    let named = home.task_with(
        &folder.path(),
        &["--include", ".env", "--include", "ignored.txt"],
        "cat .env ignored.txt >&2; rm ignored.txt",
    );
    let id = named["task"].as_str().unwrap();
    assert_eq!(
        home.legwork(&folder.path(), ["logs", id]).text(),
        "TOKEN=canary-1234\nsecretive\n"
    );
}

#[test]
fn a_task_in_the_background_can_be_watched_and_cancelled() {
    let (home, folder) = (Home::new(), poem());
    let task = home.delegate(
        &folder.path(),
        "echo begun; echo changed > poem.txt; sleep 1000",
    );
    let id = task.clone();
    home.wait_for(&folder.path(), &task, &["running"]);
    let follower = home
        .command(&folder.path(), ["logs", "-f", &id])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = std::time::Instant::now();
    while !home
        .legwork(&folder.path(), ["logs", &id])
        .text()
        .contains("begun")
    {
        assert!(begun.elapsed().as_secs() < 60);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let cancelling = std::time::Instant::now();
    home.legwork(&folder.path(), ["cancel", &id]).expect(0);
    let detail = home.wait_for(&folder.path(), &id, &["ended", "ready"]);
    assert!(cancelling.elapsed().as_secs() < 20);
    assert_eq!(detail["task"]["outcome"]["type"], "cancelled");
    // What it had changed by then can be looked at, and turned down.
    assert_eq!(
        (
            detail["task"]["state"].as_str(),
            detail["task"]["pending"].as_i64()
        ),
        (Some("ready"), Some(1))
    );
    assert!(
        home.legwork(&folder.path(), ["show", &id, "--diff"])
            .text()
            .contains("+changed")
    );
    home.legwork(&folder.path(), ["reject", &id]).expect(0);
    assert_eq!(
        String::from_utf8_lossy(&follower.wait_with_output().unwrap().stdout),
        "begun\n"
    );
    home.legwork(&folder.path(), ["cancel", &id]).expect(1);
    assert!(!fs::exists(home.state().join("tasks").join(&id).join("vm")).unwrap());
    // Nothing of the machine is left.
    let left = Command::new("pgrep")
        .args(["-f", home.state().to_str().unwrap()])
        .output()
        .unwrap();
    let left = String::from_utf8_lossy(&left.stdout).lines().count();
    assert!(
        left <= 1,
        "only the daemon may be left, and there are {left} processes"
    );
}
