//! What this partition answers the leaders of others about live money.

use super::reconciliations::{self, Answering};
use super::{due, gathering, tenants};
use crate::cluster::MoveInlet;
use crate::gateway::services::Services;
use crate::gateway::{notices, rail_calls};
use api::problem::Problem;
use domain::codec::{self, encode_newest};
use domain::platform::live_asks::LiveAsk;
use domain::values::ids::is_live;
use std::sync::Arc;

pub fn inlet(services: &Arc<Services>) -> MoveInlet {
    let services = Arc::clone(services);
    Box::new(move |message| {
        let services = Arc::clone(&services);
        // What is claimed or ended goes on when nobody waits any more.
        let answered = tokio::spawn(async move {
            let ask = codec::decode(&message).map_err(|error| {
                Problem::internal_error(format!("what is asked about live money: {error}"))
            })?;
            answer(&services, ask).await
        });
        Box::pin(async move { answered.await.map_err(|_| Problem::shutting_down())? })
    })
}

async fn answer(services: &Arc<Services>, ask: LiveAsk) -> Result<Vec<u8>, Problem> {
    Ok(match ask {
        LiveAsk::Notices { tenant, traits, typed } => {
            encode_newest(&notices::candidates_here(services, tenant, &traits, &typed).await?)
        }
        LiveAsk::Claim { search, notice } => {
            encode_newest(&notices::claimed_elsewhere(services, &search, notice).await?)
        }
        LiveAsk::EndSearch(search) => encode_newest(&notices::end_search(services, &search).await?),
        LiveAsk::Noticed(traits) => {
            notices::look_at_awaiting(services, &traits)?;
            encode_newest(&true)
        }
        LiveAsk::Guesses { traits, typed } => encode_newest(&notices::guesses(services, &traits, &typed)?),
        LiveAsk::Event { operation, transaction } => {
            encode_newest(&rail_calls::notice_event(services, operation, &transaction)?)
        }
        LiveAsk::Moved { tenant, from, to, place } => {
            encode_newest(&gathering::portion(services, tenant, (from, to), place).await?)
        }
        LiveAsk::Unresolved => {
            let open = due::unresolved(services).await?.into_iter().filter(|(tenant, ..)| is_live(*tenant));
            let open: Vec<_> = open.map(|(tenant, entity, order)| (tenant, entity, order.id)).collect();
            encode_newest(&open)
        }
        LiveAsk::Unserved => encode_newest(&tenants::unserved(&services.rails)),
        LiveAsk::Accept { reconciliation: id, operation, lines, audit } => {
            let by = Answering { id, operation, lines: &lines, audit: audit.map(|entry| *entry) };
            encode_newest(&reconciliations::answered(services, by).await)
        }
        LiveAsk::HasLiveMoney(number) => encode_newest(&tenants::has_live_money(services, number).await?),
    })
}
