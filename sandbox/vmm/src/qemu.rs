//! The `qemu` driver: this process becomes `qemu-system-*`.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use legwork_spec::{BootConfig, BootDisk, WallKind};

use crate::command_line::{self, Execution};
use crate::jail::{self, Caller, Plan, Use};

/// The fastest model that still has AES and carry-less multiplication; newer ones cost boot time under emulation.
const EMULATED_CPU: &str = "Westmere-v1";

/// QEMU's own filter of system calls, which ends it also for executing a program. Where the kernel has no such filters it
/// would end it at once.
const OWN_FILTER: &[&str] = &[
    "-sandbox",
    "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
];

/// The machine type has eight device slots; the serial device and the random source take two.
const MAX_DISKS: usize = 6;

/// Becomes QEMU; comes back only with the reason why not.
pub(crate) fn run(
    config: &BootConfig,
    file: &Path,
    program: &Path,
    kernel: &Path,
    hardware: bool,
) -> Result<Infallible> {
    if config.disks.len() > MAX_DISKS {
        bail!(
            "the machine has room for {MAX_DISKS} disks and {} are asked for",
            config.disks.len()
        );
    }
    // Without close-on-exec, unlike everything that the standard library opens: this one is to be inherited.
    let link = rustix::io::dup(std::io::stdin()).context("cannot duplicate the link")?;
    jail::silence_stdin()?;
    let mut opened = jail::program(program)?;
    opened.push((kernel.to_owned(), Use::Read));
    if hardware {
        opened.push(("/dev/kvm".into(), Use::Control));
    }
    let plan = Plan {
        caller: Caller::Qemu,
        opened,
        config,
        canary: file,
    };
    let jailed = jail::enter(plan, &link)?;
    let own_filter = jailed.stands(WallKind::Calls);
    let execution = if hardware {
        Execution::Hardware
    } else {
        Execution::Emulated
    };
    let error = Command::new(program)
        .args(arguments(config, kernel, execution, link.as_raw_fd()))
        .args(if own_filter { OWN_FILTER } else { &[] })
        .env_clear()
        .exec();
    Err(error).with_context(|| {
        format!(
            "cannot run {}; `legwork doctor` names what is missing",
            program.display()
        )
    })
}

fn arguments(
    config: &BootConfig,
    kernel: &Path,
    execution: Execution,
    link: RawFd,
) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut option = |name: &str, value: OsString| arguments.extend([OsString::from(name), value]);

    // The legacy timer, interrupt controller and clock stay: without them the kernel does not come up.
    option("-M", "microvm,acpi=off".into());
    option("-global", "virtio-mmio.force-legacy=false".into());
    match execution {
        Execution::Hardware => {
            option("-accel", "kvm".into());
            option("-cpu", "host".into());
        }
        Execution::Emulated => {
            option("-accel", "tcg,thread=multi".into());
            option("-cpu", EMULATED_CPU.into());
        }
    }
    option("-m", format!("{}M", config.memory_mib).into());
    option("-smp", config.vcpus.to_string().into());
    option("-kernel", kernel.into());
    option(
        "-append",
        command_line::words(config, execution).join(" ").into(),
    );

    option("-device", "virtio-serial-device,max_ports=2".into());
    option("-chardev", "stdio,id=console,signal=off".into());
    option("-device", "virtconsole,chardev=console".into());
    option("-chardev", format!("socket,id=link,fd={link}").into());
    option(
        "-device",
        format!("virtserialport,chardev=link,name={}", BootConfig::LINK_PORT).into(),
    );
    option("-device", "virtio-rng-device".into());

    for (index, disk) in config.disks.iter().enumerate() {
        option("-drive", drive(index, disk));
    }
    for index in 0..config.disks.len() {
        option(
            "-device",
            format!("virtio-blk-device,drive=disk{index}").into(),
        );
    }

    arguments
        .extend(["-nodefaults", "-no-user-config", "-nographic", "-no-reboot"].map(OsString::from));
    arguments
}

fn drive(index: usize, disk: &BootDisk) -> OsString {
    let mut value = OsString::from(format!(
        "if=none,id=disk{index},format=raw,aio=threads,file="
    ));
    value.push(escaped(disk.path.as_os_str()));
    value.push(if disk.read_only {
        // Read-only images are shared between machines; QEMU's lock would allow that but needs a writable lock byte range.
        ",readonly=on,file.locking=off"
    } else {
        // A writable disk dies with its machine, so nothing is gained by flushing it.
        ",readonly=off,cache=unsafe,discard=unmap"
    });
    value
}

/// QEMU ends a value at a comma and reads a doubled one as a comma.
fn escaped(value: &OsStr) -> OsString {
    let mut bytes = Vec::with_capacity(value.len());
    for byte in value.as_bytes() {
        bytes.push(*byte);
        if *byte == b',' {
            bytes.push(b',');
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use legwork_spec::{BOOT_CONFIG_VERSION, BootConfig, BootDisk, Machine};

    use super::{Execution, arguments, escaped};

    fn config(vcpus: u8) -> BootConfig {
        BootConfig {
            version: BOOT_CONFIG_VERSION,
            supervisor: 1,
            unjailed_ok: false,
            machine: Machine::Qemu {
                program: "/q".into(),
                kernel: "/k".into(),
                hardware: false,
            },
            vcpus,
            memory_mib: 512,
            disks: vec![
                BootDisk {
                    path: "/root,one.img".into(),
                    read_only: true,
                },
                BootDisk {
                    path: "/scratch".into(),
                    read_only: false,
                },
            ],
        }
    }

    fn line(vcpus: u8, execution: Execution) -> String {
        let words = arguments(&config(vcpus), Path::new("/k"), execution, 3);
        words
            .iter()
            .map(|word| word.to_str().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn read_only_is_enforced_by_the_device() {
        let line = line(1, Execution::Emulated);
        assert!(line.contains("file=/root,,one.img,readonly=on"), "{line}");
        assert!(line.contains("file=/scratch,readonly=off"), "{line}");
    }

    #[test]
    fn nothing_of_a_network_is_there() {
        for execution in [Execution::Emulated, Execution::Hardware] {
            let line = line(1, execution);
            assert!(
                !line.contains("net") && !line.contains("vsock") && !line.contains("virtfs"),
                "{line}"
            );
            assert!(line.contains("-nodefaults"), "{line}");
        }
    }

    #[test]
    fn flaws_of_a_real_processor_stay_mitigated() {
        assert!(line(1, Execution::Emulated).contains("mitigations=off"));
        assert!(!line(1, Execution::Hardware).contains("mitigations"));
        assert!(!line(1, Execution::Hardware).contains("lpj"));
    }

    #[test]
    fn several_processors_are_all_started() {
        assert!(line(1, Execution::Emulated).contains(" nosmp"));
        assert!(!line(2, Execution::Emulated).contains(" nosmp"));
    }

    #[test]
    fn commas_are_doubled() {
        assert_eq!(escaped("/a,b,,c".as_ref()), "/a,,b,,,,c");
    }
}
