//! What is not carried is named: before the task starts, and in its result.

use std::process::Command;

use crate::case::Case;

/// As a file with attributes, whatever the file system of the temporary directory can do.
fn set_attribute(case: &Case, path: &str) {
    let set = Command::new("python3")
        .args([
            "-c",
            "import os, sys; os.setxattr(sys.argv[1], 'user.mine', b'kept')",
            path,
        ])
        .current_dir(case.path())
        .status()
        .expect("python3 starts");
    assert!(set.success());
}

#[test]
fn what_the_guest_does_not_see_is_named_before_it_starts() {
    let case = Case::new("B01");
    case.user("mkfifo pipe; echo x > secret.pem; mkdir d; echo 1 > d/attributed; mkdir sub; cd sub; git init -q; \
        echo one > ../one; ln ../one ../two");
    set_attribute(&case, "d/attributed");
    let id = case.start_script("echo 2 > d/attributed; sleep 5");
    case.home.wait_for(&case.path(), &id, &["running"]);
    let manifest = case.legwork(&["show", &id, "--manifest"]).text();
    for line in [
        "left out: pipe, because it is a socket, FIFO or device",
        "left out: secret.pem, because its name says that it holds a secret",
        "left out: sub/.git, because it belongs to the version control system",
        "without its extended attributes or access list: d/attributed",
        "a file of its own, not a hard link: one",
        "a file of its own, not a hard link: two",
    ] {
        assert!(manifest.contains(line), "{line}: {manifest}");
    }
    let done = case.wait(&id, || {});
    assert!(
        done.notices().contains("d/attributed"),
        "{}",
        done.notices()
    );
    case.accept(&done).expect(0);
    let kept = Command::new("python3")
        .args([
            "-c",
            "import os; print(os.getxattr('d/attributed', 'user.mine'))",
        ])
        .current_dir(case.path())
        .output()
        .expect("python3 starts");
    assert_eq!(String::from_utf8_lossy(&kept.stdout), "b'kept'\n");
    assert_eq!(case.now().bytes("d/attributed"), b"2\n");
}

#[test]
fn what_is_not_taken_over_is_named_in_the_result() {
    let case = Case::new("B01");
    let script = "mkfifo pipe; mknod null c 1 3; ln -s /etc absolute; ln -s ../.. out; echo x > private; chmod 600 private; \
        echo x > setuid; chmod 4755 setuid; chmod 440 win.txt; mkdir -m 700 shut; echo x > shut/f; \
        echo x > attributed; python3 -c \"import os; os.setxattr('attributed', 'user.guests', b'v')\"; \
        mkdir -p .git/hooks; echo x > .git/hooks/post-checkout; truncate -s 65M long; echo plain > plain; ln plain hard";
    let id = case.start_script(script);
    let done = case.wait(&id, || {});
    let log = case.legwork(&["logs", &id]).text();
    assert_eq!(log, "", "the command did all of it");
    done.refuses(&[
        ".git",
        "absolute",
        "attributed",
        "long",
        "null",
        "out",
        "pipe",
        "setuid",
        "shut",
    ]);
    // With the rest of it they come: the content of a file with more to it, and both names of one file.
    assert_eq!(
        done.paths(),
        [
            "attributed",
            "hard",
            "plain",
            "private",
            "setuid",
            "shut/f",
            "win.txt"
        ]
    );
    case.accept(&done).expect(0);
    let now = case.now();
    assert_eq!(now.bytes("hard"), b"plain\n");
    for (path, permissions) in [("private", 0o600), ("setuid", 0o755), ("win.txt", 0o440)] {
        assert_eq!(now.0[path.as_bytes()].mode & 0o7777, permissions, "{path}");
    }
}
