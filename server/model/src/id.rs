//! Names that people type.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Letters that cannot be mistaken for one another or for a digit.
const ALPHABET: &[u8; 16] = b"bcdfghjkmnpqrstv";

/// Length of a task id in letters: 48 random bits.
const LENGTH: usize = 12;

/// The name of a task: twelve letters, random, so that two or three of them are mostly enough to type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(String);

/// Why a text is not a task id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a task id: they are twelve letters, as `legwork tasks` shows them")]
pub struct ParseTaskIdError(String);

impl TaskId {
    /// A new random id.
    pub fn random() -> Self {
        let random = uuid::Uuid::new_v4();
        let letters = random
            .as_bytes()
            .iter()
            .take(LENGTH)
            .map(|byte| char::from(ALPHABET[usize::from(byte & 15)]));
        Self(letters.collect())
    }

    /// All twelve letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first six letters: what lists show.
    pub fn short(&self) -> &str {
        &self.0[..6]
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TaskId {
    type Err = ParseTaskIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte));
        if plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseTaskIdError(text.to_owned()))
        }
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_the_round_trip_and_nothing_else_does() {
        let id = TaskId::random();
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert_ne!(id, TaskId::random());
        for text in [
            "",
            "abc",
            "bcdfghjkmnp",
            "bcdfghjkmnpa",
            "../../../etc",
            "BCDFGHJKMNPQ",
        ] {
            assert!(text.parse::<TaskId>().is_err(), "{text}");
        }
    }
}
