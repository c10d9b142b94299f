//! Fills a data directory as fast as the engine goes, with a snapshot of everything before the last so many records, and then waits to be killed: as after a crash, the next start has to
//! replay them. A process of its own, because nothing may be closed in good order.

use super::in_process::{adjust, engine};
use super::{Outcome, progress};
use crate::domain::ids::Id;
use crate::domain::machine::{Ask, Domain};
use crate::domain::platform::{ApiKey, Mode, PLATFORM, PlatformAsk, Scopes, tenant_key};
use crate::domain::settings::Settings;
use crate::domain::time::Timestamp;
use actors::Engine;
use clap::Args;
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tenants that the records are spread over.
pub const TENANTS: u32 = 100;

/// What every tenant has at first, in cents.
pub const FUNDS_MINOR: i64 = 100_000_000_000;

/// What is said on stdout when it is done.
pub const DONE: &str = "filled";

/// Debits under way at once.
const WIDTH: usize = 1_024;

/// Records that are not debits: the tenants and their funds.
const OPENING: u64 = 2 * TENANTS as u64;

/// Fills a data directory and waits to be killed
#[derive(Args, Debug)]
pub struct Fill {
    /// The data directory
    #[arg(long)]
    data: PathBuf,
    /// Records in the log
    #[arg(long)]
    records: u64,
    /// Of these, records behind the snapshot
    #[arg(long)]
    tail: u64,
}

/// The test key of a tenant.
pub fn key_of(tenant: u32) -> String {
    format!("pk_test_bench{tenant:08}")
}

/// What a tenant has when so many records were written.
pub fn balance_minor(tenant: u32, records: u64) -> i64 {
    let debits = records.saturating_sub(OPENING);
    let own = debits / u64::from(TENANTS) + u64::from(u64::from(tenant - 1) < debits % u64::from(TENANTS));
    FUNDS_MINOR - i64::try_from(own).unwrap_or(i64::MAX)
}

impl Fill {
    /// Does not return when all goes well.
    pub fn run(self) -> Outcome<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
        let Some(debits) = self.records.checked_sub(OPENING) else {
            return Err(format!("at least {OPENING} records"));
        };
        let before = debits.saturating_sub(self.tail);
        let written = runtime.block_on(async {
            let engine = engine(&self.data, WIDTH * 2).await?;
            open_tenants(&engine).await?;
            debit(&engine, 0..before).await?;
            if before > 0 {
                let floor = engine.snapshot().await.map_err(|failure| format!("{failure:?}"))?;
                progress(&format!("snapshot at record {floor}"));
            }
            debit(&engine, before..debits).await?;
            Ok::<_, String>(engine.status().durable_seq)
        })?;
        if written != self.records {
            return Err(format!("{written} records instead of {}", self.records));
        }
        println!("{DONE}");
        loop {
            std::thread::park();
        }
    }
}

async fn open_tenants(engine: &Engine<Domain>) -> Outcome<()> {
    let now = Timestamp::from_unix_ms(0);
    for tenant in 1..=TENANTS {
        let id = |n| Id::derived(i64::from(tenant), u64::from(tenant), n);
        let key = key_of(tenant);
        let key = ApiKey {
            id: id(1),
            tenant,
            mode: Mode::Test,
            hash: Sha256::digest(key.as_bytes()).into(),
            prefix: key.chars().take(12).collect(),
            scopes: Scopes::ALL,
            created_at: now,
            expires_at: None,
            revoked_at: None,
            retires_at: None,
        };
        let ask = PlatformAsk::Open { id: id(0), name: format!("bench {tenant}"), settings: Settings::default(), keys: vec![key] };
        engine.ask_book(PLATFORM, Ask::Platform(Box::new(ask)).into(), None).await.map_err(|failure| format!("{failure:?}"))?;
        adjust(engine, tenant_key(tenant, Mode::Test), FUNDS_MINOR).await?;
    }
    Ok(())
}

/// The debits with these numbers, of the tenants in turn.
async fn debit(engine: &Engine<Domain>, which: Range<u64>) -> Outcome<()> {
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
                let tenant = u32::try_from(n % u64::from(TENANTS)).unwrap_or(0) + 1;
                adjust(&engine, tenant_key(tenant, Mode::Test), -1).await?;
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
        assert_eq!(balance_minor(1, OPENING), FUNDS_MINOR);
        assert_eq!((balance_minor(1, OPENING + 101), balance_minor(2, OPENING + 101)), (FUNDS_MINOR - 2, FUNDS_MINOR - 1));
    }
}
