//! What an image should hold, the random trees, and the outside programs that judge images.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    io::Cursor,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::PermissionsExt,
    },
    path::Path,
    process::Command,
};

use legwork_erofs::{Builder, Entry, Image, Kind, Meta};
use proptest::prelude::*;
use tempfile::TempDir;

#[derive(Clone, Debug)]
pub(crate) enum Node {
    File(Vec<u8>),
    Dir,
    Symlink(Vec<u8>),
}

/// A tree by its paths. Parents are implied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    nodes: BTreeMap<Vec<u8>, (Meta, Node)>,
}

impl Model {
    pub(crate) fn file(&mut self, path: &[u8], content: Vec<u8>) {
        self.add(path, Meta::file(), Node::File(content));
    }

    pub(crate) fn dir(&mut self, path: &[u8]) {
        self.add(path, Meta::dir(), Node::Dir);
    }

    pub(crate) fn symlink(&mut self, path: &[u8], target: Vec<u8>) {
        self.add(
            path,
            Meta {
                mode: 0o777,
                ..Meta::file()
            },
            Node::Symlink(target),
        );
    }

    /// Adds a node, and its parents, unless something is in the way.
    fn add(&mut self, path: &[u8], meta: Meta, node: Node) {
        let parents = || {
            path.iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'/')
                .map(|(at, _)| &path[..at])
        };
        let blocked = |parent| {
            matches!(
                self.nodes.get(parent),
                Some((_, Node::File(_) | Node::Symlink(_)))
            )
        };
        if self.nodes.contains_key(path) || parents().any(blocked) {
            return;
        }
        for parent in parents() {
            self.nodes
                .entry(parent.to_vec())
                .or_insert((Meta::dir(), Node::Dir));
        }
        self.nodes.insert(path.to_vec(), (meta, node));
    }

    /// The image, its entries added children first, so that parents come into being on their own.
    pub(crate) fn build(&self) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut builder = Builder::new(&mut bytes).unwrap();
        for (path, (meta, node)) in self.nodes.iter().rev() {
            match node {
                Node::File(content) => {
                    let size = content.len() as u64;
                    let stored = builder
                        .add_file(path, *meta, size, &mut &content[..])
                        .unwrap();
                    assert_eq!((stored.len, stored.offset % 4096), (size, 0));
                }
                Node::Dir => builder.add_dir(path, *meta).unwrap(),
                Node::Symlink(target) => builder.add_symlink(path, *meta, target).unwrap(),
            }
        }
        let size = builder.finish().unwrap();
        assert_eq!((size, size % 4096), (bytes.get_ref().len() as u64, 0));
        bytes.into_inner()
    }
}

/// Random trees with names that sort on both sides of `.` and `..`.
pub(crate) fn trees() -> impl Strategy<Value = Model> {
    let name = prop_oneof![
        4 => "[a-c]",
        1 => "[!-.0-9]{1,3}",
        1 => prop::collection::vec(any::<u8>(), 1..=255).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
    .prop_map(String::into_bytes);
    let raw = prop::collection::vec(1_u8.., 1..=255);
    let name = prop_oneof![3 => name, 1 => raw].prop_filter("a name", |name| {
        name.len() <= 255
            && !name.contains(&0)
            && !name.contains(&b'/')
            && name != b"."
            && name != b".."
    });
    let path = prop::collection::vec(name, 1..6).prop_map(|parts| parts.join(&b'/'));
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        (4090_usize..4100, any::<u8>()).prop_map(|(size, byte)| vec![byte; size]),
        prop::collection::vec(any::<u8>(), 0..20_000),
    ];
    let target = prop_oneof![
        9 => prop::collection::vec(1_u8.., 1..60),
        1 => prop::collection::vec(1_u8.., 4000..=4095),
    ];
    let node = prop_oneof![
        content.prop_map(Node::File),
        Just(Node::Dir),
        target.prop_map(Node::Symlink)
    ];
    // Whoever unpacks must be able to write into directories.
    let meta = (
        0_u16..0o1000,
        any::<u32>(),
        any::<u32>(),
        any::<i64>(),
        0_u32..1_000_000_000,
    )
        .prop_map(|(mode, uid, gid, secs, nanos)| Meta {
            mode,
            uid,
            gid,
            mtime: (secs, nanos),
        });
    prop::collection::vec((path, meta, node), 0..60).prop_map(|nodes| {
        let mut model = Model::default();
        for (path, mut meta, node) in nodes {
            if matches!(node, Node::Dir) {
                meta.mode |= 0o700;
            }
            model.add(&path, meta, node);
        }
        model
    })
}

type Entries = BTreeMap<Vec<u8>, Entry>;

pub(crate) fn read(image: &[u8]) -> (Entries, Image<Cursor<&[u8]>>) {
    let mut image = Image::open(Cursor::new(image)).unwrap();
    (image.read_tree().unwrap(), image)
}

/// The crate's own reader sees exactly the model.
pub(crate) fn check(bytes: &[u8], model: &Model) {
    let (mut tree, mut image) = read(bytes);
    let ours = bytes[1024 + 8..1024 + 12] == [2, 0, 0, 0];
    let below = |path: &[u8]| {
        let slash = if path.is_empty() { 0 } else { path.len() + 1 };
        let inside = |other: &&Vec<u8>| other.starts_with(path) && other.len() > slash;
        let direct = |other: &&Vec<u8>| !other[slash..].contains(&b'/');
        let dirs = model
            .nodes
            .iter()
            .filter(|(_, (_, node))| matches!(node, Node::Dir));
        let dirs = dirs.map(|(path, _)| path).filter(inside);
        dirs.filter(|other| slash == 0 || other[slash - 1] == b'/')
            .filter(direct)
            .count()
    };
    assert_eq!(
        tree.remove(&b""[..]).unwrap().links as usize,
        2 + below(b"")
    );
    assert!(tree.keys().eq(model.nodes.keys()), "the names differ");
    for ((path, (meta, node)), entry) in model.nodes.iter().zip(tree.values()) {
        if ours {
            assert_eq!(entry.meta, *meta);
        }
        match node {
            Node::File(content) => {
                assert_eq!(entry.links, 1);
                assert_eq!(
                    entry.kind,
                    Kind::File {
                        len: content.len() as u64
                    }
                );
                assert!(
                    image.read_file(entry).unwrap() == *content,
                    "{path:?} differs"
                );
                if let Some(stored) = entry.stored() {
                    let start = usize::try_from(stored.offset).unwrap();
                    assert!(bytes[start..][..content.len()] == *content);
                }
            }
            Node::Dir => {
                assert_eq!(entry.kind, Kind::Dir);
                assert_eq!(entry.links as usize, 2 + below(path));
            }
            Node::Symlink(target) => assert_eq!(entry.kind, Kind::Symlink(target.clone())),
        }
    }
}

/// Unpacks an image with `fsck.erofs` into `out` below the returned directory.
pub(crate) fn unpacked(image: &[u8]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("image");
    fs::write(&file, image).unwrap();
    let mut extract = std::ffi::OsString::from("--extract=");
    extract.push(dir.path().join("out"));
    let command = &mut Command::new("fsck.erofs");
    let output = command
        .arg("--preserve-perms")
        .arg("--no-preserve-owner")
        .arg(extract)
        .arg(file)
        .output();
    let output =
        output.expect("this test needs fsck.erofs: install erofs-utils (cargo xtask setup)");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    dir
}

/// `fsck.erofs` finds nothing wrong and unpacks exactly the model.
pub(crate) fn fsck_agrees(image: &[u8], model: &Model) {
    let dir = unpacked(image);
    let out = dir.path().join("out");
    let mut count = 0;
    let mut todo = vec![out.clone()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            count += 1;
            if entry.file_type().unwrap().is_dir() {
                todo.push(entry.path());
            }
        }
    }
    assert_eq!(count, model.nodes.len());
    for (path, (meta, node)) in &model.nodes {
        let path = out.join(Path::new(OsStr::from_bytes(path)));
        let found = path.symlink_metadata().unwrap();
        match node {
            Node::Symlink(target) => {
                assert_eq!(
                    fs::read_link(&path).unwrap().into_os_string().into_vec(),
                    *target
                );
                continue;
            }
            Node::Dir => assert!(found.is_dir()),
            Node::File(content) => {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
                assert!(
                    fs::read(&path).unwrap() == *content,
                    "{} differs",
                    path.display()
                );
            }
        }
        assert_eq!(found.permissions().mode() & 0o777, u32::from(meta.mode));
    }
}

/// What `mkfs.erofs` makes of a directory, with an option for `-E`.
pub(crate) fn mkfs(dir: &Path, option: &str) -> Vec<u8> {
    let image = dir.with_extension("erofs");
    let command = &mut Command::new("mkfs.erofs");
    if !option.is_empty() {
        command.args(["-E", option]);
    }
    let output = command.arg(&image).arg(dir).output();
    let output =
        output.expect("this test needs mkfs.erofs: install erofs-utils (cargo xtask setup)");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bytes = fs::read(&image).unwrap();
    fs::remove_file(image).unwrap();
    bytes
}
