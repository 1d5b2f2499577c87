//! Runs a program as on a kernel that lacks a wall, or in a container that forbids it: the calls that build the wall fail
//! as they fail there. `LACK PROGRAM ARGUMENT...`, and the program's children see the same kernel.
//!
//! `no-landlock`: it was not built in. `landlock-off`: it is switched off. `no-seccomp`: no filter can be added.

use std::{
    ffi::OsString, io::Write as _, os::unix::process::CommandExt as _, process::Command,
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

fn main() -> ExitCode {
    let error = match run() {
        Ok(never) => match never {},
        Err(error) => error,
    };
    // Nothing is left to try when even standard error is gone.
    writeln!(std::io::stderr(), "the tests' older kernel: {error:#}").ok();
    ExitCode::FAILURE
}

fn run() -> anyhow::Result<std::convert::Infallible> {
    let mut arguments = std::env::args_os().skip(1);
    let lack = arguments.next().context("no lack is named")?;
    let program = arguments.next().context("no program is named")?;
    let landlock = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_add_rule,
        libc::SYS_landlock_restrict_self,
    ];
    let (calls, errno) = match lack.to_str() {
        Some("no-landlock") => (&landlock[..], libc::ENOSYS),
        Some("landlock-off") => (&landlock[..], libc::EOPNOTSUPP),
        Some("no-seccomp") => (&[libc::SYS_seccomp][..], libc::EINVAL),
        _ => bail!("{} is not known", lack.display()),
    };
    let filter: BpfProgram = SeccompFilter::new(
        calls.iter().map(|call| (*call, vec![])).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    seccompiler::apply_filter(&filter)?;
    let rest: Vec<OsString> = arguments.collect();
    Err(Command::new(&program).args(rest).exec().into())
}
