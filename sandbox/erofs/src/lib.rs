//! Writes and reads EROFS images: the read-only file system a virtual machine gets its files from.
//!
//! [`Builder`] streams file contents into the image as it goes and keeps only names and metadata
//! in memory. File contents are never compressed, never packed and always start on a 4096-byte
//! boundary, so that the guest reads them at the speed of the disk and the host reads them back
//! with a plain `read` at [`Stored::offset`]. [`Image`] walks an image without any help of the
//! kernel.
//!
//! This crate does not walk the host's directories and decides nothing about what belongs into an
//! image.
//!
//! ```
//! use std::io::Cursor;
//! use legwork_erofs::{Builder, Image, Meta};
//!
//! let mut bytes = Cursor::new(Vec::new());
//! let mut builder = Builder::new(&mut bytes)?;
//! builder.add_file(b"src/main.rs", Meta::file(), 13, &mut &b"fn main() {}\n"[..])?;
//! builder.finish()?;
//!
//! let mut image = Image::open(bytes)?;
//! let tree = image.read_tree()?;
//! let file = &tree[&b"src/main.rs"[..]];
//! assert_eq!(image.read_file(file)?, b"fn main() {}\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod builder;
mod layout;
mod reader;
mod sink;
mod tree;

pub use builder::{Builder, Stored, WriteError};
pub use layout::{BLOCK_SIZE, Meta, NAME_MAX, Special, TARGET_MAX};
pub use reader::{Entry, Image, Kind, ReadError};
pub use tree::TreeError;
