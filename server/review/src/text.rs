//! Versions of a file as bytes, and their lines. What a line looks like to a person is in `printable`.

use legwork_model::Permissions;
use serde::{Deserialize, Serialize};

/// The largest file, in bytes, that is reviewed line by line: 16 MiB. A larger one is decided whole.
pub const MAX_TEXT: usize = 16 * 1024 * 1024;

/// How far into a file a NUL byte is looked for, in bytes; the same as git.
const SNIFF: usize = 8000;

/// What kind of thing stands at a path, as far as a change carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A regular file with these permissions.
    File(Permissions),
    /// A symbolic link; its bytes are its target.
    Symlink,
    /// A directory with nothing in it; it has no bytes.
    Dir,
}

impl Mode {
    /// A file as most are: `0644`.
    pub const REGULAR: Self = Self::File(Permissions::PLAIN);

    /// A program as most are: `0755`.
    pub const EXECUTABLE: Self = Self::File(Permissions::PROGRAM);

    /// Whether it is a regular file.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File(_))
    }

    /// What this becomes by the step from `before` to `after`: of a file, the permissions that the step is about.
    #[must_use]
    pub(crate) fn step(self, before: Self, after: Self) -> Self {
        match (self, before, after) {
            (Self::File(live), Self::File(before), Self::File(after)) => {
                Self::File(live.step(before, after))
            }
            _ => after,
        }
    }
}

/// What stands at a path: one version of a file, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version<'a> {
    /// What it holds; the target of a link.
    pub bytes: &'a [u8],
    /// What it is.
    pub mode: Mode,
}

impl<'a> Version<'a> {
    /// A file of the usual permissions.
    pub fn regular(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            mode: Mode::REGULAR,
        }
    }

    /// A copy that owns its bytes.
    pub fn to_content(self) -> Content {
        Content {
            bytes: self.bytes.to_vec(),
            mode: self.mode,
        }
    }

    /// Whether this is a regular file of lines.
    pub(crate) fn is_text(self) -> bool {
        self.mode.is_file() && !is_binary(self.bytes)
    }

    /// Equal but for the permissions.
    pub(crate) fn same_bytes(self, other: Self) -> bool {
        let same_kind = self.mode == other.mode || (self.mode.is_file() && other.mode.is_file());
        same_kind && self.bytes == other.bytes
    }
}

/// What is to stand at a path: one version of a file, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// What it holds; the target of a link.
    pub bytes: Vec<u8>,
    /// What it is.
    pub mode: Mode,
}

impl Content {
    /// Borrowed.
    pub fn as_version(&self) -> Version<'_> {
        Version {
            bytes: &self.bytes,
            mode: self.mode,
        }
    }
}

/// Whether these bytes are not reviewed line by line: there is a NUL byte among the first 8,000, or they are more than
/// [`MAX_TEXT`].
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.len() > MAX_TEXT || bytes.iter().take(SNIFF).any(|&byte| byte == 0)
}

/// The lines of a text, each with its ending. Only the last can be without one.
pub(crate) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// A way to end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// `\n`.
    Lf,
    /// `\r\n`.
    CrLf,
}

impl Ending {
    /// The bytes themselves.
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }

    /// How this line ends; `None` for a last line without an ending.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        if line.ends_with(b"\r\n") {
            Some(Self::CrLf)
        } else if line.ends_with(b"\n") {
            Some(Self::Lf)
        } else {
            None
        }
    }

    /// How all the lines end; `None` when they differ or none ends.
    pub(crate) fn uniform(lines: &[&[u8]]) -> Option<Self> {
        let mut endings = lines.iter().filter_map(|line| Self::of(line));
        let first = endings.next()?;
        endings.all(|ending| ending == first).then_some(first)
    }

    /// How the first line ends, or `\n` where nothing says.
    pub(crate) fn prevailing(lines: &[&[u8]]) -> Self {
        lines
            .first()
            .and_then(|line| Self::of(line))
            .unwrap_or(Self::Lf)
    }
}

/// A line without its ending.
pub(crate) fn body(line: &[u8]) -> &[u8] {
    match Ending::of(line) {
        Some(ending) => &line[..line.len() - ending.bytes().len()],
        None => line,
    }
}

/// Whether a text ends in the middle of a line.
pub(crate) fn is_unterminated(bytes: &[u8]) -> bool {
    bytes.last().is_some_and(|&byte| byte != b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_after_a_newline_and_nowhere_else() {
        let text = b"a\rb\r\n\n\xffc";
        assert_eq!(lines(text), [&b"a\rb\r\n"[..], b"\n", b"\xffc"]);
        assert!(lines(b"").is_empty());
        assert_eq!(body(b"a\rb\r\n"), b"a\rb");
        assert_eq!(body(b"a\r"), b"a\r");
    }

    #[test]
    fn a_nul_byte_or_size_makes_a_file_binary() {
        let mut late = vec![b'x'; SNIFF];
        late.push(0);
        assert!(is_binary(b"GIF\0") && !is_binary(b"\xff\xfe") && !is_binary(&late));
        assert!(is_binary(&vec![b'\n'; MAX_TEXT + 1]) && !is_binary(&vec![b'\n'; MAX_TEXT]));
    }

    #[test]
    fn endings_are_uniform_or_unknown() {
        assert_eq!(Ending::uniform(&lines(b"a\r\nb\r\nc")), Some(Ending::CrLf));
        assert_eq!(Ending::uniform(&lines(b"a\r\nb\n")), None);
        assert_eq!(Ending::uniform(&lines(b"a")), None);
    }
}
