//! Why a command was not done, as a sentence for the user.

use std::borrow::Cow;

use legwork_wire::WireError;
use tower_lsp_server::jsonrpc::{Error, ErrorCode};

/// A sentence with the cause and the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Failure(pub(crate) String);

/// `RequestFailed` of LSP 3.17: the request is well-formed and could not be done.
const REQUEST_FAILED: i64 = -32803;

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl From<WireError> for Failure {
    fn from(error: WireError) -> Self {
        Self(match error {
            WireError::Refused(body) if body.hint.is_empty() => body.message,
            WireError::Refused(body) => format!("{}; {}", body.message, body.hint),
            other => other.to_string(),
        })
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self {
            code: ErrorCode::ServerError(REQUEST_FAILED),
            message: Cow::Owned(format!("legwork: {failure}")),
            data: None,
        }
    }
}
