//! What is told of each connection: that it went out and how much it moved, or why it did not.

use std::{fmt::Debug, net::SocketAddr, time::Duration};

/// The end of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// It went out.
    Passed {
        /// The name that was asked for.
        host: String,
        /// And the port.
        port: u16,
        /// Where it went.
        address: SocketAddr,
        /// Bytes from the guest.
        up: u64,
        /// Bytes to the guest.
        down: u64,
        /// How long it was open.
        time: Duration,
    },
    /// It did not, or was closed before it moved anything.
    Denied {
        /// What was asked for, in visible characters; empty if that could not be understood.
        host: String,
        /// And the port; 0 if that could not be understood.
        port: u16,
        /// Why.
        denial: Denial,
    },
}

/// Hears of every connection. It must not block.
pub trait Witness: Debug + Send + Sync {
    /// A connection is over.
    fn saw(&self, record: Record);
}

/// Why a connection is refused. The sentences are for the user and for the program that asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// It is no request that a proxy takes.
    #[error("this is not a request for a proxy: {0}")]
    Grammar(&'static str),
    /// The request was not complete in time.
    #[error("the request was not complete in time")]
    Slow,
    /// The host is no name.
    #[error("the host of the request is not a plain name: {0}")]
    Name(legwork_spec::HostNameError),
    /// No entry allows it.
    #[error("the user has not allowed it")]
    NotAllowed,
    /// Too many new names under a wildcard.
    #[error("too many different names were asked for within a minute")]
    Names,
    /// It has no address.
    #[error("its name cannot be resolved: {0}")]
    Unresolved(String),
    /// The resolver did not answer in time.
    #[error("its name was not resolved in time")]
    ResolverSlow,
    /// The resolver gave more addresses than a host has.
    #[error("its name has more addresses than a host has")]
    Addresses,
    /// One of its addresses is not public.
    #[error("its name leads to {address}, which is {why}; only public addresses are reached")]
    Address {
        /// The address.
        address: std::net::IpAddr,
        /// What it is.
        why: &'static str,
    },
    /// It cannot be connected to.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// What is said on port 443 is no TLS, or not for that name.
    #[error("on port 443 only TLS for the same name is let through: {0}")]
    Tls(&'static str),
    /// Port 80 in a tunnel, or port 443 without.
    #[error("{0}")]
    Way(&'static str),
}

impl Denial {
    /// The status of an HTTP answer that says so.
    pub(crate) fn status(&self) -> &'static str {
        match self {
            Self::Grammar(_) | Self::Name(_) | Self::Way(_) => "400 Bad Request",
            Self::Slow => "408 Request Timeout",
            Self::NotAllowed | Self::Address { .. } | Self::Addresses | Self::Tls(_) => {
                "403 Forbidden"
            }
            Self::Names => "429 Too Many Requests",
            Self::Unresolved(_) | Self::Unreachable(_) => "502 Bad Gateway",
            Self::ResolverSlow => "504 Gateway Timeout",
        }
    }

    /// Whether the user could allow it.
    pub fn is_for_the_user(&self) -> bool {
        *self == Self::NotAllowed
    }
}
