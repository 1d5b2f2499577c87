//! Bytes in, same bytes out: encodings, line ends, names, modes, links, and what cannot be carried is named.

use std::{collections::BTreeSet, fs, os::unix::fs::symlink};

use kit::{
    folder::{Folder, name, standing},
    home::Home,
};

#[test]
fn odd_content_and_odd_names_survive() {
    let folder = Folder::with(&[
        ("crlf.txt", "one\r\ntwo\r\nthree\r\n"),
        ("mixed.txt", "one\r\ntwo\nthree\rfour"),
        ("bom.txt", "\u{feff}first\nsecond\n"),
        ("-rf", "a dash\n"),
        (" lead and trail ", "spaces\n"),
        ("ünï/日本.txt", "names\n"),
    ]);
    folder.write("latin.txt", b"caf\xe9\nna\xefve\n");
    folder.write("utf16.txt", b"\xff\xfeh\0i\0\n\0");
    folder.write("empty", b"");
    folder.write(name(b"not-\xff\xfe-utf8"), b"bytes\n");
    folder.write("x".repeat(255), b"long\n");
    symlink("crlf.txt", folder.path().join("link")).unwrap();
    symlink("/nowhere/at all", folder.path().join("dangling")).unwrap();
    folder.sh("chmod 600 bom.txt; chmod 755 mixed.txt; chmod 640 latin.txt; ln crlf.txt hard; mkfifo pipe");
    let before = folder.standing();
    let script = "sed -i 's/two/TWO/' crlf.txt mixed.txt; printf 'caf\\351!\\n' >> latin.txt; printf 'x' >> empty; \
        sed -i 's/second/2nd/' bom.txt; printf 'more\\n' >> ./-rf; for f in not-*; do printf 'more\\n' >> \"$f\"; done; \
        printf more >> ünï/日本.txt; for f in xxx*; do printf y >> \"$f\"; done";
    let home = Home::new();
    let task = home.task(&folder.path(), script);
    let id = task["task"].as_str().unwrap();
    assert_eq!(folder.standing(), before);
    let manifest = home
        .legwork(&folder.path(), ["show", id, "--manifest", "--json"])
        .json();
    let out: BTreeSet<&str> = manifest["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|out| out["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        out,
        BTreeSet::from(["pipe"]),
        "what is not carried is named"
    );
    home.legwork(&folder.path(), ["accept", id, "--include-sensitive"])
        .expect(0);

    let mut wanted = before;
    let mut set = |path: &[u8], bytes: &[u8]| {
        wanted
            .get_mut(name(path).as_ref() as &std::path::Path)
            .unwrap()
            .bytes = bytes.to_vec();
    };
    set(b"crlf.txt", b"one\r\nTWO\r\nthree\r\n");
    set(b"mixed.txt", b"one\r\nTWO\nthree\rfour");
    set(b"latin.txt", b"caf\xe9\nna\xefve\ncaf\xe9!\n");
    set(b"empty", b"x");
    set(b"bom.txt", "\u{feff}first\n2nd\n".as_bytes());
    set(b"-rf", b"a dash\nmore\n");
    set(b"not-\xff\xfe-utf8", b"bytes\nmore\n");
    set("ünï/日本.txt".as_bytes(), b"names\nmore");
    set("x".repeat(255).as_bytes(), b"long\ny");
    assert_eq!(folder.standing(), wanted);
    // The other name of the hard link keeps what it had: a link is broken, never written through.
    assert_eq!(folder.read("hard"), "one\r\ntwo\r\nthree\r\n");
}

#[test]
fn what_a_guest_may_not_do_is_refused_by_name() {
    let (home, folder) = (
        Home::new(),
        Folder::with(&[("a.txt", "a\n"), ("folder/b.txt", "b\n")]),
    );
    folder.sh("git init -q .");
    let git = standing(&folder.path().join(".git"));
    let script = "mkdir -p .git/hooks sub/.GIT; echo 'touch /tmp/pwned' > .git/hooks/post-checkout; echo x > sub/.GIT/config; \
        ln -s /etc/passwd absolute; ln -s ../../outside up; mkfifo pipe; echo ok > fine.txt";
    let task = home.task(&folder.path(), script);
    let id = task["task"].as_str().unwrap();
    let shown = home.legwork(&folder.path(), ["show", id, "--json"]).json();
    let refused: BTreeSet<String> = shown["detail"]["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|refused| {
            refused["path"]
                .as_str()
                .unwrap()
                .split('/')
                .take(2)
                .collect::<Vec<_>>()
                .join("/")
        })
        .collect();
    for path in ["absolute", "up", "pipe"] {
        assert!(refused.contains(path), "{path} is not in {refused:?}");
    }
    assert!(
        refused.iter().any(|path| path.starts_with(".git")),
        "{refused:?}"
    );
    assert!(
        refused.iter().any(|path| path.starts_with("sub")),
        "{refused:?}"
    );
    home.legwork(&folder.path(), ["accept", id, "--include-sensitive"])
        .expect(0);
    assert_eq!(folder.read("fine.txt"), "ok\n");
    assert_eq!(standing(&folder.path().join(".git")), git);
    for path in ["absolute", "up", "pipe"] {
        assert!(
            fs::symlink_metadata(folder.path().join(path)).is_err(),
            "{path} reached the workspace"
        );
    }
}

#[test]
fn what_runs_on_the_host_later_is_never_part_of_a_bulk_accept() {
    let (home, folder) = (
        Home::new(),
        Folder::with(&[("a.txt", "a\n"), ("Makefile", "all:\n\ttrue\n")]),
    );
    let task = home.task(
        &folder.path(),
        "echo b >> a.txt; printf '\\trm -rf /\\n' >> Makefile",
    );
    let id = task["task"].as_str().unwrap();
    let ran = home.legwork(&folder.path(), ["accept", id]).expect(0);
    assert!(
        format!("{}{}", ran.text(), ran.stderr).contains("Makefile"),
        "{ran:?}"
    );
    assert_eq!(
        (
            folder.read("a.txt").as_str(),
            folder.read("Makefile").as_str()
        ),
        ("a\nb\n", "all:\n\ttrue\n")
    );
    home.legwork(&folder.path(), ["accept", id, "Makefile"])
        .expect(0);
    assert!(folder.read("Makefile").contains("rm -rf"));
}
