//! The wall of system calls: seccomp. What a virtual machine needs is listed; the rest does not exist, and what only an
//! attacker wants ends the process.
//!
//! The lists are measured: whole tasks under QEMU's emulator and under libkrun on KVM, with all disks, memory pressure
//! and a shutdown, and the neighbours of what was seen (such as `pread64` and `preadv2`) for other versions of both.
//!
//! The filter stands before QEMU is executed, so under that driver `execve` passes it. Two others hold it: Landlock lets
//! only QEMU itself be executed, under the same jail again, and QEMU's own `-sandbox spawn=deny` ends it after the start.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use libc::c_long;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

/// Who makes the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// This program, with libkrun in it.
    Krun,
    /// QEMU, which has yet to be executed.
    Qemu,
}

/// Calls that pass with any arguments.
const PASS: &[c_long] = &[
    // Bytes of what is open.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_fadvise64,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup2,
    libc::SYS_dup3,
    libc::SYS_pipe,
    libc::SYS_pipe2,
    // Names: Landlock says what may be opened, and what is told of the rest is names and sizes.
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_fchdir,
    libc::SYS_umask,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_brk,
    libc::SYS_memfd_create,
    libc::SYS_membarrier,
    libc::SYS_get_mempolicy,
    libc::SYS_set_mempolicy,
    // Threads and signals of its own.
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_set_tid_address,
    libc::SYS_arch_prctl,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getcpu,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Time and waiting.
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_delete,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_signalfd4,
    // The link, which is open already.
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    // Itself and its host.
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_capget,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrusage,
    libc::SYS_getrlimit,
];

/// Calls that end the process: nothing that a machine does comes near them.
const END: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_execveat,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Doors of the kernel that have been forced before.
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_modify_ldt,
    // The host itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// The flags of clone(2) that make a namespace.
const NEW_NAMESPACES: u64 = 0x7e02_0000;
/// The type of KVM's ioctls, and of those that ask a block device, in the second byte.
const IOCTL_TYPES: [u64; 2] = [0xae00, 0x1200];
const IOCTL_TYPE: u64 = 0xff00;
/// `PR_SET_VMA`, by which the allocator names its memory.
const PR_SET_VMA: u64 = 0x5356_4d41;

/// Shuts every other call to this process, for good, and says what the wall is made of.
pub(crate) fn shut(caller: Caller) -> Result<String> {
    let own = std::process::id();
    // The list of what passes does not let another filter be added, so it comes last.
    for filter in [ending(caller)?, passing(caller, own)?] {
        seccompiler::apply_filter(&filter).map_err(|error| {
            anyhow::anyhow!(
                "seccomp is refused ({error}): the kernel must be built with CONFIG_SECCOMP_FILTER, and a container must allow it"
            )
        })?;
    }
    Ok("seccomp".to_owned())
}

/// Tries the wall: there must be no sockets any more.
pub(crate) fn try_wall() -> Result<()> {
    for family in [AddressFamily::INET, AddressFamily::UNIX] {
        match rustix::net::socket(family, SocketType::STREAM, None) {
            Err(Errno::NOSYS) => {}
            Ok(_) => bail!("a socket can still be made"),
            Err(error) => return Err(error).context("trying to make a socket"),
        }
    }
    Ok(())
}

/// The filter that ends the process.
fn ending(caller: Caller) -> Result<BpfProgram> {
    let mut rules: Rules = END.iter().map(|call| (*call, vec![])).collect();
    if caller == Caller::Krun {
        rules.insert(libc::SYS_execve, vec![]);
    }
    compile(rules, SeccompAction::Allow, SeccompAction::KillProcess)
}

/// The filter of what passes. The rest is answered as by a kernel that does not know the call, which programs expect.
fn passing(caller: Caller, own: u32) -> Result<BpfProgram> {
    let mut rules: Rules = PASS.iter().map(|call| (*call, vec![])).collect();
    let own = u64::from(own);
    for call in [libc::SYS_kill, libc::SYS_tgkill] {
        rules.insert(call, vec![argument(0, SeccompCmpOp::Eq, own)?]);
    }
    // Truncation without the right to write is not seen by a Landlock older than ABI 3.
    let [truncates, write, both, mode] =
        [libc::O_TRUNC, libc::O_WRONLY, libc::O_RDWR, libc::O_ACCMODE].map(i32::unsigned_abs);
    for (call, flags) in [(libc::SYS_open, 1), (libc::SYS_openat, 2)] {
        let rule = |mask: u32, value: u32| {
            argument(flags, SeccompCmpOp::MaskedEq(mask.into()), value.into())
        };
        rules.insert(
            call,
            vec![rule(truncates, 0)?, rule(mode, write)?, rule(mode, both)?],
        );
    }
    // A thread, and no process. The newer call passes a structure that no filter can read; without it, the library takes
    // the older one.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    rules.insert(
        libc::SYS_clone,
        vec![argument(
            0,
            SeccompCmpOp::MaskedEq(thread | NEW_NAMESPACES),
            thread,
        )?],
    );
    // Nothing that sends signals to whoever is named.
    rules.insert(
        libc::SYS_fcntl,
        one_of(
            1,
            &[
                libc::F_DUPFD,
                libc::F_DUPFD_CLOEXEC,
                libc::F_GETFD,
                libc::F_SETFD,
                libc::F_GETFL,
                libc::F_SETFL,
                libc::F_GETLK,
                libc::F_SETLK,
                libc::F_OFD_GETLK,
                libc::F_OFD_SETLK,
                libc::F_ADD_SEALS,
                libc::F_GET_SEALS,
            ],
        )?,
    );
    let mut ioctls = IOCTL_TYPES
        .into_iter()
        .map(|kind| argument(1, SeccompCmpOp::MaskedEq(IOCTL_TYPE), kind))
        .collect::<Result<Vec<_>>>()?;
    for request in [libc::TCGETS, libc::FIONREAD, libc::FIONBIO, libc::FIOCLEX] {
        ioctls.push(argument(1, SeccompCmpOp::Eq, request)?);
    }
    rules.insert(libc::SYS_ioctl, ioctls);
    // Not the limits of another process.
    rules.insert(libc::SYS_prlimit64, vec![argument(0, SeccompCmpOp::Eq, 0)?]);
    rules.insert(
        libc::SYS_setsockopt,
        vec![argument(
            1,
            SeccompCmpOp::Eq,
            u64::from(libc::SOL_SOCKET.unsigned_abs()),
        )?],
    );
    let mut options = one_of(
        0,
        &[
            libc::PR_SET_NAME,
            libc::PR_GET_NAME,
            libc::PR_SET_TIMERSLACK,
            libc::PR_SET_NO_NEW_PRIVS,
            libc::PR_GET_NO_NEW_PRIVS,
            libc::PR_MCE_KILL,
            libc::PR_CAPBSET_READ,
            libc::PR_SET_THP_DISABLE,
        ],
    )?;
    options.push(argument(0, SeccompCmpOp::Eq, PR_SET_VMA)?);
    rules.insert(libc::SYS_prctl, options);
    if caller == Caller::Qemu {
        rules.insert(libc::SYS_execve, vec![]);
        // QEMU adds a filter of its own; it can only hold back more.
        rules.insert(libc::SYS_seccomp, vec![]);
    }
    compile(
        rules,
        SeccompAction::Errno(Errno::NOSYS.raw_os_error().unsigned_abs()),
        SeccompAction::Allow,
    )
}

/// By number of the call; a call passes when it has no rule, or one of them holds.
type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn compile(rules: Rules, otherwise: SeccompAction, listed: SeccompAction) -> Result<BpfProgram> {
    let arch = std::env::consts::ARCH
        .try_into()
        .context("there is no filter of system calls for this processor")?;
    let filter =
        SeccompFilter::new(rules, otherwise, listed, arch).context("the filter is refused")?;
    filter.try_into().context("the filter cannot be compiled")
}

/// A rule on the lower half of one argument.
fn argument(index: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompRule> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, how, value)
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .context("a rule for system calls is refused")
}

/// Rules that let one argument be one of these.
fn one_of(index: u8, values: &[i32]) -> Result<Vec<SeccompRule>> {
    values
        .iter()
        .map(|value| argument(index, SeccompCmpOp::Eq, value.unsigned_abs().into()))
        .collect()
}

#[cfg(test)]
mod tests;
