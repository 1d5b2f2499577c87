//! Many small files in one: each begins with a line `=== PATH`.

use std::path::Path;

/// The files of an archive, in its order: what stands behind `=== `, and the text up to the next such line.
pub fn files(text: &str) -> Vec<(&str, &str)> {
    let mut files = Vec::new();
    let mut rest = text.strip_prefix("=== ");
    while let Some(part) = rest {
        let (file, after) = match part.find("\n=== ") {
            Some(end) => (&part[..=end], Some(&part[end + 5..])),
            None => (part, None),
        };
        let (name, body) = file.split_once('\n').unwrap_or((file, ""));
        files.push((name, body));
        rest = after;
    }
    files
}

/// Reads an archive below `tests/`.
///
/// # Panics
///
/// When it is not there.
pub fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
