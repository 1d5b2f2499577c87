//! The first and the last duties of PID 1.

use std::{ffi::CStr, process::ExitCode};

use anyhow::Context as _;
use rustix::{
    fs::Mode,
    io::Errno,
    mount::{MountFlags, mount},
    system::{RebootCommand, reboot},
};

/// Mounts what the kernel itself offers. Whatever is mounted already is left as it is.
pub(crate) fn mount_kernel_file_systems() -> anyhow::Result<()> {
    let none = MountFlags::empty();
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    for (kind, target, flags, data) in [
        ("proc", c"/proc", safe, None),
        ("sysfs", c"/sys", safe, None),
        ("devtmpfs", c"/dev", MountFlags::NOSUID, None),
        (
            "tmpfs",
            c"/run",
            MountFlags::NOSUID | MountFlags::NODEV,
            Some(c"mode=0755,size=64m"),
        ),
    ] {
        match mount(kind, target, kind, flags, data) {
            Ok(()) | Err(Errno::BUSY) => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot mount {kind} on {target:?}"));
            }
        }
    }
    mount_groups(safe).context("cannot mount cgroup2 on /sys/fs/cgroup")?;
    for (kind, target, data) in [
        ("devpts", c"/dev/pts", Some(c"mode=0620,ptmxmode=0666")),
        ("tmpfs", c"/dev/shm", Some(c"mode=1777")),
    ] {
        match rustix::fs::mkdir(target, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {target:?}")),
        }
        match mount(
            kind,
            target,
            kind,
            MountFlags::NOSUID | MountFlags::NOEXEC | none,
            data,
        ) {
            Ok(()) | Err(Errno::BUSY) => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot mount {kind} on {target:?}"));
            }
        }
    }
    for (link, target) in [
        (c"/dev/fd", c"/proc/self/fd"),
        (c"/dev/stdin", c"/proc/self/fd/0"),
        (c"/dev/stdout", c"/proc/self/fd/1"),
        (c"/dev/stderr", c"/proc/self/fd/2"),
    ] {
        match rustix::fs::symlink(target, link) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {link:?}")),
        }
    }
    crate::loopback::up().context("cannot bring the loopback up")?;
    rustix::system::sethostname(b"legwork").context("cannot set the host name")
}

/// Control groups. A program is started by moving this process into its group and back, and without `favordynmods` each
/// move waits for every processor to pass a quiet state, some 8 ms. A kernel before 6.0 does not know the option.
fn mount_groups(flags: MountFlags) -> Result<(), Errno> {
    let mount =
        |data: Option<&CStr>| match mount("cgroup2", c"/sys/fs/cgroup", "cgroup2", flags, data) {
            Err(Errno::BUSY) => Ok(()),
            mounted => mounted,
        };
    mount(Some(c"favordynmods")).or_else(|_| mount(None))
}

/// A word on the console, which the host keeps the tail of.
pub(crate) fn complain(text: &str) {
    let line = format!("legwork-guest: {text}\n");
    if let Ok(console) = rustix::fs::open("/dev/console", rustix::fs::OFlags::WRONLY, Mode::empty())
    {
        // There is nowhere left to say that the console does not listen.
        let _written = rustix::io::write(&console, line.as_bytes());
    }
}

/// Ends the machine. Returns only if the kernel refuses, in which case its panic on the end of PID 1 does the same.
pub(crate) fn power_off() -> ExitCode {
    if let Err(error) = reboot(RebootCommand::Restart) {
        complain(&format!("cannot power off: {error}"));
    }
    ExitCode::FAILURE
}
