//! What can go wrong with a model API, and what a user can do about it.

use std::time::Duration;

use legwork_model::{Failure, FailureKind};

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The key is missing, wrong or not for this.
    #[error("the model API does not take the key ({0})")]
    Key(String),
    /// The account has nothing left.
    #[error("the account at the model API has no credit ({0})")]
    Credit(String),
    /// There is no such model or address.
    #[error("the model API does not know the model or the address ({0})")]
    Unknown(String),
    /// The request is longer than the model reads.
    #[error("the dialogue is longer than the model can read ({0})")]
    TooLong(String),
    /// The request is not taken for another reason.
    #[error("the model API refused the request ({0})")]
    Refused(String),
    /// Too many requests.
    #[error("the model API limits how much is asked of it ({message})")]
    RateLimited {
        /// What it says.
        message: String,
        /// How long it wants to be left alone.
        after: Option<Duration>,
    },
    /// It has too much to do, or a fault.
    #[error("the model API is overloaded or has a fault ({message})")]
    Overloaded {
        /// What it says.
        message: String,
        /// How long it wants to be left alone.
        after: Option<Duration>,
    },
    /// The answer ended before its end.
    #[error("the answer of the model API broke off ({0})")]
    Cut(String),
    /// Nothing came for too long.
    #[error("the model API was silent for {0} s")]
    Silent(u64),
    /// What came cannot be understood.
    #[error("the answer of the model API is not understood ({0})")]
    Garbled(String),
    /// There is no connection.
    #[error("the model API cannot be reached: {0}")]
    Unreachable(String),
}

impl ModelError {
    /// Whether it may go well the next time.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Key(_)
            | Self::Credit(_)
            | Self::Unknown(_)
            | Self::TooLong(_)
            | Self::Refused(_) => false,
            Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::Cut(_)
            | Self::Silent(_)
            | Self::Garbled(_)
            | Self::Unreachable(_) => true,
        }
    }

    /// As the end of a task.
    pub fn failure(&self) -> Failure {
        let (kind, hint) = match self {
            Self::Key(_) => (
                FailureKind::Setup,
                "check the key that `[model]` in config.toml names, and try it with `legwork model test`",
            ),
            Self::Credit(_) => (
                FailureKind::Setup,
                "top the account up, or name another model in config.toml",
            ),
            Self::Unknown(_) => (
                FailureKind::Setup,
                "`legwork model list` shows the models; correct `model.name` or `model.url` in config.toml",
            ),
            Self::TooLong(_) => (
                FailureKind::Model,
                "ask for less at once; what it had changed is kept for review",
            ),
            Self::Refused(_) => (
                FailureKind::Model,
                "`legwork model test` shows whether the model can be used at all",
            ),
            Self::RateLimited { .. } | Self::Overloaded { .. } => (
                FailureKind::Model,
                "run it again later with `legwork retry`; what it had changed is kept for review",
            ),
            Self::Cut(_) | Self::Silent(_) | Self::Garbled(_) => (
                FailureKind::Model,
                "run it again with `legwork retry`; what it had changed is kept for review",
            ),
            Self::Unreachable(_) => (
                FailureKind::Model,
                "check that the server runs, `model.url` in config.toml, and the proxy in HTTPS_PROXY",
            ),
        };
        Failure::new(kind, self.to_string(), hint)
    }

    /// What a status and a body say together.
    pub(crate) fn of_status(status: u16, message: String, after: Option<Duration>) -> Self {
        let low = message.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
        let message = format!("{status}: {message}");
        let is_long = has(&[
            "prompt is too long",
            "context_length",
            "context length",
            "maximum context",
            "context window",
            "too many tokens",
        ]);
        let is_credit = has(&[
            "credit",
            "insufficient_quota",
            "insufficient quota",
            "billing",
            "payment required",
        ]);
        match status {
            402 => Self::Credit(message),
            400 | 403 | 429 if is_credit => Self::Credit(message),
            401 | 403 => Self::Key(message),
            404 => Self::Unknown(message),
            400 | 413 | 422 if is_long || status == 413 => Self::TooLong(message),
            429 => Self::RateLimited { message, after },
            408 | 409 | 425 | 500..=599 => Self::Overloaded { message, after },
            _ => Self::Refused(message),
        }
    }

    /// What an error event in a stream says: its type or code stands for the status.
    pub(crate) fn of_event(kind: &str, message: &str) -> Self {
        let status = match kind {
            "authentication_error" | "invalid_api_key" => 401,
            "billing_error" | "insufficient_quota" => 402,
            "permission_error" => 403,
            "not_found_error" | "model_not_found" => 404,
            "request_too_large" | "context_length_exceeded" => 413,
            "invalid_request_error" | "invalid_prompt" => 400,
            "rate_limit_error" | "rate_limit_exceeded" => 429,
            _ => 529,
        };
        let said = if message.is_empty() { kind } else { message };
        Self::of_status(status, said.to_owned(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b125_what_cannot_get_better_is_not_tried_again_and_says_what_to_do() {
        let of = |status, text: &str| ModelError::of_status(status, text.to_owned(), None);
        for (error, word) in [
            (of(401, "invalid x-api-key"), "key"),
            (of(403, "no"), "key"),
            (of(402, "no"), "credit"),
            (of(400, "Your credit balance is too low"), "credit"),
            (of(429, "insufficient_quota"), "credit"),
            (of(404, "model: x"), "know"),
            (of(400, "bad"), "refused"),
        ] {
            let failure = error.failure();
            assert!(
                !error.is_transient() && failure.message.contains(word) && !failure.hint.is_empty(),
                "{error}"
            );
        }
        for status in [408, 429, 500, 502, 503, 529] {
            assert!(of(status, "x").is_transient(), "{status}");
        }
        assert!(matches!(
            of(400, "prompt is too long: 9 tokens"),
            ModelError::TooLong(_)
        ));
        assert!(matches!(
            of(400, "maximum context length is 10"),
            ModelError::TooLong(_)
        ));
        assert!(matches!(
            ModelError::of_event("overloaded_error", "Overloaded"),
            ModelError::Overloaded { .. }
        ));
        assert!(ModelError::of_event("server_error", "").is_transient());
    }
}
