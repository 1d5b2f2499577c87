//! Names of hosts, in the one spelling in which they are compared, resolved and shown.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A host name in canonical form: lower case, ASCII, no dot at its end. It is never an address: whatever some resolver reads
/// as one is refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostName(String);

/// Why a text is no host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostNameError {
    /// Nothing, or nothing between two dots.
    #[error("a part of the name is empty")]
    Empty,
    /// A byte that no host name has.
    #[error(
        "a host name has letters, digits, hyphens and dots only; write another alphabet in its `xn--` form"
    )]
    Character,
    /// A label begins or ends with a hyphen.
    #[error("a part of the name begins or ends with a hyphen")]
    Hyphen,
    /// A label is longer than 63 bytes or the name longer than 253.
    #[error("a part of the name is longer than 63 bytes, or all of it is longer than 253")]
    Long,
    /// The last label is a number.
    #[error("it is an address or reads like one, and only names can be allowed")]
    Number,
    /// An `xn--` label that stands for nothing, or for something that has a plainer spelling.
    #[error("a part that begins with `xn--` is not the proper form of a name in another alphabet")]
    Punycode,
}

impl HostName {
    /// Takes a name in any spelling that DNS holds to be the same: any case, and one dot at its end.
    ///
    /// # Errors
    ///
    /// [`HostNameError`]. Nothing is mended: what is not plainly a name is refused.
    pub fn parse(text: &[u8]) -> Result<Self, HostNameError> {
        let known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let text = match std::str::from_utf8(text) {
            Ok(text) if text.bytes().all(|byte| known(&byte)) => text,
            _ => return Err(HostNameError::Character),
        };
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.len() > 253 {
            return Err(HostNameError::Long);
        }
        let mut last = "";
        for label in name.split('.') {
            match label {
                "" => return Err(HostNameError::Empty),
                _ if label.len() > 63 => return Err(HostNameError::Long),
                _ if label.starts_with('-') || label.ends_with('-') => {
                    return Err(HostNameError::Hyphen);
                }
                _ if label.starts_with("xn--") && !proper(label) => {
                    return Err(HostNameError::Punycode);
                }
                _ => last = label,
            }
        }
        // As the URL standard says: what ends so is parsed as an IPv4 address by somebody.
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits(last) || last.strip_prefix("0x").is_some_and(hex) {
            return Err(HostNameError::Number);
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is below that name, by one label or more.
    pub fn is_below(&self, parent: &Self) -> bool {
        self.0
            .strip_suffix(parent.as_str())
            .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    }

    /// Whether it has no dot.
    pub fn is_single(&self) -> bool {
        !self.0.contains('.')
    }
}

/// Whether an A-label is the one spelling of a U-label that is no ASCII.
fn proper(label: &str) -> bool {
    let (unicode, fine) = idna::domain_to_unicode(label);
    fine.is_ok()
        && !unicode.is_ascii()
        && idna::domain_to_ascii(&unicode).is_ok_and(|back| back == label)
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for HostName {
    type Err = HostNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text.as_bytes())
    }
}

impl TryFrom<String> for HostName {
    type Error = HostNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<HostName> for String {
    fn from(name: HostName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_become_one() {
        for text in ["example.com", "EXAMPLE.com", "example.com.", "Example.Com."] {
            assert_eq!(
                HostName::parse(text.as_bytes()).unwrap().as_str(),
                "example.com"
            );
        }
        let long = format!(
            "{}.com",
            ["a".repeat(63), "b".repeat(63), "c".repeat(63)].join(".")
        );
        for text in ["a.b.pkg.test", "xn--mnchen-3ya.de", "a-1.x9", long.as_str()] {
            assert!(text.parse::<HostName>().is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_not_plainly_a_name_is_refused() {
        use HostNameError as E;
        let label = format!("{}.com", "a".repeat(64));
        let name = format!("{}.com", vec!["a".repeat(50); 5].join("."));
        let labels = vec!["a"; 128].join(".");
        for (text, error) in [
            ("", E::Empty),
            (".", E::Empty),
            ("example.com..", E::Empty),
            (".example.com", E::Empty),
            ("example..com", E::Empty),
            ("-a.com", E::Hyphen),
            ("a-.com", E::Hyphen),
            (&label, E::Long),
            (&name, E::Long),
            (&labels, E::Long),
            ("93.184.216.34", E::Number),
            ("2130706433", E::Number),
            ("0x7f000001", E::Number),
            ("0x7f.1", E::Number),
            ("0177.0.0.1", E::Number),
            ("127.1", E::Number),
            ("0", E::Number),
            ("127.0.0.1.", E::Number),
            ("1.2.3.4.5", E::Number),
            ("a.0x", E::Number),
            ("xn--example-.org", E::Hyphen),
            ("example.com.xn--", E::Hyphen),
            ("xn--a.org", E::Punycode),
            ("xn--example-9a.xn--zzzzzzzz", E::Punycode),
            ("exаmple.com", E::Character),
            ("ｅxample.com", E::Character),
            ("example\u{3002}com", E::Character),
            ("evil\0.example.com", E::Character),
            ("a_b.example.com", E::Character),
            ("[::1]", E::Character),
            ("::1", E::Character),
        ] {
            assert_eq!(HostName::parse(text.as_bytes()), Err(error), "{text:?}");
        }
        for byte in b"\0\r\n \t%#?/\\@,:_*[]\x7f\x80\xff" {
            let text = [b"a", &[*byte][..], b".example.com"].concat();
            assert_eq!(HostName::parse(&text), Err(E::Character), "{byte}");
        }
    }

    #[test]
    fn below_goes_by_labels() {
        let name = |text: &str| text.parse::<HostName>().unwrap();
        let parent = name("pkg.test");
        assert!(name("a.pkg.test").is_below(&parent) && name("a.b.pkg.test").is_below(&parent));
        for other in ["pkg.test", "apkg.test", "pkg.test.evil", "a.pkg.testy"] {
            assert!(!name(other).is_below(&parent), "{other}");
        }
    }
}
