//! The memory that stays in use: per tenant that does nothing, and per payout that is finished. The
//! first is seen in a fresh process, once with few tenants and once with many; the second while
//! payouts go on, after as many as it takes to fill what RocksDB keeps in memory and bounds itself.

use crate::cleanup::{self, Scratch};
use crate::load::Load;
use crate::prepare::{self, Extent};
use crate::report::{Bar, Line, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::Server;
use crate::table::{Table, bytes_each, grouped, mebibytes, microseconds, nanoseconds_each};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The smaller number of tenants.
const FEW: usize = 10;

/// The time until a server must be ready.
const READY: Duration = Duration::from_secs(60);

/// The time between two lines about the payouts.
const SLICE: Duration = Duration::from_secs(2);

/// The time between two looks at the memory.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The most bytes that an idle tenant may take.
const IDLE_BYTES_MAX: u64 = 1 << 10;

/// The most bytes that a finished payout may seem to take: none of it is the payout's, but a page
/// more or less of an allocator is seen as a few bytes each.
const FINISHED_BYTES_MAX: u64 = 16;

/// Connections that pay.
const CONNECTIONS: usize = 256;

/// Tenants that they pay for.
const PAYERS: usize = 10;

/// Memory per idle tenant and per finished payout
#[derive(Args, Clone, Debug)]
pub struct Memory {
    #[command(flatten)]
    pub(super) place: Place,
    /// Idle tenants
    #[arg(long, default_value_t = 10_000)]
    pub(super) tenants: usize,
    /// Finished payouts, after as many that do not count
    #[arg(long, default_value_t = 600_000)]
    pub(super) payouts: u64,
}

/// The measurements of a slice.
struct Look {
    /// Payouts until then.
    paid: u64,
    /// The least of the server's own memory in the slice before.
    memory: u64,
    /// The processor time of a payout in the slice.
    cpu: String,
}

impl Memory {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        Duration::from_secs(15 + self.tenants as u64 / 1_000 + self.payouts / 10_000)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        cleanup::watch(self.takes() * 5 + Duration::from_secs(60));
        self.report()?.print();
        Ok(())
    }

    /// Measures.
    pub fn report(&self) -> Outcome<Report> {
        let mut table = Table::new("Memory", &["state", "memory MiB", "bytes each", "server CPU µs/payout"]);
        table.remark(
            "What is the server process's own (RssAnon): without the pages of files. The CPU is that of the payouts just before, over 256 connections: it must not grow with what was paid \
             before. Of the memory while payouts go on it is the least of looks every 100 ms in the later half of each stage: just after RocksDB's memtables were flushed.",
        );
        table.remark(machine::describe(&self.place.made()?));
        let idle = self.idle(&mut table)?;
        let finished = self.finished(&mut table)?;
        let line = |what: &str, (bytes, _): &(String, u64)| Line {
            what: what.to_owned(),
            figure: format!("{bytes} bytes"),
            baseline: String::new(),
            ratio: String::new(),
        };
        let bars = vec![
            Bar::at_most(
                "memory per idle tenant",
                Unit::Bytes,
                idle.1,
                IDLE_BYTES_MAX,
                format!("{} tenants with funds", grouped(self.tenants as u64)),
            ),
            Bar::at_most(
                "memory per finished payout, none but for what caches and allocator do by themselves",
                Unit::Bytes,
                finished.1,
                FINISHED_BYTES_MAX,
                format!("{} payouts after as many that do not count", grouped(self.payouts)),
            ),
        ];
        Ok(Report {
            tables: vec![table],
            lines: vec![line("memory per idle tenant", &idle), line("memory per finished payout", &finished)],
            bars,
            ..Report::default()
        })
    }

    /// The bytes of each idle tenant, as shown and as a number: 0 if memory became less.
    fn idle(&self, table: &mut Table) -> Outcome<(String, u64)> {
        let scratch = Scratch::new(&self.place.made()?, "idle")?;
        let few = after_restart(&scratch, FEW)?;
        table.row([format!("just started, {FEW} tenants"), mebibytes(few), String::new(), String::new()]);
        progress(&format!("preparing {} tenants", grouped(self.tenants as u64)));
        let many = after_restart(&scratch, self.tenants)?;
        let each = bytes_each(few, many, self.tenants as u64);
        table.row([
            format!("just started, {} idle tenants more, each with funds", grouped(self.tenants as u64)),
            mebibytes(many),
            each.clone(),
            String::new(),
        ]);
        Ok((each, many.saturating_sub(few) / (self.tenants as u64).max(1)))
    }

    fn finished(&self, table: &mut Table) -> Outcome<(String, u64)> {
        let scratch = Scratch::new(&self.place.made()?, "finished")?;
        let server = Server::gateway(scratch.path(), READY)?;
        let tenants = prepare::tenants(&server, PAYERS, Extent::Payable)?;
        let requests = Arc::new(Requests::payouts(server.api, &tenants));
        let workload: Arc<dyn Workload> = requests.clone();
        let load = Load {
            server: &server,
            requests: &workload,
            connections: CONNECTIONS,
            threads: 1,
            warm_up: Duration::ZERO,
            time: SLICE,
        };
        let mut warm = Vec::new();
        let mut counted = Vec::new();
        loop {
            let (measured, memory) = least_during(server.pid(), || load.run())?;
            let cpu = microseconds(nanoseconds_each(measured.server.cpu, measured.answers));
            let paid = requests.sent();
            progress(&format!("{} payouts: {} MiB, {cpu} µs of CPU each", grouped(paid), mebibytes(memory)));
            let is_warm = warm.last().is_some_and(|look: &Look| look.paid >= self.payouts);
            let looks = if is_warm { &mut counted } else { &mut warm };
            looks.push(Look { paid, memory, cpu });
            if is_warm && paid >= self.payouts * 2 {
                break;
            }
        }
        let (Some(before), Some(after)) = (least(&warm), least(&counted)) else {
            return Err("nothing was paid".to_owned());
        };
        let each = bytes_each(before.memory, after.memory, after.paid - before.paid);
        let row = |look: &Look, each: &str| {
            [
                format!("after {} finished payouts", grouped(look.paid)),
                mebibytes(look.memory),
                each.to_owned(),
                look.cpu.clone(),
            ]
        };
        table.row(row(before, ""));
        table.row(row(after, &each));
        Ok((each, after.memory.saturating_sub(before.memory) / (after.paid - before.paid).max(1)))
    }
}

/// The least of a process's own memory while something is done. RocksDB's memtables, 64 MiB and
/// more, fill and are flushed every few seconds: what stays is what is there just after a flush.
fn least_during<T>(pid: u32, work: impl FnOnce() -> Outcome<T>) -> Outcome<(T, u64)> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut least = machine::own_memory(pid)?;
            while !done.load(Ordering::Relaxed) {
                std::thread::sleep(LOOK_EVERY);
                least = least.min(machine::own_memory(pid)?);
            }
            Ok::<_, String>(least)
        });
        let worked = work();
        done.store(true, Ordering::Relaxed);
        let least = watch.join().map_err(|_| "whoever watched the memory panicked".to_owned())??;
        Ok((worked?, least))
    })
}

/// The least of the later half, in which there are several flushes.
fn least(looks: &[Look]) -> Option<&Look> {
    looks[looks.len() / 2..].iter().min_by_key(|look| look.memory)
}

/// Makes so many tenants more, ends the server in good order, and looks at the next one.
fn after_restart(scratch: &Scratch, more: usize) -> Outcome<u64> {
    let server = Server::gateway(scratch.path(), READY)?;
    prepare::tenants(&server, more, Extent::Funded)?;
    server.stop()?;
    let server = Server::gateway(scratch.path(), READY)?;
    server.rest()?;
    machine::own_memory(server.pid())
}
