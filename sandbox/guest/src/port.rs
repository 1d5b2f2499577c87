//! The virtio-serial port that carries the link, as an asynchronous byte stream.

use std::{
    fs::File,
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use anyhow::Context as _;
use rustix::fs::OFlags;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::unix::pipe,
};

/// The port's name, as the virtual machine's process gives it.
const NAME: &str = "legwork.link";

/// An open port. The kernel lets it be opened once, so both directions share one open file.
///
/// A read gives no more than what stands in one of the port's buffers, although there may be more in the next. So a short
/// read does not say that all was read, as it does of a pipe, and would be taken to say: only "would block" does.
#[derive(Debug)]
pub(crate) struct Port {
    reader: pipe::Receiver,
    writer: pipe::Sender,
    /// Nothing has come yet: the host's side may not be connected, and a read then ends at once.
    silent: bool,
}

impl Port {
    /// Waits for the port to appear and opens it.
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let path = loop {
            match find() {
                Some(path) => break path,
                None => tokio::time::sleep(Duration::from_millis(2)).await,
            }
        };
        let flags =
            i32::try_from(OFlags::NONBLOCK.bits()).context("O_NONBLOCK is a small number")?;
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(flags)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        let writer = pipe::Sender::from_file_unchecked(file.try_clone()?)?;
        Ok(Self {
            reader: pipe::Receiver::from_file_unchecked(file)?,
            writer,
            silent: true,
        })
    }
}

fn find() -> Option<PathBuf> {
    let ports = std::fs::read_dir("/sys/class/virtio-ports").ok()?;
    for port in ports.flatten() {
        let name = std::fs::read_to_string(port.path().join("name")).unwrap_or_default();
        if name.trim_end() == NAME {
            let device = PathBuf::from("/dev").join(port.file_name());
            return device.exists().then_some(device);
        }
    }
    None
}

impl AsyncRead for Port {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let count = loop {
            ready!(self.reader.poll_read_ready(context))?;
            match self.reader.try_read(buf.initialize_unfilled()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => break read?,
            }
        };
        buf.advance(count);
        if count > 0 {
            self.silent = false;
        } else if self.silent {
            // The host is not there yet. The kernel says "end of file" until it is, and wakes nobody when it comes, so
            // look again soon.
            let waker = context.waker().clone();
            tokio::task::spawn_local(async move {
                tokio::time::sleep(Duration::from_millis(2)).await;
                waker.wake();
            });
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Port {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.writer.poll_write_ready(context))?;
            match self.writer.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
