//! The files that a machine boots from.

use std::{fs, path::Path};

use legwork_image::{
    OciCaps, Progress, RootImage, boot_image, host_root, kernel_elf, oci_root, scratch_disk,
};
use legwork_spec::{
    BOOT_CONFIG_VERSION, BootConfig, BootDisk, Driver, Isolation, Machine, Root, SandboxSpec,
};

use crate::{Chosen, HostError, Installation};

/// Makes every file of the machine.
pub(crate) fn make(
    spec: &SandboxSpec,
    chosen: &Chosen,
    installation: &Installation,
    dir: &Path,
    progress: impl Fn(Progress),
) -> Result<(BootConfig, RootImage), HostError> {
    fs::create_dir_all(dir).map_err(HostError::io("make the machine's directory"))?;
    let cache = &installation.cache;
    let boot = boot_image(cache, &installation.agent)?;
    let progress = &mut |step| progress(step);
    let root = match spec.root() {
        Root::Host => host_root(cache, progress)?,
        Root::Oci(path) => oci_root(cache, path, OciCaps::default(), progress)?,
    };
    let scratch = dir.join("scratch.ext4");
    scratch_disk(&scratch, spec.limits().disk)?;
    let machine = match chosen.driver {
        Driver::Krun => Machine::Krun {
            library: chosen.library.clone(),
        },
        Driver::Qemu => Machine::Qemu {
            program: chosen.qemu.clone().unwrap_or_default(),
            kernel: kernel_elf(cache, &chosen.library, &installation.vmm)?,
            hardware: !chosen.emulated,
        },
    };
    let image = |path: &Path| BootDisk {
        path: path.to_owned(),
        read_only: true,
    };
    let mut disks = vec![
        image(&boot),
        image(&root.path),
        image(&spec.workspace().image),
        BootDisk {
            path: scratch,
            read_only: false,
        },
    ];
    disks.extend(spec.tools().map(|tools| image(&tools.image)));
    let config = BootConfig {
        version: BOOT_CONFIG_VERSION,
        supervisor: std::process::id(),
        unjailed_ok: spec.isolation() == Isolation::UnjailedOk,
        machine,
        vcpus: spec.limits().vcpus,
        memory_mib: u32::try_from(spec.limits().memory.as_mib()).unwrap_or(u32::MAX),
        disks,
    };
    Ok((config, root))
}
