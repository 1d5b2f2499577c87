//! How agents of others are installed and started, and how they find the model gateway. Known ones are in `recipes.toml`; the
//! user may add some.

use std::collections::BTreeMap;

use legwork_model::Provider;
use serde::Deserialize;

/// The recipes that come with Legwork.
const KNOWN: &str = include_str!("../recipes.toml");

/// How one agent is used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// What it is called by people.
    pub about: String,
    /// What it speaks with a model API.
    #[serde(deserialize_with = "provider")]
    pub api: Provider,
    /// Program and arguments, with the names that [`Values`] has in braces.
    pub argv: Vec<String>,
    /// Variables of its environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files below its home directory.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The npm package that it is installed from.
    pub npm: Option<Package>,
    /// The package of the Python Package Index that it is installed from.
    pub pypi: Option<Package>,
}

/// A package of a registry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Its name.
    pub package: String,
    /// Its version, exactly.
    pub version: String,
}

/// What stands for the names in braces.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    /// `{prompt}`: all that the agent is told.
    pub prompt: &'a str,
    /// `{model}`: the model's name.
    pub model: &'a str,
    /// `{base_url}`: the model gateway, without a version or a slash behind it.
    pub base_url: &'a str,
    /// `{agent}`: where the installed package is.
    pub agent: &'a str,
}

/// A recipe with all its names replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables.
    pub environment: Vec<(String, String)>,
    /// Paths below the home directory, and what stands there.
    pub files: Vec<(String, String)>,
}

/// Why a text is no list of recipes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecipeError {
    /// It is not understood.
    #[error("it is not understood: {0}")]
    Syntax(String),
    /// One of them cannot be used.
    #[error("the recipe `{0}` {1}")]
    Unusable(String, &'static str),
}

/// All recipes by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipes(BTreeMap<String, Recipe>);

impl Recipes {
    /// Those that come with Legwork, and those of the user's own text, which go first.
    ///
    /// # Errors
    ///
    /// [`RecipeError`] for the user's text.
    pub fn with(own: &str) -> Result<Self, RecipeError> {
        let mut recipes = parse(KNOWN)?;
        recipes.extend(parse(own)?);
        Ok(Self(recipes))
    }

    /// The one of that name.
    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Recipe)> {
        self.0.iter().map(|(name, recipe)| (name.as_str(), recipe))
    }
}

impl Recipe {
    /// The package, and whether npm has it.
    pub fn package(&self) -> Option<(&Package, bool)> {
        let npm = self.npm.as_ref().map(|package| (package, true));
        npm.or_else(|| self.pypi.as_ref().map(|package| (package, false)))
    }

    /// Replaces the names. What is put in is not looked at again.
    pub fn order(&self, values: &Values<'_>) -> Order {
        let plain = |text: &String| replaced(text, values, false);
        let quoted = |text: &String| replaced(text, values, true);
        Order {
            argv: self.argv.iter().map(plain).collect(),
            environment: (self.environment.iter())
                .map(|(name, value)| (name.clone(), plain(value)))
                .collect(),
            files: (self.files.iter())
                .map(|(path, text)| (path.clone(), quoted(text)))
                .collect(),
        }
    }
}

/// Braces that hold no known name stay: files are often JSON. In a file a value stands between quotes, so it is escaped as in a
/// JSON string, which TOML and YAML read alike.
fn replaced(text: &str, values: &Values<'_>, quoted: bool) -> String {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        done.push_str(before);
        let found = behind.split_once('}').and_then(|(name, behind)| {
            let value = match name {
                "prompt" => values.prompt,
                "model" => values.model,
                "base_url" => values.base_url,
                "agent" => values.agent,
                "machine" => std::env::consts::ARCH,
                // As Node.js names processors.
                "node_arch" if cfg!(target_arch = "aarch64") => "arm64",
                "node_arch" => "x64",
                _ => return None,
            };
            Some((value, behind))
        });
        if let Some((value, behind)) = found {
            let json = serde_json::Value::from(value).to_string();
            done.push_str(if quoted {
                &json[1..json.len() - 1]
            } else {
                value
            });
            rest = behind;
        } else {
            done.push('{');
            rest = behind;
        }
    }
    done.push_str(rest);
    done
}

fn parse(text: &str) -> Result<BTreeMap<String, Recipe>, RecipeError> {
    let recipes: BTreeMap<String, Recipe> = toml::from_str(text)
        .map_err(|error| RecipeError::Syntax(error.message().replace('\n', " ")))?;
    for (name, recipe) in &recipes {
        let wrong = |why| Err(RecipeError::Unusable(name.clone(), why));
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(is_name) {
            return wrong("has a name that is not of small letters, digits and `-`");
        }
        if ["builtin", "command"].contains(&name.as_str()) {
            return wrong("has a name that Legwork uses itself");
        }
        if recipe.argv.first().is_none_or(String::is_empty) {
            return wrong("has no program in `argv`");
        }
        if recipe.npm.is_some() && recipe.pypi.is_some() {
            return wrong("has two packages: keep `npm` or `pypi`");
        }
        let names = recipe.environment.keys();
        if names
            .into_iter()
            .any(|name| name.is_empty() || name.contains(['=', '\0']))
        {
            return wrong("has a variable that has no proper name");
        }
        let plain = |path: &String| {
            !path.is_empty()
                && std::path::Path::new(path)
                    .components()
                    .all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        if !recipe.files.keys().all(plain) {
            return wrong("has a file that is not below the home directory");
        }
        if let Some((package, _)) = recipe.package() {
            let fits = |text: &str| {
                let plain = |c: char| c.is_ascii_alphanumeric() || "@/._+-".contains(c);
                let first = text.chars().next();
                first.is_some_and(|c| c.is_ascii_alphanumeric() || c == '@')
                    && text.chars().all(plain)
                    && !text.contains("..")
            };
            if !fits(&package.package) || !fits(&package.version) || package.version.contains('/') {
                return wrong("has a package whose name or version is none");
            }
        }
    }
    Ok(recipes)
}

fn provider<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Provider, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = Provider::ALL
        .into_iter()
        .find(|provider| provider.name() == name);
    found.ok_or_else(|| {
        serde::de::Error::custom("`api` is \"anthropic\", \"openai\" or \"openai-responses\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_recipes_are_good_and_a_users_own_go_first() {
        let recipes = Recipes::with("").unwrap();
        for (name, recipe) in recipes.iter() {
            let (package, _) = recipe.package().unwrap();
            assert!(!package.version.is_empty(), "{name}");
            let order = recipe.order(&Values {
                prompt: "do it {model}",
                model: "m\"1",
                base_url: "http://127.0.0.1:1",
                agent: "/agent",
            });
            assert!(
                order.argv.iter().any(|word| word == "do it {model}"),
                "{name}: {order:?}"
            );
            let all = format!("{order:?}");
            assert!(
                all.contains("http://127.0.0.1:1") && all.contains("legwork"),
                "{name}: {all}"
            );
            // Every name of a word or a variable is one that is known.
            let names = order.environment.iter().map(|(_, value)| value);
            for word in order.argv.iter().chain(names) {
                assert!(
                    word == "do it {model}" || !word.contains('{'),
                    "{name}: {word}"
                );
            }
            for (path, text) in &order.files {
                assert!(text.contains("m\\\"1"), "{path}: {text}");
            }
        }
        let own =
            "[codex]\nabout = \"mine\"\napi = \"openai\"\nargv = [\"sh\", \"-c\", \"{prompt}\"]\n";
        let recipes = Recipes::with(own).unwrap();
        assert_eq!(recipes.get("codex").unwrap().about, "mine");
        assert!(recipes.get("claude-code").is_some());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let recipe = |more: &str| format!("[x]\nabout = \"x\"\napi = \"openai\"\n{more}");
        for (wrong, part) in [
            ("x = 1".to_owned(), "invalid type"),
            (recipe(""), "argv"),
            (recipe("argv = []"), "no program"),
            (recipe("argv = [\"a\"]\ncolour = 1"), "colour"),
            (
                recipe("argv = [\"a\"]").replace("openai", "gemini"),
                "`api`",
            ),
            (
                recipe("argv = [\"a\"]").replace("[x]", "[builtin]"),
                "uses itself",
            ),
            (recipe("argv = [\"a\"]").replace("[x]", "[\"a b\"]"), "name"),
            (
                recipe("argv = [\"a\"]\nfiles = { \"../x\" = \"\" }"),
                "below the home",
            ),
            (
                recipe("argv = [\"a\"]\nfiles = { \"/x\" = \"\" }"),
                "below the home",
            ),
            (
                recipe("argv = [\"a\"]\nenvironment = { \"A=B\" = \"\" }"),
                "variable",
            ),
            (
                recipe("argv = [\"a\"]\nnpm = { package = \"--x\", version = \"1\" }"),
                "package",
            ),
            (
                recipe("argv = [\"a\"]\nnpm = { package = \"x\", version = \"../1\" }"),
                "package",
            ),
        ] {
            let error = Recipes::with(&wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }
}
