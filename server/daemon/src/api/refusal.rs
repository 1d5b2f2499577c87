//! An answer that is not a success: status code and [`ErrorBody`] always go together.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use legwork_wire::{ErrorBody, ErrorKind};

use crate::{review::ReviewError, store::StoreError};

/// Why something was not done.
#[derive(Clone, Debug)]
pub(crate) struct Refusal(pub(crate) StatusCode, pub(crate) ErrorBody);

impl Refusal {
    pub(crate) fn new(
        status: StatusCode,
        kind: ErrorKind,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self(
            status,
            ErrorBody {
                kind,
                message: message.into(),
                hint: hint.into(),
            },
        )
    }

    /// The request makes no sense.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorKind::Usage, message, hint)
    }

    /// Nothing of that name is there.
    pub(crate) fn missing(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorKind::Usage, message, hint)
    }

    /// The state of things is against it.
    pub(crate) fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, ErrorKind::Conflict, message, hint)
    }

    /// A fault of ours or of the disk.
    pub(crate) fn internal(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            ErrorKind::Internal,
            message,
            hint,
        )
    }

    /// The daemon is going away.
    pub(crate) fn ending() -> Self {
        Self::conflict(
            "the daemon is just ending",
            "try again: a new one is started",
        )
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        if self.1.kind == ErrorKind::Internal {
            tracing::error!(message = self.1.message, "a request failed");
        }
        (self.0, Json(self.1)).into_response()
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NoTask(_) => Self::missing(
                error.to_string(),
                "`legwork tasks` lists those that are known",
            ),
            StoreError::Ambiguous { .. } => {
                Self::usage(error.to_string(), "give more letters of the one you mean")
            }
            StoreError::Illegal { .. } => {
                Self::conflict(error.to_string(), "look at it again with `legwork show`")
            }
            StoreError::Closing => Self::ending(),
            StoreError::Open { .. }
            | StoreError::InUse(_)
            | StoreError::Newer { .. }
            | StoreError::Database(_)
            | StoreError::Garbled(_) => {
                Self::internal(error.to_string(), "the daemon's log has more")
            }
        }
    }
}

impl From<ReviewError> for Refusal {
    fn from(error: ReviewError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        match error.kind() {
            ErrorKind::Usage => Self::missing(message, hint),
            ErrorKind::Policy => Self::new(StatusCode::FORBIDDEN, ErrorKind::Policy, message, hint),
            ErrorKind::Host => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorKind::Host,
                message,
                hint,
            ),
            ErrorKind::Conflict | ErrorKind::Generation => Self::conflict(message, hint),
            ErrorKind::Internal => match error {
                ReviewError::Store(error) => error.into(),
                _ => Self::internal(message, hint),
            },
        }
    }
}
