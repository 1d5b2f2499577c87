//! The language server: tasks and their hunks in any editor that speaks LSP.

mod asks;
mod scratch;
mod symbols;
mod text;
mod uri;
