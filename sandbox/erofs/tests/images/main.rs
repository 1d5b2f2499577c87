//! Images are checked three ways: by this crate's reader, by `fsck.erofs`, which unpacks them, and
//! by feeding the reader what `mkfs.erofs` made.
#![expect(
    clippy::unwrap_used,
    reason = "a test ends where something unforeseen happens"
)]

mod model;

use std::{
    fs::{self, File},
    io::{self, Cursor, Read, Seek, SeekFrom, Write},
    os::unix::fs::FileExt,
};

use legwork_erofs::{BLOCK_SIZE, Builder, Image, Kind, Meta, Special, TreeError, WriteError};
use model::{Model, check, fsck_agrees, mkfs, read, unpacked};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any tree comes back byte for byte, through both readers.
    #[test]
    fn random_trees_come_back(model in model::trees()) {
        let image = model.build();
        check(&image, &model);
        fsck_agrees(&image, &model);
    }

    /// A damaged image is an error or another tree, never a panic or endless work.
    #[test]
    fn damage_is_survived(
        model in model::trees(),
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        metadata_only in any::<bool>(),
    ) {
        let mut bytes = model.build();
        let start = if metadata_only { bytes.len() - 4096 } else { 1024 };
        for (place, value) in hits {
            let at = start + place.index(bytes.len() - start);
            bytes[at] = value;
        }
        if let Ok(mut image) = Image::open(Cursor::new(bytes))
            && let Ok(tree) = image.read_tree()
        {
            for entry in tree.values() {
                drop(image.read_file(entry));
            }
        }
    }
}

#[test]
fn sizes_around_a_block_come_back() {
    let mut model = Model::default();
    for size in [
        0,
        1,
        4031,
        4032,
        4033,
        4095,
        4096,
        4097,
        8192,
        1 << 20,
        (1 << 20) + 1,
    ] {
        model.file(format!("files/{size}").as_bytes(), vec![7; size]);
    }
    for size in [1, 4031, 4032, 4033, 4095] {
        model.symlink(format!("links/{size}").as_bytes(), vec![b't'; size]);
    }
    let image = model.build();
    check(&image, &model);
    fsck_agrees(&image, &model);
}

#[test]
fn names_of_all_lengths_come_back() {
    let mut model = Model::default();
    for length in 1..=255 {
        model.file(&vec![b'n'; length], vec![]);
        model.dir(&[&vec![0xff; length][..], b"/empty"].concat());
    }
    for name in [
        "!", "-", ".-", "..-", ".a", "..a", "...", " ", "\n", "\u{1}", "a\\b",
    ] {
        model.file(name.as_bytes(), name.as_bytes().to_vec());
    }
    let image = model.build();
    check(&image, &model);
    fsck_agrees(&image, &model);
}

/// `fsck.erofs` looks behind each inode for attributes, even if there are none.
#[test]
fn the_last_inode_is_not_at_the_very_end() {
    let mut reached = false;
    for (length, number) in (0..4).flat_map(|length| (10..99).map(move |number| (length, number))) {
        let mut model = Model::default();
        model.file(&vec![b'n'; 1 + length * 16], vec![]);
        for number in 10..=number {
            model.file(format!("{number}").as_bytes(), vec![]);
        }
        let image = model.build();
        let (tree, _) = read(&image);
        let last = tree
            .values()
            .map(|entry| entry.inode * 32 + 64)
            .max()
            .unwrap();
        if last % BLOCK_SIZE == 0 {
            reached = true;
            fsck_agrees(&image, &model);
        }
    }
    assert!(reached, "no image ends with an inode at the end of a block");
}

#[test]
fn large_and_deep_directories_come_back() {
    let mut model = Model::default();
    for number in 0..10_000 {
        model.file(
            format!("many/entry-{number}").as_bytes(),
            number.to_string().into_bytes(),
        );
    }
    for depth in 1..=50 {
        let path = vec!["directory"; depth].join("/");
        model.dir(path.as_bytes());
        model.file(format!("{path}/leaf").as_bytes(), vec![b'x'; depth]);
    }
    let image = model.build();
    check(&image, &model);
    fsck_agrees(&image, &model);
}

#[test]
fn the_reader_understands_other_writers() {
    let mut model = Model::default();
    for (path, size) in [
        ("a", 0),
        ("b/c", 10),
        ("b/d", 4096),
        ("b/e", 5000),
        ("f/g/h", 70_000),
    ] {
        model.file(path.as_bytes(), (0_u8..=255).cycle().take(size).collect());
    }
    for number in 0..600 {
        model.file(format!("many/some-entry-{number}").as_bytes(), vec![]);
    }
    model.symlink(b"link", b"b/c".to_vec());
    let dir = unpacked(&model.build());
    for features in [
        "",
        "noinline_data",
        "force-inode-extended",
        "force-inode-compact",
    ] {
        check(&mkfs(&dir.path().join("out"), features), &model);
    }
}

#[test]
fn links_and_devices_come_back() {
    let mut bytes = Cursor::new(Vec::new());
    let mut builder = Builder::new(&mut bytes).unwrap();
    let meta = Meta {
        mode: 0o640,
        uid: 70_000,
        gid: 70_001,
        mtime: (-5, 999_999_999),
    };
    builder
        .add_file(b"d/first", meta, 4, &mut &b"text"[..])
        .unwrap();
    builder.add_hard_link(b"second", b"d/first").unwrap();
    let specials = [
        (&b"fifo"[..], Special::Fifo),
        (b"socket", Special::Socket),
        (b"null", Special::Char { major: 1, minor: 3 }),
        (
            b"disk",
            Special::Block {
                major: 259,
                minor: 70_000,
            },
        ),
    ];
    for (path, special) in specials {
        builder.add_special(path, meta, special).unwrap();
    }
    let missing = builder.add_hard_link(b"third", b"nothing");
    assert!(matches!(missing, Err(WriteError::Tree(TreeError::Link(_)))));
    builder.set_uuid([9; 16]);
    builder.finish().unwrap();

    let (tree, mut image) = read(bytes.get_ref());
    let first = &tree[&b"d/first"[..]];
    assert_eq!((first.links, first.meta), (2, meta));
    assert_eq!(first, &tree[&b"second"[..]]);
    assert_eq!(image.read_file(first).unwrap(), b"text");
    assert_eq!(tree[&b""[..]].links, 3);
    for (path, special) in specials {
        assert_eq!(tree[path].kind, Kind::Special(special));
    }
    assert_eq!(bytes.get_ref()[1024 + 48..1024 + 64], [9; 16]);
}

#[test]
fn bad_paths_are_refused_and_change_nothing() {
    let mut bytes = Cursor::new(Vec::new());
    let mut builder = Builder::new(&mut bytes).unwrap();
    builder
        .add_file(b"file", Meta::file(), 0, &mut io::empty())
        .unwrap();
    builder.add_dir(b"dir/below", Meta::dir()).unwrap();
    let long = [b'n'; 256];
    let bad: [&[u8]; 10] = [
        b"/a", b"a/", b"a//b", b".", b"..", b"a/../b", b"a/.", b"a\0", b"\0", &long,
    ];
    for path in bad {
        let refused = builder.add_file(path, Meta::file(), 0, &mut io::empty());
        assert!(
            matches!(refused, Err(WriteError::Tree(TreeError::Path(_)))),
            "{path:?}"
        );
    }
    for path in [&b"file"[..], b"dir", b"dir/below"] {
        let twice = builder.add_file(path, Meta::file(), 0, &mut io::empty());
        assert!(
            matches!(twice, Err(WriteError::Tree(TreeError::Exists(_)))),
            "{path:?}"
        );
    }
    // A directory that came into being as a parent may be named once.
    builder
        .add_dir(
            b"dir",
            Meta {
                mode: 0o700,
                ..Meta::dir()
            },
        )
        .unwrap();
    for path in [&b"dir"[..], b"dir/below", b"file"] {
        assert!(builder.add_dir(path, Meta::dir()).is_err(), "{path:?}");
    }
    let below = builder.add_dir(b"file/below", Meta::dir());
    assert!(matches!(below, Err(WriteError::Tree(TreeError::Parent(_)))));
    for target in [&b""[..], b"a\0b", &[b't'; 4096]] {
        let refused = builder.add_symlink(b"link", Meta::file(), target);
        assert!(matches!(
            refused,
            Err(WriteError::Tree(TreeError::Target(_)))
        ));
    }
    builder.finish().unwrap();

    let (tree, _) = read(bytes.get_ref());
    let paths: Vec<_> = tree
        .keys()
        .map(|path| String::from_utf8_lossy(path))
        .collect();
    assert_eq!(paths, ["", "dir", "dir/below", "file"]);
    assert_eq!(tree[&b"dir"[..]].meta.mode, 0o700);
}

/// Yields `left` bytes and then an error.
struct Failing {
    left: usize,
}

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other("gone"));
        }
        let count = buffer.len().min(self.left);
        buffer[..count].fill(b'!');
        self.left -= count;
        Ok(count)
    }
}

#[test]
fn a_file_that_cannot_be_read_is_left_out() {
    for size in [0, 10, 5_000, 3 << 20] {
        let mut bytes = Cursor::new(Vec::new());
        let mut builder = Builder::new(&mut bytes).unwrap();
        builder
            .add_file(b"before", Meta::file(), 3, &mut &b"one"[..])
            .unwrap();
        let failed = builder.add_file(b"bad", Meta::file(), 9, &mut Failing { left: size });
        assert!(matches!(failed, Err(WriteError::Read { .. })));
        // What the size was believed to be does not matter either way.
        builder
            .add_file(b"longer", Meta::file(), 1, &mut &[1; 9_000][..])
            .unwrap();
        builder
            .add_file(b"shorter", Meta::file(), 1 << 40, &mut &b"two"[..])
            .unwrap();
        let size = builder.finish().unwrap();
        assert_eq!(size, bytes.get_ref().len() as u64);

        let mut model = Model::default();
        model.file(b"before", b"one".to_vec());
        model.file(b"longer", vec![1; 9_000]);
        model.file(b"shorter", b"two".to_vec());
        check(bytes.get_ref(), &model);
        fsck_agrees(bytes.get_ref(), &model);
    }
}

#[test]
fn large_files_are_copied_whole_and_read_back_at_their_offset() {
    let dir = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0_u32..900_000).flat_map(u32::to_le_bytes).collect();
    fs::write(dir.path().join("source"), &content).unwrap();
    fs::write(dir.path().join("small"), b"small").unwrap();
    let image = File::create_new(dir.path().join("image")).unwrap();
    let mut builder = Builder::new(&image).unwrap();
    let mut open = |name: &str, path: &[u8], from: u64| {
        let mut file = File::open(dir.path().join(name)).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        builder.add_file_from(path, Meta::file(), &file).unwrap()
    };
    let stored = [
        open("small", b"a", 0),
        open("source", b"b", 0),
        open("small", b"c", 2),
    ];
    let rest = open("source", b"d", 1_000_001);
    let size = builder.finish().unwrap();
    assert_eq!(size, image.metadata().unwrap().len());
    assert_eq!(size % BLOCK_SIZE, 0);

    let bytes = fs::read(dir.path().join("image")).unwrap();
    let (tree, _) = read(&bytes);
    assert_eq!(tree[&b"b"[..]].stored(), Some(stored[1]));
    let mut model = Model::default();
    model.file(b"a", b"small".to_vec());
    model.file(b"b", content.clone());
    model.file(b"c", b"all".to_vec());
    model.file(b"d", content[1_000_001..].to_vec());
    check(&bytes, &model);
    fsck_agrees(&bytes, &model);

    let reopened = File::open(dir.path().join("image")).unwrap();
    let mut back = vec![0; usize::try_from(rest.len).unwrap()];
    reopened.read_exact_at(&mut back, rest.offset).unwrap();
    assert_eq!(back, content[1_000_001..]);
}

/// A disk with room for `left` bytes.
struct Full {
    left: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

#[test]
fn a_full_disk_ends_the_image() {
    let mut builder = Builder::new(Full { left: 2 << 20 }).unwrap();
    let mut add =
        |path: &[u8], size: usize| builder.add_file(path, Meta::file(), 0, &mut &vec![1; size][..]);
    add(b"fits", 1 << 20).unwrap();
    assert!(matches!(
        add(b"does not", 4 << 20),
        Err(WriteError::Write(_))
    ));
    // A later write that would fit must not make a valid image out of a broken one.
    assert!(matches!(builder.finish(), Err(WriteError::Write(_))));
}
