//! What a guest reports becomes a change, a refusal or an error, and never anything else.

use std::{collections::BTreeMap, fs, os::unix::fs::symlink, path::PathBuf};

use legwork_model::Digest;
use tempfile::TempDir;

use super::*;
use crate::{BlobStore, CaptureOptions, capture};

mod marks;

struct Scene {
    dir: TempDir,
    blobs: BlobStore,
    base: Option<Snapshot>,
}

fn name(path: &str) -> Vec<u8> {
    path.as_bytes().to_vec()
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("w");
        fs::create_dir(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let blobs = BlobStore::open(dir.path().join("blobs")).unwrap();
        let mut scene = Self {
            dir,
            blobs,
            base: None,
        };
        scene.capture();
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("w").join(path)
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.at("")).unwrap()
    }

    fn capture(&mut self) {
        let image = self.dir.path().join("image");
        let options = CaptureOptions::default();
        self.base = Some(capture(&self.workspace(), &image, &options, &mut |_, _| {}).unwrap());
    }

    fn file(&self, path: &str, text: &str) -> Reported {
        self.file_with(path, text.as_bytes(), 0o644)
    }

    fn file_with(&self, path: &str, bytes: &[u8], mode: u32) -> Reported {
        Reported {
            path: name(path),
            what: ReportedKind::File {
                mode,
                size: bytes.len() as u64,
                content: Some(self.blobs.put(bytes).unwrap()),
            },
        }
    }

    fn build(&self, report: Vec<Reported>) -> Result<ChangeSet, ChangeError> {
        self.build_with(report, Caps::default())
    }

    fn build_with(&self, report: Vec<Reported>, caps: Caps) -> Result<ChangeSet, ChangeError> {
        let workspace = self.workspace();
        let mut builder = ChangeSetBuilder::new(self.base.as_ref().unwrap(), &workspace, caps)?;
        for entry in report {
            builder.add(entry)?;
        }
        builder.finish(&self.blobs)
    }

    fn set(&self, report: Vec<Reported>) -> ChangeSet {
        self.build(report).unwrap()
    }
}

fn dir(path: &str) -> Reported {
    Reported {
        path: name(path),
        what: ReportedKind::Dir {
            mode: 0o755,
            opaque: false,
        },
    }
}

fn opaque(path: &str) -> Reported {
    Reported {
        path: name(path),
        what: ReportedKind::Dir {
            mode: 0o755,
            opaque: true,
        },
    }
}

fn gone(path: &str) -> Reported {
    Reported {
        path: name(path),
        what: ReportedKind::Whiteout,
    }
}

fn link(path: &str, target: &str) -> Reported {
    Reported {
        path: name(path),
        what: ReportedKind::Symlink {
            target: name(target),
        },
    }
}

/// `kind path` for each change.
fn told(set: &ChangeSet) -> Vec<String> {
    let tell = |change: &Change| {
        let kind = match &change.kind {
            ChangeKind::Create => "create".to_owned(),
            ChangeKind::Modify => "modify".to_owned(),
            ChangeKind::Mode => "mode".to_owned(),
            ChangeKind::Delete => "delete".to_owned(),
            ChangeKind::Rename { from } => format!("{from} ->"),
            ChangeKind::Retype => "retype".to_owned(),
        };
        format!("{kind} {}", change.path)
    };
    set.changes.iter().map(tell).collect()
}

fn refused(set: &ChangeSet) -> Vec<&str> {
    set.refused
        .iter()
        .map(|refused| refused.path.as_str())
        .collect()
}

#[test]
fn every_kind_of_change_is_told() {
    let scene = Scene::new(&[
        ("modify", "a"),
        ("touched", "b"),
        ("mode", "c"),
        ("gone", "d"),
        ("old/name", "moved"),
        ("all/x", "e"),
        ("all/deep/y", "f"),
        ("emptied/z", "g"),
        ("to-link", "h"),
        ("to-dir", "i"),
        ("swap1", "one"),
        ("swap2", "two"),
        ("hidden/a", "j"),
        ("hidden/b", "k"),
    ]);
    let set = scene.set(vec![
        scene.file("modify", "A"),
        scene.file_with("touched", b"b", 0o644),
        scene.file_with("mode", b"c", 0o755),
        gone("gone"),
        dir("old"),
        gone("old/name"),
        dir("new"),
        scene.file("new/name", "moved"),
        gone("all"),
        dir("emptied"),
        gone("emptied/z"),
        link("to-link", "modify"),
        dir("to-dir"),
        scene.file("to-dir/x", "xx"),
        scene.file("swap1", "two"),
        scene.file("swap2", "one"),
        opaque("hidden"),
        scene.file("hidden/a", "j"),
        dir("empty"),
        dir("made"),
        dir("made/deep"),
        scene.file("made/deep/f", ""),
    ]);
    assert_eq!(
        told(&set),
        [
            "delete all/deep/y",
            "delete all/x",
            "create emptied",
            "delete emptied/z",
            "create empty",
            "delete gone",
            "delete hidden/b",
            "create made/deep/f",
            "mode mode",
            "modify modify",
            "old/name -> new/name",
            "create old",
            "modify swap1",
            "modify swap2",
            "delete to-dir",
            "create to-dir/x",
            "retype to-link",
        ]
    );
    assert_eq!(set.refused, []);
    assert_eq!(
        set.get(&"emptied".parse().unwrap()).unwrap().after,
        Some(Side::Dir)
    );
    assert_eq!(
        set.get(&"mode".parse().unwrap())
            .unwrap()
            .sensitive
            .as_deref(),
        Some("it becomes executable")
    );
    assert_eq!(set.get(&"modify".parse().unwrap()).unwrap().sensitive, None);
}

#[test]
fn nothing_changed_is_no_change() {
    let scene = Scene::new(&[("a/b", "x")]);
    assert!(scene.set(vec![]).is_empty());
    assert!(scene.set(vec![dir("a"), scene.file("a/b", "x")]).is_empty());
    assert!(scene.set(vec![gone("never-was")]).is_empty());
}

#[test]
fn renames_need_one_partner() {
    let scene = Scene::new(&[("a", "same"), ("b", "same"), ("c/x", "other"), ("e", "")]);
    let set = scene.set(vec![
        gone("a"),
        gone("b"),
        scene.file("n", "same"),
        gone("e"),
        scene.file("e2", ""),
        gone("c"),
        dir("d"),
        scene.file("d/x", "other"),
        scene.file("d/y", "other"),
    ]);
    assert_eq!(
        told(&set),
        [
            "delete a",
            "delete b",
            "c/x -> d/x",
            "create d/y",
            "delete e",
            "create e2",
            "create n"
        ]
    );
}

#[test]
fn hostile_names_and_kinds_are_refused_one_by_one() {
    let scene = Scene::new(&[("a", "x"), ("src/m", "m")]);
    let other = |path: &str, what: &str| Reported {
        path: name(path),
        what: ReportedKind::Other { what: what.into() },
    };
    let mut odd: Vec<_> = ["../x", "/etc/passwd", "a/../../x", "", "."]
        .map(|path| scene.file(path, "x"))
        .into();
    odd.push(Reported {
        path: vec![b'n'; 300],
        what: ReportedKind::Whiteout,
    });
    for path in [
        ".git",
        ".GIT",
        "git~1",
        ".git ",
        ".g\u{200c}it",
        ".jj",
        "src/.svn",
    ] {
        odd.push(dir(path));
        odd.push(scene.file(&format!("{path}/config"), "x"));
    }
    odd.extend([
        scene.file(".git::$INDEX_ALLOCATION", "x"),
        other("fifo", "a FIFO"),
        other("dev", "a device"),
        link("abs", "/etc/passwd"),
        link("out", "../x"),
        link("src/out", "../../x"),
        link("hooks", ".git/hooks"),
        dir("bare"),
        scene.file("bare/HEAD", ""),
        dir("bare/objects"),
        dir("bare/refs"),
        scene.file("good", "x"),
        dir("src"),
        link("src/good", "../a"),
        link("src/here", "m"),
    ]);
    let count = odd.len();
    let set = scene.set(odd);
    assert_eq!(
        told(&set),
        ["create good", "create src/good", "create src/here"]
    );
    // Each refused folder is named once, whatever is in it.
    assert_eq!(set.refused.len(), count - 4 - 7 - 3, "{:?}", refused(&set));
    assert!(
        set.refused
            .iter()
            .all(|one| !one.path.chars().any(char::is_control) && one.reason.len() > 10)
    );
    assert!(
        set.get(&"src/good".parse().unwrap())
            .unwrap()
            .sensitive
            .is_some()
    );
}

#[test]
fn a_report_that_contradicts_itself_is_not_used_at_all() {
    let scene = Scene::new(&[("f", "x"), ("d/x", "y")]);
    let missing = Reported {
        path: name("m"),
        what: ReportedKind::File {
            mode: 0,
            size: 1,
            content: None,
        },
    };
    let mut lie = scene.file("l", "four");
    if let ReportedKind::File { size, .. } = &mut lie.what {
        *size = 5;
    }
    for report in [
        vec![scene.file("a", "1"), scene.file("a", "2")],
        vec![link("l", "d"), scene.file("l/x", "1")],
        vec![scene.file("f/x", "1")],
        vec![scene.file("nowhere/x", "1")],
        vec![gone("d"), scene.file("d/x", "1")],
        vec![missing],
        vec![lie],
    ] {
        let text = format!("{report:?}");
        assert!(
            matches!(scene.build(report), Err(ChangeError::Protocol(_))),
            "{text}"
        );
    }
}

#[test]
fn caps_hold() {
    let scene = Scene::new(&[(".gitignore", "target/\n")]);
    let caps = Caps {
        entries: 3,
        file: 4,
        total: 6,
    };
    let set = scene
        .build_with(
            vec![scene.file("big", "12345"), scene.file("ok", "1234")],
            caps,
        )
        .unwrap();
    assert_eq!(
        (told(&set), refused(&set)),
        (vec!["create ok".to_owned()], vec!["big"])
    );
    let many: Vec<_> = ["a", "b", "c", "d"].map(|path| scene.file(path, "")).into();
    assert!(matches!(
        scene.build_with(many, caps),
        Err(ChangeError::TooMuch(_))
    ));
    let fat = vec![scene.file("a", "1234"), scene.file("b", "123")];
    assert!(matches!(
        scene.build_with(fat, caps),
        Err(ChangeError::TooMuch(_))
    ));
    // What an ignore rule names does not count, and its content is not wanted.
    let mut ignored = vec![dir("target")];
    ignored.extend((0..99).map(|number| scene.file(&format!("target/{number}"), "123")));
    let set = scene.build_with(ignored, caps).unwrap();
    assert_eq!(refused(&set), ["target"]);
    assert!(
        set.refused[0].reason.contains("99 files"),
        "{:?}",
        set.refused
    );
    let workspace = scene.workspace();
    let builder = ChangeSetBuilder::new(scene.base.as_ref().unwrap(), &workspace, caps).unwrap();
    for (path, size, wanted) in [
        ("src/x", 4, true),
        ("src/x", 5, false),
        ("target/x", 1, false),
        (".git/x", 1, false),
        ("../x", 1, false),
    ] {
        assert_eq!(builder.wants(path.as_bytes(), size), wanted, "{path}");
    }
    for (path, is_dir, top) in [
        ("src/x", false, None),
        ("target", true, Some("target")),
        ("target/deep/x", false, Some("target")),
        ("src/.git", true, Some("src/.git")),
        ("../x", false, None),
    ] {
        let stops = builder.stops(path.as_bytes(), is_dir);
        assert_eq!(stops.map(|top| top.to_string()).as_deref(), top, "{path}");
    }
}

#[test]
fn what_the_guest_never_saw_is_not_overwritten() {
    let scene = Scene::new(&[(".env", "SECRET"), ("src/key.pem", "K"), ("a", "x")]);
    fs::remove_file(scene.at("src/key.pem")).unwrap();
    let set = scene.set(vec![
        scene.file(".env", "mine"),
        dir("src"),
        scene.file("src/key.pem", "new"),
    ]);
    assert_eq!(refused(&set), [".env"]);
    assert_eq!(told(&set), ["create src/key.pem"]);
    assert_eq!(
        set.changes[0].sensitive.as_deref(),
        Some("was left out of the snapshot")
    );
}

#[test]
fn a_link_of_the_base_may_point_anywhere() {
    let mut scene = Scene::new(&[("a", "x")]);
    symlink("/etc/hosts", scene.at("abs")).unwrap();
    scene.capture();
    assert!(scene.set(vec![link("abs", "/etc/hosts")]).is_empty());
    assert_eq!(told(&scene.set(vec![gone("abs")])), ["delete abs"]);
}

#[test]
fn digests_are_of_the_bytes() {
    let scene = Scene::new(&[("a", "x")]);
    let set = scene.set(vec![scene.file("a", "y")]);
    let sides: BTreeMap<_, _> = [
        ("before", &set.changes[0].before),
        ("after", &set.changes[0].after),
    ]
    .into();
    for (side, text) in [("before", "x"), ("after", "y")] {
        let Some(Side::File { digest, .. }) = sides[side] else {
            panic!("a file");
        };
        assert_eq!(*digest, Digest::of(text.as_bytes()));
    }
}
