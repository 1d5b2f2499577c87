//! What the daemon is told when it starts, and where each value comes from. Nothing here changes afterwards.

use std::{num::NonZeroU32, time::Duration};

use legwork_spec::ByteSize;
use legwork_wire::{Places, PlacesError};

/// How long a daemon with nothing to do stays.
const IDLE_EXIT: Duration = Duration::from_mins(30);

/// How long a task that nobody has to decide on any more is kept.
const RETENTION: Duration = Duration::from_hours(14 * 24);

/// Everything that can be said about a daemon.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where things are kept.
    pub places: Places,
    /// How many tasks run at once, at the most.
    pub concurrency: NonZeroU32,
    /// Memory that the virtual machines may have together.
    pub memory: ByteSize,
    /// How long the daemon stays with no task to run and no client.
    pub idle_exit: Duration,
    /// How long an ended task and its files are kept.
    pub retention: Duration,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A directory is not known.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// A variable does not hold a number.
    #[error("{name} is `{value}`: it must be a whole number of {unit}, 1 or more")]
    Number {
        /// The variable.
        name: &'static str,
        /// What it holds.
        value: String,
        /// What is counted.
        unit: &'static str,
    },
}

impl Settings {
    /// Settings for these places, as they fit this machine.
    pub fn new(places: Places) -> Self {
        let total = total_memory();
        Self {
            places,
            concurrency: fitting_concurrency(processors(), total),
            memory: ByteSize::bytes(total / 4 * 3),
            idle_exit: IDLE_EXIT,
            retention: RETENTION,
        }
    }

    /// Reads the variables of [`Places`], `LEGWORK_CONCURRENCY` (tasks), `LEGWORK_IDLE_EXIT` (seconds) and
    /// `LEGWORK_RETENTION` (days); what is not set fits this machine.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] when a variable cannot be understood.
    pub fn from_environment() -> Result<Self, SettingsError> {
        let mut settings = Self::new(Places::from_environment()?);
        if let Some(tasks) = number("LEGWORK_CONCURRENCY", "tasks")? {
            settings.concurrency = tasks;
        }
        if let Some(seconds) = number("LEGWORK_IDLE_EXIT", "seconds")? {
            settings.idle_exit = Duration::from_secs(seconds.get().into());
        }
        if let Some(days) = number("LEGWORK_RETENTION", "days")? {
            settings.retention = Duration::from_hours(u64::from(days.get()) * 24);
        }
        Ok(settings)
    }
}

/// One task for each processor, and no more than half of the memory at 1 GiB each.
fn fitting_concurrency(processors: u32, total_memory: u64) -> NonZeroU32 {
    let by_memory =
        u32::try_from(total_memory / 2 / ByteSize::gib(1).as_bytes()).unwrap_or(u32::MAX);
    NonZeroU32::new(processors.min(by_memory)).unwrap_or(NonZeroU32::MIN)
}

fn processors() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

fn total_memory() -> u64 {
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(info.mem_unit.into())
}

fn number(name: &'static str, unit: &'static str) -> Result<Option<NonZeroU32>, SettingsError> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let value = value.to_string_lossy().into_owned();
    match value.trim().parse() {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(SettingsError::Number { name, value, unit }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrency_fits_the_machine_and_is_never_zero() {
        let gib = |count| ByteSize::gib(count).as_bytes();
        assert_eq!(fitting_concurrency(8, gib(64)).get(), 8);
        assert_eq!(fitting_concurrency(8, gib(6)).get(), 3);
        assert_eq!(fitting_concurrency(2, gib(1)).get(), 1);
        assert_eq!(fitting_concurrency(0, 0).get(), 1);
    }
}
