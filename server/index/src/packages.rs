//! Packages of a repository, by their manifests: where each begins, and by which name others import it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Package {
    /// For whom it is.
    pub(crate) kind: Kind,
    /// The name by which it is imported; empty if it says none.
    pub(crate) name: String,
    /// The file that an import of its bare name means, if it says one; relative to the manifest.
    pub(crate) entry: Option<String>,
}

/// Who reads a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Kind {
    Cargo,
    Npm,
    Python,
    Go,
    Ruby,
    Java,
}

/// Longer manifests are not read, in bytes.
const LONGEST: usize = 256 << 10;

/// What a file says of a package; `None` if it is no manifest.
pub(crate) fn read(path: &str, text: &str) -> Option<Package> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let kind = match name {
        "Cargo.toml" => Kind::Cargo,
        "package.json" => Kind::Npm,
        "pyproject.toml" | "setup.py" | "setup.cfg" => Kind::Python,
        "go.mod" => Kind::Go,
        "Gemfile" => Kind::Ruby,
        "pom.xml" | "build.gradle" | "build.gradle.kts" => Kind::Java,
        other if other.ends_with(".gemspec") => Kind::Ruby,
        _ => return None,
    };
    let (name, entry) = if text.len() > LONGEST {
        (None, None)
    } else {
        match kind {
            Kind::Cargo => cargo(text),
            Kind::Npm => npm(text),
            Kind::Go => (go(text), None),
            Kind::Python | Kind::Ruby | Kind::Java => (None, None),
        }
    };
    Some(Package {
        kind,
        name: name.unwrap_or_default(),
        entry,
    })
}

fn cargo(text: &str) -> (Option<String>, Option<String>) {
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return (None, None);
    };
    let said = |table: &str, key: &str| Some(manifest.get(table)?.get(key)?.as_str()?.to_owned());
    let name = said("lib", "name").or_else(|| said("package", "name"));
    (name.map(|name| name.replace('-', "_")), said("lib", "path"))
}

fn npm(text: &str) -> (Option<String>, Option<String>) {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else {
        return (None, None);
    };
    let said = |value: &Value| value.as_str().map(str::to_owned);
    let exported = match &manifest["exports"] {
        Value::Object(exports) => match exports.get(".") {
            Some(Value::Object(ways)) => ["source", "import", "default"]
                .iter()
                .find_map(|way| said(ways.get(*way)?)),
            Some(other) => said(other),
            None => None,
        },
        other => said(other),
    };
    let entry = said(&manifest["source"])
        .or(exported)
        .or_else(|| said(&manifest["module"]))
        .or_else(|| said(&manifest["main"]));
    (said(&manifest["name"]), entry)
}

fn go(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "))?;
    let line = line.split("//").next().unwrap_or_default();
    Some(line.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_say_names_and_broken_ones_nothing() {
        let package = |path, text| read(path, text).map(|package| (package.name, package.entry));
        let named = |name: &str| Some((name.to_owned(), None));
        assert_eq!(
            package("a/Cargo.toml", "[package]\nname = \"my-core\"\n"),
            named("my_core")
        );
        assert_eq!(
            package(
                "ui/package.json",
                "{\"name\": \"@acme/ui\", \"main\": \"src/main.ts\"}"
            ),
            Some(("@acme/ui".to_owned(), Some("src/main.ts".to_owned())))
        );
        assert_eq!(
            package("go.mod", "module example.com/m // x\n\ngo 1.22\n"),
            named("example.com/m")
        );
        assert_eq!(package("pyproject.toml", "["), named(""));
        assert_eq!(package("Cargo.toml", "["), named(""));
        assert_eq!(package("package.json", "[1"), named(""));
        assert_eq!(package("README.md", ""), None);
    }
}
