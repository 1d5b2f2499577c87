//! The model of the built-in agent: what is configured, and whether it can be used. The daemon need not run for this.

use std::time::Duration;

use legwork_agent::{ApiKey, Entry, ModelClient, Prompt, ToolChoice, Usage};
use legwork_model::{Budget, Config, Failure, FailureKind, ModelConfig};
use legwork_wire::Places;

/// The tool that a trial asks for. It is not run.
const TOOL: &str = "finish";

/// A model that is configured and that nothing was asked of.
#[derive(Debug)]
pub(crate) struct Configured {
    pub(crate) model: ModelConfig,
    pub(crate) budget: Budget,
    pub(crate) client: ModelClient,
}

/// The models that an API lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Models {
    /// The one that is configured.
    pub name: String,
    /// Where it is asked.
    pub address: String,
    /// All that the API lists, as it names them.
    pub listed: Vec<String>,
}

/// What came of a word with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The model.
    pub name: String,
    /// Where it was asked.
    pub address: String,
    /// Whether it used the tool that it was asked to use. One that does not is of no use to the agent.
    pub uses_tools: bool,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Tokens that were sent.
    pub sent: u64,
    /// Tokens that came back.
    pub written: u64,
}

/// Lists what the configured API offers.
///
/// # Errors
///
/// A [`Failure`] of the configuration, the key or the API.
pub async fn models(places: &Places) -> Result<Models, Failure> {
    let Configured { client, .. } = configured(places)?;
    let listed = client.models().await.map_err(|error| error.failure())?;
    Ok(Models {
        name: client.name().to_owned(),
        address: client.address().to_owned(),
        listed,
    })
}

/// Asks the configured model to use a tool, which costs a few hundred tokens. Nothing is run.
///
/// # Errors
///
/// As [`models`].
pub async fn try_model(places: &Places) -> Result<Trial, Failure> {
    let Configured { model, client, .. } = configured(places)?;
    let prompt = Prompt {
        system: "This is a trial of the connection.".to_owned(),
        entries: vec![Entry::User(format!(
            "Use the tool `{TOOL}` once, with the summary `ready`, and say nothing else."
        ))],
        choice: ToolChoice::Free,
        max_output: model.max_output,
    };
    let asked = client.ask(&prompt).await;
    let reply = asked.reply.map_err(|error| error.failure())?;
    let Usage { output, .. } = reply.usage;
    Ok(Trial {
        name: client.name().to_owned(),
        address: client.address().to_owned(),
        uses_tools: reply.calls().any(|call| call.name == TOOL),
        first_byte: asked.first_byte,
        sent: reply.usage.prompt(),
        written: output,
    })
}

/// Reads what is configured.
///
/// # Errors
///
/// A [`Failure`] that says what is missing or makes no sense.
pub(crate) fn configured(places: &Places) -> Result<Configured, Failure> {
    let setup = |message: String, hint: String| Failure::new(FailureKind::Setup, message, hint);
    let (Config { model, budget, .. }, _) = places.read_config().map_err(|error| {
        setup(
            error.to_string(),
            "correct it and run the task again".to_owned(),
        )
    })?;
    let model =
        model.ok_or_else(|| setup("no model is configured".to_owned(), places.agent_hint()))?;
    let nothing = [
        (budget.steps == 0, "steps"),
        (budget.tokens == 0, "tokens"),
        (budget.dollars == Some(0), "dollars"),
        (budget.seconds == Some(0), "minutes"),
        (budget.lines == 0, "lines"),
    ];
    if let Some((_, name)) = nothing.into_iter().find(|(is_nothing, _)| *is_nothing) {
        return Err(setup(
            format!("`budget.{name}` is 0, so nothing can be done"),
            "raise it in config.toml".to_owned(),
        ));
    }
    let key = ApiKey::of(&model).map_err(|error| {
        setup(
            format!("there is no key for the model API: {error}"),
            error.hint(),
        )
    })?;
    let client = ModelClient::new(&model, key)?;
    Ok(Configured {
        model,
        budget,
        client,
    })
}
