//! What can be typed after `legwork setup`, as types.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// An editor that can be set up.
#[derive(Debug, Subcommand)]
pub(crate) enum Editor {
    /// Let Helix start Legwork beside each language's own servers, and give it keys.
    Helix(HelixArgs),
    /// Print the lines that load the plug-in for Neovim.
    Neovim {
        /// Only print, which is all it does anyhow.
        #[arg(long)]
        print: bool,
    },
}

/// `legwork setup helix`.
#[derive(Debug, Args)]
pub(crate) struct HelixArgs {
    /// Print the files as they would become, and change nothing.
    #[arg(long)]
    pub(crate) print: bool,
    /// Only these languages, instead of all that Helix knows.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) languages: Vec<String>,
    /// Where Helix is configured, instead of `~/.config/helix`.
    #[arg(long, value_name = "DIR")]
    pub(crate) config_dir: Option<PathBuf>,
}
