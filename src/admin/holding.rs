//! Whether something that operators ask for by its id is in this partition: the same ways by which their calls find it.

use super::people::{among_all, tenant_of_event};
use super::serve::operator_of;
use super::{approvals, due};
use crate::cluster::questions::{Held, Thing};
use crate::gateway::services::Services;
use crate::store::history;
use api::problem::Problem;
use domain::index::Space;
use domain::values::ids::{EntityId, Id};
use hyper::http::request::Parts;
use std::sync::Arc;

/// Nobody has all partitions look for something without a token.
pub fn has(services: Arc<Services>, thing: Thing, id: Id, head: &Parts) -> Held {
    let let_in = operator_of(&services, head).map(drop);
    Box::pin(async move {
        let_in?;
        is_here(&services, thing, id).await
    })
}

async fn is_here(services: &Arc<Services>, thing: Thing, id: Id) -> Result<bool, Problem> {
    let found = |ids: Vec<EntityId>| among_all(services, ids);
    // Of an account that comes or has left there are entries, too.
    let is_own = |owner: u64| !services.callers.is_elsewhere(owner);
    let owned =
        |space| history::owner(services.engine.reader(), space, id).map(|owner| owner.is_some_and(is_own));
    Ok(match thing {
        Thing::Payment => found(vec![EntityId::payment(id), EntityId::cop_payment(id)]).await?.is_some(),
        Thing::Payout => {
            let ids = vec![EntityId::payout(id), EntityId::cop_payout(id), EntityId::crypto_payout(id)];
            found(ids).await?.is_some()
        }
        Thing::Merchant => found(vec![EntityId::merchant(id)]).await?.is_some(),
        Thing::CopPayout => owned(Space::CopPayout)?,
        Thing::CryptoPayout => owned(Space::CryptoPayout)?,
        Thing::Chargeback => owned(Space::Chargeback)?,
        Thing::Event => tenant_of_event(services, id).await?.is_some(),
        Thing::Approval => approvals::find(services, id)?.is_some(),
        Thing::Operation => due::find(services, id).await?.is_some_and(|(owner, _)| is_own(owner)),
    })
}
