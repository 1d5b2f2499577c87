//! File URIs and paths, byte for byte. Which file a path leads to is not asked here.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// All but the unreserved characters of RFC 3986 and the slash: what VS Code escapes, and what every client reads back.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The file that a client means; `None` if it is on another host, not absolute, or no file at all.
///
/// A `#` or `?` that was not escaped is part of the name: a document has neither fragment nor query, and some clients
/// put a path behind `file://` as it is. For the same reason a `%` that escapes nothing is a `%`.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return None;
            }
            &rest[host.len()..]
        }
        None => rest,
    };
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    if !bytes.starts_with(b"/") || bytes.contains(&0) {
        return None;
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// The URI of an absolute path. (That of a relative one names a host, and [`to_path`] refuses it.)
pub(crate) fn from_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    format!("file://{}", percent_encode(bytes, ESCAPED))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names, each as VS Code, Neovim and Helix write it.
    const NAMES: [(&str, &str, &str, &str); 9] = [
        (
            "/w/[slug].tsx",
            "/w/%5Bslug%5D.tsx",
            "/w/%5Bslug%5D.tsx",
            "/w/[slug].tsx",
        ),
        ("/w/c#/x.cs", "/w/c%23/x.cs", "/w/c%23/x.cs", "/w/c%23/x.cs"),
        ("/w/100%.md", "/w/100%25.md", "/w/100%25.md", "/w/100%25.md"),
        ("/w/%23.txt", "/w/%2523.txt", "/w/%2523.txt", "/w/%2523.txt"),
        ("/w/a b.txt", "/w/a%20b.txt", "/w/a%20b.txt", "/w/a%20b.txt"),
        ("/w/q?.txt", "/w/q%3F.txt", "/w/q%3F.txt", "/w/q%3F.txt"),
        ("/w/a+b.txt", "/w/a%2Bb.txt", "/w/a+b.txt", "/w/a+b.txt"),
        (
            "/w/ü.txt",
            "/w/%C3%BC.txt",
            "/w/%C3%BC.txt",
            "/w/%C3%BC.txt",
        ),
        ("/w/~tmp", "/w/~tmp", "/w/~tmp", "/w/~tmp"),
    ];

    #[test]
    fn every_clients_spelling_leads_to_the_same_file() {
        for (path, code, neovim, helix) in NAMES {
            for uri in [code, neovim, helix] {
                assert_eq!(
                    to_path(&format!("file://{uri}")),
                    Some(PathBuf::from(path)),
                    "{uri}"
                );
            }
            assert_eq!(from_path(Path::new(path)), format!("file://{code}"));
        }
        // Lower-case digits are the same bytes.
        assert_eq!(to_path("file:///w/%c3%bc"), Some(PathBuf::from("/w/ü")));
    }

    #[test]
    fn a_name_need_not_be_utf_8() {
        let path = PathBuf::from(OsString::from_vec(b"/w/caf\xe9.txt".to_vec()));
        assert_eq!(from_path(&path), "file:///w/caf%E9.txt");
        assert_eq!(to_path("file:///w/caf%E9.txt"), Some(path));
    }

    #[test]
    fn a_client_that_escapes_nothing_is_understood() {
        for path in [
            "/w/a b",
            "/w/c#/x.cs",
            "/w/q?.txt",
            "/w/100%.md",
            "/w/%zz",
            "/w/ü",
            "/w/[x]+y",
        ] {
            assert_eq!(
                to_path(&format!("file://{path}")),
                Some(PathBuf::from(path))
            );
        }
    }

    #[test]
    fn the_short_form_and_this_host_are_files() {
        for uri in [
            "file:/w/a",
            "FILE:///w/a",
            "file://localhost/w/a",
            "file://LocalHost/w/a",
        ] {
            assert_eq!(to_path(uri), Some(PathBuf::from("/w/a")), "{uri}");
        }
        assert_eq!(to_path("file:///"), Some(PathBuf::from("/")));
    }

    #[test]
    fn what_is_no_file_here_is_refused() {
        for uri in [
            "",
            "file",
            "file:",
            "file://",
            "file://w",
            "file:w/a",
            "file://server/share/a",
            "file://%2Fw/a",
            "file:///w/a%00b",
            "file:///w/a\0b",
            "untitled:Untitled-1",
            "git:/w/a?%7B%7D",
            "vscode-notebook-cell:/w/a.ipynb#W0",
            "https://example.com/w/a",
            "/w/a",
        ] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
        assert_eq!(to_path(&from_path(Path::new("w/a"))), None);
    }

    proptest! {
        #[test]
        fn any_path_survives_there_and_back(tail in prop::collection::vec(1..=255u8, 0..40)) {
            let path = PathBuf::from(OsString::from_vec([b"/".as_slice(), &tail].concat()));
            let uri = from_path(&path);
            prop_assert!(uri.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%:".contains(&byte)));
            // Compared as bytes: paths are equal already if their components are.
            prop_assert_eq!(to_path(&uri).map(|path| path.into_os_string().into_vec()), Some(path.into_os_string().into_vec()));
        }

        #[test]
        fn no_uri_is_too_strange(uri in "(file:)?(//)?(localhost)?[/%a-f0-9\\PC\0]{0,30}") {
            if let Some(path) = to_path(&uri) {
                prop_assert!(path.is_absolute());
                prop_assert!(!path.as_os_str().as_bytes().contains(&0));
            }
        }
    }
}
