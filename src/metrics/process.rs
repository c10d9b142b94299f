//! The process as the kernel counts it; nothing is shown on systems other than Linux.

use rustix::process::{Resource, getrlimit};
use std::fs;

/// A tick in `/proc` is a hundredth of a second on every Linux.
const TICK_US: u64 = 10_000;

pub struct Process {
    pub resident_bytes: u64,
    pub cpu_us: u64,
    pub threads: u64,
    pub open_files: u64,
    pub open_files_max: Option<u64>,
}

impl Process {
    pub fn now() -> Option<Process> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let word = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        // The name of the process is in parentheses and may hold anything.
        let state = fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = state.rsplit_once(") ")?.1.split(' ').collect();
        // Fields 14 and 15 of proc_pid_stat(5); the third is the first after the name.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let ticks = field(14)?.checked_add(field(15)?)?;
        let open_files = fs::read_dir("/proc/self/fd").ok()?.count();
        Some(Process {
            resident_bytes: word("VmRSS:")?.checked_mul(1024)?,
            cpu_us: ticks.checked_mul(TICK_US)?,
            threads: word("Threads:")?,
            // The directory that is being read is one of them.
            open_files: (open_files as u64).saturating_sub(1),
            open_files_max: getrlimit(Resource::Nofile).current,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_knows_itself() {
        let now = Process::now().expect("/proc is there");
        assert!(now.resident_bytes > 1 << 20 && now.threads >= 1 && (3..100_000).contains(&now.open_files));
    }
}
