//! The payments on one reference: `GET /v1/payments?externalRef=`.

use super::show::{newest, shown_as_stored};
use crate::lists::List;
use crate::page::{Page, page_json};
use crate::records::{Answered, Records, Stopped};
use domain::entities::Entity;
use domain::entities::payment::{Payment, Status};
use domain::values::ids::{EntityId, Id};

/// A page of the payments on a reference that the filters leave: the newest attempt, and those before
/// it. Each attempt names the one before, so a page begins where the last one ended.
pub fn page(records: &dyn Records, name: &str, list: &List, page: &Page) -> Answered {
    let mut items = Vec::new();
    let mut last = Vec::new();
    let mut next = match &page.after {
        Some(after) => before(records, after)?,
        None => newest(records, name)?,
    };
    while let Some(id) = next {
        records.spend()?;
        let Some(found) = records.entity(EntityId::payment(id))? else { break };
        let Entity::Payment(payment) = &*found else { break };
        next = payment.previous;
        if !list.has(&found) {
            continue;
        }
        if items.len() == page.limit {
            return Ok(page_json(items, Some(&page.next(&last))));
        }
        items.push(shown_as_stored(&found)?);
        last = id.as_bytes().to_vec();
    }
    Ok(page_json(items, None))
}

/// Another attempt on the reference of one that failed, whose payer paid it too, by what a bank said first
/// or later.
pub fn paid_beside(records: &dyn Records, failed: &Payment) -> Result<Option<Id>, Stopped> {
    let mut next = records.named(failed.named_in(), &failed.external_ref)?;
    while let Some(id) = next {
        records.spend()?;
        let found = records.entity(EntityId::payment(id))?;
        let Some(Entity::Payment(payment)) = found.as_deref() else { break };
        let is_paid = payment.completed_at.is_some()
            || payment.status == Status::Failed && payment.contradicted().is_some();
        if is_paid && id != failed.id {
            return Ok(Some(id));
        }
        next = payment.previous;
    }
    Ok(None)
}

/// The attempt before the one that a cursor names.
fn before(records: &dyn Records, attempt: &[u8]) -> Result<Option<Id>, Stopped> {
    let id =
        attempt.try_into().map_err(|_| Stopped::Unreadable("a cursor that names no payment".to_owned()))?;
    Ok(match records.entity(EntityId::payment(Id::from_bytes(id)))?.as_deref() {
        Some(Entity::Payment(payment)) => payment.previous,
        _ => None,
    })
}
