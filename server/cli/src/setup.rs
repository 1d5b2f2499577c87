//! `legwork setup`: tells editors about Legwork. What each of them needs is in a module of its own; here is the list.

use crate::{args::setup::Editor, failure::Failure, output};

mod configuration;
mod helix;
mod neovim;
mod program;

const EDITORS: &str = "\
helix    `legwork setup helix` writes languages.toml and keys; with --print it only shows them
neovim   `legwork setup neovim` prints the lines that load the plug-in

Every other editor with a language client can start `legwork lsp`.
";

/// Sets an editor up; with none named, tells which can be.
pub(crate) fn setup(editor: Option<Editor>) -> Result<(), Failure> {
    match editor {
        None => Ok(output::print(EDITORS)?),
        Some(Editor::Helix(args)) => helix::helix(&args),
        Some(Editor::Neovim { print: _ }) => neovim::neovim(),
    }
}
