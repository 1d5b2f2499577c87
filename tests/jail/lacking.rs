//! A wall that cannot be built stops the start, and is named; with leave, the others are built all the same.

use std::{net::TcpListener, path::Path, process::Command};

use kit::{folder::Folder, home::Home, product};
use legwork_spec::{Jailed, WallKind};

use super::stage::{Stage, on};

/// What is lacking, which wall that is, and words of the sentence.
const LACKS: [(&str, WallKind, &str); 3] = [
    ("no-landlock", WallKind::Files, "has no Landlock"),
    ("landlock-off", WallKind::Files, "add `landlock` to `lsm=`"),
    ("no-seccomp", WallKind::Calls, "seccomp is refused"),
];

#[test]
fn a_wall_that_cannot_be_built_stops_the_start_and_is_named() {
    let mut stage = Stage::set();
    for (lack, kind, words) in LACKS {
        stage.lack = Some(lack);
        let intrusion = stage.intrude(&["thread".to_owned()]);
        assert_eq!(intrusion.said, "", "{lack}: it was started");
        assert_eq!(intrusion.code, Some(1), "{intrusion:?}");
        assert!(
            intrusion
                .errors
                .contains("not starting without a whole jail")
                && intrusion.errors.contains(words),
            "{intrusion:?}"
        );
        let told = intrusion.jailed.unwrap();
        assert!(!told.stands(kind));
    }
}

#[test]
fn with_leave_the_other_walls_stand() {
    let mut stage = Stage::set();
    stage.unjailed_ok = true;
    let secret = format!("read {}", stage.path("other/secret").display());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = format!("connect {}", listener.local_addr().unwrap());
    for (lack, kind, _) in LACKS {
        stage.lack = Some(lack);
        let intrusion = stage.intrude(&[secret.clone(), socket.clone()]);
        assert_eq!(intrusion.code, Some(0), "{intrusion:?}");
        let told = intrusion.jailed.unwrap();
        for other in WallKind::ALL {
            assert_eq!(told.stands(other), other != kind, "{lack}: {told:?}");
        }
        let reads = intrusion.said.contains("other/secret: done");
        assert_eq!(reads, kind == WallKind::Files, "{}", intrusion.said);
        // The filter of calls holds TCP back, and so does a Landlock of this kernel's age.
        let refused = format!("{socket}: refused");
        assert!(intrusion.said.contains(&refused), "{}", intrusion.said);
    }
}

#[test]
fn what_is_told_is_what_this_kernel_has() {
    for (lack, kind, words) in LACKS {
        let output = on(Some(lack), &product::bin_dir().join("legwork-vmm"))
            .arg("walls")
            .output()
            .unwrap();
        let jailed: Jailed = serde_json::from_slice(&output.stdout).unwrap();
        let lacking = jailed.lack().unwrap();
        assert!(lacking.contains(words), "{lacking}");
        assert_eq!(jailed.walls.iter().filter(|wall| !wall.stands).count(), 1);
        assert!(!jailed.stands(kind));
    }
}

/// `legwork`, and the daemon that it starts, on a kernel that lacks this.
fn legwork(home: &Home, lack: &str, folder: &Path, arguments: &[&str]) -> Command {
    let plain = home.command(folder, arguments);
    let mut command = on(Some(lack), Path::new(plain.get_program()));
    command
        .args(plain.get_args())
        .current_dir(folder)
        .stdin(std::process::Stdio::null());
    for (name, value) in plain.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command
}

#[test]
fn a_task_needs_leave_to_run_without_a_wall_and_says_so_for_good() {
    let (home, folder) = (Home::new(), Folder::with(&[("a.txt", "a\n")]));
    let lack = "no-landlock";
    let ran = |arguments: &[&str]| {
        kit::home::Ran::from(
            legwork(&home, lack, &folder.path(), arguments)
                .output()
                .unwrap(),
        )
    };
    let refused = ran(&["run", "--", "true"]).expect(3);
    for words in [
        "cannot be jailed here",
        "has no Landlock",
        "--isolation unjailed-ok",
    ] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    let doctor = ran(&["doctor"]);
    assert_ne!(doctor.code, 0);
    assert!(
        doctor.text().contains("!! jail: files"),
        "{}",
        doctor.text()
    );
    assert!(
        doctor.text().contains("ok jail: system calls"),
        "{}",
        doctor.text()
    );

    let allowed = ran(&[
        "run",
        "--json",
        "--isolation",
        "unjailed-ok",
        "--memory",
        "384M",
        "--",
        "sh",
        "-c",
        "echo b >> a.txt",
    ])
    .expect(0)
    .json();
    assert!(
        allowed["notices"].to_string().contains("not jailed: "),
        "{allowed}"
    );
    let id = allowed["task"].as_str().unwrap();
    let shown = ran(&["show", id]).expect(0).text();
    assert!(
        shown.contains("no wall    files: this kernel has no Landlock"),
        "{shown}"
    );
    assert!(shown.contains("system calls (seccomp)"), "{shown}");
}

#[test]
fn an_ordinary_task_shows_its_walls() {
    let (home, folder) = (Home::new(), Folder::with(&[("a.txt", "a\n")]));
    let task = home.task_with(&folder.path(), &["--memory", "384M"], "echo b >> a.txt");
    let walls = task["report"]["walls"].as_array().unwrap();
    assert_eq!(walls.len(), WallKind::ALL.len(), "{task}");
    assert!(walls.iter().all(|wall| wall["stands"] == true), "{task}");
    let jail = task["report"]["timings"]["jail"].as_u64().unwrap();
    assert!(jail < 1000, "{jail} ms");
}
