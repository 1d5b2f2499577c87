//! The limits of one sandbox. Each is enforced outside the guest or by the shape of the machine itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::size::ByteSize;

/// What a sandbox may use, at the most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Virtual processors; 1 to 64.
    pub vcpus: u8,
    /// Guest memory; at least 256 MiB.
    pub memory: ByteSize,
    /// What may be written to the workspace and the root file system together; at least 64 MiB. It is the size of the
    /// scratch disk, so the guest cannot pass it.
    pub disk: ByteSize,
    /// Wall-clock time of the command, counted by the host.
    #[serde(with = "seconds")]
    pub wall: Duration,
    /// Standard output and standard error together, in bytes kept. The command goes on; the rest is counted and
    /// dropped, and the log says how much.
    pub output: ByteSize,
}

/// Why a set of limits is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The number of processors is out of range.
    #[error("{0} virtual CPUs are asked for: choose 1 to 64")]
    Vcpus(u8),
    /// Too little memory for a Linux guest.
    #[error("{0} of memory is too little for a Linux guest: give it 256 MiB or more")]
    Memory(ByteSize),
    /// Too small a disk.
    #[error("a scratch disk of {0} is too small to hold a file system: give it 64 MiB or more")]
    Disk(ByteSize),
    /// No time at all.
    #[error("a time limit of zero stops every command before it starts: give it a second or more")]
    Wall,
}

impl Limits {
    /// Checks each limit against its range.
    ///
    /// # Errors
    ///
    /// The first limit that is out of range.
    pub fn validate(&self) -> Result<(), LimitError> {
        if !(1..=64).contains(&self.vcpus) {
            return Err(LimitError::Vcpus(self.vcpus));
        }
        if self.memory < ByteSize::mib(256) {
            return Err(LimitError::Memory(self.memory));
        }
        if self.disk < ByteSize::mib(64) {
            return Err(LimitError::Disk(self.disk));
        }
        if self.wall.is_zero() {
            return Err(LimitError::Wall);
        }
        Ok(())
    }
}

impl Default for Limits {
    /// One processor, 1 GiB of memory, 8 GiB of disk, 30 minutes, 8 MiB of output.
    fn default() -> Self {
        Self {
            vcpus: 1,
            memory: ByteSize::gib(1),
            disk: ByteSize::gib(8),
            wall: Duration::from_mins(30),
            output: ByteSize::mib(8),
        }
    }
}

/// Durations stand in JSON as seconds.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        value: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(value.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
