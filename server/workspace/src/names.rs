//! What a name alone tells: whose it is, what it hides, and which names are one to some file system.

use std::borrow::Cow;

use legwork_model::is_hidden;
use unicode_normalization::UnicodeNormalization as _;

/// The folders and files in which version control systems keep themselves.
const VERSION_CONTROL: [&str; 4] = [".git", ".jj", ".hg", ".svn"];

/// A name as the most forgiving file system sees it: code points that HFS+ ignores are gone, composed, in lower case, and
/// without what NTFS drops: a stream's name, spaces and dots at the end. Equal keys may be one file somewhere.
pub(crate) fn key(name: &[u8]) -> Cow<'_, str> {
    if let Ok(plain) = std::str::from_utf8(name)
        && name
            .iter()
            .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
    {
        return Cow::Borrowed(plain);
    }
    let text = String::from_utf8_lossy(name);
    let folded: String = text
        .chars()
        .filter(|&c| !is_ignorable(c))
        .nfc()
        .flat_map(char::to_lowercase)
        // Full case folding knows one more rule that meets real names.
        .flat_map(|c| {
            if c == 'ß' {
                ['s', 's'].as_slice()
            } else {
                &[]
            }
            .iter()
            .copied()
            .chain((c != 'ß').then_some(c))
        })
        .nfc()
        .collect();
    let stream = folded.find(':').unwrap_or(folded.len());
    Cow::Owned(folded[..stream].trim_end_matches([' ', '.']).to_owned())
}

/// Whether a name means a version control system's own folder on any file system.
pub(crate) fn is_version_control(name: &[u8]) -> bool {
    let key = key(name);
    VERSION_CONTROL.contains(&key.as_ref())
        || ["git~", "jj~", "hg~", "svn~"].iter().any(|short| {
            key.strip_prefix(short)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        })
}

/// Code points that HFS+ leaves out when it compares names, and other marks without a shape.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a name holds what looks like something else, or like nothing, on a screen: control characters and marks that
/// have no shape or turn the direction of text. It is shown escaped ([`legwork_model::escape`]).
pub(crate) fn is_unprintable(name: &[u8]) -> bool {
    String::from_utf8_lossy(name)
        .chars()
        .any(|c| c.is_control() || is_hidden(c))
}

/// Whether a name says that a secret is in it.
pub(crate) fn is_secret(name: &[u8], is_dir: bool) -> bool {
    const DIRS: [&str; 5] = [".aws", ".ssh", ".gnupg", ".kube", ".azure"];
    const NAMES: [&str; 13] = [
        ".env",
        ".npmrc",
        ".netrc",
        "_netrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        ".dockercfg",
        ".git-credentials",
        "credentials.json",
        "service-account.json",
        "secrets.json",
        ".vault-token",
    ];
    const ENDS: [&str; 11] = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".keystore",
        ".jks",
        ".kdbx",
        ".ppk",
        ".tfstate",
        ".asc.key",
        ".secret",
    ];
    const KEYS: [&str; 5] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_xmss"];
    const HARMLESS: [&str; 5] = [".example", ".sample", ".template", ".dist", ".pub"];
    let name = String::from_utf8_lossy(name).to_lowercase();
    if is_dir {
        return DIRS.contains(&name.as_str());
    }
    if HARMLESS.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    let secrets_file = name
        .strip_prefix("secrets.")
        .is_some_and(|end| ["yml", "yaml", "toml", "env", "ini", "properties"].contains(&end));
    NAMES.contains(&name.as_str())
        || name.starts_with(".env.")
        || secrets_file
        || ENDS
            .iter()
            .any(|end| name.len() > end.len() && name.ends_with(end))
        || KEYS.iter().any(|key| name.starts_with(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_in_any_spelling() {
        for name in [
            ".git",
            ".GIT",
            ".Git",
            ".g\u{200c}it",
            ".git ",
            ".git.",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            "git~1",
            "GIT~12",
            ".jj",
            ".HG",
            ".svn",
            ".\u{feff}git",
        ] {
            assert!(is_version_control(name.as_bytes()), "{name:?}");
        }
        for name in [
            ".gitignore",
            "git",
            ".github",
            "git~",
            "git~x",
            ".gitmodules",
            "a.git",
            "hg",
        ] {
            assert!(!is_version_control(name.as_bytes()), "{name:?}");
        }
    }

    #[test]
    fn names_that_are_one_somewhere_have_one_key() {
        for (a, b) in [
            ("README", "readme"),
            ("é", "e\u{301}"),
            ("straße", "STRASSE"),
            ("a.txt", "A.TXT."),
            ("É", "e\u{301}"),
        ] {
            assert_eq!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        }
        for (a, b) in [("a", "b"), ("a-b", "a_b"), ("ss", "s"), ("\u{e9}", "e")] {
            assert_ne!(key(a.as_bytes()), key(b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn secrets_by_name() {
        for name in [
            ".env",
            ".ENV",
            ".env.local",
            "server.pem",
            "tls.KEY",
            "id_rsa",
            "id_ed25519_work",
            ".npmrc",
            "x.p12",
            "credentials.json",
            ".git-credentials",
            "secrets.yaml",
        ] {
            assert!(is_secret(name.as_bytes(), false), "{name}");
        }
        for name in [
            ".env.example",
            ".env.sample",
            ".env.template",
            "id_rsa.pub",
            "key",
            "keys.rs",
            ".envrc",
            "secrets.rs",
            "monkey.py",
            ".key",
        ] {
            assert!(!is_secret(name.as_bytes(), false), "{name}");
        }
        assert!(is_secret(b".ssh", true) && !is_secret(b".ssh", false));
        assert!(is_unprintable(b"a\x1b[31m") && is_unprintable("a\u{202e}b".as_bytes()));
        assert!(!is_unprintable("tést 👩\u{200d}🚀\\x".as_bytes()) && !is_unprintable(b"caf\xe9"));
    }
}
