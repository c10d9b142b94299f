//! Wompi's events, which prove themselves by a checksum. An event is a hint: the payment that it is
//! about is looked at, and what it says of its state is not read. That there is a transaction which no
//! payment is known by is kept, also where it bears a payment's reference: somebody may have paid twice.

use super::{RailCall, Work};
use crate::gateway::notices;
use crate::gateway::services::Services;
use crate::http::respond::Reply;
use crate::rails::live::visible;
use crate::rails::secret::ApiSecret;
use crate::rails::wompi::signature::{self, EventError, Mentioned};
use api::problem::Problem;
use api::writer::Object;
use domain::entities::notice::About;
use domain::values::ids::EntityId;
use std::ops::ControlFlow;

/// The answer to an event, known or not.
pub(super) fn received() -> Reply {
    Reply::json(200, Object::new().boolean("received", true).end())
}

pub(super) fn read_event(
    services: &Services,
    secret: &ApiSecret,
    body: &[u8],
) -> Result<ControlFlow<Reply, Work>, Problem> {
    let event = signature::event(body, secret).map_err(|error| match error {
        EventError::Malformed => Problem::invalid_json("the body is no event"),
        EventError::Forged => Problem::unauthorized("the event's signature is not right"),
    })?;
    let Some(Mentioned { id, reference }) = event.transaction else {
        return Ok(ControlFlow::Break(received()));
    };
    let reader = services.engine.reader();
    let known = notices::collected(reader, reference.as_deref())?;
    let about = visible(&id).map(|id| {
        let reference = reference.as_deref().and_then(visible).map(str::to_owned);
        About::Transaction { id: id.to_owned(), reference }
    });
    Ok(match (known, about) {
        (Some((tenant, payment)), about) => {
            let about = about.filter(|_| !payment.is_transaction(&id));
            ControlFlow::Continue(Work::Look { tenant, payment: EntityId::cop_payment(payment.id), about })
        }
        (None, Some(about)) => ControlFlow::Continue(Work::Keep(RailCall::Event, about)),
        (None, None) => ControlFlow::Break(received()),
    })
}
