//! The language server over its real protocol, the real daemon behind it, and no virtual machine.

mod plain;
mod words;
