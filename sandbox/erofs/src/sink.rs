//! The image's bytes on their way out: buffered, at known positions, padded to whole blocks.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use crate::layout::{BLOCK, BLOCK_SIZE};

/// Many small files go out in one write.
const BUFFER: usize = 1 << 20;
/// Files of this size and more are copied inside the kernel where it can, sharing blocks on file
/// systems that know how to.
const IN_KERNEL: u64 = 1 << 20;

/// Which side of a copy failed.
#[derive(Debug)]
pub(crate) enum CopyError {
    Read(io::Error),
    Write(io::Error),
}

#[derive(Debug)]
pub(crate) struct Sink<W> {
    out: W,
    buffer: Box<[u8]>,
    filled: usize,
    /// Bytes that have left the buffer.
    flushed: u64,
    /// A failed write leaves the output at an unknown position: nothing can follow it.
    broken: bool,
}

impl<W: Write + Seek> Sink<W> {
    pub(crate) fn new(out: W) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self {
            out,
            buffer,
            filled: 0,
            flushed: 0,
            broken: false,
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.flushed + self.filled as u64
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.filled == BUFFER {
                self.flush()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(BUFFER - self.filled));
            self.buffer[self.filled..self.filled + now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
        }
        Ok(())
    }

    /// Copies all that the reader yields. If the reader fails, what has left the buffer stays behind
    /// as bytes that nothing refers to.
    pub(crate) fn copy(&mut self, hint: u64, reader: &mut dyn Read) -> Result<u64, CopyError> {
        // One more byte than promised, so that the read which meets the end has room.
        if hint < BUFFER as u64 && hint >= (BUFFER - self.filled) as u64 {
            self.flush().map_err(CopyError::Write)?;
        }
        let start = self.position();
        loop {
            if self.filled == BUFFER {
                self.flush().map_err(CopyError::Write)?;
            }
            match reader.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Ok(self.position() - start),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let kept = start.saturating_sub(self.flushed);
                    self.filled = usize::try_from(kept).map_or(self.filled, |kept| kept);
                    self.pad().map_err(CopyError::Write)?;
                    return Err(CopyError::Read(error));
                }
            }
        }
    }

    /// Fills the rest of the block with zeros.
    pub(crate) fn pad(&mut self) -> io::Result<()> {
        let missing = self.position().next_multiple_of(BLOCK_SIZE) - self.position();
        self.zeros(missing)
    }

    pub(crate) fn zeros(&mut self, mut count: u64) -> io::Result<()> {
        const ZEROS: [u8; BLOCK] = [0; BLOCK];
        while count > 0 {
            let now = usize::try_from(count).map_or(BLOCK, |count| count.min(BLOCK));
            self.write(&ZEROS[..now])?;
            count -= now as u64;
        }
        Ok(())
    }

    /// Ends the output: everything is written and `first` replaces the first bytes.
    pub(crate) fn close(mut self, first: &[u8]) -> io::Result<()> {
        self.flush()?;
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(first)?;
        self.out.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(io::Error::other("an earlier write failed"));
        }
        self.out.write_all(&self.buffer[..self.filled])?;
        self.broken = false;
        self.flushed += self.filled as u64;
        self.filled = 0;
        Ok(())
    }
}

impl Sink<&File> {
    /// As [`Sink::copy`], but a large file does not pass through this process.
    pub(crate) fn copy_file(&mut self, mut from: &File) -> Result<u64, CopyError> {
        let size = from.metadata().map_err(CopyError::Read)?.len();
        if size < IN_KERNEL {
            return self.copy(size, &mut from);
        }
        let source = from.stream_position().map_err(CopyError::Read)?;
        self.flush().map_err(CopyError::Write)?;
        let start = self.position();
        if let Ok(copied) = io::copy(&mut from, &mut self.out) {
            self.flushed += copied;
            return Ok(copied);
        }
        // The error does not tell which side failed: the plain copy finds out.
        self.restart(start).map_err(CopyError::Write)?;
        from.seek(SeekFrom::Start(source))
            .map_err(CopyError::Read)?;
        self.copy(size, &mut from)
    }

    /// Drops what was written behind `position`, which the buffer has left.
    fn restart(&mut self, position: u64) -> io::Result<()> {
        self.broken = true;
        self.out.set_len(position)?;
        self.out.seek(SeekFrom::Start(position))?;
        self.broken = false;
        Ok(())
    }
}
