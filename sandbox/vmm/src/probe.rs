//! `legwork-vmm probe`: whether `/dev/kvm` runs guest code, found out by running some.
//!
//! A device that exists and opens proves nothing: some hosts offer one that interprets guest code instruction by
//! instruction, thousands of times too slow and not for all instructions. So a guest of one page is run against a clock.
#![expect(
    unsafe_code,
    reason = "guest memory is given to the kernel as an address"
)]

mod program;

use std::io::Write as _;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use kvm_bindings::{
    KVM_API_VERSION, KVM_MAX_CPUID_ENTRIES, kvm_regs, kvm_segment, kvm_userspace_memory_region,
};
use kvm_ioctls::{Kvm, VcpuExit, VcpuFd, VmFd};
use rustix::io::Errno;
use serde_json::json;

use program::Memory;

/// For some 48 million instructions. A processor needs less than 10 ms; a busy one that is itself emulated, with KVM
/// inside, was seen to need a second; an instruction emulator needs ten at its best.
const LIMIT: Duration = Duration::from_secs(3);
/// For making the machine, before its guest starts.
const SETUP_LIMIT: Duration = Duration::from_secs(10);
/// Any three pages below 4 GiB and away from memory; processors of Intel need them.
const TSS: usize = 0xfffb_d000;

/// What the host can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Usable,
    Absent,
    NoPermission,
    Emulated,
    Error,
}

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Absent => "absent",
            Self::NoPermission => "no-permission",
            Self::Emulated => "emulated",
            Self::Error => "error",
        }
    }
}

/// A verdict, why, and how long the guest ran if it did.
struct Finding {
    verdict: Verdict,
    detail: String,
    ran: Duration,
}

impl Finding {
    fn new(verdict: Verdict, detail: impl Into<String>, ran: Duration) -> Self {
        Self {
            verdict,
            detail: detail.into(),
            ran,
        }
    }
}

/// Prints the finding as one line of JSON.
///
/// # Errors
/// Only when it cannot be printed: every state of the host is a finding.
pub(crate) fn run() -> Result<()> {
    let finding = probe();
    let line = json!({
        "verdict": finding.verdict.word(),
        "detail": finding.detail,
        "micros": u64::try_from(finding.ran.as_micros()).unwrap_or(u64::MAX),
    });
    writeln!(std::io::stdout(), "{line}").context("cannot print the verdict")
}

/// Gives the reason when `/dev/kvm` cannot be opened; proves nothing when it can.
pub(crate) fn require_device() -> Result<()> {
    match Kvm::new() {
        Ok(_) => Ok(()),
        Err(error) => Err(anyhow!(unopened(error.errno()).detail)),
    }
}

fn probe() -> Finding {
    match Kvm::new() {
        Ok(kvm) => against_the_clock(kvm),
        Err(error) => unopened(error.errno()),
    }
}

/// What it means that the device cannot be opened.
fn unopened(errno: i32) -> Finding {
    let reason = Errno::from_raw_os_error(errno);
    let (verdict, detail) = match reason {
        Errno::NOENT | Errno::NODEV | Errno::NXIO => (
            Verdict::Absent,
            "there is no /dev/kvm: turn virtualization on in the firmware, or, in a virtual machine, nested virtualization"
                .to_owned(),
        ),
        Errno::ACCESS | Errno::PERM => (
            Verdict::NoPermission,
            "/dev/kvm may not be opened by this user: run `sudo usermod -aG kvm \"$USER\"` and log in again".to_owned(),
        ),
        _ => (Verdict::Error, format!("/dev/kvm cannot be opened: {}", std::io::Error::from(reason))),
    };
    Finding::new(verdict, detail, Duration::ZERO)
}

/// Runs the guest in a thread of its own, which is left behind when it takes too long: it ends with the process.
fn against_the_clock(kvm: Kvm) -> Finding {
    let (sender, receiver) = mpsc::channel();
    let spawned = thread::Builder::new()
        .name("guest".to_owned())
        .spawn(move || {
            let starting = sender.clone();
            let finding = run_guest(&kvm, move || {
                starting.send(Step::Starting).ok();
            });
            // Nobody listens any more when the time was up.
            sender.send(Step::Ended(finding)).ok();
        });
    if let Err(error) = spawned {
        let detail = format!("cannot start a thread: {error}");
        return Finding::new(Verdict::Error, detail, Duration::ZERO);
    }
    let mut limit = SETUP_LIMIT;
    let mut ran = Duration::ZERO;
    loop {
        match receiver.recv_timeout(limit) {
            Ok(Step::Starting) => (limit, ran) = (LIMIT, LIMIT),
            Ok(Step::Ended(Ok(finding))) => return finding,
            Ok(Step::Ended(Err(error))) => {
                return Finding::new(Verdict::Error, format!("{error:#}"), Duration::ZERO);
            }
            Err(_) if ran.is_zero() => {
                let detail = "/dev/kvm did not make a virtual machine in time: try again when the host is less busy";
                return Finding::new(Verdict::Error, detail, ran);
            }
            Err(_) => {
                let detail = format!(
                    "/dev/kvm only emulates: some milliseconds' worth of guest code did not end within {} s",
                    LIMIT.as_secs()
                );
                return Finding::new(Verdict::Emulated, detail, ran);
            }
        }
    }
}

/// What the guest's thread tells.
enum Step {
    Starting,
    Ended(Result<Finding>),
}

fn run_guest(kvm: &Kvm, starting: impl FnOnce()) -> Result<Finding> {
    let version = kvm.get_api_version();
    if u32::try_from(version) != Ok(KVM_API_VERSION) {
        return Ok(Finding::new(
            Verdict::Error,
            format!("/dev/kvm speaks version {version} and only {KVM_API_VERSION} is known"),
            Duration::ZERO,
        ));
    }
    let mut memory = program::load();
    let machine = kvm
        .create_vm()
        .context("/dev/kvm cannot make a virtual machine")?;
    machine
        .set_tss_address(TSS)
        .context("/dev/kvm cannot set the TSS address")?;
    give(&machine, &mut memory)?;
    let mut processor = machine
        .create_vcpu(0)
        .context("/dev/kvm cannot make a virtual processor")?;
    let features = kvm
        .get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)
        .context("/dev/kvm names no processor features")?;
    processor
        .set_cpuid2(&features)
        .context("/dev/kvm refuses its own processor features")?;
    prepare(&processor)?;

    starting();
    let started = Instant::now();
    let exit = loop {
        match processor.run() {
            // A signal came, or the kernel asks to be called again.
            Err(error)
                if matches!(
                    Errno::from_raw_os_error(error.errno()),
                    Errno::INTR | Errno::AGAIN
                ) => {}
            exit => break exit,
        }
    };
    let ran = started.elapsed();
    Ok(match exit {
        Ok(VcpuExit::IoOut(program::PORT, [program::EXPECTED])) => Finding::new(
            Verdict::Usable,
            "/dev/kvm runs guest code on the processor",
            ran,
        ),
        Ok(exit) => Finding::new(
            Verdict::Emulated,
            format!("/dev/kvm does not run ordinary guest code: it stopped with {exit:?}"),
            ran,
        ),
        Err(error) => Finding::new(
            Verdict::Emulated,
            format!("/dev/kvm does not run ordinary guest code: {error}"),
            ran,
        ),
    })
}

/// Makes `memory` the guest's memory from address 0.
fn give(machine: &VmFd, memory: &mut Memory) -> Result<()> {
    let region = kvm_userspace_memory_region {
        slot: 0,
        flags: 0,
        guest_phys_addr: 0,
        memory_size: Memory::SIZE
            .try_into()
            .context("guest memory is too large")?,
        userspace_addr: std::ptr::from_mut(memory)
            .expose_provenance()
            .try_into()
            .context("an address is too large")?,
    };
    // SAFETY: the address is page-aligned (the type is) and valid for as many bytes. The caller keeps the memory alive
    // until the last processor of the machine has run, and reads nothing of it after this.
    unsafe { machine.set_user_memory_region(region) }.context("/dev/kvm takes no guest memory")
}

/// Puts the processor into 64-bit mode, at the start of the program.
fn prepare(processor: &VcpuFd) -> Result<()> {
    let mut special = processor
        .get_sregs()
        .context("/dev/kvm gives no registers")?;
    let data = kvm_segment {
        limit: u32::MAX,
        selector: program::DATA_SELECTOR,
        type_: 3, // Writable, accessed.
        present: 1,
        s: 1,
        db: 1,
        g: 1,
        ..Default::default()
    };
    special.cs = kvm_segment {
        selector: program::CODE_SELECTOR,
        type_: 11,
        db: 0,
        l: 1,
        ..data
    };
    for segment in [
        &mut special.ds,
        &mut special.es,
        &mut special.fs,
        &mut special.gs,
        &mut special.ss,
    ] {
        *segment = data;
    }
    special.gdt.base = program::GDT.into();
    special.gdt.limit = program::GDT_LIMIT;
    special.idt.base = program::IDT.into();
    special.idt.limit = program::IDT_LIMIT;
    special.cr3 = program::PAGE_TABLES.into();
    special.cr4 = 0x4_0620; // PAE, OSFXSR, OSXMMEXCPT, OSXSAVE.
    special.cr0 = 0x8000_0033; // PG, NE, ET, MP, PE.
    special.efer = 0x500; // LMA, LME.
    processor
        .set_sregs(&special)
        .context("/dev/kvm refuses 64-bit mode")?;
    let registers = kvm_regs {
        rip: program::CODE.into(),
        rsp: program::STACK.into(),
        rflags: 2,
        ..Default::default()
    };
    processor
        .set_regs(&registers)
        .context("/dev/kvm refuses registers")
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::{Verdict, unopened};

    #[test]
    fn each_way_not_to_open_it_has_its_own_advice() {
        assert_eq!(
            unopened(Errno::NOENT.raw_os_error()).verdict,
            Verdict::Absent
        );
        let refused = unopened(Errno::ACCESS.raw_os_error());
        assert_eq!(refused.verdict, Verdict::NoPermission);
        assert!(
            refused.detail.contains("usermod -aG kvm"),
            "{}",
            refused.detail
        );
        assert_eq!(
            unopened(Errno::MFILE.raw_os_error()).verdict,
            Verdict::Error
        );
    }
}
