//! One control group for each program: it and all it starts are counted, limited and killed together.

use std::{
    cell::Cell,
    fs, io,
    path::{Path, PathBuf},
};

const ROOT: &str = "/sys/fs/cgroup";

/// Memory that stays for the kernel and the agent, in bytes, so that a program that eats all is killed in its own group
/// and not the agent with it.
const RESERVE: u64 = 48 << 20;

/// A group of processes. Dropping it kills them.
#[derive(Debug)]
pub(crate) struct Cgroup {
    dir: PathBuf,
}

/// What a group used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// Most memory at once, in bytes.
    pub(crate) peak_memory: u64,
    /// Processor time, in microseconds.
    pub(crate) cpu_micros: u64,
    /// Whether the kernel killed in it for want of memory.
    pub(crate) out_of_memory: bool,
}

/// Lets groups below the root be limited. Controllers that the kernel lacks are done without.
pub(crate) fn delegate() {
    for controller in ["memory", "pids", "cpu"] {
        // A kernel without it has no such line to write.
        let _missing = fs::write(
            Path::new(ROOT).join("cgroup.subtree_control"),
            format!("+{controller}"),
        );
    }
}

impl Cgroup {
    /// Makes an empty group that may use all memory but the reserve.
    pub(crate) fn create() -> io::Result<Self> {
        thread_local!(static NUMBER: Cell<u32> = const { Cell::new(0) });
        let number = NUMBER.replace(NUMBER.get().wrapping_add(1));
        let dir = Path::new(ROOT).join(format!("exec-{number}"));
        fs::create_dir(&dir)?;
        let total = memory("MemTotal:").unwrap_or(0);
        for (file, value) in [
            ("memory.max", total.saturating_sub(RESERVE).to_string()),
            ("memory.swap.max", "0".to_owned()),
            ("memory.oom.group", "1".to_owned()),
            ("pids.max", "8192".to_owned()),
        ] {
            // As with the controllers: what is not there cannot be limited this way; the machine's own size still is.
            let _missing = fs::write(dir.join(file), value);
        }
        Ok(Self { dir })
    }

    /// Runs `start` with this process in the group, so that what it forks is born there.
    pub(crate) fn within<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        fs::write(self.dir.join("cgroup.procs"), "0")?;
        let started = start();
        fs::write(Path::new(ROOT).join("cgroup.procs"), "0")?;
        Ok(started)
    }

    /// Kills everything in it.
    pub(crate) fn kill(&self) {
        // An empty group has nothing to kill.
        let _empty = fs::write(self.dir.join("cgroup.kill"), "1");
    }

    /// What it used so far.
    pub(crate) fn usage(&self) -> Usage {
        let number = |file: &str| -> Option<u64> {
            fs::read_to_string(self.dir.join(file))
                .ok()
                .and_then(|text| text.trim().parse().ok())
        };
        Usage {
            peak_memory: number("memory.peak").unwrap_or(0),
            cpu_micros: field(&self.dir.join("cpu.stat"), "usage_usec").unwrap_or(0),
            out_of_memory: field(&self.dir.join("memory.events"), "oom_kill").unwrap_or(0) > 0,
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        self.kill();
        // The directory goes once the killed are reaped; until then it is in nobody's way.
        let _busy = fs::remove_dir(&self.dir);
    }
}

/// A line of `/proc/meminfo` in bytes.
pub(crate) fn memory(name: &str) -> Option<u64> {
    field(Path::new("/proc/meminfo"), name).map(|kib| kib << 10)
}

fn field(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
