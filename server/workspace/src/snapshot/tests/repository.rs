//! The guest's copy of a repository is one that git works with, and the user's own is only read.

use std::{
    os::unix::fs::MetadataExt as _,
    process::{Command, Output},
};

use super::*;

fn git(dir: &Path, args: &[&str]) -> Output {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output
}

/// Unpacks an image, times included, as the guest would mount it.
fn unpack(snapshot: &Snapshot, to: &Path) {
    let mut image = Image::open(Cursor::new(fs::read(&snapshot.image).unwrap())).unwrap();
    for (path, entry) in image.read_tree().unwrap() {
        let place = to.join(OsStr::from_bytes(&path));
        match &entry.kind {
            Kind::Dir => fs::create_dir_all(&place).unwrap(),
            Kind::Symlink(target) => symlink(OsStr::from_bytes(target), &place).unwrap(),
            _ => {
                fs::write(&place, image.read_file(&entry).unwrap()).unwrap();
                let (seconds, nanos) = entry.meta.mtime;
                let time = std::time::UNIX_EPOCH
                    + std::time::Duration::new(u64::try_from(seconds).unwrap(), nanos);
                let file = fs::File::options().write(true).open(&place).unwrap();
                file.set_modified(time).unwrap();
                let mode = fs::Permissions::from_mode((entry.meta.mode & 0o777).into());
                fs::set_permissions(&place, mode).unwrap();
            }
        }
    }
}

/// Inodes, times and bytes of everything in a folder.
fn state(dir: &Path) -> BTreeMap<PathBuf, (u64, i64, i64, Vec<u8>)> {
    let mut state = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let bytes = if metadata.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if metadata.is_dir() {
                dirs.push(path.clone());
            }
            let stamp = (
                metadata.ino(),
                metadata.ctime(),
                metadata.ctime_nsec(),
                bytes,
            );
            state.insert(path, stamp);
        }
    }
    state
}

fn with_repository() -> CaptureOptions {
    CaptureOptions {
        include: vec![".git".into()],
        ..CaptureOptions::default()
    }
}

/// Captures with the repository and gives what git says in the copy, which stands somewhere else.
fn in_the_copy(scene: &Scene) -> String {
    let workspace = scene.at("");
    let before = state(scene.dir.path());
    let snapshot = scene.capture(&with_repository());
    let mut after = state(scene.dir.path());
    after.remove(&scene.dir.path().join("image"));
    assert!(before == after, "something of the user's was touched");
    assert!(left(&snapshot).contains(&(".git".into(), Reason::Copied)));
    assert!(
        names(&snapshot)
            .iter()
            .all(|name| !name.starts_with(".git/"))
    );
    let copy = tempfile::tempdir().unwrap();
    unpack(&snapshot, copy.path());
    // Nothing leads back to where it came from.
    let main = scene.dir.path().join("main");
    for (index, place) in [&workspace, &main].into_iter().enumerate() {
        let _not_there = fs::rename(place, scene.dir.path().join(format!("away{index}")));
    }
    git(copy.path(), &["fsck", "--full"]);
    git(copy.path(), &["commit", "--allow-empty", "-qm", "here"]);
    let said = [
        &["status", "--porcelain"][..],
        &["log", "--format=%s"],
        &["branch"],
    ]
    .map(|args| String::from_utf8(git(copy.path(), args).stdout).unwrap());
    said.concat()
}

fn committed(dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    git(dir, &["init", "-q", "-b", "main"]);
    fs::write(dir.join("a"), "1\n").unwrap();
    fs::write(dir.join("b"), "1\n").unwrap();
    git(dir, &["add", "."]);
    git(dir, &["commit", "-qm", "first"]);
}

#[test]
fn a_copy_of_a_plain_repository() {
    let scene = Scene::new();
    committed(&scene.at(""));
    git(&scene.at(""), &["gc", "-q"]);
    git(
        &scene.at(""),
        &["config", "http.extraheader", "Authorization: canary"],
    );
    scene.write("a", "2\n").write("c", "3\n");
    git(&scene.at(""), &["add", "c"]);
    assert_eq!(in_the_copy(&scene).lines().next(), Some(" M a"));
    let config = fs::read(scene.dir.path().join("image")).unwrap();
    let canary = b"canary";
    assert!(!config.windows(canary.len()).any(|part| part == canary));
}

#[test]
fn a_copy_of_a_linked_working_tree() {
    let scene = Scene::new();
    let main = scene.dir.path().join("main");
    committed(&main);
    fs::remove_dir(scene.at("")).unwrap();
    let path = scene.at("");
    let path = path.to_str().unwrap().trim_end_matches('/');
    git(&main, &["worktree", "add", "-q", "-b", "feat", path]);
    scene.write("a", "2\n");
    assert_eq!(in_the_copy(&scene), " M a\nhere\nfirst\n* feat\n  main\n");
}

#[test]
fn a_copy_of_a_repository_that_borrows_objects() {
    let scene = Scene::new();
    let main = scene.dir.path().join("main");
    committed(&main);
    fs::remove_dir(scene.at("")).unwrap();
    git(scene.dir.path(), &["clone", "-q", "--shared", "main", "w"]);
    assert_eq!(in_the_copy(&scene), "here\nfirst\n* main\n");
}

#[test]
fn a_copy_of_a_repository_without_commits_and_of_none() {
    let scene = Scene::new();
    git(&scene.at(""), &["init", "-q", "-b", "main"]);
    scene.write("a", "1\n");
    assert_eq!(in_the_copy(&scene), "?? a\nhere\n* main\n");
    let broken = Scene::new();
    broken
        .write(".git", "gitdir: /nowhere/at/all\n")
        .write("a", "1\n");
    let snapshot = broken.capture(&with_repository());
    assert_eq!(left(&snapshot), [(".git".into(), Reason::Unreadable)]);
    assert_eq!(names(&snapshot), ["a"]);
}
