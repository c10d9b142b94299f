//! The time that a start takes after a crash: a directory is filled, its process killed, and the
//! gateway started on it. A balance is read afterwards, so that what was replayed is known to be
//! right.

use crate::cleanup::{self, Scratch};
use crate::fill::{Filling, key_of};
use crate::prepare::Client;
use crate::report::{Line, Report};
use crate::server::Server;
use crate::table::{Table, grouped, mebibytes, per_second, seconds};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use domain::values::money::Ves;
use pasarela::recovery::directory::LOG_DIRECTORY;
use std::path::Path;
use std::time::Duration;

/// Tenants that the records are spread over.
const TENANTS: u32 = 100;

/// The time until a server must be ready, however much it has to replay.
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

/// The measurements of a start.
struct Started {
    records: u64,
    tail: u64,
    filled_in: Duration,
    ready_after: Duration,
    memory: u64,
    disk: u64,
}

impl Restart {
    /// The approximate time that the measurement takes.
    pub fn takes(&self) -> Duration {
        Duration::from_secs(10 + self.records / 100_000 + self.tail / 200_000)
    }

    /// Measures and prints.
    pub fn run(self) -> Outcome<()> {
        cleanup::watch(self.takes() * 5 + Duration::from_secs(60));
        report(&[self])?.print();
        Ok(())
    }

    /// The content that the directory is filled with.
    fn filling(&self) -> Filling {
        Filling { tenants: TENANTS, active: 0, holds: 0, records: self.records, tail: self.tail }
    }

    fn measure(&self) -> Outcome<Started> {
        let scratch = Scratch::new(&self.place.made()?, "restart")?;
        progress(&format!("filling {} records", grouped(self.records)));
        let filled_in = self.filling().done_in(&scratch.path().join("data"))?;
        let disk = bytes_in(&scratch.path().join("data").join(LOG_DIRECTORY));
        let server = Server::gateway(scratch.path(), PATIENCE)?;
        let memory = machine::own_memory(server.pid())?;
        progress(&format!("ready after {} s", seconds(server.ready_after)));
        check(&server, &self.filling())?;
        Ok(Started {
            records: self.records,
            tail: self.tail.min(self.records),
            filled_in,
            ready_after: server.ready_after,
            memory,
            disk,
        })
    }
}

/// Reads the balances of the first and the last tenant.
pub fn check(server: &Server, filling: &Filling) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut client = Client::open(server.api).await?;
        for tenant in [1, filling.tenants] {
            let balance = client.get(&format!("x-api-key: {}", key_of(tenant)), "/v1/balance", 200).await?;
            let expected = Ves::from_minor(filling.balance_minor(tenant)).to_string();
            if balance["availableVes"] != expected.as_str() {
                return Err(format!("tenant {tenant} should have {expected}: {balance}"));
            }
        }
        Ok(())
    })
}

/// Measures the restarts, one after the other.
pub fn report(restarts: &[Restart]) -> Outcome<Report> {
    let columns = [
        "records",
        "since the snapshot",
        "seconds to ready",
        "replayed/s",
        "memory MiB",
        "data MiB",
        "filled in s",
    ];
    let mut table = Table::new("Start after a crash", &columns);
    table.remark(format!(
        "A process that held {TENANTS} tenants was killed (SIGKILL); from the start of the next one to its first 200 on /readyz. Balances were checked afterwards. The data was in the \
         kernel's cache. Memory is what is the process's own, when it is ready."
    ));
    let mut lines = Vec::new();
    for restart in restarts {
        table.remark(machine::describe(&restart.place.made()?));
        let started = restart.measure()?;
        let what = format!(
            "seconds to ready, {} records of which {} since the snapshot",
            grouped(started.records),
            grouped(started.tail)
        );
        let filled = format!("filled in {} s", seconds(started.filled_in));
        lines.push(Line {
            what,
            figure: seconds(started.ready_after),
            baseline: filled,
            ratio: String::new(),
        });
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
    Ok(Report { tables: vec![table], lines, ..Report::default() })
}

/// Bytes of the files in a directory.
pub fn bytes_in(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|metadata| metadata.len()).sum()
}
