//! What this host can do, told in one line and a list.

use legwork_host::Installation;
use legwork_wire::{Host, Places};

/// Looks at this host, and says what tasks will run on here. It needs no daemon.
pub async fn doctor(places: &Places) -> Host {
    let installation = match Installation::locate(places.cache.clone()) {
        Ok(installation) => installation,
        Err(error) => {
            let text = format!("{error}; {}", error.hint());
            return Host {
                verdict: "tasks cannot run here: the installation is not whole".to_owned(),
                able: false,
                checks: vec![("installation".to_owned(), false, text)],
            };
        }
    };
    let report = legwork_host::probe(&installation).await;
    let mut checks = report.checks();
    checks.push(network(places));
    checks.push(match places.prepare() {
        Ok(()) => (
            "directories".to_owned(),
            true,
            format!("state is kept in {}", places.state.display()),
        ),
        Err(error) => ("directories".to_owned(), false, error.to_string()),
    });
    let able = report.able() && checks.last().is_some_and(|(_, well, _)| *well);
    Host {
        verdict: report.verdict(),
        able,
        checks,
    }
}

/// What tasks may reach.
fn network(places: &Places) -> (String, bool, String) {
    let (well, text) = match places.read_config() {
        Ok((config, _)) if config.network.allow.is_empty() => (
            true,
            "tasks reach nothing outside of their machine but what `--allow` names".to_owned(),
        ),
        Ok((config, _)) => {
            let entries: Vec<String> = config
                .network
                .allow
                .iter()
                .map(ToString::to_string)
                .collect();
            let entries = entries.join(", ");
            (
                true,
                format!("every task may reach {entries}, and what `--allow` names"),
            )
        }
        Err(error) => (false, error.to_string()),
    };
    ("network".to_owned(), well, text)
}
