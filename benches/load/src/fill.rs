//! Fills a data directory as fast as the engine goes, with a snapshot of everything before the last
//! so many records, and then waits to be killed: as after a crash, the next start has to replay
//! them. A process of its own, because nothing may be closed in good order.

use crate::cleanup::Ward;
use crate::in_process::{adjust, engine, hold};
use crate::server::this_binary;
use crate::{Outcome, progress};
use actors::Engine;
use clap::Args;
use domain::machine::Command;
use domain::machine::Domain;
use domain::platform::settings::Settings;
use domain::platform::{ApiKey, Details, PlatformChange, Scopes};
use domain::record::Record;
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{Id, Mode, PLATFORM, tenant_key};
use domain::values::time::Timestamp;
use pasarela::recovery::directory;
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The balance that every tenant has at first, in cents.
pub const FUNDS_MINOR: i64 = 100_000_000_000;

/// The line on stdout when all is written.
const DONE: &str = "filled";

/// Records that make a tenant: it, its key, its settings in two books and the word that it is there,
/// its funds.
const OPENING: u64 = 6;

/// The seconds after which a book that nobody asks leaves memory: the books of a million tenants that
/// stayed would take more than the machine has.
const IDLE_SECONDS: u64 = 2;

/// Records under way at once.
const WIDTH: usize = 1_024;

/// The content of a directory.
#[derive(Args, Clone, Copy, Debug)]
pub struct Filling {
    /// Tenants, each with funds
    #[arg(long, default_value_t = 100)]
    pub tenants: u32,
    /// The first tenants, which the debits are of; 0 for all
    #[arg(long, default_value_t = 0)]
    pub active: u32,
    /// Holds of a cent each on the first tenant's balance
    #[arg(long, default_value_t = 0)]
    pub holds: u64,
    /// Records in the log, the tenants, their funds and the holds included; the others are debits
    /// of the active tenants in turn
    #[arg(long)]
    pub records: u64,
    /// Of these, records behind the snapshot
    #[arg(long)]
    pub tail: u64,
}

/// Fills a data directory and waits to be killed
#[derive(Args, Debug)]
pub struct Fill {
    /// The data directory
    #[arg(long)]
    data: PathBuf,
    #[command(flatten)]
    filling: Filling,
}

/// The test key of a tenant.
pub fn key_of(tenant: u32) -> String {
    format!("pk_test_bench{tenant:08}")
}

impl Filling {
    /// Records that are not debits: the tenants, their funds, the holds.
    pub fn opening(&self) -> u64 {
        OPENING * u64::from(self.tenants) + self.holds
    }

    /// The number of tenants that the debits are of.
    pub fn active(&self) -> u32 {
        if self.active == 0 { self.tenants } else { self.active.min(self.tenants) }
    }

    /// The available balance of a tenant in the end, in cents.
    pub fn balance_minor(&self, tenant: u32) -> i64 {
        let (debits, active) = (self.records.saturating_sub(self.opening()), u64::from(self.active().max(1)));
        let own = match u64::from(tenant - 1) {
            nth if nth < active => debits / active + u64::from(nth < debits % active),
            _ => 0,
        };
        FUNDS_MINOR - i64::try_from(own).unwrap_or(i64::MAX)
    }

    /// The approximate time that filling takes.
    pub fn takes(&self) -> Duration {
        Duration::from_secs(2 + self.records / 150_000 + u64::from(self.tenants) / 20_000)
    }

    /// Has a process fill the directory, and kills it; returns how long that took.
    pub fn done_in(&self, data: &Path) -> Outcome<Duration> {
        let began = Instant::now();
        let mut command = this_binary()?;
        command.args(["fill", "--data"]).arg(data);
        for (name, value) in [
            ("--tenants", u64::from(self.tenants)),
            ("--active", u64::from(self.active)),
            ("--holds", self.holds),
            ("--records", self.records),
            ("--tail", self.tail),
        ] {
            command.arg(name).arg(value.to_string());
        }
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
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
}

impl Fill {
    /// Fills the directory and waits; it returns only when something fails.
    pub fn run(self) -> Outcome<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let filling = self.filling;
        let Some(debits) = self.filling.records.checked_sub(filling.opening()) else {
            return Err(format!("at least {} records", filling.opening()));
        };
        let before = debits.saturating_sub(filling.tail);
        // A server refuses a log without its secret.
        std::fs::create_dir_all(&self.data).map_err(|error| format!("{}: {error}", self.data.display()))?;
        directory::mark_key(&self.data).map_err(|failed| failed.to_string())?;
        let written = runtime.block_on(async {
            let engine = engine(&self.data, WIDTH * 2, IDLE_SECONDS).await?;
            let (tenants, active) = (u64::from(filling.tenants), u64::from(filling.active()));
            each(&engine, 0..tenants, |engine, _| async move { open(&engine).await }).await?;
            each(&engine, 0..filling.holds, |engine, _| async move {
                hold(&engine, tenant_key(1, Mode::Test), 1).await.map(|_| ())
            })
            .await?;
            let debit = move |engine: Engine<Domain>, nth: u64| async move {
                adjust(&engine, tenant_key(number(nth % active.max(1)), Mode::Test), -1).await.map(|_| ())
            };
            each(&engine, 0..before, debit).await?;
            if filling.tail < filling.records {
                let floor = engine.snapshot().await.map_err(|failure| format!("{failure:?}"))?;
                progress(&format!("snapshot at record {floor}"));
            }
            each(&engine, before..debits, debit).await?;
            Ok::<_, String>(engine.status().durable_seq)
        })?;
        if written != filling.records {
            return Err(format!("{written} records instead of {}", filling.records));
        }
        println!("{DONE}");
        loop {
            std::thread::park();
        }
    }
}

/// The number of the `nth` tenant.
fn number(nth: u64) -> u32 {
    u32::try_from(nth).unwrap_or(u32::MAX - 1) + 1
}

/// A tenant with a key, its settings in both of its books, and funds: the records that the operators'
/// API would write. The platform gives it its number, and the key is made for that.
async fn open(engine: &Engine<Domain>) -> Outcome<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let id = |of: u64, n| Id::derived(i64::try_from(of).unwrap_or(0), of, n);
    let nth = COUNT.fetch_add(1, Ordering::Relaxed);
    let opened = platform(
        engine,
        PlatformAsk::Open {
            id: id(nth, 0),
            name: "bench".to_owned(),
            settings: Settings::shared(Arc::default()),
            keys: Vec::new(),
            opener: None,
            partitions: vec![0],
        },
    )
    .await?;
    let Some(PlatformChange::Opened { tenant, .. }) = opened.platform.as_deref() else {
        return Err("a tenant was opened and its record does not say so".to_owned());
    };
    let number = tenant.number;
    let key = key_of(number);
    let key = ApiKey {
        id: id(u64::from(number), 1),
        tenant: number,
        mode: Mode::Test,
        hash: Sha256::digest(key.as_bytes()).into(),
        prefix: key.chars().take(12).collect(),
        scopes: Scopes::ALL,
        created_at: Timestamp::from_unix_ms(0),
        expires_at: None,
        revoked_at: None,
        retires_at: None,
        details: Details::default(),
    };
    platform(engine, PlatformAsk::AddKey { key, by: None }).await?;
    for mode in [Mode::Live, Mode::Test] {
        let tenant_settings = Command::TenantSettings(tenant.tenant_settings.clone());
        engine
            .ask_book(tenant_key(number, mode), tenant_settings.into(), None)
            .await
            .map_err(|failure| format!("{failure:?}"))?;
    }
    platform(engine, PlatformAsk::Pushed { number, version: tenant.tenant_settings.version }).await?;
    adjust(engine, tenant_key(number, Mode::Test), FUNDS_MINOR).await.map(|_| ())
}

/// Asks the platform's book, which must write something.
async fn platform(engine: &Engine<Domain>, ask: PlatformAsk) -> Outcome<Arc<Record>> {
    let settled = engine
        .ask_book(PLATFORM, Command::Platform(Box::new(ask)).into(), None)
        .await
        .map_err(|failure| format!("{failure:?}"))?;
    settled.record.ok_or_else(|| format!("the platform refused: {:?}", settled.refusal))
}

/// Runs an action for every number, many at once.
async fn each<F, A>(engine: &Engine<Domain>, which: Range<u64>, act: F) -> Outcome<()>
where
    F: Fn(Engine<Domain>, u64) -> A + Copy + Send + Sync + 'static,
    A: Future<Output = Outcome<()>> + Send,
{
    let next = Arc::new(AtomicU64::new(which.start));
    let mut lanes = Vec::with_capacity(WIDTH);
    for _ in 0..WIDTH {
        let (engine, next) = (engine.clone(), Arc::clone(&next));
        lanes.push(tokio::spawn(async move {
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= which.end {
                    return Ok::<_, String>(());
                }
                act(engine.clone(), n).await?;
            }
        }));
    }
    for lane in lanes {
        lane.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debits_are_taken_from_the_tenants_in_turn() {
        let balance = |tenant: u32, debits: u64| {
            Filling { tenants: 100, active: 0, holds: 7, records: 607 + debits, tail: 0 }
                .balance_minor(tenant)
        };
        let few = Filling { tenants: 100, active: 2, holds: 0, records: 603, tail: 0 };
        let debited = [1, 2, 3, 100].map(|tenant| FUNDS_MINOR - few.balance_minor(tenant));
        assert_eq!(debited, [2, 1, 0, 0]);
        assert_eq!(balance(1, 0), FUNDS_MINOR);
        assert_eq!((balance(1, 101), balance(2, 101)), (FUNDS_MINOR - 2, FUNDS_MINOR - 1));
    }
}
