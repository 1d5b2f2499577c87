//! What the built-in agent does, step by step, as it is stored and shown.

use serde::{Deserialize, Serialize};

/// Version of [`AgentStep`]'s JSON form. It grows with every change that an older reader would misunderstand.
pub const STEP_VERSION: u32 = 1;

/// One thing that the built-in agent did, or that was done to it. All texts are bounded and printable: whoever stores them
/// sees to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum AgentStep {
    /// The model said something.
    Said {
        /// What.
        text: String,
    },
    /// The model asked for a tool, which is now used.
    Call {
        /// Name of the call, the same in its result.
        call: String,
        /// Name of the tool.
        tool: String,
        /// What it is asked to do, in one line.
        about: String,
    },
    /// What the model was told of a call.
    Result {
        /// Name of the call.
        call: String,
        /// Whether the tool did what it was asked.
        ok: bool,
        /// The very text that the model is given.
        text: String,
        /// How long it took, in milliseconds.
        millis: u64,
    },
    /// The model answered, and this was spent by then.
    Turn {
        /// All of the task.
        spent: Spent,
        /// From the request to the first byte of the answer, in milliseconds.
        first_byte: u64,
    },
    /// Nothing is asked of the model for a while.
    Waiting {
        /// Until when, in milliseconds since 1970.
        until: i64,
        /// Why, as a part of a sentence: "the model API is overloaded".
        why: String,
    },
    /// The model was told something by Legwork itself: of a budget, of a loop it is in.
    Told {
        /// What.
        text: String,
    },
    /// The model was told what the user said.
    Heard {
        /// What.
        text: String,
    },
    /// Four fifths of a part of the budget are used up.
    Nearly {
        /// Of what, such as "150 steps".
        limit: String,
    },
    /// The agent says that it is done.
    Finished {
        /// Its own words on what it did.
        summary: String,
    },
}

/// What an agent used up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The model, as the API knows it.
    pub model: String,
    /// Answers of the model.
    pub steps: u32,
    /// Requests, also those that failed.
    pub requests: u32,
    /// Tokens that were sent, without those that the API had kept.
    pub input: u64,
    /// Tokens that the API had kept from an earlier request.
    pub cached: u64,
    /// Tokens that the model wrote.
    pub output: u64,
    /// Millionths of a dollar by the configured price; `None` if there is no price.
    pub cost: Option<u64>,
}

impl Spent {
    /// All tokens, however they are billed.
    pub fn tokens(&self) -> u64 {
        self.input
            .saturating_add(self.cached)
            .saturating_add(self.output)
    }
}

impl Spent {
    /// This and what was used up later, with the later model's name.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let cost = match (self.cost, later.cost) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        };
        Self {
            model: later.model,
            steps: self.steps.saturating_add(later.steps),
            requests: self.requests.saturating_add(later.requests),
            input: self.input.saturating_add(later.input),
            cached: self.cached.saturating_add(later.cached),
            output: self.output.saturating_add(later.output),
            cost,
        }
    }
}

impl AgentStep {
    /// As lines of a log, the last one ended; empty for what a log does not need.
    pub fn lines(&self) -> String {
        match self {
            Self::Said { text } => ended(text.trim_end()),
            Self::Call { tool, about, .. } => format!("> {tool}: {about}\n"),
            Self::Result { ok, text, .. } => {
                let mark = if *ok { "| " } else { "! " };
                let marked = text.lines().map(|line| format!("{mark}{line}\n"));
                marked.collect()
            }
            Self::Turn { .. } => String::new(),
            Self::Waiting { why, .. } => format!("... waiting: {why}\n"),
            Self::Told { text } => format!("(Legwork tells the model: {text})\n"),
            Self::Heard { text } => ended(&format!("(the model hears: {})", text.trim_end())),
            Self::Nearly { limit } => {
                format!("(four fifths of the budget of {limit} are used up)\n")
            }
            Self::Finished { summary } => ended(&format!("finished: {}", summary.trim_end())),
        }
    }
}

fn ended(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("{text}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_lines_of_a_log_and_their_json_is_what_is_stored() {
        let call = AgentStep::Call {
            call: "call_1".to_owned(),
            tool: "bash".to_owned(),
            about: "cargo test".to_owned(),
        };
        assert_eq!(call.lines(), "> bash: cargo test\n");
        assert_eq!(
            serde_json::to_value(&call).unwrap(),
            serde_json::json!({"kind": "call", "call": "call_1", "tool": "bash", "about": "cargo test"})
        );
        let result = |ok| AgentStep::Result {
            call: "call_1".to_owned(),
            ok,
            text: "one\ntwo".to_owned(),
            millis: 3,
        };
        assert_eq!(result(true).lines(), "| one\n| two\n");
        assert_eq!(result(false).lines(), "! one\n! two\n");
        let said = |text: &str| AgentStep::Said {
            text: text.to_owned(),
        };
        assert_eq!(
            (said("a\n\n").lines(), said("").lines()),
            ("a\n".to_owned(), String::new())
        );
    }
}
