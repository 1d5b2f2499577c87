//! The filters, as the kernel's little machine would run them.

use super::*;

const ALLOW: u32 = 0x7fff_0000;
const END_PROCESS: u32 = 0x8000_0000;
const NOT_KNOWN: u32 = 0x0005_0026;
const X86_64: u32 = 0xc000_003e;

/// Runs one filter on `struct seccomp_data`, with the instructions that such filters use.
fn run(program: &BpfProgram, arch: u32, call: c_long, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend(u32::try_from(call).unwrap().to_le_bytes());
    data.extend(arch.to_le_bytes());
    data.extend(0_u64.to_le_bytes());
    data.extend(arguments.iter().flat_map(|value| value.to_le_bytes()));
    let (mut accumulator, mut at) = (0_u32, 0_usize);
    loop {
        let step = &program[at];
        at += 1;
        let mut jump = |holds: bool| at += usize::from(if holds { step.jt } else { step.jf });
        match step.code {
            0x20 => {
                let from = usize::try_from(step.k).unwrap();
                accumulator = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
            }
            0x54 => accumulator &= step.k,
            0x05 => at += usize::try_from(step.k).unwrap(),
            0x15 => jump(accumulator == step.k),
            0x25 => jump(accumulator > step.k),
            0x35 => jump(accumulator >= step.k),
            0x06 => return step.k,
            other => panic!("no filter uses {other:#x}"),
        }
    }
}

/// What the kernel does with the answers of both filters: the stricter one wins.
fn verdict(caller: Caller, call: c_long, arguments: [u64; 6]) -> u32 {
    let ending = run(&ending(caller).unwrap(), X86_64, call, arguments);
    let passing = run(&passing(caller, 77).unwrap(), X86_64, call, arguments);
    if ending == END_PROCESS {
        ending
    } else {
        passing
    }
}

fn first(value: u64) -> [u64; 6] {
    [value, 0, 0, 0, 0, 0]
}

const BOTH: [Caller; 2] = [Caller::Krun, Caller::Qemu];

#[test]
fn no_call_is_in_both_lists() {
    for call in END {
        assert!(!PASS.contains(call), "{call}");
    }
}

#[test]
fn a_call_that_nobody_listed_is_not_known() {
    for caller in BOTH {
        for call in 0..600 {
            let verdict = verdict(caller, call, [u64::MAX; 6]);
            if END.contains(&call) || (caller == Caller::Krun && call == libc::SYS_execve) {
                assert_eq!(verdict, END_PROCESS, "{call}");
            } else if PASS.contains(&call)
                || (caller == Caller::Qemu && [libc::SYS_execve, libc::SYS_seccomp].contains(&call))
            {
                assert_eq!(verdict, ALLOW, "{call}");
            } else {
                assert_eq!(verdict, NOT_KNOWN, "{call}");
            }
        }
    }
}

#[test]
fn neither_sockets_nor_new_processes_nor_changed_owners() {
    for caller in BOTH {
        for call in [
            libc::SYS_socket,
            libc::SYS_socketpair,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_clone3,
            libc::SYS_io_uring_setup,
            libc::SYS_unlink,
            libc::SYS_rename,
            libc::SYS_truncate,
            libc::SYS_chmod,
            libc::SYS_fchown,
            libc::SYS_setxattr,
            libc::SYS_utimensat,
            libc::SYS_setuid,
            libc::SYS_rt_sigqueueinfo,
            libc::SYS_sched_setaffinity,
        ] {
            assert_eq!(verdict(caller, call, [0; 6]), NOT_KNOWN, "{call}");
        }
        let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
        assert_eq!(
            verdict(caller, libc::SYS_clone, first(thread | 0x100)),
            ALLOW
        );
        for flags in [17, 0, thread | 0x4000_0000, thread | 0x1000_0000] {
            assert_eq!(verdict(caller, libc::SYS_clone, first(flags)), NOT_KNOWN);
        }
    }
}

#[test]
fn signals_and_limits_reach_this_process_only() {
    for caller in BOTH {
        for call in [libc::SYS_kill, libc::SYS_tgkill] {
            assert_eq!(verdict(caller, call, first(77)), ALLOW);
            for other in [78, 1, 0, u64::MAX] {
                assert_eq!(verdict(caller, call, first(other)), NOT_KNOWN);
            }
        }
        assert_eq!(verdict(caller, libc::SYS_prlimit64, first(0)), ALLOW);
        assert_eq!(verdict(caller, libc::SYS_prlimit64, first(1)), NOT_KNOWN);
        let owner = [3, u64::from(libc::F_SETOWN.unsigned_abs()), 1, 0, 0, 0];
        assert_eq!(verdict(caller, libc::SYS_fcntl, owner), NOT_KNOWN);
        // FIOSETOWN, and TIOCSTI, which types into a terminal.
        for request in [0x8901, 0x5412] {
            let arguments = [0, request, 0, 0, 0, 0];
            assert_eq!(verdict(caller, libc::SYS_ioctl, arguments), NOT_KNOWN);
        }
        assert_eq!(
            verdict(caller, libc::SYS_ioctl, [0, 0xae80, 0, 0, 0, 0]),
            ALLOW
        );
        // The signal with which it dies with its supervisor stays.
        let death = u64::from(libc::PR_SET_PDEATHSIG.unsigned_abs());
        assert_eq!(verdict(caller, libc::SYS_prctl, first(death)), NOT_KNOWN);
    }
}

#[test]
fn nothing_is_truncated_that_may_only_be_read() {
    let open = |flags: i32| {
        let flags = u64::from(flags.unsigned_abs());
        verdict(Caller::Qemu, libc::SYS_openat, [0, 0, flags, 0, 0, 0])
    };
    assert_eq!(open(libc::O_RDONLY | libc::O_CLOEXEC), ALLOW);
    assert_eq!(open(libc::O_RDWR), ALLOW);
    // So libkrun opens the console; what may be written to is for Landlock to say.
    assert_eq!(open(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC), ALLOW);
    assert_eq!(open(libc::O_RDONLY | libc::O_TRUNC), NOT_KNOWN);
}

#[test]
fn calls_of_another_processor_mode_end_the_process() {
    for caller in BOTH {
        let filter = passing(caller, 77).unwrap();
        assert_eq!(
            run(&filter, 0x4000_0003, libc::SYS_read, [0; 6]),
            END_PROCESS
        );
        // The same processor with shorter pointers: such numbers are in no list.
        let short = 0x4000_0000 | libc::SYS_read;
        assert_eq!(run(&filter, X86_64, short, [0; 6]), NOT_KNOWN);
    }
}
