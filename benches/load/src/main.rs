//! `pasarela-bench`: how fast Pasarela is here, each figure beside a baseline of the same run.
//!
//! What is measured runs as it does in production: the gateway is a child process of the binary
//! that operators install, the data is on the disk that is named, every answer is checked. The load
//! comes from the same machine, so absolute figures say as much about the machine as about the
//! program; the ratios to the baselines are what to look at.
//!
//! Measurements belong here, and what they need; nothing that the gateway itself needs does.
//!
//! Layout: `suite` all parts and their report · `report`, `table`, `chart` what a part finds and
//! how it is shown · `contest` cases over HTTP, interleaved; `http`, `slow_disk`, `widths` three
//! such · `day` a real day's mix, of nodes that run already too, and `etcd` below those, `soak` the same for hours · `latency`, `overload`, `abuse`,
//! `live` at fixed rates · `in_process`, `pause` the engine alone · `growth`, `restart`, `fill`
//! what it holds · `mandates` what agents take out while it is killed · `pages` what people see of a busy server · `memory` · `rates` the public interface · `daily` finding, statements,
//! reconciliation · `webhooks`, `receiver` · `load`, `lanes`, `open_loop` the generators ·
//! `requests`, `conversions`, `reads` what they send, `connection` how · `prepare` the tenants ·
//! `do_nothing`, `plain_file` the baselines, `payout` what they read and write · `debits` the engine
//! for the contention lab (`benches/contention/`) · `server` child processes · `cleanup` what ends with us · `machine`.

mod abuse;
mod account;
mod chart;
#[expect(dead_code, reason = "the contention lab uses the rest")]
mod cleanup;
mod connection;
mod contest;
mod daily;
mod day;
mod debits;
mod do_nothing;
mod etcd;
mod fill;
mod growth;
mod http;
mod in_process;
mod lanes;
mod latency;
mod live;
mod load;
#[expect(dead_code, reason = "the contention lab uses the rest")]
mod machine;
mod mandates;
mod memory;
mod open_loop;
mod overload;
mod pages;
mod pause;
mod payout;
mod plain_file;
mod prepare;
mod prepared;
mod rates;
mod reads;
mod receiver;
mod report;
mod requests;
mod restart;
mod server;
mod slow_disk;
mod soak;
mod suite;
mod table;
mod webhooks;
mod widths;

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// The allocator, the same as the gateway's, so that code in this process runs as it does there.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// The result of a step of the benchmark; the error says why it could not be finished.
pub(crate) type Outcome<T> = Result<T, String>;

/// Measures how fast Pasarela is here, beside baselines of the same run.
#[derive(Debug, Parser)]
#[command(name = "pasarela-bench", version, propagate_version = true, arg_required_else_help = true)]
struct CommandLine {
    /// The gateway to measure [default: `pasarela` beside this binary]
    #[arg(long, global = true, value_name = "FILE")]
    server: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Everything, and one report of it
    All(suite::All),
    /// Payouts, conversions and collections over HTTP, beside a server that does nothing
    Http(http::Http),
    /// The same on a disk whose syncs take longer
    SlowDisk(slow_disk::SlowDisk),
    /// Latency at fixed rates, server and generator on cores of their own
    Latency(latency::Latency),
    /// More load than it can take, and what comes after
    Overload(overload::Overload),
    /// What one tenant that asks for everything does to another
    Abuse(abuse::Abuse),
    /// What a call to a live bank costs, and what a slow and a dead one do
    Live(live::Live),
    /// Debits on one balance in process, beside a plain file
    Engine(in_process::InProcess),
    /// What a snapshot of a balance with many holds does to its debits
    Pause(pause::Pause),
    /// Throughput, memory, disk and restart with more tenants, holds and history
    Growth(growth::Growth),
    /// Agents that spend their mandates while the server is killed: never a cent above
    Mandates(mandates::Mandates),
    /// Seconds until a server with this many records is ready
    Restart(restart::Restart),
    /// Memory per idle tenant and per finished payout
    Memory(memory::Memory),
    /// Deliveries to webhook endpoints, and what they cost
    Webhooks(webhooks::Webhooks),
    /// The latest rate and its history, over a million samples, beside a server that does nothing
    Rates(rates::Rates),
    /// Searches, statements and a reconciliation over a year of books
    Daily(daily::Daily),
    /// Payouts at every width: connections and tenants, each beside its neighbours
    Widths(widths::Widths),
    /// A real day's mix: C2P, reads, payouts, batches, pesos, webhooks, rates
    Day(day::Day),
    /// The same over nodes that run already, with the processor time of each
    Nodes(day::Nodes),
    /// The batches that etcd agrees on, by the number of logs
    Etcd(etcd::Etcd),
    /// The mix of a day at a fixed rate for hours: what memory, disk and latency become
    Soak(soak::Soak),
    /// The pages of portal and console beside payouts at a fixed rate
    Pages(pages::Pages),
    /// The server that the figures over HTTP are compared with
    DoNothing(do_nothing::DoNothing),
    /// Debits one balance in process, as the contention lab says
    #[command(hide = true)]
    Debits(debits::Debits),
    /// Fills a data directory and waits to be killed
    #[command(hide = true)]
    Fill(fill::Fill),
}

/// The directory for the data.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// Directory for the data; it is removed at the end
    #[arg(long, default_value = "target/bench")]
    dir: PathBuf,
}

impl Place {
    /// The directory, which is made if it is not there.
    fn made(&self) -> Outcome<PathBuf> {
        std::fs::create_dir_all(&self.dir).map_err(|error| format!("{}: {error}", self.dir.display()))?;
        Ok(self.dir.clone())
    }
}

/// Figures go to stdout as Markdown, progress to stderr.
fn main() -> ExitCode {
    let line = CommandLine::parse();
    let outcome = server::measure(line.server).and_then(|()| match line.what {
        What::All(all) => all.run(),
        What::Http(http) => http.run(),
        What::SlowDisk(slow_disk) => slow_disk.run(),
        What::Latency(latency) => latency.run(),
        What::Overload(overload) => overload.run(),
        What::Abuse(abuse) => abuse.run(),
        What::Live(live) => live.run(),
        What::Engine(engine) => engine.run(),
        What::Pause(pause) => pause.run(),
        What::Growth(growth) => growth.run(),
        What::Mandates(mandates) => mandates.run(),
        What::Restart(restart) => restart.run(),
        What::Memory(memory) => memory.run(),
        What::Webhooks(webhooks) => webhooks.run(),
        What::Rates(rates) => rates.run(),
        What::Daily(daily) => daily.run(),
        What::Widths(widths) => widths.run(),
        What::Day(day) => day.run(),
        What::Nodes(nodes) => nodes.run(),
        What::Etcd(etcd) => etcd.run(),
        What::Soak(soak) => soak.run(),
        What::Pages(pages) => pages.run(),
        What::DoNothing(server) => server.run(),
        What::Debits(debits) => debits.run(),
        What::Fill(fill) => fill.run(),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("pasarela-bench: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Writes to stderr what is going on.
pub(crate) fn progress(what: &str) {
    eprintln!("… {what}");
}
