//! PID 1 of the virtual machine: mounts, runs programs, reports what they changed. It decides nothing; the host does.
//!
//! Phases: kernel file systems ([`boot`]) → the link's port ([`port`]) → greeting → requests ([`serve`]) until the
//! host hangs up → power off. Nothing is kept: the scratch disk dies with the machine.
//!
//! One thread: a program is started while the agent itself sits in the program's control group ([`cgroup`]), which only
//! works when nobody else forks meanwhile.

mod boot;
mod cgroup;
mod collect;
mod exec;
mod forward;
mod lay;
mod loopback;
mod mounts;
mod port;
mod reap;
mod scan;
mod serve;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    if rustix::process::getpid().as_raw_nonzero().get() != 1 {
        boot::complain(
            "this is the init of a virtual machine; there is nothing to run it for elsewhere",
        );
        return ExitCode::FAILURE;
    }
    if let Err(error) = run() {
        boot::complain(&format!("{error:#}"));
    }
    boot::power_off()
}

fn run() -> anyhow::Result<()> {
    boot::mount_kernel_file_systems()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    tokio::task::LocalSet::new().block_on(&runtime, serve::serve())
}
