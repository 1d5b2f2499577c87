//! `legwork model`: which models the configured API offers, and whether the one that is set can be used.

use std::fmt::Write as _;

use legwork_daemon::{Models, Trial, models, try_model};
use legwork_wire::Places;
use serde_json::json;

use crate::{
    args::ModelCommand,
    failure::{Failure, Kind},
    moment, output,
    printable::printable,
    verdict,
};

/// Does it.
pub(crate) async fn model(places: &Places, command: ModelCommand) -> Result<(), Failure> {
    match command {
        ModelCommand::List { json: false } => Ok(output::print(&listed(&offered(places).await?))?),
        ModelCommand::List { json: true } => {
            let Models {
                name,
                address,
                listed,
            } = offered(places).await?;
            Ok(output::json(
                &json!({ "model": name, "address": address, "models": listed }),
            )?)
        }
        ModelCommand::Test { json } => {
            let trial = try_model(places)
                .await
                .map_err(|error| Failure::of_task(&error))?;
            if json {
                output::json(&json!({
                    "model": trial.name,
                    "address": trial.address,
                    "uses_tools": trial.uses_tools,
                    "first_byte_ms": trial.first_byte.as_millis(),
                    "sent": trial.sent,
                    "written": trial.written,
                }))?;
            } else {
                output::print(&tried(&trial))?;
            }
            if trial.uses_tools {
                return Ok(());
            }
            Err(Failure::new(
                Kind::Task,
                format!(
                    "{} answers, and does not use the tool that it was asked to use",
                    printable(&trial.name)
                ),
                "the built-in agent works by tools only: name another model in config.toml",
            ))
        }
    }
}

async fn offered(places: &Places) -> Result<Models, Failure> {
    let offered = models(places).await;
    offered.map_err(|error| Failure::of_task(&error))
}

/// The names, with a mark at the one that is set.
fn listed(models: &Models) -> String {
    let mut text = format!("{} offers\n", printable(&models.address));
    for name in &models.listed {
        let mark = if *name == models.name { '*' } else { ' ' };
        // Writing to a string does not fail.
        let _ok = writeln!(text, "{mark} {}", printable(name));
    }
    if !models.listed.contains(&models.name) {
        let _ok = writeln!(
            text,
            "{} is set in config.toml and is not among them",
            printable(&models.name)
        );
    }
    text
}

/// How long it took and what it used.
fn tried(trial: &Trial) -> String {
    let first = u64::try_from(trial.first_byte.as_millis()).unwrap_or(u64::MAX);
    format!(
        "{} at {} answers: first byte after {}, {} sent, {} written\n",
        printable(&trial.name),
        printable(&trial.address),
        moment::length(first),
        verdict::count(trial.sent, "token"),
        verdict::count(trial.written, "token"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_that_is_set_is_marked_or_missed_and_names_are_anyones() {
        let models = |name: &str| Models {
            name: name.to_owned(),
            address: "https://a/v1".to_owned(),
            listed: vec!["one".to_owned(), "t\u{1b}wo".to_owned()],
        };
        assert_eq!(
            listed(&models("one")),
            "https://a/v1 offers\n* one\n  t\\x1bwo\n"
        );
        assert!(
            listed(&models("three"))
                .ends_with("\nthree is set in config.toml and is not among them\n")
        );
    }
}
