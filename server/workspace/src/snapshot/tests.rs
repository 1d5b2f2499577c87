//! Bytes in, same bytes out; what stays outside is named.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    io::Cursor,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, fs::symlink, net::UnixListener},
};

use legwork_erofs::{Image, Kind};
use legwork_model::Reason;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

mod kinds;
mod repository;

struct Scene {
    dir: TempDir,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("w")).unwrap();
        Self { dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("w").join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    fn capture(&self, options: &CaptureOptions) -> Snapshot {
        let workspace = Workspace::open(&self.at("")).unwrap();
        capture(
            &workspace,
            &self.dir.path().join("image"),
            options,
            &mut |_, _| {},
        )
        .unwrap()
    }

    fn plain(&self) -> Snapshot {
        self.capture(&CaptureOptions::default())
    }
}

fn files(snapshot: &Snapshot) -> BTreeMap<String, Vec<u8>> {
    let file = |entry: &&Entry| matches!(entry.kind, EntryKind::File { .. });
    snapshot
        .manifest
        .entries
        .iter()
        .filter(file)
        .map(|entry| (entry.path.to_string(), snapshot.read(entry).unwrap()))
        .collect()
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot
        .manifest
        .entries
        .iter()
        .map(|entry| entry.path.to_string())
        .collect()
}

fn left(snapshot: &Snapshot) -> Vec<(String, Reason)> {
    let out = snapshot.manifest.left_out.iter();
    out.map(|out| (out.path.to_string(), out.reason)).collect()
}

/// What the guest sees is what the manifest says, to the bit.
fn image_agrees(snapshot: &Snapshot) {
    let bytes = fs::read(&snapshot.image).unwrap();
    assert_eq!(bytes.len() as u64, snapshot.bytes);
    let mut image = Image::open(Cursor::new(bytes)).unwrap();
    let mut tree = image.read_tree().unwrap();
    tree.remove(&b""[..]);
    assert_eq!(tree.len(), snapshot.manifest.entries.len());
    for entry in &snapshot.manifest.entries {
        let seen = &tree[entry.path.as_bytes()];
        assert_eq!(seen.meta.mode & 0o777, entry.mode);
        let mtime = i128::from(seen.meta.mtime.0) * 1_000_000_000 + i128::from(seen.meta.mtime.1);
        assert_eq!(mtime, entry.mtime, "{}", entry.path);
        match (&seen.kind, &entry.kind) {
            (Kind::File { len }, EntryKind::File { size, offset, .. }) => {
                assert_eq!(len, size);
                if *size > 0 {
                    assert_eq!(seen.stored().unwrap().offset, *offset);
                }
                assert_eq!(
                    image.read_file(seen).unwrap(),
                    snapshot.read(entry).unwrap()
                );
            }
            (Kind::Dir, EntryKind::Dir) => {}
            (Kind::Symlink(bytes), EntryKind::Symlink { target }) => {
                assert_eq!(escape(bytes), *target);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_tree_as_it_is_with_everything_that_is_left_out_named() {
    let scene = Scene::new();
    scene
        .write("src/main.rs", "fn main() {}\r\n")
        .write("empty", "")
        .write(".hidden/x", "x")
        .write(".gitignore", "target/\n*.log\n")
        .write("target/deep/out", "o")
        .write("a.log", "l")
        .write(".env", "SECRET=1")
        .write(".env.example", "SECRET=")
        .write("sub/.git", "gitdir: ../elsewhere\n")
        .write("sub/file", "s")
        .write(".jj/repo", "")
        .write("keys/id_rsa", "k")
        .write("bare/HEAD", "ref: x\n")
        .write("bare/objects/x", "")
        .write("bare/refs/x", "")
        .write("big", vec![1; 5000]);
    fs::create_dir(scene.at("nothing")).unwrap();
    symlink("..", scene.at("up")).unwrap();
    symlink(".", scene.at("loop")).unwrap();
    symlink(OsStr::from_bytes(b"/etc/\xff"), scene.at("out")).unwrap();
    let _socket = UnixListener::bind(scene.at("socket")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        scene.at("fifo"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    fs::hard_link(scene.at("src/main.rs"), scene.at("src/hard.rs")).unwrap();
    fs::set_permissions(scene.at("sub/file"), fs::Permissions::from_mode(0o4750)).unwrap();
    let snapshot = scene.capture(&CaptureOptions {
        max_file: 4999,
        ..CaptureOptions::default()
    });
    assert_eq!(
        names(&snapshot),
        [
            ".env.example",
            ".gitignore",
            ".hidden",
            ".hidden/x",
            "empty",
            "keys",
            "loop",
            "nothing",
            "out",
            "src",
            "src/hard.rs",
            "src/main.rs",
            "sub",
            "sub/file",
            "up",
        ]
    );
    use Reason::{Ignored, Secret, Special, TooLarge, VersionControl};
    assert_eq!(
        left(&snapshot),
        [
            (".env", Secret),
            (".jj", VersionControl),
            ("a.log", Ignored),
            ("bare", VersionControl),
            ("big", TooLarge),
            ("fifo", Special),
            ("keys/id_rsa", Secret),
            ("socket", Special),
            ("sub/.git", VersionControl),
            ("target", Ignored),
        ]
        .map(|(path, reason)| (path.to_owned(), reason))
    );
    assert_eq!(files(&snapshot)["src/hard.rs"], b"fn main() {}\r\n");
    let sub = snapshot.manifest.get(&"sub/file".parse().unwrap()).unwrap();
    assert_eq!(sub.mode, 0o750);
    let mode = fs::metadata(&snapshot.image).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    image_agrees(&snapshot);
    let saved = scene.dir.path().join("manifest");
    snapshot.save(&saved).unwrap();
    assert_eq!(Snapshot::load(&saved).unwrap(), snapshot);
}

#[test]
fn an_empty_workspace_is_a_workspace() {
    let snapshot = Scene::new().plain();
    assert_eq!(snapshot.manifest, Manifest::default());
}

#[test]
fn what_is_named_comes_along() {
    let scene = Scene::new();
    scene
        .write(".gitignore", "gen/\nnode_modules/\n.env\n")
        .write(".env", "1")
        .write("app/.env", "2")
        .write("gen/types.ts", "3")
        .write("gen/other.ts", "4")
        .write("node_modules/x/.env", "5");
    let snapshot = scene.capture(&CaptureOptions {
        include: vec![".env".into(), "gen/types.ts".into()],
        ..CaptureOptions::default()
    });
    let keys: Vec<_> = files(&snapshot).into_keys().collect();
    assert_eq!(keys, [".env", ".gitignore", "app/.env", "gen/types.ts"]);
    assert_eq!(
        left(&snapshot),
        [
            ("gen/other.ts".into(), Reason::Ignored),
            ("node_modules".into(), Reason::Ignored)
        ]
    );
    let workspace = Workspace::open(&scene.at("")).unwrap();
    let bad = CaptureOptions {
        include: vec!["a[".into()],
        ..CaptureOptions::default()
    };
    assert!(matches!(
        capture(
            &workspace,
            &scene.dir.path().join("i"),
            &bad,
            &mut |_, _| {}
        ),
        Err(CaptureError::Include { .. })
    ));
}

#[test]
fn tracked_files_belong_although_a_rule_names_them() {
    let scene = Scene::new();
    scene
        .write("gen/keep", "k")
        .write("gen/drop", "d")
        .write("a", "staged");
    let git = |args: &[&str]| {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(scene.at(""))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "gen/keep", "a"]);
    scene
        .write(".gitignore", "gen/\n")
        .write("a", "edited")
        .write("untracked", "u");
    let index = fs::read(scene.at(".git/index")).unwrap();
    let files = files(&scene.plain());
    let keys: Vec<_> = files.keys().collect();
    assert_eq!(keys, [".gitignore", "a", "gen/keep", "untracked"]);
    assert_eq!(files["a"], b"edited");
    assert_eq!(fs::read(scene.at(".git/index")).unwrap(), index);
}

#[test]
fn unsaved_text_takes_the_place_of_what_is_on_disk() {
    let scene = Scene::new();
    scene
        .write("a", "disk")
        .write(".env", "s")
        .write("d/x", "x");
    let buffer = |path: &str, text: &str| (path.parse().unwrap(), text.as_bytes().to_vec());
    let snapshot = scene.capture(&CaptureOptions {
        buffers: vec![
            buffer("a", "editor"),
            buffer("new/deep/b", "n"),
            buffer(".env", "no"),
            buffer("d", "a dir"),
        ],
        ..CaptureOptions::default()
    });
    assert_eq!(
        names(&snapshot),
        ["a", "d", "d/x", "new", "new/deep", "new/deep/b"]
    );
    assert_eq!(files(&snapshot)["a"], b"editor");
    assert_eq!(fs::read(scene.at("a")).unwrap(), b"disk");
}

#[test]
fn odd_names_and_deep_trees_are_carried() {
    let scene = Scene::new();
    let long = "n".repeat(255);
    for name in [
        b"caf\xe9.txt".as_slice(),
        b"a\nb",
        b" x ",
        b"-rf",
        b"a\\b",
        long.as_bytes(),
        b"\xff\xfe",
    ] {
        fs::write(scene.at("").join(OsStr::from_bytes(name)), name).unwrap();
    }
    let mut deep = scene.at("deep");
    for _ in 0..300 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("end"), "e").unwrap();
    let snapshot = scene.plain();
    assert_eq!(files(&snapshot).len(), 8);
    assert!(files(&snapshot).contains_key("caf\\xe9.txt"));
    image_agrees(&snapshot);
}

#[test]
fn a_mount_is_left_out_and_a_damaged_image_is_seen() {
    let scene = Scene::new();
    scene.write("a", "hello");
    let snapshot = scene.plain();
    let mut bytes = fs::read(&snapshot.image).unwrap();
    let entry = &snapshot.manifest.entries[0];
    let EntryKind::File { offset, .. } = entry.kind else {
        panic!("a file");
    };
    bytes[usize::try_from(offset).unwrap()] ^= 1;
    fs::write(&snapshot.image, bytes).unwrap();
    assert!(matches!(
        snapshot.read(entry),
        Err(SnapshotError::Damaged(_))
    ));
    // /dev is a mount on every Linux machine, and what stands below it is not ours to copy.
    let root = fs::File::open("/").unwrap();
    let error = crate::beneath::open_dir(&root, b"proc").unwrap_err();
    assert_eq!(walk::reason(&error.into()), Reason::OtherFileSystem);
}

#[test]
fn a_file_that_keeps_changing_is_named_and_never_half() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let scene = Scene::new();
    scene.write("calm", "c");
    let stop = AtomicBool::new(false);
    let path = scene.at("busy");
    fs::write(&path, vec![0; 1 << 20]).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut byte = 0_u8;
            while !stop.load(Ordering::Relaxed) {
                byte = byte.wrapping_add(1);
                fs::write(&path, vec![byte; 1 << 20]).unwrap();
            }
        });
        for _ in 0..5 {
            let snapshot = scene.plain();
            assert_eq!(files(&snapshot)["calm"], b"c");
            match files(&snapshot).get("busy") {
                Some(bytes) => assert!(bytes.windows(2).all(|two| two[0] == two[1])),
                None => assert_eq!(left(&snapshot), [("busy".into(), Reason::Vanished)]),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn bytes_in_are_bytes_out(
        tree in proptest::collection::btree_map("[a-c]{1,2}(/[a-c ü]{1,3}){0,3}", proptest::collection::vec(any::<u8>(), 0..9000), 0..20)
    ) {
        let scene = Scene::new();
        let mut written = BTreeMap::new();
        for (path, bytes) in tree {
            let path = path.trim_matches('/').to_owned();
            let full = scene.at(&path);
            if fs::create_dir_all(full.parent().unwrap()).is_ok() && fs::write(&full, &bytes).is_ok() {
                written.insert(path, bytes);
            }
        }
        let snapshot = scene.plain();
        prop_assert_eq!(files(&snapshot), written);
        image_agrees(&snapshot);
    }
}
