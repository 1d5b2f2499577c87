//! `legwork-vmm boot FILE`: from a configuration to a running machine.
//!
//! The order matters: be tied to the supervisor first, drop what must not be inherited, and only then look at the
//! configuration's machine. Building the machine itself is the work of `qemu` and `krun`, which enter the jail first and
//! leave open in it what they need.

use std::convert::Infallible;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use legwork_spec::{BOOT_CONFIG_VERSION, BootConfig, Machine};

use crate::{jail, krun, qemu};

/// Larger than any configuration the supervisor writes.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// Boots the machine that `file` describes; comes back only with the reason why it did not.
pub(crate) fn run(file: &Path) -> Result<Infallible> {
    jail::drop_environment()?;
    let config = read(file)?;
    jail::die_with(config.supervisor)?;
    jail::drop_inheritance()?;
    jail::require_stream_socket()?;
    match &config.machine {
        Machine::Qemu {
            program,
            kernel,
            hardware,
        } => qemu::run(&config, file, program, kernel, *hardware),
        Machine::Krun { library } => krun::run(&config, file, library),
    }
}

fn read(file: &Path) -> Result<BootConfig> {
    let size = std::fs::metadata(file)
        .with_context(|| format!("cannot read the boot configuration {}", file.display()))?
        .len();
    if size > MAX_CONFIG_BYTES {
        bail!(
            "the boot configuration {} has {size} bytes, more than any valid one",
            file.display()
        );
    }
    let text = std::fs::read(file)
        .with_context(|| format!("cannot read the boot configuration {}", file.display()))?;
    parse(&text).with_context(|| format!("the boot configuration {} is refused", file.display()))
}

/// Checks the version before the rest, so that a newer file is named as such and not as a syntax error.
fn parse(text: &[u8]) -> Result<BootConfig> {
    let value: serde_json::Value = serde_json::from_slice(text).context("it is not JSON")?;
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(BOOT_CONFIG_VERSION)) {
        let found = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        bail!(
            "its version is {found} and this legwork-vmm reads {BOOT_CONFIG_VERSION}; install legwork and legwork-vmm together"
        );
    }
    let config: BootConfig =
        serde_json::from_value(value).context("it does not follow the schema")?;
    if config.disks.is_empty() {
        bail!("it names no disk, and the first disk holds the guest's /init");
    }
    if config.vcpus == 0 || config.memory_mib == 0 {
        bail!(
            "it asks for {} processors and {} MiB of memory",
            config.vcpus,
            config.memory_mib
        );
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn config(version: u32, disks: &str) -> String {
        format!(
            r#"{{"version":{version},"supervisor":1,"unjailed_ok":false,"machine":{{"driver":"krun","library":"/l"}},
                "vcpus":1,"memory_mib":512,"disks":{disks}}}"#
        )
    }

    #[test]
    fn reads_its_own_version() {
        let config = parse(config(2, r#"[{"path":"/r","read_only":true}]"#).as_bytes()).unwrap();
        assert_eq!(config.memory_mib, 512);
    }

    #[test]
    fn refuses_another_version_by_name() {
        let error = parse(config(3, "[]").as_bytes()).unwrap_err();
        assert!(error.to_string().contains("its version is 3"), "{error}");
        let error = parse(b"{}").unwrap_err();
        assert!(error.to_string().contains("its version is none"), "{error}");
    }

    #[test]
    fn refuses_a_machine_without_a_root() {
        let error = parse(config(2, "[]").as_bytes()).unwrap_err();
        assert!(error.to_string().contains("names no disk"), "{error}");
    }
}
