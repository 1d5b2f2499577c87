//! Reads images back without the kernel: what is in them, and the bytes of each file.
//!
//! Understands uncompressed images, this crate's and `mkfs.erofs`'s, but for chunks, extended
//! attributes' values and extra devices. Nothing in an image is believed: offsets and lengths are
//! checked against its size, and a directory that contains itself is an error.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read, Seek, SeekFrom},
};

use crate::{
    builder::Stored,
    layout::{BLOCK, BLOCK_SIZE, DIRENT_SIZE, MAGIC, Meta, SLOT, SUPERBLOCK_OFFSET, Special},
};

/// Why an image cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The image file cannot be read.
    #[error("failed to read the image: check the file and the disk it is on")]
    Io(#[from] io::Error),
    /// The bytes are not an image that this crate understands.
    #[error("the image is damaged or of another kind ({0}): build it anew")]
    Damaged(&'static str),
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file of this many bytes.
    File {
        /// Length in bytes.
        len: u64,
    },
    /// A directory; its entries are in the tree.
    Dir,
    /// A symbolic link with its target.
    Symlink(Vec<u8>),
    /// A pipe, socket or device.
    Special(Special),
}

/// One entry of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// Permissions, owner, time.
    pub meta: Meta,
    /// Number of names.
    pub links: u32,
    /// Equal for two names of one file.
    pub inode: u64,
    contents: Contents,
}

impl Entry {
    /// Where the contents of a regular file are, if they are in one piece.
    pub fn stored(&self) -> Option<Stored> {
        let Contents { offset, len, tail } = self.contents;
        (matches!(self.kind, Kind::File { .. }) && tail.is_none()).then_some(Stored { offset, len })
    }
}

/// Contents in whole blocks, and the rest behind the inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Contents {
    offset: u64,
    len: u64,
    tail: Option<u64>,
}

/// An image that is open for reading.
#[derive(Debug)]
pub struct Image<R> {
    input: R,
    size: u64,
    meta: u64,
    root: u64,
}

impl<R: Read + Seek> Image<R> {
    /// Checks the superblock.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not an image of the known kind.
    pub fn open(mut input: R) -> Result<Self, ReadError> {
        const KNOWN_FEATURES: u32 = 1; // "zero padding", which concerns compressed files only.
        let size = input.seek(SeekFrom::End(0))?;
        if size < BLOCK_SIZE {
            return Err(ReadError::Damaged("too short"));
        }
        let mut block = vec![0; BLOCK];
        input.seek(SeekFrom::Start(0))?;
        input.read_exact(&mut block)?;
        let fields = &block[SUPERBLOCK_OFFSET..];
        if u32_at(fields, 0) != MAGIC
            || fields[12] != 12
            || u32_at(fields, 80) & !KNOWN_FEATURES != 0
        {
            return Err(ReadError::Damaged("unknown superblock"));
        }
        let meta = u64::from(u32_at(fields, 40)) * BLOCK_SIZE;
        let root = u64::from(u16_at(fields, 14));
        if u64::from(u32_at(fields, 36)) * BLOCK_SIZE > size {
            return Err(ReadError::Damaged("cut off"));
        }
        Ok(Self {
            input,
            size,
            meta,
            root,
        })
    }

    /// All entries by their paths; the root is the empty path.
    ///
    /// # Errors
    ///
    /// The image cannot be read or is damaged.
    pub fn read_tree(&mut self) -> Result<BTreeMap<Vec<u8>, Entry>, ReadError> {
        let root = self.entry(self.root)?;
        if root.kind != Kind::Dir {
            return Err(ReadError::Damaged("the root is no directory"));
        }
        let mut tree = BTreeMap::new();
        let mut seen = BTreeSet::from([self.root]);
        let mut todo = vec![(Vec::new(), root)];
        while let Some((path, dir)) = todo.pop() {
            for (name, nid) in self.names(&dir)? {
                let mut below = path.clone();
                if !below.is_empty() {
                    below.push(b'/');
                }
                below.extend_from_slice(&name);
                let entry = self.entry(nid)?;
                if entry.kind == Kind::Dir {
                    if !seen.insert(nid) {
                        return Err(ReadError::Damaged("a directory has two parents"));
                    }
                    todo.push((below, entry));
                } else if tree.insert(below, entry).is_some() {
                    return Err(ReadError::Damaged("a name stands twice in a directory"));
                }
            }
            tree.insert(path, dir);
        }
        Ok(tree)
    }

    /// The bytes of a regular file; other entries have none.
    ///
    /// # Errors
    ///
    /// The image cannot be read.
    pub fn read_file(&mut self, entry: &Entry) -> Result<Vec<u8>, ReadError> {
        if matches!(entry.kind, Kind::File { .. }) {
            self.contents(entry.contents)
        } else {
            Ok(vec![])
        }
    }

    fn entry(&mut self, nid: u64) -> Result<Entry, ReadError> {
        let position = nid
            .checked_mul(SLOT)
            .and_then(|offset| offset.checked_add(self.meta))
            .ok_or(ReadError::Damaged("an inode lies outside"))?;
        let mut raw = self.read(position, 32)?;
        let format = u16_at(&raw, 0);
        let extended = format & 1 == 1;
        if extended {
            raw = self.read(position, 64)?;
        }
        let mode = u16_at(&raw, 4);
        let (size, address) = if extended {
            (u64_at(&raw, 8), u32_at(&raw, 16))
        } else {
            (u64::from(u32_at(&raw, 8)), u32_at(&raw, 16))
        };
        let meta = if extended {
            let mtime = (u64_at(&raw, 32).cast_signed(), u32_at(&raw, 40));
            Meta {
                mode: mode & 0o7777,
                uid: u32_at(&raw, 24),
                gid: u32_at(&raw, 28),
                mtime,
            }
        } else {
            let (uid, gid) = (u32::from(u16_at(&raw, 24)), u32::from(u16_at(&raw, 26)));
            Meta {
                mode: mode & 0o7777,
                uid,
                gid,
                mtime: (0, 0),
            }
        };
        let links = if extended {
            u32_at(&raw, 44)
        } else {
            u32::from(u16_at(&raw, 6))
        };
        let attributes = match u64::from(u16_at(&raw, 2)) {
            0 => 0,
            count => 12 + (count - 1) * 4,
        };
        let behind = position + raw.len() as u64 + attributes;
        let offset = u64::from(address) * BLOCK_SIZE;
        let tail = match format >> 1 & 7 {
            0 => None,
            2 => Some(behind),
            _ => return Err(ReadError::Damaged("a file is compressed or in chunks")),
        };
        let contents = Contents {
            offset,
            len: size,
            tail,
        };
        let device = (
            address >> 8 & 0xfff,
            (address & 0xff) | (address >> 12 & 0xf_ff00),
        );
        let kind = match mode & 0o170_000 {
            0o100_000 => Kind::File { len: size },
            0o040_000 => Kind::Dir,
            0o120_000 => Kind::Symlink(self.contents(contents)?),
            0o020_000 => Kind::Special(Special::Char {
                major: device.0,
                minor: device.1,
            }),
            0o060_000 => Kind::Special(Special::Block {
                major: device.0,
                minor: device.1,
            }),
            0o010_000 => Kind::Special(Special::Fifo),
            0o140_000 => Kind::Special(Special::Socket),
            _ => return Err(ReadError::Damaged("an entry of an unknown type")),
        };
        Ok(Entry {
            kind,
            meta,
            links,
            inode: nid,
            contents,
        })
    }

    fn names(&mut self, dir: &Entry) -> Result<Vec<(Vec<u8>, u64)>, ReadError> {
        const DAMAGED: ReadError = ReadError::Damaged("a directory makes no sense");
        let bytes = self.contents(dir.contents)?;
        let mut out = Vec::new();
        for block in bytes.chunks(BLOCK) {
            let head = block.get(8..10).ok_or(DAMAGED)?;
            let count = usize::from(u16_at(head, 0)) / DIRENT_SIZE;
            let heads = block.get(..count * DIRENT_SIZE).ok_or(DAMAGED)?;
            let start = |index: usize| usize::from(u16_at(heads, index * DIRENT_SIZE + 8));
            for index in 0..count {
                let end = if index + 1 < count {
                    start(index + 1)
                } else {
                    block.len()
                };
                let name = block.get(start(index)..end).ok_or(DAMAGED)?;
                let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
                if name.is_empty() || name.contains(&b'/') {
                    return Err(DAMAGED);
                }
                if name != b"." && name != b".." {
                    out.push((name.to_vec(), u64_at(heads, index * DIRENT_SIZE)));
                }
            }
        }
        Ok(out)
    }

    fn contents(&mut self, contents: Contents) -> Result<Vec<u8>, ReadError> {
        let Contents { offset, len, tail } = contents;
        let Some(tail) = tail else {
            return self.read(offset, len);
        };
        let rest = len % BLOCK_SIZE;
        let mut bytes = self.read(offset, len - rest)?;
        bytes.extend(self.read(tail, rest)?);
        Ok(bytes)
    }

    fn read(&mut self, offset: u64, len: u64) -> Result<Vec<u8>, ReadError> {
        if len == 0 {
            return Ok(Vec::new());
        }
        if offset.checked_add(len).is_none_or(|end| end > self.size) {
            return Err(ReadError::Damaged("contents lie outside"));
        }
        let len = usize::try_from(len).map_err(|_| ReadError::Damaged("too large for memory"))?;
        let mut bytes = vec![0; len];
        self.input.seek(SeekFrom::Start(offset))?;
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(array(bytes, offset))
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(array(bytes, offset))
}

fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(array(bytes, offset))
}

fn array<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[offset..offset + N]);
    out
}
