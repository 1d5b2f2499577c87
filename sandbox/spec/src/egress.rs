//! What may leave the sandbox: connections to names on ports that the user listed, and nothing else.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{HostName, HostNameError};

/// The port of an entry that names none: HTTPS.
pub const USUAL_PORT: u16 = 443;

/// The network policy. A policy that cannot be read is an error, never a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EgressPolicy {
    /// No network device, no route, no name resolution, no way out.
    #[default]
    Deny,
    /// No network device either; but connections to these go out by way of the host, which looks at each.
    Allow(AllowList),
}

/// Where connections may go. It has one entry at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList(Vec<Destination>);

impl EgressPolicy {
    /// Allows these; nothing at all if there are none.
    pub fn new(mut destinations: Vec<Destination>) -> Self {
        destinations.sort_unstable();
        destinations.dedup();
        if destinations.is_empty() {
            Self::Deny
        } else {
            Self::Allow(AllowList(destinations))
        }
    }

    /// What may be reached.
    pub fn destinations(&self) -> &[Destination] {
        match self {
            Self::Deny => &[],
            Self::Allow(AllowList(destinations)) => destinations,
        }
    }

    /// The first entry that lets connections to this host and port out.
    pub fn entry(&self, host: &HostName, port: u16) -> Option<&Destination> {
        self.destinations()
            .iter()
            .find(|destination| destination.holds(host, port))
    }
}

/// One entry of a list: a name, or all names below one, and a port. Written `HOST`, `HOST:PORT` or `*.HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Destination {
    host: HostName,
    below: bool,
    port: u16,
}

/// Why an entry is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// Its host is no name.
    #[error("`{text}` cannot be allowed: {error}")]
    Host {
        /// The entry, made visible.
        text: String,
        /// Why.
        error: HostNameError,
    },
    /// Its port is no port.
    #[error(
        "`{0}` cannot be allowed: a port is a whole number from 1 to 65535, as in `example.com:443`"
    )]
    Port(String),
    /// It is too wide.
    #[error(
        "`{0}` cannot be allowed: everybody can have a name there; name the host, or one domain as in `*.example.com`"
    )]
    Wide(String),
    /// A name with no dot that is no preset.
    #[error(
        "`{0}` cannot be allowed: a host name has a dot, and the presets are {presets}",
        presets = preset_names()
    )]
    Preset(String),
}

impl Destination {
    /// Whether connections to this host and port are meant.
    pub fn holds(&self, host: &HostName, port: u16) -> bool {
        self.port == port
            && if self.below {
                host.is_below(&self.host)
            } else {
                *host == self.host
            }
    }

    /// The name that it is about.
    pub fn host(&self) -> &HostName {
        &self.host
    }

    /// Whether the names below it are meant, instead of itself.
    pub fn is_wildcard(&self) -> bool {
        self.below
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What a user should know before they allow it.
    pub fn remark(&self) -> Option<&'static str> {
        // Not a list of bad hosts: those where allowing a name is mostly more than is meant.
        const SHARED: [&str; 11] = [
            "github.com",
            "githubusercontent.com",
            "gitlab.com",
            "bitbucket.org",
            "amazonaws.com",
            "cloudfront.net",
            "googleapis.com",
            "windows.net",
            "pastebin.com",
            "huggingface.co",
            "discord.com",
        ];
        let shared = SHARED
            .iter()
            .filter_map(|name| name.parse::<HostName>().ok())
            .any(|name| self.host == name || self.host.is_below(&name));
        let anybody = psl::suffix(self.host.as_str().as_bytes())
            .is_some_and(|suffix| suffix.typ() == Some(psl::Type::Private));
        (shared || anybody).then_some("anybody can keep things there, and it can take data in")
    }
}

impl FromStr for Destination {
    type Err = DestinationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shown = || -> String {
            text.chars()
                .take(300)
                .flat_map(char::escape_debug)
                .collect()
        };
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (
                name,
                parse_port(port.as_bytes()).ok_or_else(|| DestinationError::Port(shown()))?,
            ),
            None => (text, USUAL_PORT),
        };
        let (name, below) = match name.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (name, false),
        };
        if name == "*" {
            return Err(DestinationError::Wide(shown()));
        }
        let host: HostName = name.parse().map_err(|error| DestinationError::Host {
            text: shown(),
            error,
        })?;
        // A registry gives names below these to anybody; `co.uk` is as wide as `com`.
        let wide = host.is_single()
            || psl::suffix(host.as_str().as_bytes()).is_some_and(|suffix| {
                suffix.typ() == Some(psl::Type::Icann)
                    && suffix.as_bytes() == host.as_str().as_bytes()
            });
        if wide {
            return Err(DestinationError::Wide(shown()));
        }
        Ok(Self { host, below, port })
    }
}

/// A port as it stands in an authority: no sign, no leading zero, not 0.
pub fn parse_port(text: &[u8]) -> Option<u16> {
    let plain = matches!(text, [b'1'..=b'9', rest @ ..] if rest.len() < 5 && rest.iter().all(u8::is_ascii_digit));
    std::str::from_utf8(text)
        .ok()
        .filter(|_| plain)?
        .parse()
        .ok()
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.below { "*." } else { "" };
        write!(f, "{star}{}:{}", self.host, self.port)
    }
}

impl TryFrom<String> for Destination {
    type Error = DestinationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> Self {
        destination.to_string()
    }
}

/// Where the usual tools of each ecosystem fetch from. What can be published to is left out where fetching does not need it.
const PRESETS: [(&str, &[&str]); 7] = [
    ("crates", &["index.crates.io", "static.crates.io"]),
    (
        "debian",
        &[
            "deb.debian.org",
            "deb.debian.org:80",
            "security.debian.org",
            "security.debian.org:80",
        ],
    ),
    ("go", &["proxy.golang.org", "sum.golang.org"]),
    ("maven", &["repo.maven.apache.org", "repo1.maven.org"]),
    ("npm", &["registry.npmjs.org"]),
    ("pypi", &["pypi.org", "files.pythonhosted.org"]),
    ("rubygems", &["rubygems.org", "index.rubygems.org"]),
];

fn preset_names() -> String {
    PRESETS.map(|(name, _)| format!("`{name}`")).join(", ")
}

/// What a user typed: an entry, or the name of a preset for all of its entries.
///
/// # Errors
///
/// [`DestinationError`], which names the entry.
pub fn allow(text: &str) -> Result<Vec<Destination>, DestinationError> {
    if let Some((_, entries)) = PRESETS.iter().find(|(name, _)| *name == text) {
        return entries.iter().map(|entry| entry.parse()).collect();
    }
    match text.parse() {
        Ok(destination) => Ok(vec![destination]),
        Err(DestinationError::Wide(shown)) if !text.contains(['.', ':', '*']) => {
            Err(DestinationError::Preset(shown))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> HostName {
        text.parse().unwrap()
    }

    #[test]
    fn an_entry_is_a_name_and_a_port_and_nothing_is_guessed() {
        for (text, written) in [
            ("example.com", "example.com:443"),
            ("EXAMPLE.com.:8443", "example.com:8443"),
            ("*.pkg.test:22", "*.pkg.test:22"),
            ("*.github.io", "*.github.io:443"),
        ] {
            let entry: Destination = text.parse().unwrap();
            assert_eq!(entry.to_string(), written);
            assert_eq!(written.parse::<Destination>(), Ok(entry));
        }
        for text in [
            "*",
            "*:443",
            "*.com",
            "*.co.uk",
            "com",
            "co.uk",
            "localhost",
            "intranet:80",
            "*.*.com",
            "a.*.com",
            "",
            ":",
            ":443",
            "example.com:",
            "example.com:0",
            "example.com:65536",
            "example.com:0443",
            "example.com:443x",
            "example.com:+1",
            "https://example.com",
            "example.com/path",
            "1.2.3.4",
            "1.2.3.4:80",
            "[::1]:80",
            "::1",
            "a@example.com",
            "exаmple.com",
            " example.com",
            "example.com ",
            "10.0.0.0/8",
        ] {
            let error = text.parse::<Destination>().unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` cannot be allowed: ")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_list_holds_what_it_says_and_no_list_holds_nothing() {
        let policy = EgressPolicy::new(vec![
            "example.com".parse().unwrap(),
            "*.pkg.test".parse().unwrap(),
        ]);
        for host in ["example.com", "a.pkg.test", "a.b.pkg.test"] {
            assert!(policy.entry(&name(host), 443).is_some(), "{host}");
            assert!(policy.entry(&name(host), 80).is_none(), "{host}");
        }
        for host in [
            "notexample.com",
            "example.com.evil.test",
            "example.com-evil.test",
            "www.example.com",
            "pkg.test",
            "apkg.test",
        ] {
            assert!(policy.entry(&name(host), 443).is_none(), "{host}");
        }
        let nothing = EgressPolicy::new(vec![]);
        assert_eq!(nothing, EgressPolicy::Deny);
        assert!(nothing.entry(&name("example.com"), 443).is_none());
    }

    #[test]
    fn presets_are_sound_and_their_names_are_told() {
        for (preset, entries) in PRESETS {
            assert_eq!(allow(preset).unwrap().len(), entries.len());
        }
        assert_eq!(allow("example.com").unwrap().len(), 1);
        let error = allow("cargo").unwrap_err().to_string();
        assert!(
            error.contains("`crates`") && error.contains("`npm`"),
            "{error}"
        );
    }

    #[test]
    fn hosts_of_many_are_remarked_on() {
        let remark = |text: &str| text.parse::<Destination>().unwrap().remark();
        for text in [
            "github.com",
            "gist.github.com",
            "*.github.io",
            "x.s3.amazonaws.com",
            "*.cloudfront.net",
        ] {
            assert!(remark(text).is_some(), "{text}");
        }
        assert_eq!(remark("example.com"), None);
    }

    #[test]
    fn entries_are_stored_as_they_are_written() {
        let entry: Destination = serde_json::from_str("\"*.pkg.test:22\"").unwrap();
        assert_eq!(serde_json::to_string(&entry).unwrap(), "\"*.pkg.test:22\"");
        assert!(serde_json::from_str::<Destination>("\"*.com\"").is_err());
    }
}
