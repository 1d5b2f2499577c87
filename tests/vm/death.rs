//! Machines that end before they should are noticed at once, and say how.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    time::{Duration, Instant},
};

use kit::machine::{installation, small, start, start_with};
use legwork_host::{HostError, Installation, Program};

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_ends_is_noticed_at_once() {
    let machine = start(small()).await.unwrap();
    let begun = Instant::now();
    // reboot(2): with the last argument RB_AUTOBOOT the kernel ends the machine without asking anybody.
    let script = "sleep 1; perl -e 'syscall(169, 0xfee1dead, 672274793, 0x1234567, 0)'; sleep 100";
    let ended = machine.exec(Program::new(["sh", "-c", script])).await;
    assert!(matches!(ended, Err(HostError::Died { .. })), "{ended:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    let after = machine.exec(Program::new(["true"])).await;
    assert!(matches!(after, Err(HostError::Died { .. })), "{after:?}");
    let dir = machine.dir.path().join("vm");
    machine.sandbox.stop().await;
    assert!(!dir.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_does_not_come_up_says_why() {
    let good = installation();
    let dir = tempfile::tempdir().unwrap();
    // An agent that is a program, but ends at once: the kernel panics.
    let agent = dir.path().join("guest/legwork-guest");
    fs::create_dir_all(agent.parent().unwrap()).unwrap();
    fs::write(&agent, program_that_exits()).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let wrong = Installation {
        agent,
        ..good.clone()
    };
    let begun = Instant::now();
    let error = start_with(&wrong, small()).await.unwrap_err();
    assert!(matches!(error, HostError::Boot { .. }), "{error:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "it waited for its time limit: {:?}",
        begun.elapsed()
    );

    // A machine process that is not there, and one that ends at once.
    let missing = Installation {
        vmm: dir.path().join("no-vmm"),
        ..good.clone()
    };
    assert!(start_with(&missing, small()).await.is_err());
    let ends = Installation {
        vmm: "/bin/false".into(),
        ..good
    };
    let error = start_with(&ends, small()).await.unwrap_err();
    assert!(!error.hint().is_empty(), "{error:?}");
}

/// The smallest static x86-64 program: `exit(1)`.
fn program_that_exits() -> Vec<u8> {
    let code = [0xbf, 1, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05];
    let (base, headers) = (0x40_0000_u64, 64 + 56_u64);
    let length = headers + code.len() as u64;
    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // Type EXEC, machine x86-64, version; entry, program headers, sections; flags; sizes and counts.
    elf.extend([2_u16, 62].iter().flat_map(|half| half.to_le_bytes()));
    elf.extend(1_u32.to_le_bytes());
    elf.extend(
        [base + headers, 64, 0]
            .iter()
            .flat_map(|word| word.to_le_bytes()),
    );
    elf.extend(0_u32.to_le_bytes());
    elf.extend(
        [64_u16, 56, 1, 64, 0, 0]
            .iter()
            .flat_map(|half| half.to_le_bytes()),
    );
    // One loadable segment, readable and executable.
    elf.extend([1_u32, 5].iter().flat_map(|word| word.to_le_bytes()));
    elf.extend(
        [0, base, base, length, length, 4096]
            .iter()
            .flat_map(|word: &u64| word.to_le_bytes()),
    );
    elf.extend(code);
    elf
}
