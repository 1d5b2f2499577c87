//! The user's own settings: what `config.toml` may say, understood from its text. Where the file is and how it is read is
//! for who may do input.

mod model;
mod network;

use legwork_spec::DestinationError;
use toml::{Table, Value};

pub use self::{
    model::{Budget, ModelConfig, Price, Provider},
    network::NetworkConfig,
};
use crate::Worker;

/// What the user set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Table `[agent]`.
    pub agent: AgentConfig,
    /// Table `[model]`.
    pub model: Option<ModelConfig>,
    /// Table `[budget]`.
    pub budget: Budget,
    /// `commands` of table `[check]`: shell command lines that check the result of every task.
    pub checks: Vec<String>,
    /// Table `[network]`.
    pub network: NetworkConfig,
}

/// Who does what is asked for in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentConfig {
    /// `kind`: which it is, where several could be.
    pub kind: Option<AgentKind>,
    /// `command`: program and arguments, run in the sandbox without a shell in between. Not empty.
    pub command: Option<Vec<String>>,
}

/// What an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// `command`: a program in the sandbox.
    Command,
    /// `builtin`: Legwork's own loop with a model.
    Builtin,
    /// The name of a recipe: an agent of somebody else.
    External(String),
}

impl AgentKind {
    /// The agent of that name; `None` if it is no name.
    pub fn named(name: &str) -> Option<Self> {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match name {
            "command" => Some(Self::Command),
            "builtin" => Some(Self::Builtin),
            _ if !name.is_empty() && name.len() <= 64 && name.chars().all(is_name) => {
                Some(Self::External(name.to_owned()))
            }
            _ => None,
        }
    }
}

/// Why a text is no configuration. Nothing of it counts then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// It is not TOML.
    #[error("it is not TOML: {0}")]
    Syntax(String),
    /// A known name has a value that makes no sense.
    #[error("`{name}` is to be {wanted}")]
    Value {
        /// With the tables it is in.
        name: &'static str,
        /// What it has to be, with an example.
        wanted: &'static str,
    },
    /// A host that cannot be allowed.
    #[error("in `[network]`: {0}")]
    Destination(#[from] DestinationError),
}

impl Config {
    /// Understands the text of a `config.toml`. The second value has a sentence for each name that means nothing: another
    /// version may know it, so it is no error.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn parse(text: &str) -> Result<(Self, Vec<String>), ConfigError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            // The rest of it is a picture of the place.
            ConfigError::Syntax(match error.span() {
                Some(span) => {
                    let line = text
                        .bytes()
                        .take(span.start)
                        .filter(|&b| b == b'\n')
                        .count()
                        + 1;
                    format!("line {line}: {}", error.message())
                }
                None => error.message().to_owned(),
            })
        })?;
        let mut config = Self::default();
        let mut warnings = Vec::new();
        let inside = |name, value| match value {
            Value::Table(table) => Ok(table),
            _ => Err(ConfigError::Value {
                name,
                wanted: "a table: a line with its name in brackets, and settings below it",
            }),
        };
        for (name, value) in table {
            match name.as_str() {
                "agent" => {
                    config.agent = AgentConfig::of(inside("agent", value)?, &mut warnings)?;
                }
                "model" => {
                    config.model = Some(ModelConfig::of(inside("model", value)?, &mut warnings)?);
                }
                "budget" => config.budget = Budget::of(inside("budget", value)?, &mut warnings)?,
                "check" => config.checks = checks(inside("check", value)?, &mut warnings)?,
                "network" => {
                    config.network = NetworkConfig::of(inside("network", value)?, &mut warnings)?;
                }
                _ => warnings.push(unknown(&name)),
            }
        }
        config.budget = config.budget.priced(config.model.as_ref())?;
        Ok((config, warnings))
    }

    /// Who does what is asked for in words: the command that is set, else the built-in agent where there is a model, unless
    /// `agent.kind` says which.
    pub fn worker(&self) -> Option<Worker> {
        let command = self
            .agent
            .command
            .clone()
            .map(|argv| Worker::Command { argv });
        let builtin = self.model.is_some().then_some(Worker::Builtin);
        match &self.agent.kind {
            Some(AgentKind::Command) => command,
            Some(AgentKind::Builtin) => builtin,
            Some(AgentKind::External(agent)) => Some(Worker::External {
                agent: agent.clone(),
            }),
            None => command.or(builtin),
        }
    }
}

impl AgentConfig {
    fn of(table: Table, warnings: &mut Vec<String>) -> Result<Self, ConfigError> {
        let mut agent = Self::default();
        for (name, value) in table {
            match name.as_str() {
                "command" => agent.command = Some(command(&value)?),
                "kind" => {
                    let kind = value.as_str().and_then(AgentKind::named);
                    agent.kind = Some(kind.ok_or(ConfigError::Value {
                        name: "agent.kind",
                        wanted: "\"command\", \"builtin\", or an agent that `legwork agent list` shows",
                    })?);
                }
                _ => warnings.push(unknown(&format!("agent.{name}"))),
            }
        }
        Ok(agent)
    }
}

fn checks(table: Table, warnings: &mut Vec<String>) -> Result<Vec<String>, ConfigError> {
    let mut checks = Vec::new();
    for (name, value) in table {
        if name != "commands" {
            warnings.push(unknown(&format!("check.{name}")));
            continue;
        }
        let lines = value.as_array().and_then(|lines| {
            let lines = lines.iter().map(|line| {
                let line = line.as_str()?;
                let is_line = !line.trim().is_empty() && !line.contains('\0');
                is_line.then(|| line.to_owned())
            });
            lines.collect()
        });
        checks = lines.ok_or(ConfigError::Value {
            name: "check.commands",
            wanted: "a list of command lines, such as [\"cargo test\"]",
        })?;
    }
    Ok(checks)
}

fn command(value: &Value) -> Result<Vec<String>, ConfigError> {
    let words: Option<Vec<String>> = value.as_array().and_then(|words| {
        let words = words.iter().map(|word| word.as_str().map(str::to_owned));
        words.collect()
    });
    let runs = |words: &Vec<String>| {
        words.first().is_some_and(|program| !program.is_empty())
            && !words.iter().any(|word| word.contains('\0'))
    };
    words.filter(runs).ok_or(ConfigError::Value {
        name: "agent.command",
        wanted: "a list of words, the program first, such as [\"sh\", \"agent.sh\"]",
    })
}

fn unknown(name: &str) -> String {
    format!(
        "`{}` is no setting that this version knows",
        name.escape_debug()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_command_is_a_list_of_words() {
        let (config, warnings) =
            Config::parse("# mine\n[agent]\ncommand = [\"sh\", \"agent.sh\"]\n").unwrap();
        assert_eq!(
            config.agent.command.as_deref(),
            Some(&["sh".to_owned(), "agent.sh".to_owned()][..])
        );
        assert!(warnings.is_empty());
        assert_eq!(Config::parse("").unwrap(), (Config::default(), vec![]));
        for wrong in [
            "agent = 3",
            "[agent]\ncommand = \"sh agent.sh\"",
            "[agent]\ncommand = []",
            "[agent]\ncommand = [\"\"]",
            "[agent]\ncommand = [\"sh\", 1]",
            "[agent]\ncommand = [\"a\\u0000b\"]",
        ] {
            let error = Config::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("agent"), "{wrong}: {error}");
        }
    }

    #[test]
    fn checks_are_command_lines() {
        let (config, warnings) =
            Config::parse("[check]\ncommands = [\"cargo test\", \"a | b\"]\nother = 1\n").unwrap();
        assert_eq!(config.checks, ["cargo test", "a | b"]);
        assert_eq!(
            warnings,
            ["`check.other` is no setting that this version knows"]
        );
        for wrong in [
            "check = 1",
            "[check]\ncommands = \"a\"",
            "[check]\ncommands = [\" \"]",
        ] {
            let error = Config::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("check"), "{wrong}: {error}");
        }
    }

    #[test]
    fn what_is_not_known_is_named_and_what_is_no_toml_is_placed() {
        let (config, mut warnings) =
            Config::parse("colour = true\n[agent]\ncommand = [\"a\"]\nmodel = \"x\"\n[new]\n")
                .unwrap();
        assert!(config.agent.command.is_some());
        warnings.sort();
        assert_eq!(
            warnings,
            ["agent.model", "colour", "new"]
                .map(|name| format!("`{name}` is no setting that this version knows"))
        );
        let error = Config::parse("[agent]\n\ncommand = [\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("it is not TOML: line ") && !error.contains('\n'),
            "{error}"
        );
    }
}
