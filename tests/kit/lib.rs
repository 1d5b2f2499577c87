//! Fixtures for tests that look at the product from outside. No tests of their own live here.

pub mod archive;
pub mod emacs;
pub mod folder;
pub mod helix;
pub mod home;
pub mod lsp;
pub mod machine;
pub mod model;
pub mod nested;
pub mod nvim;
pub mod plain;
pub mod product;
pub mod room;
pub mod screen;
