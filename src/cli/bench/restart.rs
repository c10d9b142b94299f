//! How long a start takes after a crash: a directory is filled, its process killed, and the gateway started on it. A balance is read afterwards, so that what was replayed is known to be
//! right.

use super::cleanup::{self, Scratch, Ward};
use super::fill::{DONE, TENANTS, balance_minor, key_of};
use super::prepare::Client;
use super::server::{Server, this_binary};
use super::table::{Line, Report, Table, grouped, mebibytes, per_second, seconds};
use super::{Outcome, Place, machine, progress};
use crate::domain::money::Ves;
use crate::recovery::directory::LOG_DIRECTORY;
use clap::Args;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Until a server is ready, however much it has to replay.
const PATIENCE: Duration = Duration::from_secs(300);

/// Seconds until a server with this many records is ready
#[derive(Args, Clone, Debug)]
pub struct Restart {
    #[command(flatten)]
    pub(super) place: Place,
    /// Records in the log
    #[arg(long, default_value_t = 1_000_000)]
    pub(super) records: u64,
    /// Of these, records since the last snapshot
    #[arg(long, default_value_t = 1_000_000)]
    pub(super) tail: u64,
}

/// One start.
struct Started {
    records: u64,
    tail: u64,
    filled_in: Duration,
    ready_after: Duration,
    memory: u64,
    disk: u64,
}

impl Restart {
    /// How long it takes, about.
    pub fn takes(&self) -> Duration {
        Duration::from_secs(10 + self.records / 100_000 + self.tail / 200_000)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        cleanup::watch(self.takes() * 5 + Duration::from_secs(60));
        report(&[self])?.print();
        Ok(())
    }

    fn measure(&self) -> Outcome<Started> {
        let scratch = Scratch::new(&self.place.made()?, "restart")?;
        progress(&format!("filling {} records", grouped(self.records)));
        let filled_in = self.fill(&scratch.path().join("data"))?;
        let disk = bytes_in(&scratch.path().join("data").join(LOG_DIRECTORY));
        let server = Server::gateway(scratch.path(), PATIENCE)?;
        let memory = machine::own_memory(server.pid())?;
        progress(&format!("ready after {} s", seconds(server.ready_after)));
        self.check(&server)?;
        Ok(Started { records: self.records, tail: self.tail.min(self.records), filled_in, ready_after: server.ready_after, memory, disk })
    }

    /// Has a process fill the directory, and kills it.
    fn fill(&self, data: &Path) -> Outcome<Duration> {
        let began = Instant::now();
        let mut command = this_binary()?;
        command.args(["bench", "fill", "--records", &self.records.to_string(), "--tail", &self.tail.to_string(), "--data"]).arg(data);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let said = child.stdout.take();
        let ward = Ward::new(child);
        let mut line = String::new();
        if let Some(said) = said {
            BufReader::new(said).read_line(&mut line).map_err(|error| error.to_string())?;
        }
        let took = began.elapsed();
        ward.kill();
        if line.trim() == DONE { Ok(took) } else { Err("the directory was not filled".to_owned()) }
    }

    /// Reads the balances of the first and the last tenant.
    fn check(&self, server: &Server) -> Outcome<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        runtime.block_on(async {
            let mut client = Client::open(server.api).await?;
            for tenant in [1, TENANTS] {
                let balance = client.get(&format!("x-api-key: {}", key_of(tenant)), "/v1/balance", 200).await?;
                let expected = Ves::from_minor(balance_minor(tenant, self.records)).to_string();
                if balance["availableVes"] != expected.as_str() {
                    return Err(format!("tenant {tenant} should have {expected}: {balance}"));
                }
            }
            Ok(())
        })
    }
}

/// Measures each, one after the other.
pub fn report(restarts: &[Restart]) -> Outcome<Report> {
    let columns = ["records", "since the snapshot", "seconds to ready", "replayed/s", "memory MiB", "data MiB", "filled in s"];
    let mut table = Table::new("Start after a crash", &columns);
    table.remark(format!(
        "A process that held {TENANTS} tenants was killed (SIGKILL); from the start of the next one to its first 200 on /readyz. Balances were checked afterwards. The data was in the \
         kernel's cache. Memory is what is the process's own, when it is ready."
    ));
    let mut lines = Vec::new();
    for restart in restarts {
        table.remark(machine::describe(&restart.place.made()?));
        let started = restart.measure()?;
        let what = format!("seconds to ready, {} records of which {} since the snapshot", grouped(started.records), grouped(started.tail));
        let filled = format!("filled in {} s", seconds(started.filled_in));
        lines.push(Line { what, figure: seconds(started.ready_after), baseline: filled, ratio: String::new() });
        table.row([
            grouped(started.records),
            grouped(started.tail),
            seconds(started.ready_after),
            grouped(per_second(started.tail, started.ready_after)),
            mebibytes(started.memory),
            mebibytes(started.disk),
            seconds(started.filled_in),
        ]);
    }
    Ok(Report { table, lines })
}

fn bytes_in(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
}
