//! The files of this checkout that are, or could be, committed: all that `.gitignore` lets through.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("the package stands in the checkout")
        .to_path_buf()
}

/// All files, as paths relative to the root with `/` between the parts.
pub(crate) fn files() -> Vec<String> {
    let root = root();
    let files: Vec<String> = WalkBuilder::new(&root)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
        .map(|entry| entry.expect("the checkout can be read"))
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(|entry| {
            let path = entry
                .path()
                .strip_prefix(&root)
                .expect("the walk began at the root");
            path.to_str()
                .expect("names in the checkout are UTF-8")
                .to_owned()
        })
        .collect();
    // A walk that went wrong would make every rule hold.
    assert!(files.iter().any(|file| file == "sandbox/spec/src/lib.rs"));
    assert!(files.iter().any(|file| file == "tests/tidy/tree.rs"));
    assert!(!files.iter().any(|file| file.starts_with("target/")));
    files
}

/// All Rust files with their text.
pub(crate) fn rust() -> Vec<(String, String)> {
    files()
        .into_iter()
        .filter(|file| has_extension(file, &["rs"]))
        .map(|file| {
            let text = read(&file);
            (file, text)
        })
        .collect()
}

/// A file's text.
pub(crate) fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Whether the file's name ends in one of the extensions.
pub(crate) fn has_extension(file: &str, extensions: &[&str]) -> bool {
    Path::new(file)
        .extension()
        .and_then(|end| end.to_str())
        .is_some_and(|end| extensions.contains(&end))
}
