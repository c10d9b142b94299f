//! PostgreSQL, whatever way it is debited in: the process, the tables, the pool. Each way is a file
//! of its own (`postgres_*.rs`).
//!
//! Nothing durable is switched off (`../../database`), and it has every advantage: its unix socket,
//! prepared statements, the pool and the commit_delay that were the best of those tried.

use crate::Outcome;
use crate::loader::{Answer, Caller, Callers, Soon};
use crate::peer::{About, Peer, Process, Setup, until_ready, version_of};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls};

/// Connections and microseconds of commit_delay that are tried.
const SETTINGS: [(usize, u32); 6] = [(16, 0), (4, 0), (8, 0), (48, 0), (16, 50), (16, 200)];

/// A balance has room for its next versions in its page, so that an update touches no index. The
/// debit's id is its key: that is the idempotency.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS balance (tenant int PRIMARY KEY, available bigint NOT NULL$CHECK) WITH (fillfactor = 20);
CREATE TABLE IF NOT EXISTS movement (
  id bigint PRIMARY KEY, tenant int NOT NULL, minor bigint NOT NULL, merchant text NOT NULL, concept text NOT NULL,
  rolled boolean NOT NULL DEFAULT false, created_at timestamptz NOT NULL DEFAULT now());
INSERT INTO balance VALUES (1, $FUNDS) ON CONFLICT DO NOTHING;";

const KNOWN: &str = "SELECT id FROM movement WHERE id = $1";

/// What every movement says besides.
pub const MERCHANT: &str = "01930000-0000-7000-8000-000000000001";
/// Likewise.
pub const CONCEPT: &str = "pago de prueba";

/// A way to debit.
pub trait Way: Send + Sync + 'static {
    /// What the page says of it.
    fn about(&self) -> About;

    /// The statement that reads the balance.
    fn balance(&self) -> &'static str {
        "SELECT available FROM balance WHERE tenant = 1"
    }

    /// Whether the table refuses a balance below zero.
    fn is_checked(&self) -> bool {
        true
    }

    /// What there is to do when the database has been started.
    fn started<'a>(&'a self, _database: &'a Config) -> Soon<'a, Outcome<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Whether the debits go over the pool, and its size matters.
    fn is_pooled(&self) -> bool {
        true
    }

    /// Debits; returns when it is durable.
    fn debit<'a>(&'a self, pool: &'a Pool, id: i64, minor: i64) -> Soon<'a, Result<Answer, String>>;
}

/// A PostgreSQL.
pub struct Postgres<W> {
    setup: Setup,
    way: Arc<W>,
    process: Process,
    setting: AtomicUsize,
}

/// One of its callers.
struct PooledCaller<W> {
    way: Arc<W>,
    pool: Pool,
}

impl<W: Way> Postgres<W> {
    /// One that is debited in this way.
    pub fn new(setup: &Setup, way: W) -> Postgres<W> {
        Postgres {
            setup: setup.clone(),
            way: Arc::new(way),
            process: Process::default(),
            setting: AtomicUsize::new(0),
        }
    }

    fn config(&self) -> Config {
        let (_, commit_delay_us) = SETTINGS[self.setting.load(Ordering::Relaxed)];
        let mut config = Config::new();
        config.host_path(self.setup.dir.join("postgresql")).user("postgres").dbname("postgres").options(
            format!(
                "-c commit_delay={commit_delay_us} -c commit_siblings=4 -c plan_cache_mode=force_generic_plan"
            ),
        );
        config
    }
}

/// A new connection, which is not from a pool.
pub async fn connect(config: &Config) -> Outcome<Client> {
    let (client, connection) = config.connect(NoTls).await.map_err(|error| error.to_string())?;
    // An error of the connection is one of whoever uses the client.
    tokio::spawn(async move { _ = connection.await });
    Ok(client)
}

/// What became of a debit: whether a row was written, or the movement is known.
pub fn answer(written: Result<bool, Error>) -> Result<Answer, String> {
    match written {
        Ok(true) => Ok(Answer::Done),
        Ok(false) => Ok(Answer::Refused),
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(Answer::Done),
        Err(error) if error.code() == Some(&SqlState::CHECK_VIOLATION) => Ok(Answer::Refused),
        Err(error) => Err(error.to_string()),
    }
}

async fn known(pool: &Pool, id: i64) -> Result<Answer, String> {
    let client = pool.get().await.map_err(|error| error.to_string())?;
    let known = client.prepare_cached(KNOWN).await.map_err(|error| error.to_string())?;
    let found = client.query_opt(&known, &[&id]).await.map_err(|error| error.to_string())?;
    Ok(if found.is_some() { Answer::Done } else { Answer::Refused })
}

impl<W: Way> Peer for Postgres<W> {
    fn about(&self) -> About {
        self.way.about()
    }

    fn version(&self) -> String {
        let found = Command::new("bash")
            .args(["-c", "command -v postgres || ls /usr/lib/postgresql/*/bin/postgres | sort -V | tail -1"])
            .output();
        let path =
            found.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
        version_of(&PathBuf::from(path), "--version")
    }

    fn start(&self) -> Soon<'_, Outcome<()>> {
        Box::pin(async move {
            let mut command = Command::new(crate::beside("database")?);
            command.arg(self.setup.dir.join("postgresql"));
            self.process.run(command, &self.setup.dir, true)?;
            let config = self.config();
            let client = until_ready(&self.process, &self.setup.dir, || Box::pin(connect(&config))).await?;
            let check = if self.way.is_checked() { " CHECK (available >= 0)" } else { "" };
            let tables = TABLES.replace("$CHECK", check).replace("$FUNDS", &self.setup.funds.to_string());
            client.batch_execute(&tables).await.map_err(|error| format!("the tables: {error}"))?;
            self.way.started(&config).await
        })
    }

    fn kill(&self) {
        self.process.kill();
    }

    fn open(&self, callers: usize) -> Soon<'_, Outcome<Callers>> {
        Box::pin(async move {
            let (connections, _) = SETTINGS[self.setting.load(Ordering::Relaxed)];
            let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
            let manager = Manager::from_config(self.config(), NoTls, recycling);
            let pool =
                Pool::builder(manager).max_size(connections).build().map_err(|error| error.to_string())?;
            let caller = || {
                Box::new(PooledCaller { way: Arc::clone(&self.way), pool: pool.clone() }) as Box<dyn Caller>
            };
            Ok((0..callers).map(|_| caller()).collect())
        })
    }

    fn debited<'a>(&'a self, _asked: &'a [u64]) -> Soon<'a, Outcome<Vec<u64>>> {
        Box::pin(async move {
            let client = connect(&self.config()).await?;
            let rows =
                client.query("SELECT id FROM movement", &[]).await.map_err(|error| error.to_string())?;
            Ok(rows.iter().map(|row| row.get::<_, i64>(0) as u64).collect())
        })
    }

    fn settings(&self) -> Vec<String> {
        if !self.way.is_pooled() {
            return Vec::new();
        }
        let name = |(pool, delay): (usize, u32)| format!("{pool} connections, commit_delay {delay} µs");
        SETTINGS.into_iter().map(name).collect()
    }

    fn take(&self, nth: usize) {
        self.setting.store(nth, Ordering::Relaxed);
    }
}

impl<W: Way> Caller for PooledCaller<W> {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(ids.len());
            for id in ids {
                let answer = match self.way.debit(&self.pool, *id as i64, minor).await {
                    // Too little: but was it this debit, when it was first asked for, that took the last?
                    Ok(Answer::Refused) => known(&self.pool, *id as i64).await,
                    answered => answered,
                };
                answers.push(answer.unwrap_or(Answer::Unknown));
            }
            answers
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(async move {
            let client = self.pool.get().await.ok()?;
            let statement = client.prepare_cached(self.way.balance()).await.ok()?;
            client.query_one(&statement, &[]).await.ok()?.try_get(0).ok()
        })
    }
}
