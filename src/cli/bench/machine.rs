//! The machine that the figures come from, and what a process has used of it: all from `/proc`.

use super::Outcome;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Ticks per second in `/proc/<pid>/stat`; the same on every Linux machine that this runs on.
const TICKS_PER_SECOND: u64 = 100;

/// One line on cores, processor, memory, kernel and the file system of `dir`.
pub fn describe(dir: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let memory_gib = line_of("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok()).map_or(0, |kib| kib >> 20);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!("{cores} cores · {processor} · {memory_gib} GiB · Linux {} · {} · load before the run {}", kernel.trim(), file_system(dir), load.join(" "))
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
    mounted.max_by_key(|(len, _)| *len).map_or_else(|| "data on an unknown file system".to_owned(), |(_, text)| text)
}

/// CPU time that a process has used, threads that have ended included.
pub fn cpu_time(pid: u32) -> Outcome<Duration> {
    let file = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    // The name, in parentheses, may contain anything; fields 14 and 15 of all are the 12th and 13th behind it.
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let ticks: u64 = behind.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// Memory of a process that is its own: resident pages that are backed by no file.
pub fn own_memory(pid: u32) -> Outcome<u64> {
    let file = format!("/proc/{pid}/status");
    let text = line_of(&file, "RssAnon").ok_or_else(|| format!("{file} does not say"))?;
    let kib = text.split(' ').next().and_then(|number| number.parse::<u64>().ok()).ok_or_else(|| format!("{file} says {text}"))?;
    Ok(kib << 10)
}
