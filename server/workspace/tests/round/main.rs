//! The whole way: a random tree is captured, a guest's overlay is imitated on a copy, the change set is made and applied
//! to the workspace, which must then equal the copy; and it is taken back.

#![expect(
    clippy::unwrap_used,
    reason = "the functions beside the test are the test"
)]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::{
        ffi::{OsStrExt as _, OsStringExt as _},
        fs::{PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
};

use legwork_model::{escape, unescape};
use legwork_workspace::{
    Applier, BlobStore, Caps, CaptureOptions, ChangeSetBuilder, Edit, Reported, ReportedKind,
    Workspace, capture,
};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    File(Vec<u8>, u32),
    Link(String),
    Dir,
}

/// Sorted by path, as text that stands for any bytes; parents are there.
type Model = BTreeMap<String, Node>;

#[derive(Clone, Debug)]
enum Mutation {
    Put(String, Node),
    Remove(usize),
    Move(usize, String),
    Touch(usize),
}

/// The bytes that a path of the model stands for.
fn raw(text: &str) -> OsString {
    OsString::from_vec(unescape(text).unwrap())
}

fn text(path: &Path) -> String {
    escape(path.as_os_str().as_bytes())
}

fn read(root: &Path) -> Model {
    let mut model = Model::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let node = if metadata.is_dir() {
                waiting.push(path.clone());
                Node::Dir
            } else if metadata.is_symlink() {
                Node::Link(text(&fs::read_link(&path).unwrap()))
            } else {
                Node::File(
                    fs::read(&path).unwrap(),
                    metadata.permissions().mode() & 0o777,
                )
            };
            let name = text(path.strip_prefix(root).unwrap());
            model.insert(name, node);
        }
    }
    model
}

/// Whatever stood in the way is gone afterwards.
fn put(root: &Path, path: &str, node: &Node) {
    let path = PathBuf::from(raw(path));
    let full = root.join(&path);
    let mut above = PathBuf::from(root);
    for part in path.parent().into_iter().flatten() {
        above.push(part);
        if !above.is_dir() || above.is_symlink() {
            let _nothing = fs::remove_file(&above);
            fs::create_dir(&above).unwrap();
        }
    }
    remove(&full);
    match node {
        Node::File(bytes, mode) => {
            fs::write(&full, bytes).unwrap();
            fs::set_permissions(&full, fs::Permissions::from_mode(*mode)).unwrap();
        }
        Node::Link(target) => symlink(raw(target), &full).unwrap(),
        Node::Dir => fs::create_dir(&full).unwrap(),
    }
}

fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    } else {
        let _nothing = fs::remove_file(path);
    }
}

fn mutate(root: &Path, mutation: &Mutation) {
    let paths: Vec<String> = read(root).into_keys().collect();
    let pick =
        |index: &usize| (!paths.is_empty()).then(|| root.join(raw(&paths[index % paths.len()])));
    match mutation {
        Mutation::Put(path, node) => put(root, path, node),
        Mutation::Remove(index) => {
            if let Some(path) = pick(index) {
                remove(&path);
            }
        }
        Mutation::Move(index, to) => {
            if let Some(path) = pick(index)
                && path.is_file()
                && !path.is_symlink()
            {
                let mode = path.metadata().unwrap().permissions().mode() & 0o777;
                let node = Node::File(fs::read(&path).unwrap(), mode);
                remove(&path);
                put(root, to, &node);
            }
        }
        Mutation::Touch(index) => {
            if let Some(path) = pick(index) {
                let file = fs::File::open(path);
                let _link_or_dir =
                    file.map(|file| file.set_modified(std::time::SystemTime::UNIX_EPOCH));
            }
        }
    }
}

/// What an overlay's upper layer would hold: `copied` base files were opened for writing and are the same.
fn upper(base: &Model, now: &Model, blobs: &BlobStore, whole_dirs: bool) -> Vec<Reported> {
    let mut report: BTreeMap<String, ReportedKind> = BTreeMap::new();
    let dir = |opaque| ReportedKind::Dir {
        mode: 0o755,
        opaque,
    };
    for path in base.keys().filter(|path| !now.contains_key(*path)) {
        // Only the top of what is gone has a whiteout, and none below what is no directory now.
        let parent = Path::new(path).parent().unwrap().display().to_string();
        if parent.is_empty() || now.get(&parent) == Some(&Node::Dir) {
            report.insert(path.clone(), ReportedKind::Whiteout);
        }
    }
    for (path, node) in now {
        let same = base.get(path) == Some(node);
        if same && (*node == Node::Dir || !whole_dirs) {
            continue;
        }
        let kind = match node {
            Node::File(bytes, mode) => ReportedKind::File {
                mode: *mode,
                size: bytes.len() as u64,
                content: Some(blobs.put(bytes).unwrap()),
            },
            Node::Link(target) => ReportedKind::Symlink {
                target: raw(target).into_vec(),
            },
            Node::Dir => dir(base.contains_key(path)),
        };
        report.insert(path.clone(), kind);
    }
    let mut parents = Vec::new();
    for path in report.keys() {
        for above in Path::new(path)
            .ancestors()
            .skip(1)
            .filter(|dir| dir.as_os_str() != "")
        {
            parents.push(above.display().to_string());
        }
    }
    for parent in parents {
        report.entry(parent).or_insert(dir(false));
    }
    let entry = |(path, what): (String, ReportedKind)| Reported {
        path: raw(&path).into_vec(),
        what,
    };
    report.into_iter().map(entry).collect()
}

fn path() -> impl Strategy<Value = String> {
    proptest::collection::vec(part(), 1..4).prop_map(|parts| parts.join("/"))
}

/// Few names, so that they meet, and among them those that trip programs.
fn part() -> impl Strategy<Value = String> {
    let odd = proptest::sample::select(vec![
        b"A".to_vec(),
        b"-rf".to_vec(),
        b" x ".to_vec(),
        b"new\nline".to_vec(),
        b"back\\slash".to_vec(),
        b"a -> b".to_vec(),
        "é".as_bytes().to_vec(),
        "e\u{301}".as_bytes().to_vec(),
        "\u{202e}txt".as_bytes().to_vec(),
        b"caf\xe9".to_vec(),
        vec![b'n'; 255],
    ]);
    prop_oneof![4 => "[abc]".boxed(), 1 => odd.prop_map(|bytes| escape(&bytes)).boxed()]
}

fn node() -> impl Strategy<Value = Node> {
    prop_oneof![
        6 => (proptest::collection::vec(any::<u8>(), 0..12), proptest::sample::select(vec![0o644, 0o755, 0o600, 0o664, 0o750])).prop_map(|(bytes, mode)| Node::File(bytes, mode)),
        1 => part().prop_map(Node::Link),
        1 => Just(Node::Dir),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    prop_oneof![
        3 => (path(), node()).prop_map(|(path, node)| Mutation::Put(path, node)),
        2 => any::<usize>().prop_map(Mutation::Remove),
        1 => (any::<usize>(), path()).prop_map(|(index, path)| Mutation::Move(index, path)),
        1 => any::<usize>().prop_map(Mutation::Touch),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn accepting_all_is_running_on_the_spot_and_undo_takes_it_back(
        tree in proptest::collection::vec((path(), node()), 0..12),
        mutations in proptest::collection::vec(mutation(), 0..8),
        whole_dirs in any::<bool>(),
    ) {
        let scratch = tempfile::tempdir().unwrap();
        let (live, copy) = (scratch.path().join("live"), scratch.path().join("copy"));
        for root in [&live, &copy] {
            fs::create_dir(root).unwrap();
            for (path, node) in &tree {
                put(root, path, node);
            }
        }
        let blobs = BlobStore::open(scratch.path().join("blobs")).unwrap();
        let workspace = Workspace::open(&live).unwrap();
        let image = scratch.path().join("image");
        let base = capture(&workspace, &image, &CaptureOptions::default(), &mut |_, _| {}).unwrap();
        let before = read(&live);
        for mutation in &mutations {
            mutate(&copy, mutation);
        }
        let after = read(&copy);
        let mut builder = ChangeSetBuilder::new(&base, &workspace, Caps::default()).unwrap();
        for entry in upper(&before, &after, &blobs, whole_dirs) {
            builder.add(entry).unwrap();
        }
        let set = builder.finish(&blobs).unwrap();
        prop_assert!(set.refused.is_empty(), "{:?}", set.refused);
        prop_assert_eq!(set.changes.is_empty(), before == after);
        let edits: Vec<Edit> = set.changes.iter().flat_map(Edit::accept).collect();
        let applier = Applier::new(&workspace, &scratch.path().join("journal"), &blobs);
        let applied = applier.apply(&edits, "").map_err(|error| TestCaseError::fail(format!("{error} {set:#?}")))?;
        prop_assert_eq!(read(&live), after, "{:#?}", set);
        applier.apply(&applied.undo, "").map_err(|error| TestCaseError::fail(format!("{error} {applied:#?}")))?;
        prop_assert_eq!(read(&live), before);
    }
}
