//! What must hold for all texts, and the hard inputs that public bug reports tell of.

#![expect(clippy::unwrap_used, reason = "a step that fails is to fail its test")]

mod algebra;
mod cases;
mod git_apply;
mod live;
mod texts;
