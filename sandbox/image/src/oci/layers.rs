//! Layers on one another, the topmost first. (OCI Image Specification 1.1, "Image Layer Filesystem Changeset".)

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::{self, Read},
};

use legwork_erofs::{Builder, Meta, WriteError};
use tar::{Archive, Entry, EntryType};

use super::OciCaps;
use crate::root::RootSummary;

/// A name that hides one of a lower layer begins with this.
const WHITEOUT: &[u8] = b".wh.";

/// The name that hides all that lower layers have in the same folder.
const OPAQUE: &[u8] = b".wh..wh..opq";

/// Why a layer cannot be used.
#[derive(Debug)]
pub(super) enum Fault {
    /// It says what no image says, or too much.
    Hostile(String),
    /// It cannot be read.
    Read(io::Error),
    /// The image cannot be written.
    Write(WriteError),
}

/// What stands at a path by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// A folder that a layer named.
    Dir,
    /// A folder that is there because something is in it.
    Parent,
    /// Anything else.
    Leaf,
}

/// The names of one layer that are second names of a file, by that file.
pub(super) type Links = HashMap<Vec<u8>, Vec<Vec<u8>>>;

/// The tree, as far as it goes.
pub(super) struct Merge<'a> {
    builder: Builder<&'a File>,
    caps: OciCaps,
    stands: HashMap<Vec<u8>, Stands>,
    /// Of no use in lower layers, with all below.
    hidden: HashSet<Vec<u8>>,
    /// Folders into which lower layers bring nothing.
    opaque: HashSet<Vec<u8>>,
    entries: u64,
    bytes: u64,
    summary: RootSummary,
}

/// The second names in a layer. A layer is read once for them alone: the first name may be hidden by an upper layer while a
/// second one is not, and then that one is the file.
pub(super) fn links(tar: &mut dyn Read, caps: OciCaps) -> Result<Links, Fault> {
    let mut links = Links::new();
    let mut entries = 0;
    each(tar, |path, entry| {
        entries += 1;
        if entries > caps.entries {
            return Err(too_much(caps));
        }
        if entry.header().entry_type() == EntryType::Link {
            links.entry(target(entry)?).or_default().push(path);
        }
        Ok(())
    })?;
    Ok(links)
}

impl<'a> Merge<'a> {
    pub(super) fn new(builder: Builder<&'a File>, caps: OciCaps) -> Self {
        Self {
            builder,
            caps,
            stands: HashMap::new(),
            hidden: HashSet::new(),
            opaque: HashSet::new(),
            entries: 0,
            bytes: 0,
            summary: RootSummary::default(),
        }
    }

    /// Takes what of the next lower layer is not hidden.
    pub(super) fn layer(&mut self, tar: &mut dyn Read, links: &Links) -> Result<(), Fault> {
        let (mut hidden, mut opaque) = (HashSet::new(), HashSet::new());
        each(tar, |path, entry| {
            self.entries += 1;
            self.bytes = self.bytes.saturating_add(entry.size());
            if self.entries > self.caps.entries || self.bytes > self.caps.bytes.as_bytes() {
                return Err(too_much(self.caps));
            }
            let (dir, name) = split(&path);
            if name == OPAQUE {
                opaque.insert(dir.to_vec());
            } else if let Some(name) = name.strip_prefix(WHITEOUT) {
                hidden.insert(join(dir, name));
            } else {
                self.entry(path, entry, links)?;
            }
            Ok(())
        })?;
        // They are about lower layers, not about this one.
        self.hidden.extend(hidden);
        self.opaque.extend(opaque);
        Ok(())
    }

    /// Writes what is left to write.
    pub(super) fn finish(self) -> Result<RootSummary, Fault> {
        let mut summary = self.summary;
        summary.bytes = self.builder.finish().map_err(Fault::Write)?;
        Ok(summary)
    }

    fn entry(
        &mut self,
        path: Vec<u8>,
        entry: &mut Entry<'_, &mut dyn Read>,
        links: &Links,
    ) -> Result<(), Fault> {
        let kind = entry.header().entry_type();
        if kind == EntryType::Directory {
            return self.dir(path, meta(entry)?);
        }
        match kind {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                let seconds = links.get(&path).map(Vec::as_slice).unwrap_or_default();
                let mut names = std::iter::once(&path).chain(seconds);
                let Some(first) = names.find(|name| self.shows(name)).cloned() else {
                    return Ok(());
                };
                let (meta, size) = (meta(entry)?, entry.size());
                self.builder
                    .add_file(&first, meta, size, entry)
                    .map_err(|error| match error {
                        WriteError::Read { source, .. } => Fault::Read(source),
                        other => Fault::Write(other),
                    })?;
                self.summary.files += 1;
                self.leaf(first.clone());
                // The others that show are names of the same file.
                for second in seconds {
                    if *second != first && self.shows(second) {
                        self.builder
                            .add_hard_link(second, &first)
                            .map_err(Fault::Write)?;
                        self.summary.files += 1;
                        self.leaf(second.clone());
                    }
                }
            }
            EntryType::Symlink if self.shows(&path) => {
                let to = entry.link_name_bytes().unwrap_or_default().into_owned();
                let meta = meta(entry)?;
                self.builder
                    .add_symlink(&path, meta, &to)
                    .map_err(Fault::Write)?;
                self.summary.symlinks += 1;
                self.leaf(path);
            }
            // Its file stands before it in the same layer, and brought it along, unless it is another layer's.
            EntryType::Link if self.shows(&path) => {
                let first = target(entry)?;
                return Err(Fault::Hostile(format!(
                    "`{}` is a link to `{}`, which is not in its layer",
                    show(&path),
                    show(&first)
                )));
            }
            EntryType::Char | EntryType::Block | EntryType::Fifo => self.summary.special += 1,
            _ => {}
        }
        Ok(())
    }

    fn dir(&mut self, path: Vec<u8>, meta: Meta) -> Result<(), Fault> {
        let is_new = match self.stands.get(&path) {
            None => self.shows(&path) || path.is_empty(),
            // What is in it was there before it: from an upper layer.
            Some(Stands::Parent) => !self.is_hidden(&path),
            Some(_) => false,
        };
        if is_new {
            self.builder.add_dir(&path, meta).map_err(Fault::Write)?;
            self.summary.directories += 1;
            self.parents(&path);
            self.stands.insert(path, Stands::Dir);
        }
        Ok(())
    }

    fn leaf(&mut self, path: Vec<u8>) {
        self.parents(&path);
        self.stands.insert(path, Stands::Leaf);
    }

    fn parents(&mut self, path: &[u8]) {
        for dir in above(path) {
            self.stands.entry(dir.to_vec()).or_insert(Stands::Parent);
        }
    }

    /// Whether an entry of the present layer at this path is seen.
    fn shows(&self, path: &[u8]) -> bool {
        !path.is_empty() && !self.stands.contains_key(path) && !self.is_hidden(path)
    }

    fn is_hidden(&self, path: &[u8]) -> bool {
        self.hidden.contains(path)
            || above(path).any(|dir| {
                self.hidden.contains(dir)
                    || self.opaque.contains(dir)
                    || self.stands.get(dir) == Some(&Stands::Leaf)
            })
    }
}

/// Goes through a layer, with each path as an image has it.
fn each(
    tar: &mut dyn Read,
    mut visit: impl FnMut(Vec<u8>, &mut Entry<'_, &mut dyn Read>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut archive = Archive::new(tar);
    for entry in archive.entries().map_err(Fault::Read)? {
        let mut entry = entry.map_err(Fault::Read)?;
        let path = plain(&entry.path_bytes())?;
        visit(path, &mut entry)?;
    }
    Ok(())
}

fn target(entry: &Entry<'_, &mut dyn Read>) -> Result<Vec<u8>, Fault> {
    plain(&entry.link_name_bytes().unwrap_or_default())
}

/// A path below the root of the image, without `.` and slashes that say nothing.
fn plain(path: &[u8]) -> Result<Vec<u8>, Fault> {
    let parts = path.split(|byte| *byte == b'/');
    let parts: Vec<&[u8]> = parts
        .filter(|part| !part.is_empty() && part != b".")
        .collect();
    if parts.contains(&&b".."[..]) || path.contains(&0) {
        return Err(Fault::Hostile(format!(
            "a layer names `{}`, which leads out of the image",
            show(path)
        )));
    }
    Ok(parts.join(&b'/'))
}

fn meta(entry: &Entry<'_, &mut dyn Read>) -> Result<Meta, Fault> {
    let header = entry.header();
    let narrow = |number: u64| u32::try_from(number).unwrap_or(0);
    Ok(Meta {
        mode: u16::try_from(header.mode().map_err(Fault::Read)? & 0o7777).unwrap_or(0o644),
        uid: narrow(header.uid().map_err(Fault::Read)?),
        gid: narrow(header.gid().map_err(Fault::Read)?),
        mtime: (
            i64::try_from(header.mtime().map_err(Fault::Read)?).unwrap_or(0),
            0,
        ),
    })
}

fn too_much(caps: OciCaps) -> Fault {
    Fault::Hostile(format!(
        "it holds more than {} entries or {}: use a smaller image",
        caps.entries, caps.bytes
    ))
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    match dir.is_empty() {
        true => name.to_vec(),
        false => [dir, b"/", name].concat(),
    }
}

/// The folders above a path, the root last.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = (!path.is_empty()).then_some(path);
    std::iter::from_fn(move || {
        let (dir, _) = split(rest?);
        rest = (!dir.is_empty()).then_some(dir);
        Some(dir)
    })
}

fn show(path: &[u8]) -> String {
    path.escape_ascii().take(200).map(char::from).collect()
}
