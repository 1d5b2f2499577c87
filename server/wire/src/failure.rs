//! What the daemon says when it does not do what was asked.

use serde::{Deserialize, Serialize};

/// What kind of refusal it is; it decides the exit code of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The request makes no sense: an unknown task, an ambiguous prefix, a bad path. HTTP 400 or 404.
    Usage,
    /// The state of things is against it: nothing pending, the file changed, the digest is another. HTTP 409.
    Conflict,
    /// A rule forbids it. HTTP 403.
    Policy,
    /// This host cannot do it. HTTP 503.
    Host,
    /// The client is newer than the daemon. HTTP 426.
    Generation,
    /// A fault of Legwork's own, or of the disk. HTTP 500.
    Internal,
}

/// Body of every answer that is not a success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ErrorBody {
    /// What kind it is.
    pub kind: ErrorKind,
    /// What happened, as a sentence without a full stop.
    pub message: String,
    /// What to do next, as a sentence without a full stop; may be empty.
    #[serde(default)]
    pub hint: String,
}

/// Why a call to the daemon failed.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The daemon refused.
    #[error(transparent)]
    Refused(#[from] ErrorBody),
    /// There is no daemon, or it went away.
    #[error("the daemon at {socket} does not answer: {source}")]
    Unreachable {
        /// Where it was looked for.
        socket: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something else answered, or another version.
    #[error("the daemon's answer makes no sense: {0}")]
    Garbled(String),
}
