//! Where the processors of the machine went while something was measured: every thread of the server
//! by its name, the generator, the kernel's threads, all other processes, and what nobody had. The
//! sum is the time that all cores have.

use crate::table::{Table, microseconds, nanoseconds_each};
use crate::{Outcome, machine};
use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

/// The parent of the kernel's threads.
const KTHREADD: u32 = 2;

/// What has had a share of the processors, in the order of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    /// Threads of the server, or of its database, of this name.
    Server(String),
    Generator,
    Kernel,
    Others,
}

impl Who {
    fn name(&self) -> String {
        match self {
            Who::Server(thread) => format!("server: {thread}"),
            Who::Generator => "generator".to_owned(),
            Who::Kernel => "kernel threads".to_owned(),
            Who::Others => "other processes".to_owned(),
        }
    }
}

/// What everybody has had so far.
pub struct Reading {
    at: Instant,
    /// By thread, in nanoseconds.
    threads: BTreeMap<u32, (Who, u64)>,
    kinds: BTreeMap<&'static str, u64>,
}

/// The kinds in the first line of `/proc/stat`, in its order.
const KINDS: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

impl Reading {
    /// Reads them; these processes are the server.
    pub fn of(server: &[u32]) -> Outcome<Reading> {
        let stat = fs::read_to_string("/proc/stat").map_err(|error| format!("/proc/stat: {error}"))?;
        let ticks = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
        let ticks = ticks.map(|ticks| ticks.parse::<u64>().unwrap_or(0) * machine::NS_PER_TICK);
        let kinds = KINDS.into_iter().zip(ticks).collect();
        let mut threads = BTreeMap::new();
        for pid in numbers("/proc") {
            let who = |thread: String| match pid {
                _ if server.contains(&pid) => Who::Server(thread),
                _ if pid == std::process::id() => Who::Generator,
                _ if pid == KTHREADD || machine::parent(pid) == Some(KTHREADD) => Who::Kernel,
                _ => Who::Others,
            };
            for tid in numbers(&format!("/proc/{pid}/task")) {
                let file = |name| fs::read_to_string(format!("/proc/{pid}/task/{tid}/{name}"));
                // One that has ended meanwhile is not there.
                let (Ok(comm), Ok(schedstat)) = (file("comm"), file("schedstat")) else { continue };
                let ran = schedstat.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
                let thread =
                    comm.trim().trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').to_owned();
                threads.insert(tid, (who(thread), ran));
            }
        }
        Ok(Reading { at: Instant::now(), threads, kinds })
    }

    /// What was had since an earlier reading.
    pub fn since(&self, before: &Reading) -> Account {
        let mut shares = BTreeMap::new();
        for (tid, (who, ran)) in &self.threads {
            let earlier = before.threads.get(tid).map_or(0, |(_, ran)| *ran);
            *shares.entry(who.clone()).or_default() += ran.saturating_sub(earlier);
        }
        let kind = |name| self.kinds.get(name).unwrap_or(&0) - before.kinds.get(name).unwrap_or(&0);
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let wall = u64::try_from((self.at - before.at).as_nanos()).unwrap_or(u64::MAX);
        Account {
            shares,
            kinds: KINDS.map(|name| (name, kind(name))).into(),
            all: wall.saturating_mul(cores),
        }
    }
}

/// The files and folders in a folder whose names are numbers.
fn numbers(folder: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Who had the processors for a time, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Account {
    shares: BTreeMap<Who, u64>,
    kinds: BTreeMap<&'static str, u64>,
    /// The time that all cores had.
    all: u64,
}

impl Account {
    /// Adds another time.
    pub fn add(&mut self, other: &Account) {
        other.shares.iter().for_each(|(who, ns)| *self.shares.entry(who.clone()).or_default() += ns);
        other.kinds.iter().for_each(|(kind, ns)| *self.kinds.entry(kind).or_default() += ns);
        self.all += other.all;
    }

    /// Every line, and their sum.
    fn lines(&self) -> Vec<(String, i128)> {
        let kind = |name| i128::from(*self.kinds.get(name).unwrap_or(&0));
        let mut lines: Vec<(String, i128)> =
            self.shares.iter().map(|(who, ns)| (who.name(), i128::from(*ns))).collect();
        lines.extend([
            ("idle".to_owned(), kind("idle")),
            ("idle, waiting for the disk".to_owned(), kind("iowait")),
            ("taken by other machines (steal)".to_owned(), kind("steal")),
        ]);
        let explained: i128 = lines.iter().map(|(_, ns)| ns).sum();
        lines.push(("not explained".to_owned(), i128::from(self.all) - explained));
        lines.push(("all cores".to_owned(), i128::from(self.all)));
        lines
    }

    /// What kind of work the busy processors did, of all that they had.
    fn busy(&self) -> String {
        let share = |name| self.kinds.get(name).unwrap_or(&0) * 100 / self.all.max(1);
        ["user", "system", "irq", "softirq"].map(|kind| format!("{kind} {} %", share(kind))).join(", ")
    }
}

/// A column for each of these measurements: its name, its account, and the number of requests.
pub fn table(measured: &[(String, Account, u64)]) -> Table {
    let columns: Vec<&str> =
        std::iter::once("µs per request").chain(measured.iter().map(|(name, ..)| name.as_str())).collect();
    let mut table = Table::new("Where the processors went", &columns);
    table.remark(
        "From /proc, a thread's time with what the kernel did for it; the sum is the time of all cores. Interrupts are in \
         the time of whom they met. By kind, of all that the cores had:",
    );
    for (name, account, _) in measured {
        table.remark(format!("{name}: {}.", account.busy()));
    }
    let mut names: Vec<String> = Vec::new();
    for (_, account, _) in measured {
        // Threads of servers come before what all have, which is in every column.
        let own = account.lines().into_iter().map(|(name, _)| name);
        let new: Vec<String> = own.filter(|name| !names.contains(name)).collect();
        let (threads, rest): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|name| name.starts_with("server: "));
        let at = names.iter().position(|name| !name.starts_with("server: ")).unwrap_or(names.len());
        names.splice(at..at, threads);
        names.extend(rest);
    }
    for name in names {
        let cells = measured.iter().map(|(_, account, requests)| {
            let found = account.lines().into_iter().find(|(other, _)| *other == name);
            found.map_or_else(|| "–".to_owned(), |(_, ns)| each(ns, *requests))
        });
        table.row(std::iter::once(name.clone()).chain(cells.collect::<Vec<_>>()));
    }
    table
}

/// Nanoseconds shared by so many, in microseconds, with a sign where they are below zero.
fn each(ns: i128, requests: u64) -> String {
    let sign = if ns < 0 { "−" } else { "" };
    let time = std::time::Duration::from_nanos(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
    format!("{sign}{}", microseconds(nanoseconds_each(time, requests)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_all_that_the_cores_had_and_this_process_has_its_share() {
        let before = Reading::of(&[]).expect("/proc");
        let begin = Instant::now();
        let account = loop {
            let account = Reading::of(&[]).expect("/proc").since(&before);
            if account.shares.get(&Who::Generator).is_some_and(|share| *share > 50_000_000) {
                break account;
            }
            assert!(begin.elapsed().as_secs() < 20, "{account:?}");
        };
        let lines = account.lines();
        let (all, parts) = lines.split_last().expect("lines");
        assert_eq!(all.1, parts.iter().map(|(_, ns)| ns).sum::<i128>());
    }

    #[test]
    fn a_server_has_a_line_for_each_name_of_its_threads() {
        let own = std::process::id();
        let before = Reading::of(&[own]).expect("/proc");
        let account = Reading::of(&[own]).expect("/proc").since(&before);
        let shown = table(&[("case".to_owned(), account, 1)]).to_string();
        assert!(shown.contains("| server: ") && !shown.contains("| generator"), "{shown}");
        assert!(shown.contains("| not explained"), "{shown}");
    }
}
