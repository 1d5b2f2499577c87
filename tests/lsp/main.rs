//! The language server over its real protocol, the real daemon behind it, and no virtual machine. Names in doc comments
//! such as B16 are those of the list of public bug reports that the tests were made from.

mod amiss;
mod bad_input;
mod bulk;
mod clients;
mod daemon;
mod evidence;
mod killed;
mod moves;
mod order;
mod orders;
mod paths;
mod plain;
mod positions;
mod races;
mod running;
mod say;
mod stage;
mod taken;
mod undo;
mod words;
