//! The sandbox alone, in real virtual machines: no daemon, no workspace, no review.
//!
//! On a host without usable virtualization they are emulated by QEMU; they are never skipped.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod death;
mod forward;
mod lay;
mod network;
mod outcomes;
mod traces;
mod upper;
mod watch;
