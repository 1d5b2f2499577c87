//! The writer: contents first, as they come; names and metadata behind them at the end.
//!
//! ```text
//! block 0      superblock, written last
//! block 1..    file contents, each at a block boundary
//! then         directories and link targets that do not fit behind their inode
//! then         inodes, parents first; small directories and link targets behind their inode
//! ```

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
};

use crate::{
    layout::{
        BLOCK, BLOCK_SIZE, DataLayout, Dirent, INLINE_MAX, INODE_SIZE, Inode, Meta, SLOT, Special,
        Superblock, directory_size, encode_directory,
    },
    sink::{CopyError, Sink},
    tree::{Body, NodeId, ROOT, Tree, TreeError, check_target, show},
};

/// Where the contents of a file are in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Position of the first byte in the image, a multiple of [`crate::BLOCK_SIZE`].
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

/// Why an image could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A name or target that an image cannot hold; the image is as it was before.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The file to add could not be read. It is not in the image; its parents may be.
    #[error("failed to read `{path}` for the image: check the file, or leave it out")]
    Read {
        /// The path in the image.
        path: String,
        /// What the reader said.
        source: io::Error,
    },
    /// The image itself could not be written; it is of no use any more.
    #[error("failed to write the image: check the free space and the disk it is on")]
    Write(#[source] io::Error),
    /// More blocks than the format can address.
    #[error("an image cannot grow beyond 16 TiB: leave something out")]
    TooLarge,
}

/// Writes one image. Nothing is valid before [`Builder::finish`] has returned.
///
/// Give it `&File` to keep the file for `fsync` and to have large files copied in the kernel
/// ([`Builder::add_file_from`]).
#[derive(Debug)]
pub struct Builder<W> {
    sink: Sink<W>,
    tree: Tree,
    uuid: [u8; 16],
}

impl<W: Write + Seek> Builder<W> {
    /// Starts an image at position 0 of `out`, which must be empty.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub fn new(out: W) -> Result<Self, WriteError> {
        let mut sink = Sink::new(out);
        sink.zeros(BLOCK_SIZE).map_err(WriteError::Write)?;
        Ok(Self {
            sink,
            tree: Tree::new(),
            uuid: [0; 16],
        })
    }

    /// Sets the identity of the file system; zero if it is never set.
    pub fn set_uuid(&mut self, uuid: [u8; 16]) {
        self.uuid = uuid;
    }

    /// Adds a regular file with all that `reader` yields. Parents that were not added come into
    /// being as [`Meta::dir`]. `size_hint` is what the size is believed to be; it is not trusted.
    ///
    /// # Errors
    ///
    /// See [`WriteError`]. After [`WriteError::Read`] and [`WriteError::Tree`] the builder can go
    /// on without this file.
    pub fn add_file(
        &mut self,
        path: &[u8],
        meta: Meta,
        size_hint: u64,
        reader: &mut dyn Read,
    ) -> Result<Stored, WriteError> {
        self.file(path, meta, |sink| sink.copy(size_hint, reader))
    }

    /// Adds a directory. The empty path is the root; a directory that came into being as a parent
    /// may be added once, later.
    ///
    /// # Errors
    ///
    /// The path is taken or cannot be in an image.
    pub fn add_dir(&mut self, path: &[u8], meta: Meta) -> Result<(), WriteError> {
        Ok(self.tree.dir(path, meta)?)
    }

    /// Adds a symbolic link. The target is stored as it is.
    ///
    /// # Errors
    ///
    /// The path is taken or cannot be in an image, or the target cannot.
    pub fn add_symlink(
        &mut self,
        path: &[u8],
        meta: Meta,
        target: &[u8],
    ) -> Result<(), WriteError> {
        check_target(path, target)?;
        let place = self.tree.place(path)?;
        self.tree.insert(place, meta, Body::Symlink(target.into()));
        Ok(())
    }

    /// Adds a second name for the file at `first`.
    ///
    /// # Errors
    ///
    /// The path is taken or cannot be in an image, or `first` is not a file that was added.
    pub fn add_hard_link(&mut self, path: &[u8], first: &[u8]) -> Result<(), WriteError> {
        Ok(self.tree.link(path, first)?)
    }

    /// Adds a pipe, socket or device.
    ///
    /// # Errors
    ///
    /// The path is taken or cannot be in an image.
    pub fn add_special(
        &mut self,
        path: &[u8],
        meta: Meta,
        special: Special,
    ) -> Result<(), WriteError> {
        let place = self.tree.place(path)?;
        self.tree.insert(place, meta, Body::Special(special));
        Ok(())
    }

    /// Bytes written so far.
    pub fn position(&self) -> u64 {
        self.sink.position()
    }

    /// Writes names, metadata and the superblock. Returns the size of the image in bytes.
    ///
    /// # Errors
    ///
    /// The output cannot be written, or the image is too large.
    pub fn finish(mut self) -> Result<u64, WriteError> {
        let order = self.tree.in_order();
        let plan = Plan::new(&self.tree, &order);
        let first_block = block_of(self.sink.position())?;
        let meta_block = plan
            .blocks
            .checked_add(first_block)
            .ok_or(WriteError::TooLarge)?;

        for &id in order.iter().filter(|&&id| plan.slots[id].block.is_some()) {
            self.sink
                .write(&payload(&self.tree, &plan, id))
                .map_err(WriteError::Write)?;
            self.sink.pad().map_err(WriteError::Write)?;
        }
        let meta_start = self.sink.position();
        for (number, &id) in (1_u32..).zip(&order) {
            let gap = meta_start + plan.slots[id].nid * SLOT - self.sink.position();
            self.sink.zeros(gap).map_err(WriteError::Write)?;
            let inode = inode(&self.tree, &plan, first_block, id, number);
            self.sink
                .write(&inode.encode())
                .map_err(WriteError::Write)?;
            if inode.layout == DataLayout::Inline {
                self.sink
                    .write(&payload(&self.tree, &plan, id))
                    .map_err(WriteError::Write)?;
            }
        }
        // Some readers look for attributes behind every inode, the last one too.
        self.sink.zeros(SLOT).map_err(WriteError::Write)?;
        self.sink.pad().map_err(WriteError::Write)?;

        let size = self.sink.position();
        let superblock = Superblock {
            root: u16::try_from(plan.slots[ROOT].nid).expect("the root's inode is the first"),
            inodes: order.len() as u64,
            blocks: block_of(size)?,
            meta_block,
            uuid: self.uuid,
        };
        self.sink
            .close(&superblock.encode())
            .map_err(WriteError::Write)?;
        Ok(size)
    }

    fn file(
        &mut self,
        path: &[u8],
        meta: Meta,
        copy: impl FnOnce(&mut Sink<W>) -> Result<u64, CopyError>,
    ) -> Result<Stored, WriteError> {
        let place = self.tree.place(path)?;
        let offset = self.sink.position();
        let block = block_of(offset)?;
        let len = copy(&mut self.sink).map_err(|error| match error {
            CopyError::Read(source) => WriteError::Read {
                path: show(path),
                source,
            },
            CopyError::Write(source) => WriteError::Write(source),
        })?;
        self.sink.pad().map_err(WriteError::Write)?;
        self.tree.insert(place, meta, Body::File { block, len });
        Ok(Stored { offset, len })
    }
}

impl Builder<&File> {
    /// Adds a regular file with what `file` holds from its current position on. Large files are
    /// copied inside the kernel, or share their blocks where the file system can do that.
    ///
    /// # Errors
    ///
    /// As [`Builder::add_file`].
    pub fn add_file_from(
        &mut self,
        path: &[u8],
        meta: Meta,
        file: &File,
    ) -> Result<Stored, WriteError> {
        self.file(path, meta, |sink| sink.copy_file(file))
    }
}

/// Where one inode goes.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    nid: u64,
    /// Length of a directory or a link target.
    size: u64,
    /// First block of contents that do not fit behind the inode, counted from the first such.
    block: Option<u32>,
}

/// Where all inodes go, and how many blocks are in front of them.
#[derive(Debug)]
struct Plan {
    slots: Vec<Slot>,
    blocks: u32,
}

impl Plan {
    fn new(tree: &Tree, order: &[NodeId]) -> Self {
        let mut slots = vec![Slot::default(); tree.nodes.len()];
        let mut blocks = 0_u32;
        // Inode number zero means "no entry" to some programs: the first slots stay empty.
        let mut cursor = INODE_SIZE as u64;
        for &id in order {
            let size = match &tree.nodes[id].body {
                Body::Dir { children, .. } => {
                    directory_size(&listing(children, |name, _| name.len()))
                }
                Body::Symlink(target) => target.len() as u64,
                Body::File { .. } | Body::Special(_) => 0,
            };
            let block = (size > INLINE_MAX).then_some(blocks);
            let inline = if block.is_some() { 0 } else { size };
            if block.is_some() {
                let more = u32::try_from(size.div_ceil(BLOCK_SIZE)).unwrap_or(u32::MAX);
                blocks = blocks.saturating_add(more);
            }
            // Neither an inode nor what is behind it may cross the end of a block.
            let need = INODE_SIZE as u64 + inline;
            if cursor % BLOCK_SIZE + need > BLOCK_SIZE {
                cursor = cursor.next_multiple_of(BLOCK_SIZE);
            }
            slots[id] = Slot {
                nid: cursor / SLOT,
                size,
                block,
            };
            cursor = (cursor + need).next_multiple_of(SLOT);
        }
        Self { slots, blocks }
    }
}

fn inode(tree: &Tree, plan: &Plan, first_block: u32, id: NodeId, number: u32) -> Inode {
    let node = &tree.nodes[id];
    let slot = plan.slots[id];
    let (layout, size, address) = match &node.body {
        Body::File { len: 0, .. } => (DataLayout::Plain, 0, 0),
        Body::File { block, len } => (DataLayout::Plain, *len, *block),
        Body::Special(special) => (DataLayout::Plain, 0, special.device()),
        Body::Dir { .. } | Body::Symlink(_) => match slot.block {
            Some(block) => (DataLayout::Plain, slot.size, first_block + block),
            None => (DataLayout::Inline, slot.size, 0),
        },
    };
    let (kind, meta, links) = (node.body.kind(), node.meta, node.links);
    Inode {
        layout,
        kind,
        meta,
        size,
        address,
        number,
        links,
    }
}

/// What a directory or a symbolic link holds.
fn payload(tree: &Tree, plan: &Plan, id: NodeId) -> Vec<u8> {
    match &tree.nodes[id].body {
        Body::Dir {
            children, parent, ..
        } => encode_directory(&listing(children, |name, child| {
            let node = match name {
                b"." => id,
                b".." => *parent,
                _ => child,
            };
            let (nid, kind) = (plan.slots[node].nid, tree.nodes[node].body.kind().entry);
            Dirent { name, nid, kind }
        })),
        Body::Symlink(target) => target.to_vec(),
        Body::File { .. } | Body::Special(_) => Vec::new(),
    }
}

/// The entries of a directory in the order of their bytes, `.` and `..` in their places.
fn listing<'a, T>(
    children: &'a std::collections::BTreeMap<Box<[u8]>, NodeId>,
    mut entry: impl FnMut(&'a [u8], NodeId) -> T,
) -> Vec<T> {
    const DOTS: [&[u8]; 2] = [b".", b".."];
    let mut dots = DOTS.into_iter().peekable();
    let mut out = Vec::with_capacity(children.len() + DOTS.len());
    for (name, &child) in children {
        while let Some(dot) = dots.next_if(|dot| *dot < &name[..]) {
            out.push(entry(dot, ROOT));
        }
        out.push(entry(name, child));
    }
    for dot in dots {
        out.push(entry(dot, ROOT));
    }
    out
}

fn block_of(position: u64) -> Result<u32, WriteError> {
    debug_assert_eq!(
        position % BLOCK as u64,
        0,
        "contents start and end at block boundaries"
    );
    u32::try_from(position / BLOCK_SIZE).map_err(|_| WriteError::TooLarge)
}
