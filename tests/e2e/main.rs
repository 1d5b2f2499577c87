//! The product from outside: the real binary, its real daemon, real virtual machines, real files.
//!
//! On a host without usable virtualization the machines are emulated by QEMU; they are never skipped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod bad_input;
mod bytes;
mod death;
mod ends;
mod evidence;
mod external;
mod full;
mod image;
mod job;
mod live;
mod network;
mod say;
