//! Stands in for a QEMU that its guest has taken over. `legwork-vmm` becomes it as it becomes QEMU, in the same jail; it
//! then tries what an intruder would, and prints how each attempt went. It is built by the tests' package alone.
//!
//! What to try stands in the file that QEMU would boot as its kernel, one attempt a line: a word, and what it is about.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, IoSliceMut, Write as _},
    net::TcpStream,
    os::unix::{net::UnixStream, process::CommandExt as _},
    path::Path,
    process::Command,
};

use anyhow::{Context as _, bail};
use nix::{
    sched::CloneFlags,
    sys::{ptrace, uio::RemoteIoVec},
    unistd::Pid,
};
use rustix::{
    mount::MountFlags,
    process::{Resource, Rlimit, Signal},
};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let kernel = arguments
        .windows(2)
        .find(|pair| pair[0] == "-kernel")
        .context("no kernel")?;
    for line in fs::read_to_string(&kernel[1])?.lines() {
        let (word, about) = line.split_once(' ').unwrap_or((line, ""));
        let mut out = io::stdout();
        // Before it is tried: some attempts end this process.
        write!(out, "{line}: ")?;
        out.flush()?;
        match attempt(word, about)? {
            Ok(()) => writeln!(out, "done")?,
            Err(error) => writeln!(out, "refused, {}", error.kind())?,
        }
    }
    Ok(())
}

/// The outer error is one of the test itself.
fn attempt(word: &str, about: &str) -> anyhow::Result<io::Result<()>> {
    let path = Path::new(about);
    Ok(match word {
        "read" => {
            File::open(path).and_then(|mut file| io::copy(&mut file, &mut io::sink()).map(drop))
        }
        "list" => fs::read_dir(path).map(drop),
        "write" => OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(b"intruder")),
        "truncate" => OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(path)
            .map(drop),
        "create" => File::create(path).map(drop),
        "remove" => fs::remove_file(path),
        "rename" => fs::rename(path, path.with_extension("renamed")),
        "link" => std::os::unix::fs::symlink("/", path),
        "connect" => TcpStream::connect(about).map(drop),
        "unix" => UnixStream::connect(path).map(drop),
        "thread" => std::thread::Builder::new()
            .spawn(|| ())
            .map(|thread| thread.join().unwrap_or_default()),
        "execute" => Err(Command::new(path).exec()),
        "spawn" => Command::new(path).spawn().map(drop),
        "signal" => {
            rustix::process::kill_process(pid(about)?, Signal::TERM).map_err(io::Error::from)
        }
        "grow" => {
            let much = Rlimit {
                current: Some(100_000),
                maximum: Some(100_000),
            };
            rustix::process::setrlimit(Resource::Nofile, much).map_err(io::Error::from)
        }
        // Root's program is given root's capabilities when it is executed, unless they were given up for good.
        "powers" => match rustix::thread::capabilities(None)?.permitted.is_empty() {
            true => Err(io::ErrorKind::PermissionDenied.into()),
            false => Ok(()),
        },
        "memory" => {
            let mut all: Vec<Vec<u8>> = Vec::new();
            loop {
                let mut more = Vec::new();
                if more.try_reserve_exact(1 << 30).is_err() {
                    break Err(io::ErrorKind::OutOfMemory.into());
                }
                all.push(more);
                if all.len() > 64 {
                    break Ok(());
                }
            }
        }
        "trace" => ptrace::attach(Pid::from_raw(about.parse()?)).map_err(io::Error::from),
        "peek" => {
            let mut byte = [0];
            let remote = RemoteIoVec {
                base: 0x40_0000,
                len: 1,
            };
            let whose = Pid::from_raw(about.parse()?);
            nix::sys::uio::process_vm_readv(whose, &mut [IoSliceMut::new(&mut byte)], &[remote])
                .map(drop)
                .map_err(io::Error::from)
        }
        "unshare" => nix::sched::unshare(CloneFlags::CLONE_NEWUSER).map_err(io::Error::from),
        "enter" => File::open("/proc/self/ns/net")
            .or_else(|_| File::open("/dev/null"))
            .and_then(|file| {
                nix::sched::setns(file, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
            }),
        "mount" => rustix::mount::mount("none", path, "tmpfs", MountFlags::empty(), None)
            .map_err(io::Error::from),
        "chroot" => rustix::process::chroot(path).map_err(io::Error::from),
        _ => bail!("`{word}` is not known"),
    })
}

fn pid(text: &str) -> anyhow::Result<rustix::process::Pid> {
    rustix::process::Pid::from_raw(text.parse()?).context("no process")
}
