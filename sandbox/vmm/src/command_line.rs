//! The guest kernel's command line, for both drivers.

use legwork_spec::BootConfig;

/// Who executes the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    /// The processor.
    Hardware,
    /// A translator: slow, and with nobody else's secrets behind its speculation.
    Emulated,
}

/// What the kernel is told under QEMU, in order. Both QEMU and libkrun append their devices.
pub(crate) fn words(config: &BootConfig, execution: Execution) -> Vec<String> {
    let mut words = root();
    words.extend(
        [
            "console=hvc0",
            // The machine ends with its PID 1, whatever ended that.
            "panic=-1",
            "reboot=t",
            "nomodule",
            "quiet",
            "cryptomgr.notests",
        ]
        .map(str::to_owned),
    );
    if execution == Execution::Emulated {
        // Each of these saves measured boot time: no patching for processor flaws an emulator does not have, and no
        // calibration against clocks that it only imitates.
        words.extend(
            [
                "mitigations=off",
                "lpj=4000000",
                "tsc=reliable",
                "no_timer_check",
                "noreplace-smp",
            ]
            .map(str::to_owned),
        );
    }
    if config.vcpus == 1 {
        words.push("nosmp".to_owned());
    }
    words
}

/// What stands behind libkrun's own words, of which the last of a kind wins.
pub(crate) fn words_behind_krun() -> Vec<String> {
    let mut words = root();
    words.push("cryptomgr.notests".to_owned());
    words
}

/// The first disk as the root file system and its `/init` as PID 1.
fn root() -> Vec<String> {
    let agent = BootConfig::AGENT;
    ["root=/dev/vda", "rootfstype=erofs", "ro"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("init={agent}")])
        .collect()
}
