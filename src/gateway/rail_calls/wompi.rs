//! Wompi's events, which prove themselves by a checksum. An event is a hint: the payment that it is
//! about is looked at, and what it says of its state is not read. That there is a transaction which no
//! payment is known by is kept, also where it bears a payment's reference: somebody may have paid twice.

use crate::gateway::ask::look_now;
use crate::gateway::live_asks;
use crate::gateway::notices;
use crate::gateway::services::Services;
use crate::rails::live::visible;
use crate::rails::secret::ApiSecret;
use crate::rails::wompi::signature::{self, EventError, Mentioned};
use crate::store::history::Unreadable;
use api::problem::Problem;
use domain::entities::notice::About;
use domain::platform::live_asks::LiveAsk;
use domain::values::ids::{EntityId, Id};
use std::sync::Arc;

/// The payment that an event is about, with its tenant in its mode, if it is of this partition; and the transaction if
/// no payment is known by it.
type Mention = (Option<(u64, EntityId)>, Option<About>);

pub(super) async fn read_event(
    services: &Services,
    secret: &ApiSecret,
    body: &[u8],
) -> Result<Mention, Problem> {
    let mentioned = signature::event(body, secret).map_err(|error| match error {
        EventError::Malformed => Problem::invalid_json("the body is no event"),
        EventError::Forged => Problem::unauthorized("the event's signature is not right"),
    })?;
    let Some(Mentioned { id, reference }) = mentioned else { return Ok((None, None)) };
    let payment = notices::collected(services.engine.reader(), reference.as_deref())?;
    let is_known = match &payment {
        Some((_, payment)) => payment.is_transaction(&id),
        None => is_known_elsewhere(services, reference.as_deref(), &id).await?,
    };
    let about = visible(&id).filter(|_| !is_known).map(|id| {
        let reference = reference.as_deref().and_then(visible).map(str::to_owned);
        About::Transaction { id: id.to_owned(), reference }
    });
    Ok((payment.map(|(tenant, payment)| (tenant, EntityId::cop_payment(payment.id))), about))
}

/// Whether a payment of another partition is known by a transaction. Its leader looks at the payment, too; while one
/// that may have it does not answer, the processor is to tell again.
async fn is_known_elsewhere(
    services: &Services,
    reference: Option<&str>,
    transaction: &str,
) -> Result<bool, Problem> {
    let Some(operation) = reference.and_then(Id::parse) else { return Ok(false) };
    let ask = LiveAsk::Event { operation, transaction: transaction.to_owned() };
    let (mut known, mut unasked) = (None, None);
    for said in live_asks::ask_others::<Option<bool>>(services, &ask).await {
        match said {
            Ok(said) => known = known.or(said),
            Err(problem) => unasked = Some(problem),
        }
    }
    match (known, unasked) {
        (Some(is_known), _) => Ok(is_known),
        (None, Some(problem)) => Err(problem),
        (None, None) => Ok(false),
    }
}

/// Of a payment of this partition that a processor tells the first one of: whether it is known by the transaction.
pub fn notice_event(
    services: &Arc<Services>,
    operation: Id,
    transaction: &str,
) -> Result<Option<bool>, Unreadable> {
    let found = notices::collected(services.engine.reader(), Some(&operation.to_string()))?;
    Ok(found.map(|(tenant, payment)| {
        look_now(services, tenant, EntityId::cop_payment(payment.id));
        payment.is_transaction(transaction)
    }))
}
