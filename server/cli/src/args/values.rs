//! Values that are typed, as types.

use std::{str::FromStr, time::Duration};

use legwork_model::AgentKind;
use legwork_spec::{Destination, DestinationError, Driver, Isolation};

/// The beginning of a task's id, or all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskPrefix(String);

impl TaskPrefix {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TaskPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(
                "a task is named by the first letters of its id, as `legwork tasks` shows them"
                    .to_owned(),
            )
        }
    }
}

/// What one `--allow` says.
#[derive(Clone, Debug)]
pub(crate) struct Allowed(Vec<Destination>);

impl Allowed {
    /// All that these say.
    pub(crate) fn all(given: Vec<Self>) -> Vec<Destination> {
        given
            .into_iter()
            .flat_map(|Self(entries)| entries)
            .collect()
    }
}

pub(super) fn allowed(text: &str) -> Result<Allowed, DestinationError> {
    legwork_spec::allow(text).map(Allowed)
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "`{text}` is not a duration: write a number with s, m or h behind it, such as 90s or 1h30m"
        )
    };
    let duration: jiff::SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(duration).map_err(|_| wrong())
}

pub(super) fn agent(text: &str) -> Result<AgentKind, String> {
    AgentKind::named(text)
        .ok_or_else(|| "a name is of small letters, digits and `-`, such as `codex`".to_owned())
}

pub(super) fn driver(text: String) -> Driver {
    if text == "krun" {
        Driver::Krun
    } else {
        Driver::Qemu
    }
}

pub(super) fn isolation(text: String) -> Isolation {
    match text.as_str() {
        "hardware" => Isolation::Hardware,
        "unjailed-ok" => Isolation::UnjailedOk,
        _ => Isolation::EmulatedOk,
    }
}

pub(super) fn lines(text: &str) -> Result<(u32, u32), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => Ok((first, last)),
        _ => Err(format!(
            "`{text}` are no lines: write the first and the last, such as 12-20"
        )),
    }
}

pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!(
            "`{text}` does not set a variable: write NAME=VALUE"
        )),
    }
}
