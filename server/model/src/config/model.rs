//! The tables `[model]` and `[budget]`: which model the built-in agent asks, and how much it may use.

use toml::{Table, Value};

use super::{ConfigError, unknown};

/// A model and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelConfig {
    /// `provider`: what is spoken.
    pub provider: Provider,
    /// `url`: where, if not at the provider's own address. It begins with `http://` or `https://`.
    pub url: Option<String>,
    /// `name`: the model, as the API knows it.
    pub name: String,
    /// `key_env`: the variable that holds the key.
    pub key_env: Option<String>,
    /// `key_file`: the file that holds the key, absolute or below the home directory as `~/`.
    pub key_file: Option<String>,
    /// `ca`: a file with certificates, in PEM form, that are trusted beside the system's own.
    pub ca: Option<String>,
    /// `context`: how many tokens the model reads at the most.
    pub context: u64,
    /// `max_output`: how many tokens an answer may have.
    pub max_output: u32,
    /// `idle`: how many seconds the API may be silent.
    pub idle: u32,
    /// `price`: what a million tokens cost.
    pub price: Option<Price>,
}

/// What is spoken with a model API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// `anthropic`: the Messages API.
    Anthropic,
    /// `openai`: Chat Completions, which many others speak too.
    OpenAi,
    /// `openai-responses`: the Responses API.
    OpenAiResponses,
}

/// Millionths of a dollar for a million tokens, which is millionths of a millionth for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// For what is sent.
    pub input: u64,
    /// For what the model writes.
    pub output: u64,
    /// For what is read again from what the API kept; as `input` if it is not said.
    pub cache_read: u64,
    /// For what the API keeps; as `input` if it is not said.
    pub cache_write: u64,
}

/// How much one task may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// `steps`: answers of the model.
    pub steps: u32,
    /// `tokens`: sent and received together.
    pub tokens: u64,
    /// `dollars`, in millionths; `None` where no price is set.
    pub dollars: Option<u64>,
    /// `minutes`, in seconds; the task's own time limit holds as well.
    pub seconds: Option<u64>,
    /// `lines`: lines that are added or removed.
    pub lines: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 150,
            tokens: 4_000_000,
            dollars: None,
            seconds: None,
            lines: 4_000,
        }
    }
}

/// What a task may cost where prices are set and nothing else is said, in millionths of a dollar.
const USUAL_COST: u64 = 5_000_000;

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::OpenAiResponses];

    /// As it is written in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
        }
    }

    /// Its own address.
    pub fn url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi | Self::OpenAiResponses => "https://api.openai.com/v1",
        }
    }

    /// The variable in which its keys are usually kept.
    pub fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi | Self::OpenAiResponses => "OPENAI_API_KEY",
        }
    }
}

impl ModelConfig {
    pub(super) fn of(table: Table, warnings: &mut Vec<String>) -> Result<Self, ConfigError> {
        let wrong = |name, wanted| ConfigError::Value { name, wanted };
        let (mut provider, mut name, mut url) = (None, None, None);
        let (mut key_env, mut key_file, mut ca, mut price) = (None, None, None, None);
        let (mut context, mut max_output, mut idle) = (128_000, 8_192, 120);
        for (key, value) in table {
            match key.as_str() {
                "provider" => {
                    let known = Provider::ALL
                        .into_iter()
                        .find(|provider| value.as_str() == Some(provider.name()));
                    provider = Some(known.ok_or(wrong(
                        "model.provider",
                        "\"anthropic\", \"openai\" (also for all that speak like it) or \"openai-responses\"",
                    ))?);
                }
                "name" => {
                    name = Some(text(
                        &value,
                        "model.name",
                        "the model's name, such as \"qwen3-coder\"",
                    )?);
                }
                "url" => {
                    let wanted = "an address such as \"http://localhost:11434/v1\"";
                    let given = text(&value, "model.url", wanted)?;
                    let is_url = ["http://", "https://"].iter().any(|scheme| {
                        given
                            .strip_prefix(scheme)
                            .is_some_and(|rest| !rest.is_empty())
                    });
                    if !is_url {
                        return Err(wrong("model.url", wanted));
                    }
                    url = Some(given);
                }
                "key_env" => {
                    key_env = Some(text(
                        &value,
                        "model.key_env",
                        "the name of a variable, such as \"ANTHROPIC_API_KEY\"",
                    )?);
                }
                "key_file" => key_file = Some(path(&value, "model.key_file")?),
                "ca" => ca = Some(path(&value, "model.ca")?),
                "context" => context = whole(&value, "model.context", 1_000, 100_000_000)?,
                "max_output" => {
                    let given = whole(&value, "model.max_output", 16, 1_000_000)?;
                    max_output = u32::try_from(given).unwrap_or(u32::MAX);
                }
                "idle" => {
                    let given = whole(&value, "model.idle", 1, 3_600)?;
                    idle = u32::try_from(given).unwrap_or(u32::MAX);
                }
                "price" => price = Some(Price::of(&value, warnings)?),
                // The value of a name that is not known is not repeated: it may be a key.
                _ => warnings.push(unknown(&format!("model.{key}"))),
            }
        }
        if key_env.is_some() && key_file.is_some() {
            return Err(wrong(
                "model.key_file",
                "left out where `model.key_env` is set: a key has one place",
            ));
        }
        Ok(Self {
            provider: provider.ok_or(wrong(
                "model.provider",
                "set: \"anthropic\", \"openai\" or \"openai-responses\"",
            ))?,
            url,
            name: name.ok_or(wrong(
                "model.name",
                "set: the model's name, as `legwork model list` shows it",
            ))?,
            key_env,
            key_file,
            ca,
            context,
            max_output,
            idle,
            price,
        })
    }
}

impl Price {
    fn of(value: &Value, warnings: &mut Vec<String>) -> Result<Self, ConfigError> {
        let wrong = ConfigError::Value {
            name: "model.price",
            wanted: "dollars for a million tokens, such as { input = 3, output = 15, cache_read = 0.3, cache_write = 3.75 }",
        };
        let table = value.as_table().ok_or(wrong.clone())?;
        for key in table.keys() {
            if !["input", "output", "cache_read", "cache_write"].contains(&key.as_str()) {
                warnings.push(unknown(&format!("model.price.{key}")));
            }
        }
        let of = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(value) => dollars(value).map(Some).ok_or(wrong.clone()),
        };
        let input = of("input")?.ok_or(wrong.clone())?;
        Ok(Self {
            input,
            output: of("output")?.ok_or(wrong.clone())?,
            cache_read: of("cache_read")?.unwrap_or(input),
            cache_write: of("cache_write")?.unwrap_or(input),
        })
    }
}

impl Budget {
    pub(super) fn of(table: Table, warnings: &mut Vec<String>) -> Result<Self, ConfigError> {
        let mut budget = Self::default();
        for (key, value) in table {
            match key.as_str() {
                "steps" => {
                    let given = whole(&value, "budget.steps", 0, 100_000)?;
                    budget.steps = u32::try_from(given).unwrap_or(u32::MAX);
                }
                "tokens" => budget.tokens = whole(&value, "budget.tokens", 0, 1 << 40)?,
                "lines" => budget.lines = whole(&value, "budget.lines", 0, 1 << 30)?,
                "minutes" => {
                    budget.seconds = Some(whole(&value, "budget.minutes", 0, 100_000)? * 60);
                }
                "dollars" => {
                    budget.dollars = Some(dollars(&value).ok_or(ConfigError::Value {
                        name: "budget.dollars",
                        wanted: "a sum such as 2.5",
                    })?);
                }
                _ => warnings.push(unknown(&format!("budget.{key}"))),
            }
        }
        Ok(budget)
    }

    /// A sum can only be kept where prices are known.
    pub(super) fn priced(mut self, model: Option<&ModelConfig>) -> Result<Self, ConfigError> {
        let price = model.and_then(|model| model.price);
        match (self.dollars, price) {
            (Some(_), None) => Err(ConfigError::Value {
                name: "budget.dollars",
                wanted: "left out, or `model.price` set: without prices nobody knows what a task costs",
            }),
            (None, Some(_)) => {
                self.dollars = Some(USUAL_COST);
                Ok(self)
            }
            _ => Ok(self),
        }
    }
}

fn text(value: &Value, name: &'static str, wanted: &'static str) -> Result<String, ConfigError> {
    let given = value.as_str().map(str::trim);
    let is_line =
        |text: &&str| !text.is_empty() && text.len() <= 4096 && !text.chars().any(char::is_control);
    given
        .filter(is_line)
        .map(str::to_owned)
        .ok_or(ConfigError::Value { name, wanted })
}

fn path(value: &Value, name: &'static str) -> Result<String, ConfigError> {
    let wanted = "an absolute path, or one that begins with `~/`";
    let given = text(value, name, wanted)?;
    if given.starts_with('/') || given.starts_with("~/") {
        Ok(given)
    } else {
        Err(ConfigError::Value { name, wanted })
    }
}

fn whole(value: &Value, name: &'static str, least: u64, most: u64) -> Result<u64, ConfigError> {
    let given = value
        .as_integer()
        .and_then(|number| u64::try_from(number).ok());
    given
        .filter(|number| (least..=most).contains(number))
        .ok_or(ConfigError::Value {
            name,
            wanted: "a whole number that makes sense there",
        })
}

/// Dollars in millionths; at most a million of them.
fn dollars(value: &Value) -> Option<u64> {
    let given = match value {
        Value::Integer(whole) => f64::from(i32::try_from(*whole).ok()?),
        Value::Float(given) => *given,
        _ => return None,
    };
    if !(0.0..=1_000_000.0).contains(&given) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between 0 and 10^12"
    )]
    let millionths = (given * 1_000_000.0).round() as u64;
    Some(millionths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentKind, Config, Worker};

    const LOCAL: &str = "[model]\nprovider = \"openai\"\nurl = \"http://localhost:11434/v1\"\nname = \"qwen3-coder\"\n";

    #[test]
    fn a_model_is_a_provider_and_a_name_and_makes_the_built_in_agent_work() {
        let (config, warnings) = Config::parse(LOCAL).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(config.worker(), Some(Worker::Builtin));
        let model = config.model.unwrap();
        assert_eq!(
            (model.provider, model.name.as_str(), model.price),
            (Provider::OpenAi, "qwen3-coder", None)
        );
        assert_eq!(config.budget, Budget::default());
        // A command goes first unless the kind is named.
        let both = format!("{LOCAL}[agent]\ncommand = [\"a\"]\n");
        let (config, _) = Config::parse(&both).unwrap();
        assert!(matches!(config.worker(), Some(Worker::Command { .. })));
        let (config, _) = Config::parse(&format!("{both}kind = \"builtin\"\n")).unwrap();
        assert_eq!(config.agent.kind, Some(AgentKind::Builtin));
        assert_eq!(config.worker(), Some(Worker::Builtin));
        let (config, _) = Config::parse(&format!("{both}kind = \"codex\"\n")).unwrap();
        let codex = Worker::External {
            agent: "codex".to_owned(),
        };
        assert_eq!(config.worker(), Some(codex));
        assert_eq!(Config::parse("").unwrap().0.worker(), None);
    }

    #[test]
    fn prices_are_dollars_for_a_million_tokens_and_make_a_budget() {
        let priced = "[model]\nprovider = \"anthropic\"\nname = \"x\"\nprice = { input = 3, output = 15.0, cache_read = 0.3 }\n";
        let (config, _) = Config::parse(priced).unwrap();
        assert_eq!(
            config.model.unwrap().price,
            Some(Price {
                input: 3_000_000,
                output: 15_000_000,
                cache_read: 300_000,
                cache_write: 3_000_000
            })
        );
        assert_eq!(config.budget.dollars, Some(USUAL_COST));
        let (config, _) = Config::parse(&format!(
            "{priced}[budget]\ndollars = 0.5\nsteps = 3\nminutes = 2\n"
        ))
        .unwrap();
        assert_eq!(
            (
                config.budget.dollars,
                config.budget.steps,
                config.budget.seconds
            ),
            (Some(500_000), 3, Some(120))
        );
        let error = Config::parse(&format!("{LOCAL}[budget]\ndollars = 1\n")).unwrap_err();
        assert!(error.to_string().contains("`budget.dollars`"), "{error}");
    }

    #[test]
    fn what_makes_no_sense_is_named_and_a_key_is_not_repeated() {
        for (wrong, part) in [
            ("[model]\nname = \"x\"\n", "model.provider"),
            ("[model]\nprovider = \"openai\"\n", "model.name"),
            (
                "[model]\nprovider = \"gemini\"\nname = \"x\"\n",
                "model.provider",
            ),
            (
                "[model]\nprovider = \"openai\"\nname = \"x\"\nurl = \"localhost\"\n",
                "model.url",
            ),
            (
                "[model]\nprovider = \"openai\"\nname = \"x\"\nkey_file = \"key\"\n",
                "model.key_file",
            ),
            (
                "[model]\nprovider = \"openai\"\nname = \"x\"\nkey_file = \"/k\"\nkey_env = \"K\"\n",
                "model.key_file",
            ),
            (
                "[model]\nprovider = \"openai\"\nname = \"x\"\nprice = 3\n",
                "model.price",
            ),
            (
                "[model]\nprovider = \"openai\"\nname = \"x\"\nprice = { input = -1, output = 1 }\n",
                "model.price",
            ),
            ("[budget]\nsteps = -1\n", "budget.steps"),
            ("model = 1\n", "model"),
            ("[agent]\nkind = \"an other\"\n", "agent.kind"),
        ] {
            let error = Config::parse(wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{wrong}: {error}");
        }
        let (_, warnings) = Config::parse(&format!("{LOCAL}key = \"sk-secret\"\n")).unwrap();
        assert_eq!(
            warnings,
            ["`model.key` is no setting that this version knows"]
        );
    }
}
