//! `legwork agent`: which agents of others are known, and how one is installed.

use legwork_daemon::{KnownAgent, agents, install_agent};
use legwork_wire::Places;
use serde_json::json;

use crate::{args::AgentCommand, failure::Failure, output, printable::printable};

/// Does it.
pub(crate) fn agent(places: &Places, command: AgentCommand) -> Result<(), Failure> {
    match command {
        AgentCommand::List { json } => {
            let known = agents(places).map_err(|error| Failure::of_task(&error))?;
            if json {
                let list = known.iter().map(|agent| {
                    json!({
                        "name": agent.name,
                        "about": agent.about,
                        "api": agent.api,
                        "version": agent.version,
                        "installed": agent.installed,
                    })
                });
                return Ok(output::json(&list.collect::<Vec<_>>())?);
            }
            let lines: String = known.iter().map(line).collect();
            Ok(output::print(&lines)?)
        }
        AgentCommand::Install { name } => {
            let size = install_agent(places, &name).map_err(|error| Failure::of_task(&error))?;
            output::note(&format!("{} is installed, {size}", printable(&name)));
            Ok(())
        }
    }
}

/// One agent: its name, what it speaks, its version, and whether it is there.
fn line(agent: &KnownAgent) -> String {
    let version = agent.version.as_deref().unwrap_or("-");
    let state = if agent.installed {
        "installed"
    } else {
        "not installed"
    };
    format!(
        "{:<14} {:<17} {:<12} {state}\n",
        printable(&agent.name),
        agent.api,
        printable(version)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_a_line() {
        let agent = KnownAgent {
            name: "codex".to_owned(),
            about: "Codex CLI".to_owned(),
            api: "openai-responses",
            version: None,
            installed: false,
        };
        assert_eq!(
            line(&agent),
            "codex          openai-responses  -            not installed\n"
        );
    }
}
