//! Accounts of test mode that anybody opens by a call without a key, where the operator allows it, and their end.
//!
//! Each call with a key of theirs is noted in memory, and written down now and then, of all accounts in one record. So
//! after a crash an account may seem used for some minutes longer than it was, and never shorter.

use crate::gateway::ask;
use crate::gateway::keys::{Secret, stem};
use crate::gateway::moving;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::in_a_task;
use crate::gateway::tenant_settings::push_tenant_settings;
use crate::gateway::test_reset;
use crate::http::respond::Reply;
use crate::network::Client;
use api::problem::Problem;
use api::testing;
use domain::platform::settings::Settings;
use domain::platform::test_accounts::{IDLE_MS, Opener};
use domain::platform::{PlatformChange, Tenant};
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::partition_moves::MoveStep;
use domain::resources::tenants::test_accounts::{NotOpened, may_open};
use domain::values::ids::{Mode, PLATFORM, tenant_key};
use domain::values::time::{MINUTE_MS, SECOND_MS};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "open test account";
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// A use is written down when the one before it is older by this.
const NOTED_MS: i64 = 10 * MINUTE_MS;
/// The time after a use that is written down within which an account may have been used again and it is not.
pub const UNNOTED_MS: i64 = NOTED_MS + LOOK_EVERY.as_secs() as i64 * SECOND_MS;

/// Opens an account for whoever calls from this address, which is the connection's: whom a proxy names, anybody may
/// have named.
pub async fn open(services: &Arc<Services>, peer: IpAddr) -> Result<Reply, Problem> {
    // As test mode's writes are, refused before those of live mode.
    if !services.site.disk.has_room(tenant_key(0, Mode::Test), false) {
        return Err(Problem::disk_nearly_full());
    }
    let services = Arc::clone(services);
    let mark = |network: String| services.keys.mark(&[b"test account", network.as_bytes()]);
    let site = Client::site_of(peer).map(|site| mark(format!("{site}/48")));
    let opener = Opener { address: mark(Client::of(peer).to_string()), site };
    in_a_task(async move {
        let services = &*services;
        // One after the other, so that none is opened between the count and its record.
        let opening = services.callers.turns.of(0).await;
        may_open(&services.platform_book().await?, opener, services.now()).map_err(not_opened)?;
        let id = services.fresh_id(PLATFORM);
        let secret = Secret::new(&services.keys, id, stem(Mode::Test), None)?;
        let ask = PlatformAsk::Open {
            id: services.fresh_id(PLATFORM),
            name: NAME.to_owned(),
            settings: Settings::shared(Arc::new(services.callers.tenant_defaults.clone())),
            keys: vec![secret.key(id, Mode::Test)],
            opener: Some(opener),
            partitions: vec![0],
        };
        let opened = ask::platform(services, ask, None, None).await?;
        drop(opening);
        let Some(PlatformChange::TestAccountOpened { tenant, .. }) = opened.change() else {
            return Err(ask::defect("a test account was opened and its record does not say so"));
        };
        let number = tenant.number;
        tracing::info!(tenant = %tenant.id, "a test account was opened");
        let _turn = services.callers.turns.of(number).await;
        push_tenant_settings(services, number).await?;
        Ok(Reply::json(201, testing::show_account(id, secret.reveal())).trace(opened.trace))
    })
    .await
}

fn not_opened(why: NotOpened) -> Problem {
    match why {
        NotOpened::ByThisAddress(seconds) => {
            Problem::too_often("this address has opened as many test accounts as it may in a day", seconds)
        }
        NotOpened::ByAnybody(seconds) => Problem::overloaded(seconds),
    }
}

/// Writes down which accounts were used, and deletes those that nobody used for a day.
pub async fn keep_swept(services: Arc<Services>) {
    loop {
        if services.admit(None, true).is_ok() {
            sweep(&services).await;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn sweep(services: &Arc<Services>) {
    let own = services.callers.partition;
    let (used, over) = services.callers.directory.test_accounts(NOTED_MS, services.now(), own);
    if !used.is_empty()
        && let Err(problem) = ask::platform(services, PlatformAsk::UseTestAccounts(used), None, None).await
    {
        tracing::warn!(%problem, error = problem.private_message(), "the use of test accounts was not written down");
    }
    for number in over {
        let elsewhere = services.callers.directory.tenant_numbered(number);
        let elsewhere = elsewhere.filter(|tenant| !services.callers.has(tenant));
        let ended = match &elsewhere {
            Some(tenant) => look_elsewhere(services, tenant).await,
            None => delete(services, number).await,
        };
        if let Err(problem) = ended {
            let error = problem.private_message();
            tracing::warn!(tenant_number = number, %problem, error, "a test account was not deleted");
        }
    }
}

/// Writes down when an account was used that is in another partition. One that nobody used comes back, to be deleted
/// here; it may have been used until it came, so that has another day.
async fn look_elsewhere(services: &Arc<Services>, tenant: &Tenant) -> Result<(), Problem> {
    let (number, now) = (tenant.number, services.now());
    if tenant.moving.is_some() {
        return Ok(());
    }
    let mut used_at = moving::last_use(services, tenant).await?;
    if now.since_ms(used_at) >= IDLE_MS {
        let turn = services.callers.turns.of(number).await;
        let ask = PlatformAsk::MoveWithin { number, step: MoveStep::Begin(services.callers.partition) };
        ask::platform(services, ask, None, None).await?;
        drop(turn);
        moving::finish(services, number).await?;
        used_at = services.now();
    }
    ask::platform(services, PlatformAsk::UseTestAccounts(vec![(number, used_at)]), None, None).await.map(drop)
}

/// None of its keys works any more. Its data goes first: what a crash leaves is deleted by the next look.
async fn delete(services: &Arc<Services>, number: u32) -> Result<(), Problem> {
    let _turn = services.callers.turns.of(number).await;
    // An operator may have made more of it meanwhile, or have it moved.
    let book = services.platform_book().await?;
    let is_moving = book.tenants.get(&number).is_none_or(|tenant| tenant.moving.is_some());
    if book.test_accounts.get(&number).is_none() || is_moving {
        return Ok(());
    }
    let [live, test] = [Mode::Live, Mode::Test].map(|mode| tenant_key(number, mode));
    // Live money stays somebody's, whoever booked it there.
    let (book, _) = services.book(live).await?;
    if !book.accounts.is_empty() || !book.sellers.is_empty() {
        return Ok(());
    }
    let ended = test_reset::begin_anew(Arc::clone(services), test, None, None, true).await?;
    ask::accepted(ended.map_err(ask::failure)?)?;
    let deleted = ask::platform(services, PlatformAsk::DeleteTestAccount(number), None, None).await?;
    services.names.test_gates.remove(&test);
    if deleted.change().is_some() {
        tracing::info!(tenant_number = number, "a test account that nobody used was deleted");
    }
    Ok(())
}
