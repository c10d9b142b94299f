//! The machine that the figures come from, and what a process has used of it: all from `/proc`.

use crate::Outcome;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A tick in `/proc/<pid>/stat` and `/proc/stat`; the same on every Linux machine that this runs on.
pub const NS_PER_TICK: u64 = 10_000_000;

/// A line on cores, processor, memory, kernel and the file system of `dir`.
pub fn describe(dir: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory_gib = line_of("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib >> 20);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!(
        "{cores} cores · {processor} · {memory_gib} GiB · Linux {} · {} · load before the run {}",
        kernel.trim(),
        file_system(dir),
        load.join(" ")
    )
}

/// The value of the first line that starts with `name`, as in `name : value`.
fn line_of(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Type, device and options of what `dir` is on.
fn file_system(dir: &Path) -> String {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounted = mounts.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let [device, at, kind, options, ..] = fields.as_slice() else { return None };
        dir.starts_with(at).then(|| (at.len(), format!("data on {kind} ({device}, {options})")))
    });
    mounted
        .max_by_key(|(len, _)| *len)
        .map_or_else(|| "data on an unknown file system".to_owned(), |(_, text)| text)
}

/// The processor time and the writes of a process so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// CPU time, that of threads that have ended included.
    pub cpu: Duration,
    /// Bytes that it had the disk write.
    pub written: u64,
}

impl Spent {
    /// The difference to an earlier reading.
    pub fn since(self, before: Spent) -> Spent {
        Spent {
            cpu: self.cpu.saturating_sub(before.cpu),
            written: self.written.saturating_sub(before.written),
        }
    }
}

/// Reads the processor time and the writes of a process.
pub fn spent(pid: u32) -> Outcome<Spent> {
    // Another user's process may not be looked at: it counts no bytes.
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let written =
        io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.trim().parse().ok()).unwrap_or(0);
    Ok(Spent { cpu: cpu_time(pid)?, written })
}

/// The processes that it has started.
fn children(pid: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|child| parent(*child) == Some(pid)).collect()
}

/// The process that started it.
pub fn parent(pid: u32) -> Option<u32> {
    fields(pid).ok()?.get(1)?.parse().ok()
}

/// A process and those that it has started.
pub fn family(pid: u32) -> Vec<u32> {
    std::iter::once(pid).chain(children(pid)).collect()
}

/// CPU time that a process has used, threads that have ended included.
pub fn cpu_time(pid: u32) -> Outcome<Duration> {
    let ticks: u64 = fields(pid)?.iter().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_nanos(ticks * NS_PER_TICK))
}

/// The fields of `/proc/<pid>/stat` behind the name: that is in parentheses and may contain
/// anything. The first is the state, field 3 of all.
fn fields(pid: u32) -> Outcome<Vec<String>> {
    let file = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    Ok(behind.split_whitespace().map(str::to_owned).collect())
}

/// The cores that this process may use.
pub fn cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect()
}

/// Runs `with` on these cores alone; threads and processes that it starts stay on them. Without
/// cores it is just run.
pub fn on_cores<T>(cores: &[usize], with: impl FnOnce() -> T) -> T {
    let before = sched_getaffinity(None);
    if !cores.is_empty() {
        let mut set = CpuSet::new();
        cores.iter().for_each(|core| set.set(*core));
        // A refused setting leaves it running where it can: the figures say how fast that was.
        let _ = sched_setaffinity(None, &set);
    }
    let outcome = with();
    if let Ok(before) = before {
        let _ = sched_setaffinity(None, &before);
    }
    outcome
}

/// Memory of a process that is its own: resident pages that are backed by no file.
pub fn own_memory(pid: u32) -> Outcome<u64> {
    let file = format!("/proc/{pid}/status");
    let text = line_of(&file, "RssAnon").ok_or_else(|| format!("{file} does not say"))?;
    let kib = text
        .split(' ')
        .next()
        .and_then(|number| number.parse::<u64>().ok())
        .ok_or_else(|| format!("{file} says {text}"))?;
    Ok(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_where_it_is_told_and_goes_back() {
        let all = cores();
        let one = on_cores(&all[..1], cores);
        assert_eq!((one, cores()), (all[..1].to_vec(), all));
    }

    #[test]
    fn this_process_has_used_something() {
        let before = spent(std::process::id()).expect("it is there");
        let own = fields(std::process::id()).expect("it is there")[1].parse().expect("its parent");
        assert!(children(own).contains(&std::process::id()));
        assert!(spent(std::process::id()).expect("it is there").since(before).cpu < Duration::from_secs(60));
    }
}
