//! Legwork in real editors: keys are pressed in a terminal, and what they did is looked for on the screen, in the buffer
//! and in the file. The editors are those of two Debian releases, see `kit::room`.

mod emacs;
mod helix;
mod helix_files;
mod helix_typing;
mod machine;
mod names;
mod neovim_plain;
mod neovim_plugin;
mod pictures;
mod rooms;
mod stage;
mod two;
mod typing;
