//! What this process gives up before a guest exists: its jail.
//!
//! It dies with its supervisor, can gain no privilege, leaves no core dump and holds nothing it inherited but the three
//! standard streams, not even an environment. Then it builds the walls of [`WallKind`] around itself, tries each from
//! inside, and tells of them on the link. They hold for every program that it becomes. No root and no user namespace is
//! needed for any of them.

mod bounds;
mod calls;
mod files;

use std::fs::File;
use std::os::fd::{AsFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use legwork_spec::{BootConfig, Jailed, Wall, WallKind};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use bounds::Bounds;
pub(crate) use calls::Caller;
pub(crate) use files::{Opened, Use, program};

/// Ties the life of this process (and of the program it becomes) to `supervisor`.
///
/// The kernel sends the signal when the *thread* that started this process ends, so the supervisor must start it from
/// a thread that lives as long as the machine may.
pub(crate) fn die_with(supervisor: u32) -> Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .context("cannot ask the kernel to end this machine with its supervisor")?;
    // Asked after the signal is armed: a supervisor that died before that is seen here, one that dies later sends it.
    let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    if i64::from(parent) != i64::from(supervisor) {
        bail!(
            "the supervisor (process {supervisor}) is gone, process {parent} is the parent now: not starting the machine"
        );
    }
    Ok(())
}

/// Gives up inherited descriptors.
pub(crate) fn drop_inheritance() -> Result<()> {
    for descriptor in
        inherited().context("cannot list the inherited file descriptors in /proc/self/fd")?
    {
        // EBADF is the descriptor that listed the others.
        nix::unistd::close(descriptor).ok();
    }
    Ok(())
}

/// Makes sure that this process has no environment, by starting its program anew without one when it has.
///
/// Removing variables would leave them in memory, where a guest that breaks out reads them.
pub(crate) fn drop_environment() -> Result<()> {
    if std::env::vars_os().next().is_none() {
        return Ok(());
    }
    let error = Command::new("/proc/self/exe")
        .args(std::env::args_os().skip(1))
        .env_clear()
        .exec();
    Err(error).context("cannot start anew without an environment")
}

/// Refuses a standard input that cannot be the link.
pub(crate) fn require_stream_socket() -> Result<()> {
    let kind = rustix::net::sockopt::socket_type(std::io::stdin())
        .context("standard input must be the link, a connected Unix stream socket")?;
    if kind != rustix::net::SocketType::STREAM {
        bail!(
            "standard input must be the link, a connected Unix stream socket, and is a socket of another type"
        );
    }
    Ok(())
}

/// Replaces standard input by `/dev/null`.
pub(crate) fn silence_stdin() -> Result<()> {
    let null = File::open("/dev/null").context("cannot open /dev/null")?;
    rustix::stdio::dup2_stdin(&null).context("cannot put /dev/null in the place of standard input")
}

/// What the jail has to leave open.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// Who will run in it.
    pub(crate) caller: Caller,
    /// Files and folders beside the images.
    pub(crate) opened: Opened,
    /// The machine.
    pub(crate) config: &'a BootConfig,
    /// Where the machine's configuration stands, which must not open any more.
    pub(crate) canary: &'a Path,
}

/// Builds the walls, tries them, and tells of them on `link`.
///
/// # Errors
/// When a wall does not stand and the configuration asks for all of them. The link has been told which by then.
pub(crate) fn enter(plan: Plan<'_>, link: impl AsFd) -> Result<Jailed> {
    let config = plan.config;
    let mut opened = plan.opened;
    for disk in &config.disks {
        let what = if disk.read_only {
            Use::Read
        } else {
            Use::Write
        };
        opened.push((disk.path.clone(), what));
    }
    let jailed = build(plan.caller, &opened, Bounds::of(config)?, Some(plan.canary));
    write_line(link, &jailed).context("cannot tell of the jail on the link")?;
    match jailed.lack() {
        Some(lack) if !config.unjailed_ok => bail!("not starting without a whole jail: {lack}"),
        _ => Ok(jailed),
    }
}

/// `legwork-vmm walls`: builds the jail for no machine, and prints which walls stand.
pub(crate) fn tell() -> Result<()> {
    // The kernel refuses nothing to one driver that it grants the other.
    let jailed = build(Caller::Krun, &Opened::new(), Bounds::SMALL, None);
    write_line(std::io::stdout(), &jailed).context("cannot print the walls")
}

fn write_line(to: impl AsFd, jailed: &Jailed) -> Result<()> {
    let mut line = serde_json::to_vec(jailed)?;
    line.push(b'\n');
    let mut rest = line.as_slice();
    while !rest.is_empty() {
        match rustix::io::write(&to, rest) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Builds every wall that this host lets it build. The filter of calls comes last: it forbids building the others.
fn build(caller: Caller, opened: &Opened, bounds: Bounds, canary: Option<&Path>) -> Jailed {
    let start = Instant::now();
    let mut walls = vec![
        wall(WallKind::Privileges, || {
            give_up_privileges()?;
            Ok("no capabilities, no_new_privs, no core dump".to_owned())
        }),
        wall(WallKind::Resources, || bounds.set()),
        wall(WallKind::Files, || files::shut(opened)),
        wall(WallKind::Calls, || calls::shut(caller)),
    ];
    for wall in walls.iter_mut().filter(|wall| wall.stands) {
        let tried = match wall.kind {
            WallKind::Privileges => try_privileges(),
            WallKind::Resources => bounds.check(),
            WallKind::Files => files::try_wall(canary),
            WallKind::Calls => calls::try_wall(),
        };
        if let Err(error) = tried {
            wall.stands = false;
            wall.detail = format!("it was built and does not hold: {error:#}");
        }
    }
    Jailed {
        walls,
        micros: u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX),
    }
}

const NO_CAPABILITIES: CapabilitySets = CapabilitySets {
    effective: CapabilitySet::empty(),
    permitted: CapabilitySet::empty(),
    inheritable: CapabilitySet::empty(),
};

fn wall(kind: WallKind, build: impl FnOnce() -> Result<String>) -> Wall {
    let (stands, detail) = match build() {
        Ok(detail) => (true, detail),
        Err(error) => (false, format!("{error:#}")),
    };
    Wall {
        kind,
        stands,
        detail,
    }
}

/// A daemon of root's has capabilities, with which its machines could raise their own bounds. What is given up does not
/// come back with a program that is executed, since no_new_privs is set.
fn give_up_privileges() -> Result<()> {
    rustix::thread::set_capabilities(None, NO_CAPABILITIES)
        .context("cannot give up the capabilities")?;
    rustix::thread::set_no_new_privs(true).context("cannot set no_new_privs")?;
    let nothing = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    rustix::process::setrlimit(Resource::Core, nothing).context("cannot forbid core dumps")
}

fn try_privileges() -> Result<()> {
    if rustix::thread::capabilities(None).context("asking for capabilities")? != NO_CAPABILITIES {
        bail!("there are capabilities left");
    }
    if !rustix::thread::no_new_privs().context("asking for no_new_privs")? {
        bail!("no_new_privs is not set");
    }
    if rustix::process::getrlimit(Resource::Core).maximum != Some(0) {
        bail!("core dumps are allowed");
    }
    Ok(())
}

/// Open descriptors above the standard streams; at this point no value of this program owns one.
fn inherited() -> std::io::Result<Vec<RawFd>> {
    let mut descriptors = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.parse::<RawFd>().ok());
        descriptors.extend(number.filter(|number| *number > 2));
    }
    Ok(descriptors)
}
