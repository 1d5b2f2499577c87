//! Scans of plain folders: whiteouts and opaque folders need an overlay, which `tests/vm` has.

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    time::{Duration, SystemTime},
};

use super::*;

/// A layer, and what a host would know of it.
struct Layer {
    dir: tempfile::TempDir,
    known: Known,
    skips: HashSet<Vec<u8>>,
}

impl Layer {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            known: Known::new(100),
            skips: HashSet::new(),
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn try_scan(&mut self) -> Result<Vec<String>, Trouble> {
        let dir = File::open(self.dir.path()).unwrap();
        let mut scan = self.known.scan(dir.as_fd(), &self.skips)?;
        let mut lines = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        loop {
            match scan.step()? {
                Step::End => break,
                Step::Nothing => {}
                Step::Gone(path) => lines.push(format!("-{}", text(&path))),
                Step::News(News { found, data }) => {
                    let what = match found.kind {
                        FoundKind::File { mode, size } => {
                            assert_eq!(size, data.len() as u64);
                            format!("{mode:o} {}", text(&data))
                        }
                        FoundKind::Dir { .. } => "dir".to_owned(),
                        FoundKind::Symlink { target } => format!("-> {}", text(&target)),
                        FoundKind::Special { .. } => "special".to_owned(),
                        FoundKind::Whiteout => "whiteout".to_owned(),
                    };
                    lines.push(format!("{} {what}", text(&found.path)));
                }
            }
        }
        lines.extend(scan.gone().iter().map(|path| format!("-{}", text(path))));
        Ok(lines)
    }

    fn scan(&mut self) -> Vec<String> {
        self.try_scan().unwrap()
    }
}

fn age(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60))
        .unwrap();
}

#[test]
fn only_what_is_another_is_told() {
    let mut layer = Layer::new();
    assert!(layer.scan().is_empty());
    fs::create_dir_all(layer.path("a/b")).unwrap();
    layer.write("a/b/c", "1");
    symlink("c", layer.path("a/link")).unwrap();
    let first = layer.scan();
    let mode = fs::metadata(layer.path("a/b/c"))
        .unwrap()
        .permissions()
        .mode()
        & 0o7777;
    assert_eq!(
        first,
        [
            "a dir".to_owned(),
            "a/b dir".to_owned(),
            format!("a/b/c {mode:o} 1"),
            "a/link -> c".to_owned()
        ]
    );
    assert!(layer.scan().is_empty());
    // Another content of the same length, at once: the time stamp alone might not tell.
    layer.write("a/b/c", "2");
    assert_eq!(layer.scan(), [format!("a/b/c {mode:o} 2")]);
    // The same content written again is no news, even with another time.
    layer.write("a/b/c", "2");
    age(&layer.path("a/b/c"));
    assert!(layer.scan().is_empty());
    fs::set_permissions(layer.path("a/b/c"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(layer.scan(), ["a/b/c 755 2"]);
    fs::rename(layer.path("a/b"), layer.path("b")).unwrap();
    assert_eq!(layer.scan(), ["b dir", "b/c 755 2", "-a/b/c", "-a/b"]);
}

#[test]
fn a_file_and_a_folder_take_each_others_place() {
    let mut layer = Layer::new();
    layer.write("x", "file");
    fs::set_permissions(layer.path("x"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(layer.scan(), ["x 644 file"]);
    fs::remove_file(layer.path("x")).unwrap();
    fs::create_dir(layer.path("x")).unwrap();
    layer.write("x/y", "");
    fs::set_permissions(layer.path("x/y"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(layer.scan(), ["x dir", "x/y 644 "]);
    fs::remove_dir_all(layer.path("x")).unwrap();
    symlink("y", layer.path("x")).unwrap();
    assert_eq!(layer.scan(), ["x -> y", "-x/y"]);
}

#[test]
fn long_files_and_what_is_skipped_are_not_told() {
    let mut layer = Layer::new();
    layer.write("log", "short");
    fs::create_dir(layer.path("out")).unwrap();
    layer.write("out/1", "1");
    assert_eq!(layer.scan().len(), 3);
    let long = "x".repeat(usize::try_from(MAX_WATCHED).unwrap() + 1);
    layer.write("log", &long);
    assert_eq!(layer.scan(), ["-log"]);
    layer.write("log", &format!("{long}y"));
    assert!(layer.scan().is_empty());
    layer.write("log", "");
    assert_eq!(layer.scan().len(), 1, "it is short again");
    layer.skips.insert(b"out".to_vec());
    layer.write("out/1", "another");
    layer.write("out/2", "2");
    assert!(layer.scan().is_empty(), "not even that it is gone");
    for number in 0..200 {
        layer.write(&format!("out/{number}"), "");
    }
    assert!(layer.scan().is_empty(), "nor is it counted");
    for number in 0..100 {
        layer.write(&format!("{number}"), "");
    }
    assert_eq!(layer.try_scan(), Err(Trouble::Full(100)));
}

#[test]
fn whatever_vanishes_meanwhile_is_no_error() {
    let mut layer = Layer::new();
    for name in ["a", "b", "c"] {
        fs::create_dir(layer.path(name)).unwrap();
        layer.write(&format!("{name}/file"), name);
    }
    let dir = File::open(layer.dir.path()).unwrap();
    let mut scan = layer.known.scan(dir.as_fd(), &layer.skips).unwrap();
    assert!(matches!(scan.step().unwrap(), Step::News(_)), "a");
    // The names of both levels are read; the file of one and the folder of the other go.
    fs::remove_file(layer.dir.path().join("a/file")).unwrap();
    fs::remove_dir_all(layer.dir.path().join("b")).unwrap();
    let mut rest = Vec::new();
    loop {
        match scan.step().unwrap() {
            Step::End => break,
            Step::News(news) => rest.push(String::from_utf8(news.found.path).unwrap()),
            Step::Nothing | Step::Gone(_) => {}
        }
    }
    assert_eq!(rest, ["c", "c/file"]);
    assert!(scan.gone().is_empty());
}
