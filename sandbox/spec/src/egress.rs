//! What may leave the sandbox.

use serde::{Deserialize, Serialize};

/// The network policy. There is one today: nothing leaves. A policy that cannot be read is an error, never a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EgressPolicy {
    /// No network device, no route, no name resolution.
    Deny,
}
