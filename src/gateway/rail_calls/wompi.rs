//! Wompi's events, which prove themselves by a checksum. An event is a hint: the payment that it is
//! about is looked at, and what it says of its state is not read. That there is a transaction which no
//! payment is known by is kept, also where it bears a payment's reference: somebody may have paid twice.

use crate::gateway::notices;
use crate::gateway::services::Services;
use crate::rails::live::visible;
use crate::rails::secret::ApiSecret;
use crate::rails::wompi::signature::{self, EventError, Mentioned};
use api::problem::Problem;
use domain::entities::notice::About;
use domain::values::ids::EntityId;

/// The payment that an event is about, with its tenant in its mode, and the transaction if it is not known by that.
type Mention = (Option<(u64, EntityId)>, Option<About>);

pub(super) fn read_event(services: &Services, secret: &ApiSecret, body: &[u8]) -> Result<Mention, Problem> {
    let mentioned = signature::event(body, secret).map_err(|error| match error {
        EventError::Malformed => Problem::invalid_json("the body is no event"),
        EventError::Forged => Problem::unauthorized("the event's signature is not right"),
    })?;
    let Some(Mentioned { id, reference }) = mentioned else { return Ok((None, None)) };
    let payment = notices::collected(services.engine.reader(), reference.as_deref())?;
    let is_known = payment.as_ref().is_some_and(|(_, payment)| payment.is_transaction(&id));
    let about = visible(&id).filter(|_| !is_known).map(|id| {
        let reference = reference.as_deref().and_then(visible).map(str::to_owned);
        About::Transaction { id: id.to_owned(), reference }
    });
    Ok((payment.map(|(tenant, payment)| (tenant, EntityId::cop_payment(payment.id))), about))
}
