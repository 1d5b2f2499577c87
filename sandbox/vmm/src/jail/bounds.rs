//! The wall of resources: limits of this process, for the day on which its guest has it.
//!
//! There is no limit on the number of processes: the kernel counts those of the whole user. The wall of system calls lets
//! none be made.

use anyhow::{Context as _, Result, bail};
use legwork_spec::BootConfig;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const MIB: u64 = 1024 * 1024;
/// Address space beside the guest's memory: the translator's buffer (1 GiB), libraries, and a stack of 8 MiB and an arena
/// of 64 MiB for each of some 70 threads. Most of it is never touched.
const ROOM_MIB: u64 = 8 * 1024;
/// The same for the thread of each virtual processor.
const ROOM_PER_VCPU_MIB: u64 = 128;
/// A machine opens about 40, and some more for each processor.
const FILES: u64 = 512;

/// How much of what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    memory: u64,
    file: u64,
}

impl Bounds {
    /// For a process that starts no machine.
    pub(crate) const SMALL: Self = Self {
        memory: ROOM_MIB * MIB,
        file: 512 * MIB,
    };

    /// For this machine: its memory may be a file of memory, so a file may be as large as that.
    pub(crate) fn of(config: &BootConfig) -> Result<Self> {
        let memory = u64::from(config.memory_mib) * MIB;
        let mut file = memory;
        for disk in config.disks.iter().filter(|disk| !disk.read_only) {
            let size = std::fs::metadata(&disk.path)
                .with_context(|| format!("cannot look at the disk {}", disk.path.display()))?
                .len();
            file = file.max(size);
        }
        Ok(Self {
            memory: memory
                .saturating_add((ROOM_MIB + ROOM_PER_VCPU_MIB * u64::from(config.vcpus)) * MIB),
            file,
        })
    }

    fn each(self) -> [(Resource, u64, &'static str); 3] {
        [
            (Resource::As, self.memory, "address space"),
            (Resource::Fsize, self.file, "the size of a file"),
            (Resource::Nofile, FILES, "open files"),
        ]
    }

    /// Sets them, and says what they are. A limit that is lower already stays.
    pub(crate) fn set(self) -> Result<String> {
        for (resource, bound, name) in self.each() {
            let bound = getrlimit(resource)
                .maximum
                .map_or(bound, |maximum| maximum.min(bound));
            let limit = Rlimit {
                current: Some(bound),
                maximum: Some(bound),
            };
            setrlimit(resource, limit).with_context(|| format!("cannot bound {name}"))?;
        }
        Ok(format!(
            "at most {} MiB of address space, files of {} MiB, {FILES} of them open",
            self.memory / MIB,
            self.file / MIB
        ))
    }

    /// Whether they hold.
    pub(crate) fn check(self) -> Result<()> {
        for (resource, bound, name) in self.each() {
            let limit = getrlimit(resource);
            if limit.maximum.is_none_or(|maximum| maximum > bound) {
                bail!("{name} has no bound");
            }
        }
        Ok(())
    }
}
