//! Tags by what they were made of, as bytes: a file that is as it was is not parsed again.

use std::{collections::BTreeMap, sync::Arc};

use legwork_model::Digest;

use crate::{language, packages, tags, tags::Tags};

/// Told apart from what another release wrote: its tags may be others.
const VERSION: &[u8] = b"legwork tags 1\n";

/// What tags are kept by: the digest of the text, and the language, which the path says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; 32], u8);

impl Key {
    /// The key of a file.
    pub fn new(path: &str, digest: &Digest) -> Self {
        // What depends on a file's name and not on its bytes alone.
        let language = if tags::is_passed_over(path) {
            u8::MAX
        } else if let Some(manifest) = packages::read(path, "") {
            100 + manifest.kind as u8
        } else {
            language::of(path).map_or(0, |grammar| grammar.id)
        };
        Self(*digest.as_bytes(), language)
    }
}

/// Tags that are kept.
#[derive(Clone, Debug, Default)]
pub struct Kept(BTreeMap<Key, Arc<Tags>>);

impl Kept {
    /// Reads what [`Kept::bytes`] made. What is damaged or of another release is as if nothing were kept.
    pub fn read(bytes: &[u8]) -> Self {
        let Some(body) = bytes.strip_prefix(VERSION) else {
            return Self::default();
        };
        let read: Result<Vec<([u8; 32], u8, Tags)>, _> = postcard::from_bytes(body);
        let all = read.unwrap_or_default().into_iter();
        Self(
            all.map(|(digest, language, tags)| (Key(digest, language), Arc::new(tags)))
                .collect(),
        )
    }

    /// All of it, as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let all: Vec<([u8; 32], u8, &Tags)> = self
            .0
            .iter()
            .map(|(key, tags)| (key.0, key.1, &**tags))
            .collect();
        // A vector takes all that is written to it.
        postcard::to_extend(&all, VERSION.to_vec()).unwrap_or_default()
    }

    /// What is kept of a file.
    pub fn get(&self, key: &Key) -> Option<&Arc<Tags>> {
        self.0.get(key)
    }

    /// Keeps the tags of a file.
    pub fn put(&mut self, key: Key, tags: Arc<Tags>) {
        self.0.insert(key, tags);
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_come_back_and_damaged_ones_do_not() {
        let text = b"fn a() {}\n";
        let key = Key::new("a.rs", &Digest::of(text));
        let mut kept = Kept::default();
        kept.put(key, Arc::new(Tags::of("a.rs", text)));
        let bytes = kept.bytes();
        assert_eq!(Kept::read(&bytes).get(&key), kept.get(&key));
        assert!(
            Kept::read(&bytes)
                .get(&Key::new("a.py", &Digest::of(text)))
                .is_none()
        );
        for end in 0..bytes.len() {
            assert!(Kept::read(&bytes[..end]).is_empty(), "{end}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x55;
            let _any = Kept::read(&damaged).len();
        }
    }
}
