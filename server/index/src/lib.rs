//! What is defined where in a repository, who uses it, and which of it a request is about.
//!
//! | room | what |
//! | --- | --- |
//! | `language`, `tags`, `imports` | one file's text → its [`Tags`], by its grammar |
//! | `words` | names and sentences → the words in them |
//! | `packages`, `resolve` | what an import names → the files that it means |
//! | `kept` | tags by the digest of what they were made of, as bytes |
//! | `index` | all files, and who uses whom |
//! | `rank`, `map` | a request → the files that it is about, as a text of a given length |
//! | `follow` | where a name is defined and used, and by which imports a file comes to another |
//!
//! Nothing here reads a file: whoever has the texts gives them. All that is looked at is bounded, for a repository may be
//! anybody's. A clock is looked at for one thing: to give up on a text whose parse takes too long.

#![forbid(unsafe_code)]

mod follow;
mod imports;
mod index;
mod kept;
mod language;
mod map;
mod packages;
mod rank;
mod resolve;
mod tags;
mod words;

pub use follow::{Chain, Named};
pub use index::{Index, Source};
pub use kept::{Kept, Key};
pub use map::MapOptions;
pub use rank::Query;
pub use tags::{Definition, LONGEST, Tags};
