//! The Helix that is installed here: which version it is, what it knows, and whether it can read a file.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::embedded::{self, Language};
use crate::{failure::Failure, printable::printable, setup::program};

/// A larger program than this is not searched for languages.
const LARGEST_PROGRAM: u64 = 512 * 1024 * 1024;

/// How Helix begins to tell that it takes no notice of a languages.toml.
const REFUSAL: &str = "Error parsing user language config";

/// A Helix.
#[derive(Debug)]
pub(crate) struct Installed {
    path: PathBuf,
    version: Option<(u32, u32)>,
}

impl Installed {
    /// The one on `PATH`; some systems call it `helix`.
    pub(crate) fn find() -> Option<Self> {
        ["hx", "helix"].into_iter().find_map(|name| {
            let path = program::on_path(name)?;
            let output = Command::new(&path).arg("--version").output().ok()?;
            let told = String::from_utf8_lossy(&output.stdout);
            let version = told.strip_prefix("helix ")?;
            Some(Self {
                version: parse(version),
                path,
            })
        })
    }

    /// Year and month, if it tells.
    pub(crate) fn version(&self) -> Option<(u32, u32)> {
        self.version
    }

    /// What it does for each language by itself; `None` if its program does not tell.
    pub(crate) fn languages(&self) -> Option<Vec<Language>> {
        let size = fs::metadata(&self.path).ok()?.len();
        if size > LARGEST_PROGRAM {
            return None;
        }
        embedded::languages(&fs::read(&self.path).ok()?)
    }

    /// Lets it read a languages.toml that is not in its place yet. A file that Helix refuses is ignored as a whole, so
    /// that one wrong line would take the user's own settings away too.
    pub(crate) fn read_languages(&self, text: &str) -> Result<(), Failure> {
        let unread = |why: &str| {
            Failure::task(
                format!(
                    "nothing is changed: Helix does not read the new languages.toml: {}",
                    printable(why)
                ),
                "is the languages.toml that you have all right? `hx --health rust` tells",
            )
        };
        let home = tempfile::tempdir().map_err(|error| unread(&error.to_string()))?;
        self.health(home.path(), text)
            .map_err(|error| unread(&error.to_string()))
            .and_then(|told| refusal(&told).map_or(Ok(()), |why| Err(unread(&why))))
    }

    /// What it says of a configuration with this languages.toml in it, in a folder of its own.
    fn health(&self, home: &Path, text: &str) -> std::io::Result<String> {
        let dir = home.join("helix");
        fs::create_dir(&dir)?;
        fs::write(dir.join("languages.toml"), text)?;
        let output = Command::new(&self.path)
            .args(["--health", "rust"])
            .current_dir(home)
            .env("XDG_CONFIG_HOME", home)
            .output()?;
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn parse(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(['.', ' ', '\n', '-', '+']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Why Helix refused a file, if it did.
fn refusal(told: &str) -> Option<String> {
    let (_, after) = told.split_once(REFUSAL)?;
    let lines = after.lines().take_while(|line| !line.trim().is_empty());
    let why = lines.collect::<Vec<_>>().join(" ");
    Some(match why.split_once(": ") {
        Some((_, why)) => why.to_owned(),
        None => why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_year_and_month() {
        assert_eq!(parse("25.01.1\n"), Some((25, 1)));
        assert_eq!(parse("25.07.1 (a05c151b)\n"), Some((25, 7)));
        assert_eq!(parse("24.7"), Some((24, 7)));
        assert_eq!(parse("of Troy"), None);
    }

    #[test]
    fn a_refusal_is_told_with_its_reason() {
        let told = "\u{1b}[38;5;9mError parsing user language config\u{1b}[39m: missing field `scope`\nin `language`\n\n\
                    \u{1b}[38;5;11mUsing default language config\u{1b}[39m\n";
        assert_eq!(
            refusal(told).as_deref(),
            Some("missing field `scope` in `language`")
        );
        assert_eq!(refusal(""), None);
    }
}
