//! Trees of every kind of name, content, type, mode and time: each entry is in the snapshot as it stands on the disk, or it
//! is named as one that is not.

use std::os::unix::fs::MetadataExt as _;

use proptest::{collection::vec, sample::select};
use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, mknodat, utimensat};

use super::*;

#[derive(Clone, Debug)]
enum Made {
    File(Vec<u8>),
    Link(Vec<u8>),
    Dir,
    Fifo,
    /// Of the file that was made before it.
    HardLink,
}

/// Names that trip programs, and any bytes at all.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let known = select(vec![
        b"a".to_vec(),
        b"A".to_vec(),
        b"-rf".to_vec(),
        b"--".to_vec(),
        b" x ".to_vec(),
        b"new\nline".to_vec(),
        b"\x1b[31m".to_vec(),
        b"back\\slash".to_vec(),
        b"\"q\" 'q' `q` $(q)".to_vec(),
        b"%00%2f".to_vec(),
        b"a -> b".to_vec(),
        "é".as_bytes().to_vec(),
        "e\u{301}".as_bytes().to_vec(),
        "\u{202e}txt.exe".as_bytes().to_vec(),
        "🎉文档".as_bytes().to_vec(),
        b"caf\xe9".to_vec(),
        b"...".to_vec(),
        b"aux.txt".to_vec(),
        b"a:b".to_vec(),
        vec![b'n'; 255],
        vec![0xff; 255],
    ]);
    let any = vec(any::<u8>(), 1..8).prop_map(|bytes| {
        let bytes: Vec<u8> = bytes
            .into_iter()
            .filter(|byte| !b"\0/".contains(byte))
            .collect();
        match bytes.as_slice() {
            b"" | b"." | b".." => b"dot".to_vec(),
            _ => bytes,
        }
    });
    prop_oneof![3 => known, 2 => any]
}

/// Texts in several encodings with every line ending, and any bytes.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = select(vec![
        &b"a\n"[..],
        b"a\r\n",
        b"a\r",
        b"\n",
        b"\xef\xbb\xbf",
        b"\xff\xfea\0\n\0",
        b"caf\xe9\n",
        b"\x83e\x83X\n",
        "né\u{2028}\n".as_bytes(),
        b"\0",
        b"no end",
    ]);
    prop_oneof![
        2 => vec(line, 0..8).prop_map(|lines| lines.concat()),
        1 => vec(any::<u8>(), 0..300),
        1 => (any::<u8>(), select(vec![0, 1, 4095, 4096, 4097, 70_000]))
            .prop_map(|(byte, size)| vec![byte; size]),
    ]
}

fn made() -> impl Strategy<Value = Made> {
    prop_oneof![
        5 => content().prop_map(Made::File),
        1 => vec(1_u8..=255, 1..40).prop_map(Made::Link),
        1 => Just(Made::Dir),
        1 => Just(Made::Fifo),
        1 => Just(Made::HardLink),
    ]
}

/// Seconds and nanoseconds since 1970, before it as well.
fn time() -> impl Strategy<Value = (i64, i64)> {
    (
        prop_oneof![
            -1_000_000_000..4_000_000_000_i64,
            Just(0),
            Just(1_700_000_000)
        ],
        prop_oneof![0..1_000_000_000_i64, Just(0), Just(999_999_999)],
    )
}

type Plan = Vec<(Vec<Vec<u8>>, Made, u32, (i64, i64))>;

fn plan() -> impl Strategy<Value = Plan> {
    let mode = select(vec![0o644, 0o755, 0o600, 0o400, 0o777, 0o640, 0o711]);
    vec((vec(name(), 1..4), made(), mode, time()), 0..16)
}

/// What cannot be made, because something stands in the way or the path is too long, is left out.
fn make(root: &Path, plan: &Plan) {
    let mut first = None;
    let mut made = Vec::new();
    for (parts, what, mode, time) in plan {
        let parts: Vec<&OsStr> = parts.iter().map(|part| OsStr::from_bytes(part)).collect();
        let path: PathBuf = root.join(parts.iter().collect::<PathBuf>());
        let _in_the_way = fs::create_dir_all(path.parent().unwrap());
        if path.symlink_metadata().is_ok() {
            continue;
        }
        let done = match what {
            Made::File(bytes) => fs::write(&path, bytes).is_ok(),
            Made::Link(target) => symlink(OsStr::from_bytes(target), &path).is_ok(),
            Made::Dir => fs::create_dir(&path).is_ok(),
            Made::Fifo => {
                let mode = Mode::from_raw_mode(0o600);
                mknodat(CWD, &path, FileType::Fifo, mode, 0).is_ok()
            }
            Made::HardLink => first
                .as_ref()
                .is_some_and(|first| fs::hard_link(first, &path).is_ok()),
        };
        if !done {
            continue;
        }
        if matches!(what, Made::File(_)) {
            first.get_or_insert_with(|| path.clone());
            fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
        }
        made.push((path, *time));
    }
    // The times last, the deepest first: making something in a folder changes the folder's.
    for (path, (tv_sec, tv_nsec)) in made.iter().rev() {
        let time = Timespec {
            tv_sec: *tv_sec,
            tv_nsec: *tv_nsec,
        };
        let times = Timestamps {
            last_access: time,
            last_modification: time,
        };
        utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn everything_is_carried_as_it_is_or_named(plan in plan()) {
        let scene = Scene::new();
        let root = scene.at("");
        make(&root, &plan);
        let snapshot = scene.plain();
        let mut dirs = vec![root.clone()];
        let mut seen = 0;
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(&dir).unwrap() {
                let full = entry.unwrap().path();
                let path = TreePath::from_path(full.strip_prefix(&root).unwrap()).unwrap();
                let metadata = full.symlink_metadata().unwrap();
                let Some(entry) = snapshot.manifest.get(&path) else {
                    let out = snapshot.manifest.left_out_at(&path);
                    prop_assert!(out.is_some(), "{path} is neither there nor named");
                    continue;
                };
                seen += 1;
                let mtime = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
                prop_assert_eq!(entry.mtime, mtime, "{}", path);
                prop_assert_eq!(u32::from(entry.mode), metadata.mode() & 0o777, "{}", path);
                match &entry.kind {
                    EntryKind::Dir => {
                        prop_assert!(metadata.is_dir(), "{path}");
                        dirs.push(full);
                    }
                    EntryKind::Symlink { target } => {
                        let real = fs::read_link(&full).unwrap();
                        prop_assert_eq!(target, &escape(real.as_os_str().as_bytes()));
                    }
                    EntryKind::File { .. } => {
                        prop_assert!(metadata.is_file(), "{path}");
                        prop_assert_eq!(snapshot.read(entry).unwrap(), fs::read(&full).unwrap(), "{}", path);
                    }
                }
            }
        }
        prop_assert_eq!(seen, snapshot.manifest.entries.len());
        image_agrees(&snapshot);
        // A name has one spelling that is safe to show, and it leads back.
        for entry in &snapshot.manifest.entries {
            let text = entry.path.to_string();
            prop_assert!(!text.chars().any(|c| c.is_control() || legwork_model::is_hidden(c)), "{text:?}");
            prop_assert_eq!(&text.parse::<TreePath>().unwrap(), &entry.path);
        }
    }
}

#[test]
fn a_hundred_thousand_files_in_one_folder() {
    let scene = Scene::new();
    fs::create_dir(scene.at("d")).unwrap();
    for number in 0..100_000 {
        fs::File::create(scene.at("d").join(format!("f{number}"))).unwrap();
    }
    let snapshot = scene.plain();
    assert_eq!(snapshot.manifest.entries.len(), 100_001);
    let mut image = Image::open(fs::File::open(&snapshot.image).unwrap()).unwrap();
    assert_eq!(image.read_tree().unwrap().len(), 100_002);
}
