//! Orders that wait for a bank (`docs/contract.md, 5.13, 18.7`): which they are, which of them has an id, and how many
//! nobody can tell the outcome of.
//!
//! They are in the agendas of books: an order that has no answer is one that is looked at again.

use crate::gateway::ask::failure;
use crate::gateway::business::{Line, Seen};
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::webhooks::backlog;
use actors::Failure;
use api::payments::operations as shown;
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::crypto_payout;
use domain::entities::means::Method;
use domain::entities::notice::UNMATCHED;
use domain::index::{self, Space};
use domain::machine::AnyBook;
use domain::resources::operations::Operation;
use domain::resources::verification::DEPOSITS;
use domain::trace::NEVER;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, is_live, tenant_key};
use domain::values::time::{SECOND_MS, Timestamp};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use wal::Reader;

/// Entities that are read for one page, or for one count: a page of few orders among many is short.
pub const READS_MAX: usize = 10_000;

pub struct Due {
    pub id: EntityId,
    pub tenant_key: u64,
    pub now: Timestamp,
    /// Whether the look never comes: nobody can be asked.
    is_never_asked: bool,
}

impl Due {
    pub fn position(&self) -> Vec<u8> {
        let (id, kind) = (self.id.id, [self.id.kind as u8]);
        [id.as_bytes().as_slice(), &kind, &self.tenant_key.to_be_bytes()].concat()
    }

    /// Whether it may be an order that has been at a bank for so long, or that is an operator's from its
    /// beginning. An entity is no younger than its id, and a tenant's clock no slower than the server's.
    pub fn may_be_older_than(&self, ms: i64) -> bool {
        matches!(self.id.kind, Kind::Merchant | Kind::OwnAccount | Kind::CopPayment)
            || self.is_never_asked
            || self.now.since_ms(Timestamp::from_unix_ms(self.id.id.unix_ms())) >= ms
    }
}

pub async fn due(services: &Services) -> Result<Vec<Due>, Problem> {
    let engine = &services.engine;
    let mut found = Vec::new();
    for tenant_key in engine.books_in_memory().into_iter().filter(|key| *key != PLATFORM) {
        match engine.glance(tenant_key).await {
            Ok(Some((AnyBook::Tenant(book), now_ms))) => {
                let now = Timestamp::from_unix_ms(now_ms);
                let at_banks = book.agenda.iter().filter(|(_, id)| may_be_at_bank(id.kind));
                found.extend(at_banks.map(|(at, id)| Due {
                    id: *id,
                    tenant_key,
                    now,
                    is_never_asked: *at >= NEVER,
                }));
            }
            // The book left memory meanwhile, or is halted: its orders come back with it. Or it is elsewhere.
            Ok(_) | Err(Failure::Halted | Failure::Elsewhere) => {}
            Err(failed) => return Err(failure(failed)),
        }
    }
    Ok(found)
}

const fn may_be_at_bank(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Payment
            | Kind::Payout
            | Kind::CryptoPayout
            | Kind::CopPayment
            | Kind::Merchant
            | Kind::OwnAccount
    )
}

pub fn unanswered(reader: &Reader, due: &Due) -> Result<Vec<Operation>, Unreadable> {
    let found = history::entity(reader, due.tenant_key, due.id)?;
    Ok(found.map(|entity| entity.rules().unanswered()).unwrap_or_default())
}

pub async fn unresolved(services: &Arc<Services>) -> Result<Vec<(u64, Arc<Entity>, Operation)>, Problem> {
    let due = due(services).await?;
    let read = move |services: &Services, budget: &ReadBudget| {
        let mut found = Vec::new();
        for one in due.iter().filter(|due| due.may_be_older_than(services.waits.unresolved_after_ms)) {
            budget.spend()?;
            let Some(entity) = history::entity(services.engine.reader(), one.tenant_key, one.id)? else {
                continue;
            };
            let open = entity.rules().unanswered().into_iter();
            let old = open.filter(|operation| services.waits.is_unresolved(operation, one.now));
            found.extend(old.map(|operation| (one.tenant_key, Arc::clone(&entity), operation)));
        }
        Ok(found)
    };
    services.read_pool.read_long(services, PLATFORM, read).await
}

/// Finds the tenant key and the entity of an operation, whatever the tenant and the mode. `None` if
/// there never was one.
///
/// An operation that can still be resolved is due in a book in memory, so it is found among those.
/// One that is decided is looked for tenant by tenant, which only tells 409 from 404: that is a long
/// read, behind which no other request waits; like the rest of a write it goes on when its caller goes
/// away.
pub async fn find(services: &Arc<Services>, operation: Id) -> Result<Option<(u64, EntityId)>, Problem> {
    let open = due(services).await?;
    let search = move |services: &Services, budget: &ReadBudget| {
        let found = find_open(services, &open, operation, budget)?;
        if found.is_some() { Ok(found) } else { find_decided(services, operation, budget) }
    };
    services.read_pool.read(services, PLATFORM, search).await
}

fn find_open(
    services: &Services,
    open: &[Due],
    operation: Id,
    budget: &ReadBudget,
) -> Result<Option<(u64, EntityId)>, Stopped> {
    let (of, n) = operation.entity_and_operation();
    let reader = services.engine.reader();
    for due in open {
        // The id of most operations leads to what they belong to; that of micro-deposits does not.
        let has_deposits = matches!(due.id.kind, Kind::Merchant | Kind::OwnAccount);
        if !has_deposits && due.id.id != of {
            continue;
        }
        budget.spend()?;
        let is_found = if has_deposits {
            unanswered(services.engine.reader(), due)?.iter().any(|open| open.id == operation)
        } else {
            let entity = history::entity(reader, due.tenant_key, due.id)?;
            entity.is_some_and(|entity| has_operation(&entity, operation, n))
        };
        if is_found {
            return Ok(Some((due.tenant_key, due.id)));
        }
    }
    Ok(None)
}

/// Finds the entity of an operation that no bank is asked about any more. Of a tenant that does not
/// have it, only keys of the index are read.
fn find_decided(
    services: &Services,
    operation: Id,
    budget: &ReadBudget,
) -> Result<Option<(u64, EntityId)>, Stopped> {
    let (of, n) = operation.entity_and_operation();
    let ids =
        [EntityId::payment(of), EntityId::payout(of), EntityId::crypto_payout(of), EntityId::cop_payment(of)];
    let reader = services.engine.reader();
    for tenant in services.callers.own_tenants() {
        budget.spend()?;
        for (mode, id) in Mode::ALL.into_iter().flat_map(|mode| ids.map(|id| (mode, id))) {
            let tenant_key = tenant_key(tenant.number, mode);
            if let Some(entity) = history::entity(reader, tenant_key, id)?
                && has_operation(&entity, operation, n)
            {
                return Ok(Some((tenant_key, id)));
            }
        }
    }
    if n == DEPOSITS { find_deposits(services, operation) } else { Ok(None) }
}

/// The entity of micro-deposits, whose id does not lead to it: also where it tells of them no more.
fn find_deposits(services: &Services, operation: Id) -> Result<Option<(u64, EntityId)>, Stopped> {
    let key = index::name(PLATFORM, Space::DepositOrder, &operation.to_string());
    let Some(value) = services.engine.reader().index_get(&key).map_err(Unreadable::from)? else {
        return Ok(None);
    };
    let is_here = |(tenant_key, _): &(u64, EntityId)| !services.callers.is_elsewhere(*tenant_key);
    let found = value.split_first_chunk::<8>().and_then(|(tenant_key, rest)| {
        let (kind, id) = rest.split_first()?;
        let id = Id::from_bytes(id.try_into().ok()?);
        let kinds = [Kind::Merchant, Kind::OwnAccount];
        let kind = kinds.into_iter().find(|known| *known as u8 == *kind)?;
        Some((u64::from_be_bytes(*tenant_key), EntityId { kind, id }))
    });
    Ok(Some(found.ok_or_else(|| Unreadable("micro-deposits of no entity".to_owned()))?).filter(is_here))
}

fn has_operation(entity: &Entity, operation: Id, n: u16) -> bool {
    match entity {
        Entity::Payment(payment) if matches!(payment.method(), Method::PagoMovil | Method::Usdt) => false,
        Entity::CryptoPayout(payout) => n == crypto_payout::SEND && payout.order.sends > 0,
        entity => shown::show(operation, n, entity).is_some(),
    }
}

/// The time between two counts of unresolved operations, at most and at least.
const COUNT_EVERY_MS_MAX: u64 = 15_000;
const COUNT_EVERY_MS_MIN: u64 = 1_000;
type Counts = BTreeMap<&'static str, u64>;

async fn counted(services: &Arc<Services>) -> Result<Seen, Problem> {
    let due = due(services).await?;
    let read = move |services: &Services, budget: &ReadBudget| {
        Ok(Seen { unresolved: count(services, &due, budget)?, ..seen(services, &due, budget)? })
    };
    services.read_pool.read(services, PLATFORM, read).await
}

pub async fn keep_counted(services: Arc<Services>) {
    // A count is at most a quarter of unresolved_after_seconds old, within these bounds.
    let quarter_ms = u64::try_from(services.waits.unresolved_after_ms / 4).unwrap_or(0);
    let pause = Duration::from_millis(quarter_ms.clamp(COUNT_EVERY_MS_MIN, COUNT_EVERY_MS_MAX));
    loop {
        match counted(&services).await {
            Ok(seen) => *services.waits.counted() = seen,
            Err(problem) => {
                if let Some(error) = problem.private_message() {
                    tracing::warn!(error, "the operations without an outcome were not counted");
                }
            }
        }
        tokio::time::sleep(pause).await;
    }
}

fn count(services: &Services, due: &[Due], budget: &ReadBudget) -> Result<Counts, Stopped> {
    let old = due.iter().filter(|due| due.may_be_older_than(services.waits.unresolved_after_ms));
    let mut counts = Counts::new();
    for due in old.take(READS_MAX) {
        budget.spend()?;
        for operation in unanswered(services.engine.reader(), due)? {
            if services.waits.is_unresolved(&operation, due.now) {
                let rail = services.rails.name_for(due.tenant_key, operation.service);
                *counts.entry(rail).or_default() += 1;
            }
        }
    }
    Ok(counts)
}

const LINE_MAX: usize = 10_000;
const ENDPOINTS_MAX: usize = 256;

fn seen(services: &Services, due: &[Due], budget: &ReadBudget) -> Result<Seen, Stopped> {
    let mut seen = Seen::default();
    for due in due {
        let Some(kind) = kind(due.id.kind) else { continue };
        let waited = due.now.since_ms(Timestamp::from_unix_ms(due.id.id.unix_ms()));
        seen.add(is_live(due.tenant_key), kind, waited / SECOND_MS);
    }
    let pending = crypto_payout::Status::PendingReview as u8;
    for (mode, line) in [Mode::Live, Mode::Test].into_iter().zip(&mut seen.reviews) {
        for owner in reviewed(services, mode) {
            for id in listed(services, owner, Kind::CryptoPayout, pending, budget)? {
                line.add(age_seconds(services, id));
            }
        }
    }
    let mut notices = Line::default();
    for id in listed(services, PLATFORM, Kind::Notice, UNMATCHED, budget)? {
        notices.add(age_seconds(services, id));
    }
    seen.notices = notices;
    seen.webhook_lag_seconds = webhook_lag(services, budget)?;
    Ok(seen)
}

/// Whose lists have the USDT payouts of a mode that wait for a review. Those of live mode are in one for all, also of
/// accounts that have left.
pub fn reviewed(services: &Services, mode: Mode) -> Vec<u64> {
    if mode == Mode::Live && services.callers.sending.is_none() {
        return vec![PLATFORM];
    }
    services.callers.own_tenants().iter().map(|tenant| tenant_key(tenant.number, mode)).collect()
}

const fn kind(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Payment => Some(0),
        Kind::CopPayment => Some(1),
        Kind::Payout => Some(2),
        Kind::CryptoPayout => Some(3),
        _ => None,
    }
}

fn age_seconds(services: &Services, id: Id) -> i64 {
    services.now().since_ms(Timestamp::from_unix_ms(id.unix_ms())) / SECOND_MS
}

fn listed(
    services: &Services,
    owner: u64,
    kind: Kind,
    facet: u8,
    budget: &ReadBudget,
) -> Result<Vec<Id>, Stopped> {
    let from = index::list(owner, kind, facet);
    let to = [from.as_slice(), &[0xFF; 17]].concat();
    let mut ids = Vec::new();
    for entry in services.engine.reader().index_scan(&from, &to, false).take(LINE_MAX) {
        budget.spend()?;
        let (key, _) = entry.map_err(Unreadable::from)?;
        let id = key.get(from.len()..).and_then(|suffix| <[u8; 16]>::try_from(suffix).ok());
        ids.extend(id.map(Id::from_bytes));
    }
    Ok(ids)
}

/// The age of the oldest pending event of live mode, whose clock is the server's.
fn webhook_lag(services: &Services, budget: &ReadBudget) -> Result<u64, Stopped> {
    let mut most = 0;
    for (tenant, position) in services.webhooks.behind_live(ENDPOINTS_MAX) {
        budget.spend()?;
        for next in backlog::after(services.engine.reader(), tenant, position, 1)? {
            most = most.max(services.now().since_ms(next.read.time) / SECOND_MS);
        }
    }
    Ok(u64::try_from(most).unwrap_or(0))
}
