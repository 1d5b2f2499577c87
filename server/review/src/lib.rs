//! Hunk algebra: what is pending, where it stands, what an accept writes. Pure: bytes in, bytes out; no files, no
//! async, and no clock but the stop-watch that bounds a very large diff.
//!
//! Told in order:
//!
//! 1. [`FileReview::propose`] cuts the difference of two versions of a file into [`Hunk`]s with numbers and states. It is
//!    what a store keeps; the bytes of both versions are kept beside it, by digest.
//! 2. [`FileReview::open`] joins it with those bytes. Two texts hold the truth: [`Opened::base_effective`] is the base
//!    with the accepted hunks, [`Opened::agent_effective`] the base with all that are not rejected. What is pending is
//!    their difference.
//! 3. [`Opened::place`] finds each hunk in the *live* file, and [`Opened::accept`] writes some of them into it: all of
//!    those asked for, or none. [`FileReview::reject`] touches no bytes at all.
//! 4. [`undo`] takes back what an accept wrote, from a file that may have moved on.
//! 5. [`order`] says which file is best read when.
//! 6. [`Opened::views`], [`Opened::remarks`] and [`unified_diff`] show it; [`digest`] binds a decision to what was shown.
//!
//! Files are bytes. A line ends after `\n` and nowhere else; a `\r` before it belongs to the line. Nothing is decoded,
//! normalised or completed on the way, with three exceptions, all for a live file that is not the base any more: a line
//! that gets a follower is ended first; where the user gave or took the last line's ending, that stays so; and where all
//! line endings were changed, hunks land with the new one.

#![forbid(unsafe_code)]

mod diff;
mod hunks;
mod merge;
mod opened;
mod order;
mod printable;
mod propose;
mod remarks;
mod revise;
mod signature;
mod text;
mod undo;
mod unified;
mod verdict;
mod view;

pub use hunks::{DecideError, FileReview, Hunk, Part, Span, State, Stored, digest};
pub use opened::{OpenError, Opened, Placement};
pub use order::{Candidate, Turn, order};
pub use printable::printable;
pub use revise::Revised;
pub use text::{Content, MAX_TEXT, Mode, Version, is_binary};
pub use undo::{UndoError, undo};
pub use unified::unified_diff;
pub use verdict::{AcceptError, Accepted, Splice};
pub use view::{HunkView, LineKind, LineView};
