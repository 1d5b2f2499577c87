//! A place inside a workspace.

use std::{
    ffi::OsStr,
    fmt,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A relative path inside a workspace: one or more components joined by `/`. No component is empty, `.` or `..`, none
/// holds a NUL byte or is longer than 255 bytes. Names need not be UTF-8.
///
/// As text (display, JSON, arguments) a control character, a character that hides itself ([`is_hidden`]), a backslash, and
/// each byte that is not part of valid UTF-8 stand as `\xNN`, so that every path has exactly one spelling that is safe to
/// print.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<u8>);

/// Why bytes are not a path inside a workspace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing there.
    #[error("an empty path names no file")]
    Empty,
    /// A component that is empty, `.` or `..`, or an absolute path.
    #[error(
        "`{0}` is not a plain relative path: leave out leading and double slashes, `.` and `..`"
    )]
    NotPlain(String),
    /// A component of more than 255 bytes, or more than 4,095 bytes in all.
    #[error("`{0}` is longer than a file system allows")]
    TooLong(String),
    /// A NUL byte.
    #[error("a path cannot hold a NUL byte")]
    Nul,
    /// A backslash that is not the start of `\xNN`.
    #[error(
        "`{0}` has a backslash that is not part of `\\xNN`: write `\\x5c` for the backslash itself"
    )]
    Escape(String),
}

impl TreePath {
    /// Checks bytes as they stand in a file system.
    ///
    /// # Errors
    ///
    /// [`PathError`] when they are not a plain relative path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, PathError> {
        if bytes.is_empty() {
            return Err(PathError::Empty);
        }
        if bytes.contains(&0) {
            return Err(PathError::Nul);
        }
        let shown = || escape(bytes);
        if bytes.len() > 4095 {
            return Err(PathError::TooLong(shown()));
        }
        for component in bytes.split(|&b| b == b'/') {
            match component {
                b"" | b"." | b".." => return Err(PathError::NotPlain(shown())),
                long if long.len() > 255 => return Err(PathError::TooLong(shown())),
                _ => {}
            }
        }
        Ok(Self(bytes.to_vec()))
    }

    /// Checks a relative [`Path`].
    ///
    /// # Errors
    ///
    /// As [`TreePath::from_bytes`].
    pub fn from_path(path: &Path) -> Result<Self, PathError> {
        Self::from_bytes(path.as_os_str().as_bytes())
    }

    /// The bytes as they stand in a file system.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a relative [`Path`].
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Below `root`, on the host.
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(self.as_path())
    }

    /// The components, from the root down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|&b| b == b'/')
    }

    /// The last component.
    pub fn name(&self) -> &[u8] {
        self.0.rsplit(|&b| b == b'/').next().unwrap_or(&self.0)
    }

    /// The directory it stands in; `None` at the top.
    pub fn parent(&self) -> Option<Self> {
        self.0
            .iter()
            .rposition(|&b| b == b'/')
            .map(|slash| Self(self.0[..slash].to_vec()))
    }

    /// Whether it stands below `dir`, at any depth.
    pub fn is_below(&self, dir: &Self) -> bool {
        self.0.len() > dir.0.len() && self.0.starts_with(&dir.0) && self.0[dir.0.len()] == b'/'
    }

    /// This path with one more component.
    ///
    /// # Errors
    ///
    /// As [`TreePath::from_bytes`].
    pub fn join(&self, name: &[u8]) -> Result<Self, PathError> {
        Self::from_bytes(&[&self.0, b"/".as_slice(), name].concat())
    }
}

/// Bytes as text with exactly one, printable spelling: see [`TreePath`]. Also how the target of a symbolic link is
/// written down.
pub fn escape(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' || c.is_control() || is_hidden(c) {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a `String` cannot fail.
                    let _ok = write!(text, "\\x{byte:02x}");
                }
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ok = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Whether a character has no shape of its own or turns the direction of text, so that a name that holds it looks like
/// another. What joins an emoji or chooses how it is drawn is none.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The bytes that [`escape`] was given; `None` when a backslash is not the start of `\xNN`.
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'\\' {
            let digits = tail.strip_prefix(b"x")?.get(..2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    Some(bytes)
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.0))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl FromStr for TreePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_bytes(&unescape(text).ok_or_else(|| PathError::Escape(text.to_owned()))?)
    }
}

impl Serialize for TreePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TreePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_paths() {
        for bytes in [&b"a"[..], b"a/b.c", b" x ", b"-rf", b"\xff\xfe", b"a\nb"] {
            assert!(TreePath::from_bytes(bytes).is_ok(), "{bytes:?}");
        }
        for bytes in [
            &b""[..],
            b"/a",
            b"a/",
            b"a//b",
            b".",
            b"../a",
            b"a/./b",
            b"a\0",
            &[b'a'; 256],
        ] {
            assert!(TreePath::from_bytes(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn every_path_has_one_printable_spelling() {
        for bytes in [
            &b"plain"[..],
            b"a\\b",
            b"tab\there",
            b"\xff/ok",
            "ü/\u{85}".as_bytes(),
            "photo\u{202e}gpj.exe".as_bytes(),
            ".g\u{200c}it\u{2028}".as_bytes(),
            "👩\u{200d}🚀".as_bytes(),
        ] {
            let path = TreePath::from_bytes(bytes).unwrap();
            let text = path.to_string();
            assert!(
                !text.chars().any(|c| c.is_control() || is_hidden(c)),
                "{text}"
            );
            assert_eq!(text.parse(), Ok(path));
        }
        assert!("a\\q".parse::<TreePath>().is_err());
        assert!("a\\x2fb\\x00".parse::<TreePath>().is_err());
    }

    #[test]
    fn below_means_a_whole_component() {
        let path = |text: &str| text.parse::<TreePath>().unwrap();
        assert!(path("a/b").is_below(&path("a")));
        assert!(!path("ab").is_below(&path("a")));
        assert!(!path("a").is_below(&path("a")));
        assert_eq!(path("a/b/c").parent(), Some(path("a/b")));
        assert_eq!(path("a").parent(), None);
    }
}
