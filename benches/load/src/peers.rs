//! The peers that people use today for the same job: a hyper server over PostgreSQL
//! (`benches/peers/`), as most write it and as a careful team does, with the settings that are best
//! here.

use crate::cleanup::Ward;
use crate::load::Load;
use crate::prepare::Tenant;
use crate::requests::{Requests, Workload};
use crate::server::{Server, Setting};
use crate::table::{Table, grouped};
use crate::{Outcome, progress};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Tenants that a peer knows.
const TENANTS: usize = 1_000;
/// Connections with which settings are compared.
const CONNECTIONS: usize = 64;
/// The numbers of connections to the database that are tried, for one balance and for many; of a
/// batched peer, of batches under way.
const POOLS: [usize; 4] = [4, 8, 16, 48];
/// Microseconds that a commit waits for others, tried with the best number of connections.
const COMMIT_DELAYS_US: [u32; 2] = [50, 200];
/// Batches under way at once.
const BATCHES: [usize; 3] = [1, 2, 4];

/// The way in which a peer writes payouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A transaction of an UPDATE and an INSERT.
    Plain,
    /// An UPDATE and an INSERT in one statement.
    Statement,
    /// A task that commits the waiting payouts together.
    Batched,
}

impl Way {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Way::Plain => "PostgreSQL, a transaction each",
            Way::Statement => "PostgreSQL, a statement each",
            Way::Batched => "PostgreSQL, batched",
        }
    }

    fn argument(self) -> &'static str {
        match self {
            Way::Plain => "plain",
            Way::Statement => "statement",
            Way::Batched => "batched",
        }
    }
}

/// The directory where the peers were built (`benches/peers/build`).
#[derive(Clone, Debug)]
pub struct Built(PathBuf);

/// A running PostgreSQL.
pub struct Database {
    /// The process that started all others.
    pub pid: u32,
    directory: PathBuf,
    _ward: Ward,
}

/// The tenants that every peer knows.
pub fn tenants() -> Vec<Tenant> {
    let tenant = |n| Tenant {
        key: format!("pk_test_bench{n:08}"),
        merchant: "01930000-0000-7000-8000-000000000001".to_owned(),
    };
    (1..=TENANTS).map(tenant).collect()
}

impl Built {
    /// The directory that `benches/peers/build` made.
    pub fn at(directory: &Path) -> Outcome<Built> {
        let fail =
            |why: &str| format!("{}: {why}; `benches/peers/build DIRECTORY` makes it", directory.display());
        let directory = directory.canonicalize().map_err(|error| fail(&error.to_string()))?;
        match ["peers", "database", "slow_sync.so"].iter().find(|file| !directory.join(file).is_file()) {
            Some(missing) => Err(fail(&format!("no {missing}"))),
            None => Ok(Built(directory)),
        }
    }

    /// The library that makes a disk slower by so many microseconds, in a place where whoever runs
    /// the database can read it.
    pub fn slow_sync(&self, scratch: &Path, us: u64) -> Outcome<(PathBuf, u64)> {
        let library = scratch.join("slow_sync.so");
        std::fs::copy(self.0.join("slow_sync.so"), &library)
            .map_err(|error| format!("{}: {error}", library.display()))?;
        Ok((library, us))
    }

    /// Starts a PostgreSQL with its data in `scratch`; peers wait until it answers.
    pub fn database(&self, scratch: &Path, setting: &Setting) -> Outcome<Arc<Database>> {
        let directory = scratch.join("postgresql");
        let log = scratch.join("postgresql.log");
        let fail = |error: std::io::Error| format!("PostgreSQL does not start: {error}");
        let out = File::create(&log).map_err(fail)?;
        let errors = out.try_clone().map_err(fail)?;
        let mut command = Command::new(self.0.join("database"));
        command.arg(&directory).stdin(Stdio::null()).stdout(out).stderr(errors);
        if let Some((library, us)) = &setting.slow_sync {
            command.env("PEERS_PRELOAD", library).env("SLOW_SYNC_US", us.to_string());
        }
        let child = command.spawn().map_err(fail)?;
        Ok(Arc::new(Database { pid: child.id(), directory, _ward: Ward::of_parent(child) }))
    }

    /// Starts a peer.
    pub fn serve(
        &self,
        database: &Arc<Database>,
        scratch: &Path,
        way: Way,
        pool: usize,
        commit_delay_us: u32,
    ) -> Outcome<Server> {
        let mut command = Command::new(self.0.join("peers"));
        command.args([
            "--mode",
            way.argument(),
            "--pool",
            &pool.to_string(),
            "--commit-delay-us",
            &commit_delay_us.to_string(),
        ]);
        command.arg("--socket").arg(&database.directory);
        Server::peer(command, database, scratch.join("peer.log")).map_err(|why| {
            let said = std::fs::read_to_string(scratch.join("postgresql.log")).unwrap_or_default();
            format!("{why}: {}", said.lines().last().unwrap_or_default())
        })
    }

    /// Tries settings, each for `time`, on so many balances, and starts the best; what was tried
    /// goes into the table.
    pub fn best(
        &self,
        database: &Arc<Database>,
        scratch: &Path,
        way: Way,
        balances: usize,
        time: Duration,
        table: &mut Table,
    ) -> Outcome<Server> {
        let tenants = tenants();
        let mut tried: Vec<(usize, u32, u64)> = Vec::new();
        let mut attempt = |pool: usize, delay: u32| {
            let server = self.serve(database, scratch, way, pool, delay)?;
            let requests: Arc<dyn Workload> =
                Arc::new(Requests::payouts(server.api, &tenants[..balances.clamp(1, TENANTS)]));
            let load = Load {
                server: &server,
                requests: &requests,
                connections: CONNECTIONS,
                threads: 2,
                warm_up: time / 3,
                time,
            };
            let measured = load.run()?;
            let rate = measured.rate();
            progress(&format!(
                "{}, {} balances, {pool} connections, commit_delay {delay}: {}/s",
                way.name(),
                grouped(balances as u64),
                grouped(rate)
            ));
            table.row([
                way.name().to_owned(),
                grouped(balances as u64),
                pool.to_string(),
                delay.to_string(),
                grouped(rate),
            ]);
            tried.push((pool, delay, rate));
            Ok::<_, String>(
                tried.iter().copied().max_by_key(|(_, _, rate)| *rate).unwrap_or((pool, delay, rate)),
            )
        };
        let mut best = (1, 0, 0);
        match way {
            // One balance's payouts all go to one task, so one is enough.
            Way::Batched if balances == 1 => best = attempt(1, 0)?,
            Way::Batched => {
                for batches in BATCHES {
                    best = attempt(batches, 0)?;
                }
            }
            Way::Plain | Way::Statement => {
                for pool in POOLS {
                    best = attempt(pool, 0)?;
                }
                for delay in COMMIT_DELAYS_US {
                    best = attempt(best.0, delay)?;
                }
            }
        }
        self.serve(database, scratch, way, best.0, best.1)
    }
}

/// The table of [`Built::best`].
pub fn settings_table() -> Table {
    let mut table = Table::new(
        "Settings of PostgreSQL that were tried",
        &["peer", "balances", "database connections", "commit_delay µs", "requests/s"],
    );
    table.remark(format!("Each for a short time at {CONNECTIONS} connections to the server; the best of each kind is the peer of the run. Everything else is in `benches/peers/database`."));
    table
}
