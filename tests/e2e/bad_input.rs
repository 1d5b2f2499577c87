//! Bad input gets one clear line and a next step, and nothing is lost.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use kit::{
    folder::Folder,
    home::{Home, Ran},
};

/// One sentence, and perhaps a hint; never a backtrace or a debug print.
fn one_line(ran: &Ran) -> &str {
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert!(
        said.iter().any(|line| line.starts_with("legwork: ")),
        "{}",
        ran.stderr
    );
    assert!(
        said.len() <= 6 && !ran.stderr.contains("panicked") && !ran.stderr.contains("Error {"),
        "{}",
        ran.stderr
    );
    &ran.stderr
}

#[test]
fn workspaces_that_are_none() {
    let home = Home::new();
    let folder = Folder::with(&[("file.txt", "a\n")]);
    for (workspace, said) in [
        ("no/such/folder", "no"),
        ("file.txt", "file"),
        ("/proc", "proc"),
        ("/", "/"),
    ] {
        let ran = home.legwork(&folder.path(), ["run", "-C", workspace, "--", "true"]);
        assert!([1, 2, 4].contains(&ran.code), "{workspace}: {ran:?}");
        assert!(one_line(&ran).contains(said), "{ran:?}");
    }
    let ran = home
        .legwork(&folder.path(), ["run", "make", "it", "faster"])
        .expect(2);
    assert!(one_line(&ran).contains("agent"), "{ran:?}");
    home.legwork(&folder.path(), ["run", "--"]).expect(2);
    home.legwork(&folder.path(), ["run", "--memory", "lots", "--", "true"])
        .expect(2);
    home.legwork(&folder.path(), ["run", "--timeout", "0s", "--", "true"])
        .expect(2);
}

#[test]
fn workspaces_that_are_awkward() {
    let home = Home::new();
    let empty = Folder::with(&[]);
    let task = home.task(&empty.path(), "ls -A; echo first > first.txt");
    home.legwork(&empty.path(), ["accept", task["task"].as_str().unwrap()])
        .expect(0);
    assert_eq!(empty.read("first.txt"), "first\n");

    // A folder below the workspace is where the command starts; an odd name of the workspace itself is no matter.
    let odd = Folder::with(&[]);
    let inner = odd.path().join("it's \"odd\", ünd\nlong");
    fs::create_dir_all(inner.join(".git")).unwrap();
    fs::create_dir_all(inner.join("below")).unwrap();
    let task = home.task(
        &inner.join("below"),
        "basename \"$PWD\" > name.txt; pwd >&2",
    );
    assert_eq!(task["pending"], 1, "{task}");
    home.legwork(&inner, ["accept", task["task"].as_str().unwrap()])
        .expect(0);
    assert_eq!(
        fs::read_to_string(inner.join("below/name.txt")).unwrap(),
        "below\n"
    );
}

#[test]
fn a_workspace_where_removable_disks_are() {
    let home = Home::new();
    let dir = tempfile::tempdir_in("/run").unwrap();
    let workspace = dir.path().join("media/disk/project");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("a.txt"), "a\n").unwrap();
    let task = home.task(&workspace, "cat a.txt >&2; echo b >> a.txt");
    assert_eq!(task["pending"], 1, "{task}");
    home.legwork(&workspace, ["accept", task["task"].as_str().unwrap()])
        .expect(0);
    assert_eq!(
        fs::read_to_string(workspace.join("a.txt")).unwrap(),
        "a\nb\n"
    );
}

#[test]
fn a_hundred_thousand_files() {
    let home = Home::new();
    let folder = Folder::with(&[]);
    for dir in 0..100 {
        let dir = folder.path().join(format!("d{dir}"));
        fs::create_dir(&dir).unwrap();
        for file in 0..1000 {
            fs::write(dir.join(format!("f{file}")), file.to_string()).unwrap();
        }
    }
    let task = home.task(&folder.path(), "echo changed > d50/f500; rm d99/f999");
    assert_eq!(task["pending"], 2, "{task}");
    assert_eq!(task["report"]["files"], 100_000);
    home.legwork(&folder.path(), ["accept", task["task"].as_str().unwrap()])
        .expect(0);
    assert_eq!(folder.read("d50/f500"), "changed\n");
    assert!(!folder.path().join("d99/f999").exists());
}

#[test]
fn decisions_that_cannot_be_carried_out() {
    let home = Home::new();
    let folder = Folder::with(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b.txt", "b\n")]);
    let here = folder.path();
    for arguments in [
        ["accept", "zzzz"],
        ["show", "bcdfgh"],
        ["logs", "../../etc"],
        ["undo", "bbbbbbbbbbbb"],
    ] {
        let ran = home.legwork(&here, arguments).expect(2);
        assert!(one_line(&ran).contains("task"), "{ran:?}");
    }
    let script = "sed -i 's/^2$/two/; s/^8$/eight/' a.txt; echo more >> b.txt";
    let task = home.task(&here, script);
    let id = task["task"].as_str().unwrap();
    // Enough tasks that some share their first letter.
    let others: Vec<String> = (0..17).map(|_| home.delegate(&here, "true")).collect();
    let twin = others
        .iter()
        .find(|other| others.iter().filter(|one| one[..1] == other[..1]).count() > 1)
        .unwrap();
    let ran = home.legwork(&here, ["show", &twin[..1]]).expect(2);
    assert!(
        one_line(&ran).contains(twin.as_str()) || one_line(&ran).contains(&twin[..6]),
        "{ran:?}"
    );

    home.legwork(&here, ["accept", id, "no-such-file.txt"])
        .expect(2);
    home.legwork(&here, ["accept", id, "a.txt:9"]).expect(2);
    home.legwork(&here, ["accept", id, "../outside"]).expect(2);
    // The user edits one place of the file meanwhile; the hunk at the other place moves with it.
    folder.write("a.txt", "0\n1\nzwei\n3\n4\n5\n6\n7\n8\n9\n");
    let ran = home.legwork(&here, ["accept", id, "a.txt:1"]);
    assert_ne!(ran.code, 0, "a conflicting hunk was written: {ran:?}");
    one_line(&ran);
    home.legwork(&here, ["accept", id, "a.txt:2"]).expect(0);
    assert_eq!(
        folder.read("a.txt"),
        "0\n1\nzwei\n3\n4\n5\n6\n7\neight\n9\n"
    );
    let again = home.legwork(&here, ["accept", id, "a.txt:2"]);
    assert_ne!(again.code, 0, "{again:?}");
    assert!(one_line(&again).contains("accepted"), "{again:?}");
    // A bulk accept takes what it can and names what it cannot.
    let ran = home.legwork(&here, ["accept", id]);
    assert!(
        format!("{}{}", ran.text(), ran.stderr).contains("a.txt"),
        "{ran:?}"
    );
    assert_eq!(folder.read("b.txt"), "b\nmore\n");
    assert_eq!(
        folder.read("a.txt"),
        "0\n1\nzwei\n3\n4\n5\n6\n7\neight\n9\n"
    );
    // Undone, with the user's own edits kept.
    folder.write("b.txt", "mine\nb\nmore\n");
    home.legwork(&here, ["undo", id]).expect(0);
    assert_eq!(folder.read("b.txt"), "mine\nb\n");
}

#[test]
fn symbolic_links_are_never_written_through() {
    let home = Home::new();
    let outside = Folder::with(&[("target.txt", "outside\n")]);
    let folder = Folder::with(&[("dir/a.txt", "a\n")]);
    let here = folder.path();
    let task = home.task(&here, "echo b >> dir/a.txt");
    let id = task["task"].as_str().unwrap();
    // The folder became a link to somewhere else meanwhile.
    fs::write(outside.path().join("a.txt"), "a\n").unwrap();
    fs::rename(here.join("dir"), here.join("moved")).unwrap();
    std::os::unix::fs::symlink(outside.path(), here.join("dir")).unwrap();
    let ran = home.legwork(&here, ["accept", id]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert_eq!(outside.read("a.txt"), "a\n");
    assert_eq!(folder.read("moved/a.txt"), "a\n");
}

#[test]
fn directories_of_ours_that_others_can_write_are_refused() {
    let home = Home::new();
    let state = home.state();
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let ran = home.legwork(Path::new("/"), ["tasks"]);
    assert_ne!(ran.code, 0);
    assert!(ran.stderr.contains("0700"), "{}", ran.stderr);
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
}
