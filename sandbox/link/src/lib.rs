//! The conversation between host and guest over one byte stream.
//!
//! 1. The guest opens its virtio-serial port and rings: magic, version ([`hello`]). That is what *ready* means.
//! 2. The host answers with the same; from then on the stream is a yamux connection, the host its client ([`mux`]).
//! 3. Each request is one substream: a length-prefixed [`Open`] from the host, then frames ([`frame`]) as each request
//!    says. Closing a substream ends the request; dropping the connection ends the guest.
//! 4. A program in the guest that connects to a port named in [`Configure::forwards`] makes the guest open a substream:
//!    a length-prefixed [`Call`], then the connection's bytes, both ways, until each side has closed its half. The host
//!    answers it or drops it, which resets it.
//!
//! The guest is hostile from its first instruction: every frame from it is bounded before it is allocated and parsed
//! into a type before anyone looks at it. What it may call for is the host's to say, and no more than [`MAX_CALLS`] at once.
//!
//! Both sides are built and installed together, so there is one [`VERSION`] and no negotiation.

pub mod frame;
pub mod hello;
pub mod message;
pub mod mux;

pub use message::{
    Call, Collected, Configure, Configured, Exec, ExecEnd, ExecInput, ExecOutput, ExecStatus,
    Forward, Found, FoundKind, LayInput, Open, Stats, WatchInput,
};
pub use mux::{Dialer, Substream};

/// Version of everything in this crate.
pub const VERSION: u32 = 4;

/// How many of the guest's calls the host answers at a time. More are refused.
pub const MAX_CALLS: usize = 64;

/// The longest file whose data a watch tells, in bytes. Longer ones are as if they were not there.
pub const MAX_WATCHED: u64 = 1 << 20;

/// The longest file whose data a listing tells, in bytes. Of a longer one, which may be sparse and as long as it likes, only
/// the length is told.
pub const MAX_COLLECTED: u64 = 64 << 20;

/// Why the conversation cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The stream broke or ended.
    #[error("the link to the virtual machine broke: {0}")]
    Io(#[from] std::io::Error),
    /// The other side is of another version.
    #[error(
        "the guest agent speaks version {theirs} and the host {ours}: they were not installed together; run `cargo xtask build`"
    )]
    Version {
        /// Ours.
        ours: u32,
        /// Theirs.
        theirs: u32,
    },
    /// A frame is longer than it may be.
    #[error("a frame of {length} bytes was announced where {limit} are allowed")]
    TooLong {
        /// What was announced.
        length: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A frame makes no sense.
    #[error("a frame could not be understood: {0}")]
    Malformed(String),
}
