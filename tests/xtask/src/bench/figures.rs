//! Medians, processes and the table at the end.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Rows in the order in which they were measured.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<[String; 3]>,
}

impl Table {
    pub(super) fn row(&mut self, what: &str, value: f64, unit: &str, wanted: &str) {
        self.rows.push([
            what.to_owned(),
            format!("{value:.1} {unit}"),
            wanted.to_owned(),
        ]);
    }

    pub(super) fn ratio(&mut self, what: &str, ours: f64, peer: f64) {
        self.rows.push([
            what.to_owned(),
            format!("{:.2} times ({peer:.1} ms)", ours / peer.max(0.001)),
            String::new(),
        ]);
    }

    pub(super) fn print(&self) {
        println!("\n{:<56} {:>24}   wanted", "figure (median)", "here");
        for [what, value, wanted] in &self.rows {
            println!("{what:<56} {value:>24}   {wanted}");
        }
    }
}

/// The middle value; the mean of the two in the middle.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// Memory of a process, in MiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) resident: f64,
    pub(super) files: f64,
}

pub(super) fn memory(pid: u32) -> Result<Memory> {
    let status =
        fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    let line = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace()
            .next()?
            .parse::<f64>()
            .ok()
            .map(|kib| kib / 1024.0)
    };
    let resident = line("VmRSS:").context("the process has no memory")?;
    Ok(Memory {
        resident,
        files: line("RssFile:").unwrap_or(0.0),
    })
}

/// Processor time of a process, in hundredths of a second.
pub(super) fn processor_ticks(pid: u32) -> Result<u32> {
    let fields = stat(pid)?;
    let number = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<u32>().ok())
    };
    // `utime` and `stime`, counted behind the program's name.
    Ok(number(11).context("no utime")? + number(12).context("no stime")?)
}

/// Processor time of a process so far, to the nanosecond.
pub(super) fn processor_time(pid: u32) -> Result<Duration> {
    let mut total = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))?.flatten() {
        let Ok(line) = fs::read_to_string(thread.path().join("schedstat")) else {
            // A thread that is gone took its time with it.
            continue;
        };
        total += line
            .split_whitespace()
            .next()
            .and_then(|nanos| nanos.parse::<u64>().ok())
            .unwrap_or(0);
    }
    Ok(Duration::from_nanos(total))
}

/// The first child of a process.
pub(super) fn child(parent: u32) -> Result<Option<u32>> {
    for process in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        if stat(pid).is_ok_and(|fields| fields.get(1) == Some(&parent.to_string())) {
            return Ok(Some(pid));
        }
    }
    Ok(None)
}

/// The fields of `/proc/PID/stat` behind the program's name, which may hold anything.
fn stat(pid: u32) -> Result<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let rest = stat.rsplit(')').next().unwrap_or_default();
    Ok(rest.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&mut [4.0, 1.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn this_process_can_be_looked_at() {
        let us = std::process::id();
        assert!(memory(us).unwrap().resident > 0.5);
        processor_ticks(us).unwrap();
    }
}
