//! Reads apt's own source lists, to learn from which mirror this machine takes Debian. Both forms
//! apt knows: one line a source (`.list`) and stanzas (`.sources`).

use std::fs;
use std::path::Path;

/// One place to take packages from, as far as we need to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) uri: String,
    pub(super) suites: Vec<String>,
    pub(super) components: Vec<String>,
    pub(super) signed_by: Option<String>,
}

/// All enabled binary sources under `/etc/apt`, in the order apt reads them.
pub(super) fn read(etc_apt: &Path) -> Vec<Source> {
    let mut files = vec![etc_apt.join("sources.list")];
    if let Ok(entries) = fs::read_dir(etc_apt.join("sources.list.d")) {
        let mut parts: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        parts.sort();
        files.extend(parts);
    }
    let mut sources = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("list") => sources.extend(text.lines().filter_map(one_line)),
            Some("sources") => sources.extend(stanzas(&text)),
            _ => {}
        }
    }
    sources
}

/// `deb [option=value ...] uri suite component...`
fn one_line(line: &str) -> Option<Source> {
    let rest = line.split('#').next()?.trim().strip_prefix("deb")?;
    // `deb-src` is no source of programs.
    let rest = rest
        .strip_prefix(char::is_whitespace)
        .or_else(|| rest.starts_with('[').then_some(rest))?
        .trim_start();
    let (options, rest) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => ("", rest),
    };
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Source {
        uri: words.next()?,
        suites: vec![words.next()?],
        components: words.collect(),
        signed_by: options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="))
            .map(str::to_owned),
    })
}

fn stanzas(text: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            sources.extend(from_fields(&fields));
            fields.clear();
        } else if line.starts_with(char::is_whitespace) {
            if let Some((_, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    sources
}

fn from_fields(fields: &[(String, String)]) -> Vec<Source> {
    let field = |name: &str| {
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let words = |name: &str| -> Vec<String> {
        field(name)
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    let off = field("enabled")
        .is_some_and(|value| ["no", "false", "0"].contains(&value.to_ascii_lowercase().as_str()));
    if off || !words("types").iter().any(|kind| kind == "deb") {
        return Vec::new();
    }
    words("uris")
        .into_iter()
        .map(|uri| Source {
            uri,
            suites: words("suites"),
            components: words("components"),
            signed_by: field("signed-by").map(str::to_owned),
        })
        .collect()
}

/// The machine's own mirrors of Debian, the likeliest first, each once. Empty on a system that is
/// not Debian or has no such source.
pub(super) fn debian_mirrors(sources: &[Source], codename: &str) -> Vec<String> {
    let suites = [codename, "stable", "testing", "unstable", "sid"];
    let mut ranked: Vec<(u8, &str)> = sources
        .iter()
        .filter(|source| {
            source.components.iter().any(|name| name == "main")
                && source
                    .suites
                    .iter()
                    .any(|suite| !suite.is_empty() && suites.contains(&suite.as_str()))
        })
        .filter_map(|source| {
            let by_debian = source.signed_by.as_deref().map(|key| {
                key.contains("debian-archive") || key.contains("BEGIN PGP PUBLIC KEY BLOCK")
            });
            let named_debian = source.uri.trim_end_matches('/').ends_with("/debian");
            match (by_debian, named_debian) {
                (Some(false), _) => None,
                (Some(true), true) => Some((0, source.uri.as_str())),
                (Some(true), false) | (None, true) => Some((1, source.uri.as_str())),
                (None, false) if source.uri.contains("ubuntu") => None,
                (None, false) => Some((2, source.uri.as_str())),
            }
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut uris: Vec<String> = Vec::new();
    for (_, uri) in ranked {
        if !uris.iter().any(|known| known == uri) {
            uris.push(uri.to_owned());
        }
    }
    uris
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

    fn mirrors(files: &[(&str, &str)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sources.list.d")).unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        debian_mirrors(&read(dir.path()), "bookworm")
    }

    #[test]
    fn stanzas_as_debian_installs_them() {
        let text = format!(
            "Types: deb\n# a note\nURIs: http://mirror.example/debian\nSuites: bookworm\n bookworm-updates\n\
             Components: main\nSigned-By: {KEYRING}\n\nTypes: deb\nURIs: http://mirror.example/debian-security\n\
             Suites: bookworm-security\nComponents: main\nSigned-By: {KEYRING}\n"
        );
        assert_eq!(
            mirrors(&[("sources.list.d/debian.sources", &text)]),
            ["http://mirror.example/debian"]
        );
    }

    #[test]
    fn lines_as_older_releases_have_them() {
        let text = "# deb http://off.example/debian bookworm main\n\
                    deb-src http://src.example/debian bookworm main\n\
                    deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://a.example/debian/ bookworm main contrib\n\
                    deb http://b.example/debian bookworm main # spare\n";
        assert_eq!(
            mirrors(&[("sources.list", text)]),
            ["http://a.example/debian/", "http://b.example/debian"]
        );
    }

    #[test]
    fn third_parties_and_what_is_off_are_no_mirror() {
        let list = "deb [signed-by=/usr/share/keyrings/tor.gpg] https://tor.example/x bookworm main\n\
                    deb https://pg.example/apt bookworm-pgdg main\n";
        let off = "Types: deb\nEnabled: no\nURIs: http://off.example/debian\nSuites: bookworm\nComponents: main\n";
        assert!(
            mirrors(&[
                ("sources.list.d/x.list", list),
                ("sources.list.d/y.sources", off),
                (
                    "sources.list.d/z.list.save",
                    "deb http://z.example/debian bookworm main\n"
                ),
            ])
            .is_empty()
        );
    }

    #[test]
    fn ubuntu_is_not_debian() {
        let text = "Types: deb\nURIs: http://ubuntu.example/ubuntu\nSuites: noble noble-updates\nComponents: main universe\n\
                    Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n";
        let source = stanzas(text);
        assert_eq!(source.len(), 1);
        assert!(debian_mirrors(&source, "noble").is_empty());
        let older = one_line("deb http://archive.example/ubuntu noble main").unwrap();
        assert!(debian_mirrors(&[older], "noble").is_empty());
    }
}
