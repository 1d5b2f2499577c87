//! What the guest sees of a workspace, and what it does not see. Group F.

use std::process::Command;

use crate::case::Case;

plain! {
    b90_two_roots_in_one = "B90";
}

#[test]
fn b82_ignored_files_come_by_rule() {
    let mut case = Case::new("B82");
    let done = case.run();
    let out = done.left_out();
    for path in [
        ("gen", "ignored"),
        (".env", "secret"),
        ("packages/app/.env", "secret"),
    ] {
        assert!(out.contains(&path), "{out:?}");
    }
    assert!(done.notices().contains(".env"), "{}", done.notices());
    // Its folder is not there, so nothing of it could be changed.
    done.refuses(&[]);
    case.accept(&done).expect(0);
    assert_eq!(case.now().bytes("result.txt"), b"missing\n");
    case.legwork(&["undo", &done.id]).expect(0);
    case.options = [".env", "packages/app/.env", "gen"]
        .map(|path| format!("--include={}", case.path().join(path).display()))
        .into();
    let done = case.run();
    case.round(&done, &case.direct);
}

#[test]
fn b84_an_environment_with_paths_of_this_machine() {
    let case = Case::new("B84");
    let done = case.run();
    assert!(done.left_out().contains(&(".venv", "ignored")));
    case.accept(&done).expect(0);
    let now = case.now();
    // The workspace stands at the same place in the guest.
    assert_eq!(now.bytes("guest-pwd.txt"), now.bytes("built-at.txt"));
    now.clone()
        .without("tool-out.txt")
        .must_be(&case.direct.without("tool-out.txt"), "accepted");
    assert!(now.bytes("tool-out.txt").ends_with(b"broken\n"));
}

#[test]
fn b85_programs_of_another_platform() {
    let case = Case::new("B85");
    let done = case.run();
    assert!(done.left_out().contains(&("node_modules", "ignored")));
    done.refuses(&["node_modules"]);
    case.round(&done, &case.direct.clone().with(&case.base, "node_modules"));
}

#[test]
fn b87_what_cannot_be_read_is_named() {
    let case = Case::new("B87");
    // The daemon of a user who may not read everything, be it root's.
    let plain = case.home.command(&case.path(), ["daemon", "start"]);
    let mut weak = Command::new("setpriv");
    weak.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    weak.arg(plain.get_program()).args(plain.get_args());
    for (name, value) in plain.get_envs() {
        weak.env(name, value.unwrap_or_default());
    }
    let started = weak.output().expect("setpriv starts");
    assert!(started.status.success(), "{started:?}");
    let done = case.run();
    let out = done.left_out();
    assert!(out.contains(&("secret", "unreadable")), "{out:?}");
    assert!(out.contains(&("locked", "unreadable")), "{out:?}");
    assert!(done.notices().contains("locked"), "{}", done.notices());
    case.round(&done, &case.direct);
}

#[test]
fn b88_many_files() {
    let case = Case::new("B88");
    let done = case.run();
    assert_eq!(done.paths(), ["d0007/f07.txt"]);
    assert!(done.left_out().contains(&("target", "ignored")));
    case.round(&done, &case.direct);
}

#[test]
fn b89_files_change_while_they_are_captured() {
    let case = Case::new("B89");
    let mut churn = Command::new("sh")
        .arg("../churn.sh")
        .current_dir(case.path())
        .spawn()
        .expect("sh starts");
    let id = case.start_script(
        "wc -c < a.txt; tr -d \"$(head -c 1 a.txt)\" < a.txt | wc -c; echo seen > seen.txt",
    );
    let done = case.wait(&id, || {});
    churn.kill().expect("it runs");
    churn.wait().expect("it ends");
    // A file is whole, or it is named as one that changed.
    let log = case.legwork(&["logs", &done.id]).text();
    let gone = done.left_out().contains(&("a.txt", "vanished"));
    let whole = ["200000\n0\n", "2\n1\n"].contains(&log.as_str());
    assert!(whole || gone, "{log} {:?}", done.left_out());
    assert_eq!(done.paths(), ["seen.txt"]);
    case.accept(&done).expect(0);
    assert_eq!(case.now().bytes("seen.txt"), b"seen\n");
}

#[test]
fn b91_three_build_systems() {
    let mut case = Case::new("B91");
    case.options = vec![format!(
        "--include={}",
        case.path().join("packages/b/node_modules").display()
    )];
    let done = case.run();
    assert_eq!(
        done.paths(),
        ["crates/x/src/main.rs", "linkcheck.txt", "pnpm-lock.yaml"]
    );
    done.refuses(&["node_modules", "py/.venv", "target"]);
    case.legwork(&["reject", &done.id, "pnpm-lock.yaml"])
        .expect(0);
    case.legwork(&["undo", &done.id]).expect(0);
    let wanted = ["node_modules", "py/.venv", "target"]
        .iter()
        .fold(case.direct.clone(), |wanted, path| wanted.without(path));
    case.round(&done, &wanted);
}

#[test]
fn b92_a_folder_that_is_read_only() {
    let case = Case::new("B92");
    let done = case.run();
    let ran = case.accept(&done).expect(1);
    assert!(
        ran.stderr.contains("ro/r.txt") && ran.stderr.contains("read-only"),
        "{ran:?}"
    );
    case.now().must_be(&case.base, "nothing was written");
    let shown = case.legwork(&["show", &done.id, "--json"]).json();
    assert_eq!(shown["detail"]["task"]["pending"], 3, "the hunks are kept");
    case.user("chmod u+w ro ro/r.txt");
    case.accept(&done).expect(0);
    case.now()
        .must_be(&case.direct, "accepted once it could be");
}
