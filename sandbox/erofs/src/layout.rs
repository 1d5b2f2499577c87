//! The bytes of an EROFS image: superblock, inodes and directory blocks, encoded.
//!
//! Only what this crate writes is here: one block size, extended inodes, the plain and the inline
//! data layout. Field offsets follow `fs/erofs/erofs_fs.h` of Linux.

/// Size of a block in bytes; file contents start at a multiple of it.
pub const BLOCK_SIZE: u64 = 4096;
/// Longest name of one directory entry, in bytes.
pub const NAME_MAX: usize = 255;
/// Longest target of a symbolic link, in bytes.
pub const TARGET_MAX: usize = 4095;

pub(crate) const BLOCK: usize = 4096;
pub(crate) const SUPERBLOCK_OFFSET: usize = 1024;
pub(crate) const MAGIC: u32 = 0xE0F5_E1E2;
/// Inodes are addressed in units of this many bytes.
pub(crate) const SLOT: u64 = 32;
pub(crate) const INODE_SIZE: usize = 64;
/// What fits into a block behind its inode.
pub(crate) const INLINE_MAX: u64 = (BLOCK - INODE_SIZE) as u64;
pub(crate) const DIRENT_SIZE: usize = 12;

/// Permissions, owner and time of one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Permission bits only (`0o7777` at the most); other bits are ignored.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time: seconds since the epoch and nanoseconds below a second.
    pub mtime: (i64, u32),
}

impl Meta {
    /// Root's file, `0644`, at the epoch.
    pub const fn file() -> Self {
        Self {
            mode: 0o644,
            uid: 0,
            gid: 0,
            mtime: (0, 0),
        }
    }

    /// Root's directory or program, `0755`, at the epoch.
    pub const fn dir() -> Self {
        Self {
            mode: 0o755,
            uid: 0,
            gid: 0,
            mtime: (0, 0),
        }
    }
}

/// Entries that are neither files, directories nor symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// A named pipe.
    Fifo,
    /// A Unix socket.
    Socket,
    /// A character device.
    Char {
        /// Major number, below 4096.
        major: u32,
        /// Minor number, below 2²⁰.
        minor: u32,
    },
    /// A block device.
    Block {
        /// Major number, below 4096.
        major: u32,
        /// Minor number, below 2²⁰.
        minor: u32,
    },
}

impl Special {
    pub(crate) fn device(self) -> u32 {
        match self {
            Self::Fifo | Self::Socket => 0,
            Self::Char { major, minor } | Self::Block { major, minor } => {
                (minor & 0xff) | ((major & 0xfff) << 8) | ((minor & 0xf_ff00) << 12)
            }
        }
    }
}

/// File types: the top bits of a mode and the byte in a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) mode: u16,
    pub(crate) entry: u8,
}

impl Type {
    pub(crate) const FILE: Self = Self {
        mode: 0o100_000,
        entry: 1,
    };
    pub(crate) const DIR: Self = Self {
        mode: 0o040_000,
        entry: 2,
    };
    pub(crate) const CHAR: Self = Self {
        mode: 0o020_000,
        entry: 3,
    };
    pub(crate) const BLOCK: Self = Self {
        mode: 0o060_000,
        entry: 4,
    };
    pub(crate) const FIFO: Self = Self {
        mode: 0o010_000,
        entry: 5,
    };
    pub(crate) const SOCKET: Self = Self {
        mode: 0o140_000,
        entry: 6,
    };
    pub(crate) const SYMLINK: Self = Self {
        mode: 0o120_000,
        entry: 7,
    };
}

/// How an inode finds its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataLayout {
    /// In whole blocks of its own.
    Plain,
    /// Directly behind the inode, in the same block.
    Inline,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Inode {
    pub(crate) layout: DataLayout,
    pub(crate) kind: Type,
    pub(crate) meta: Meta,
    pub(crate) size: u64,
    /// First block of the contents, or the device number.
    pub(crate) address: u32,
    pub(crate) number: u32,
    pub(crate) links: u32,
}

impl Inode {
    pub(crate) fn encode(&self) -> [u8; INODE_SIZE] {
        const EXTENDED: u16 = 1;
        let layout: u16 = match self.layout {
            DataLayout::Plain => 0,
            DataLayout::Inline => 2,
        };
        let mut out = [0; INODE_SIZE];
        put(&mut out, 0, &(EXTENDED | layout << 1).to_le_bytes());
        put(
            &mut out,
            4,
            &(self.kind.mode | (self.meta.mode & 0o7777)).to_le_bytes(),
        );
        put(&mut out, 8, &self.size.to_le_bytes());
        put(&mut out, 16, &self.address.to_le_bytes());
        put(&mut out, 20, &self.number.to_le_bytes());
        put(&mut out, 24, &self.meta.uid.to_le_bytes());
        put(&mut out, 28, &self.meta.gid.to_le_bytes());
        put(&mut out, 32, &self.meta.mtime.0.to_le_bytes());
        put(&mut out, 40, &self.meta.mtime.1.to_le_bytes());
        put(&mut out, 44, &self.links.to_le_bytes());
        out
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Superblock {
    pub(crate) root: u16,
    pub(crate) inodes: u64,
    pub(crate) blocks: u32,
    pub(crate) meta_block: u32,
    pub(crate) uuid: [u8; 16],
}

impl Superblock {
    /// The whole first block of the image.
    pub(crate) fn encode(&self) -> Vec<u8> {
        /// Inodes carry real modification times.
        const COMPAT_MTIME: u32 = 2;
        const BLOCK_BITS: u8 = 12;
        let mut out = vec![0; BLOCK];
        let fields = &mut out[SUPERBLOCK_OFFSET..];
        put(fields, 0, &MAGIC.to_le_bytes());
        put(fields, 8, &COMPAT_MTIME.to_le_bytes());
        put(fields, 12, &[BLOCK_BITS]);
        put(fields, 14, &self.root.to_le_bytes());
        put(fields, 16, &self.inodes.to_le_bytes());
        put(fields, 36, &self.blocks.to_le_bytes());
        put(fields, 40, &self.meta_block.to_le_bytes());
        put(fields, 48, &self.uuid);
        out
    }
}

/// One directory entry on its way into a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dirent<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) nid: u64,
    pub(crate) kind: u8,
}

/// Encodes entries that are already sorted by the bytes of their names, `.` and `..` among them.
pub(crate) fn encode_directory(entries: &[Dirent<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        out.resize(out.len().next_multiple_of(BLOCK), 0);
        let (count, _) = fill_block(rest.iter().map(|entry| entry.name.len()));
        let (block, later) = rest.split_at(count);
        rest = later;
        let mut name_offset = count * DIRENT_SIZE;
        for entry in block {
            let offset = u16::try_from(name_offset).expect("a name starts inside its block");
            out.extend_from_slice(&entry.nid.to_le_bytes());
            out.extend_from_slice(&offset.to_le_bytes());
            out.extend_from_slice(&[entry.kind, 0]);
            name_offset += entry.name.len();
        }
        for entry in block {
            out.extend_from_slice(entry.name);
        }
    }
    out
}

/// Bytes that [`encode_directory`] makes of names of these lengths.
pub(crate) fn directory_size(lengths: &[usize]) -> u64 {
    let mut size = 0_u64;
    let mut rest = lengths;
    while !rest.is_empty() {
        let (count, bytes) = fill_block(rest.iter().copied());
        rest = &rest[count..];
        size = size.next_multiple_of(BLOCK_SIZE) + bytes;
    }
    size
}

/// How many of the next names go into one block, and the bytes they take.
fn fill_block(lengths: impl Iterator<Item = usize>) -> (usize, u64) {
    let (mut count, mut bytes) = (0, 0_u64);
    for length in lengths {
        let more = bytes + (DIRENT_SIZE + length) as u64;
        if more > BLOCK_SIZE {
            break;
        }
        count += 1;
        bytes = more;
    }
    (count, bytes)
}

fn put(out: &mut [u8], offset: usize, bytes: &[u8]) {
    out[offset..offset + bytes.len()].copy_from_slice(bytes);
}
