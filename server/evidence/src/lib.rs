//! What check commands say before and after a change: their output read, their tests compared, the tests that were edited
//! named, and all of it on one card.
//!
//! Everything here is pure. What the commands wrote comes from the guest and is hostile: it is bounded, and nothing of it
//! is believed beyond what a test runner could have said anyway. A test suite that lies is caught by nothing here.

#![forbid(unsafe_code)]

mod card;
mod compare;
mod edited;
mod reader;
mod results;
mod runners;
mod words;

pub use card::{Card, Check, End, Part, Progress, Run, Stamp};
pub use compare::{Difference, DifferenceKind, compare};
pub use edited::{Edited, edited, is_test};
pub use reader::{MAX_OUTPUT, Reader};
pub use results::{MAX_TESTS, Status, Tests};
