//! Which servers Helix starts by itself for each language: as the installed Helix has it, else from a table of facts on
//! two versions.

use std::collections::BTreeMap;

use toml_edit::{Array, DocumentMut, Value};

use super::{embedded, installed::Installed};
use crate::failure::Failure;

const TABLE: &str = include_str!("defaults.toml");

/// The languages of one Helix.
#[derive(Debug)]
pub(crate) struct Defaults {
    /// By language: what stands in `language-servers`, and nothing else.
    servers: BTreeMap<String, Array>,
    /// Whether some language takes files that end in `.txt`.
    pub(crate) takes_txt: bool,
}

impl Defaults {
    pub(crate) fn of(installed: Option<&Installed>) -> Result<Self, Failure> {
        if let Some(found) = installed.and_then(Installed::languages) {
            return Ok(Self::told(found));
        }
        Self::table(installed.and_then(Installed::version))
    }

    /// As an installed Helix has them.
    fn told(found: Vec<embedded::Language>) -> Self {
        let takes_txt = found.iter().any(|language| language.takes_txt);
        let servers = found
            .into_iter()
            .map(|language| (language.name, language.servers))
            .collect();
        Self { servers, takes_txt }
    }

    /// From the table: those of `version`, or those that every version in it has, with the servers of the newest.
    pub(crate) fn table(version: Option<(u32, u32)>) -> Result<Self, Failure> {
        let broken = |_| {
            Failure::task(
                "the table of Helix's languages cannot be read",
                "this program is broken: install it anew",
            )
        };
        let table: DocumentMut = TABLE.parse().map_err(broken)?;
        let section = |name: &str| {
            let rows = table.get(name).and_then(|item| item.as_table());
            rows.into_iter()
                .flat_map(|rows| rows.iter())
                .filter_map(|(name, item)| Some((name.to_owned(), plain(item.as_array()?))))
        };
        let old: BTreeMap<_, _> = section("25.01").collect();
        let mut servers: BTreeMap<_, _> = section("both").collect();
        match version {
            Some((25, 1)) => servers.extend(old),
            Some((25, 7)) => servers.extend(section("25.07")),
            _ => servers.extend(section("25.07").filter(|(name, _)| old.contains_key(name))),
        }
        Ok(Self {
            servers,
            takes_txt: false,
        })
    }

    /// What Helix starts for a language; `None` if it does not know it.
    pub(crate) fn servers(&self, language: &str) -> Option<&Array> {
        self.servers.get(language)
    }

    /// All languages, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.servers
            .iter()
            .map(|(name, servers)| (name.as_str(), servers))
    }
}

/// A list on one line, without comments.
pub(crate) fn plain(list: &Array) -> Array {
    let mut list: Array = list.iter().cloned().map(one_line).collect();
    list.fmt();
    list
}

fn one_line(value: Value) -> Value {
    match value {
        Value::Array(list) => Value::Array(plain(&list)),
        Value::InlineTable(mut table) => {
            for (_, value) in table.iter_mut() {
                *value = one_line(value.clone());
            }
            table.fmt();
            Value::InlineTable(table)
        }
        mut other => {
            other.decor_mut().clear();
            other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(version: Option<(u32, u32)>, language: &str) -> Option<String> {
        let defaults = Defaults::table(version).unwrap();
        defaults.servers(language).map(ToString::to_string)
    }

    #[test]
    fn each_version_has_its_own_servers() {
        let python = |version| shown(version, "python").unwrap();
        assert_eq!(python(Some((25, 1))), r#"["ruff", "jedi", "pylsp"]"#);
        assert_eq!(python(Some((25, 7))), r#"["ty", "ruff", "jedi", "pylsp"]"#);
        assert_eq!(python(None), python(Some((25, 7))));
        assert_eq!(
            shown(Some((25, 1)), "rust").unwrap(),
            r#"["rust-analyzer"]"#
        );
        assert_eq!(shown(Some((25, 7)), "git-commit").unwrap(), "[]");
    }

    #[test]
    fn an_unknown_version_is_given_only_what_both_know() {
        let names = |version| {
            let defaults = Defaults::table(version).unwrap();
            defaults
                .iter()
                .map(|(name, _)| name.to_owned())
                .collect::<Vec<_>>()
        };
        let (old, new, any) = (names(Some((25, 1))), names(Some((25, 7))), names(None));
        assert!(
            old.len() > 200 && new.len() > old.len(),
            "{} {}",
            old.len(),
            new.len()
        );
        assert!(
            any.iter()
                .all(|name| old.contains(name) && new.contains(name))
        );
        assert!(any.len() > 200);
    }

    #[test]
    fn a_list_loses_its_lines_and_comments() {
        let document: DocumentMut =
            "a = [\n 'x', # why\n { name = 'y', only-features = [\n'f' ] },\n]"
                .parse()
                .unwrap();
        assert_eq!(
            plain(document["a"].as_array().unwrap()).to_string(),
            "['x', { name = 'y', only-features = ['f'] }]"
        );
    }
}
