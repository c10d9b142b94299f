//! The work that goes on beside requests, from the start to the stop: sweeps, checks, wallets.

use super::{StartupError, room};
use crate::admin;
use crate::config::Config;
use crate::disk::Disk;
use crate::gateway::services::Services;
use crate::gateway::test_accounts;
use crate::selfcheck;
use crate::thinning::{self, IdleThread};
use crate::wallets::Wallets;
use domain::values::time::{DAY_MS, HOUR_MS};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use wal::Retention;

/// The time that deliveries under way have to end; the others are sent again after the next start.
const WEBHOOKS_STOP: Duration = Duration::from_secs(2);

pub(super) struct Background {
    selfcheck: IdleThread,
    thinning: IdleThread,
    wallets: Wallets,
    tasks: Vec<JoinHandle<()>>,
}

impl Background {
    pub(super) fn start(
        config: &Config,
        services: &Arc<Services>,
        disk: Arc<Disk>,
    ) -> Result<Background, StartupError> {
        let sweeping = Arc::clone(services);
        let tasks = vec![
            tokio::spawn(room::watch(disk)),
            tokio::spawn(async move { sweeping.shares.sweep().await }),
            tokio::spawn(admin::keep_banks_fresh(Arc::clone(services))),
            tokio::spawn(admin::due::keep_counted(Arc::clone(services))),
            tokio::spawn(test_accounts::keep_swept(Arc::clone(services))),
        ];
        let wallets = Wallets::start(services);
        let selfcheck = selfcheck::start(services.engine.clone(), Arc::clone(&services.observed.selfcheck));
        let selfcheck = selfcheck.map_err(StartupError::of("the self-check did not start"))?;
        let thinning = thinning::start(services.engine.clone(), retention(config))
            .map_err(StartupError::of("the thinning of snapshots did not start"))?;
        Ok(Background { selfcheck, thinning, wallets, tasks })
    }

    pub(super) async fn stop(self, services: &Services) {
        self.selfcheck.stop();
        self.thinning.stop();
        services.webhooks.stop(WEBHOOKS_STOP).await;
        self.tasks.iter().for_each(JoinHandle::abort);
        self.wallets.stop();
    }
}

fn retention(config: &Config) -> Retention {
    let storage = &config.storage;
    let ms = |units: u32, unit_ms: i64| i64::from(units) * unit_ms;
    Retention {
        all_ms: ms(storage.snapshot_all_hours, HOUR_MS),
        hourly_ms: ms(storage.snapshot_hourly_days, DAY_MS),
        daily_ms: ms(storage.snapshot_daily_days, DAY_MS),
    }
}
