//! What is told to an agent whose request goes nowhere, in the form that the provider's own errors have.

use hyper::StatusCode;
use legwork_model::Provider;
use serde_json::json;

use crate::failure::ModelError;

/// Why a request is not answered by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    status: u16,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: u16, message: String) -> Self {
        Self { status, message }
    }

    /// What the model API said, with its own status where an agent can make something of it.
    pub(super) fn of(error: &ModelError) -> Self {
        let status = match error {
            ModelError::Key(_) => 401,
            ModelError::Credit(_) | ModelError::Refused(_) | ModelError::TooLong(_) => 400,
            ModelError::Unknown(_) => 404,
            ModelError::RateLimited { .. } => 429,
            ModelError::Overloaded { .. } => 503,
            ModelError::Cut(_)
            | ModelError::Silent(_)
            | ModelError::Garbled(_)
            | ModelError::Unreachable(_) => 502,
        };
        Self::new(status, error.to_string())
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY)
    }

    pub(super) fn body(&self, provider: Provider) -> String {
        let kind = match self.status {
            401 => "authentication_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        let error = json!({ "type": kind, "message": self.message, "param": null, "code": null });
        match provider {
            Provider::Anthropic => {
                let error = json!({ "type": kind, "message": self.message });
                json!({ "type": "error", "error": error }).to_string()
            }
            Provider::OpenAi | Provider::OpenAiResponses => json!({ "error": error }).to_string(),
        }
    }
}
