//! The place of an operation: its tenant, its mode and its entity. Operators name it by its own id
//! alone (`docs/contract.md, 18.7`). Nothing is decided here.

use super::{Due, due, unanswered};
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use crate::store::read_budget::{ReadBudget, Stopped};
use api::payments::operations as shown;
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::means::Method;
use domain::index::{self, Space};
use domain::resources::verification::DEPOSITS;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::mode::{Mode, PLATFORM, tenant_key};
use std::sync::Arc;

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
    for tenant in services.callers.directory.tenants() {
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
    let found = value.split_first_chunk::<8>().and_then(|(tenant_key, rest)| {
        let (kind, id) = rest.split_first()?;
        let id = Id::from_bytes(id.try_into().ok()?);
        let kinds = [Kind::Merchant, Kind::OwnAccount];
        let kind = kinds.into_iter().find(|known| *known as u8 == *kind)?;
        Some((u64::from_be_bytes(*tenant_key), EntityId { kind, id }))
    });
    Ok(Some(found.ok_or_else(|| Unreadable("micro-deposits of no entity".to_owned()))?))
}

/// Whether this is, or was, an order of the entity's that operators have to do with.
fn has_operation(entity: &Entity, operation: Id, n: u16) -> bool {
    match entity {
        Entity::Payment(payment) if matches!(payment.method(), Method::PagoMovil | Method::Usdt) => false,
        Entity::CryptoPayout(payout) => n == domain::entities::crypto_payout::SEND && payout.sends > 0,
        entity => shown::show(operation, n, entity).is_some(),
    }
}
