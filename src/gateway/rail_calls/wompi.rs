//! Wompi's events, which prove themselves by a checksum. An event is a hint: the payment that it is
//! about is looked at, and what it says of its state is not read.

use super::{RailCall, Work};
use crate::gateway::services::Services;
use crate::http::respond::Reply;
use crate::rails::live::visible;
use crate::rails::secret::ApiSecret;
use crate::rails::wompi::signature::{self, EventError, Mentioned};
use crate::store::history::Unreadable;
use api::problem::Problem;
use api::writer::Object;
use domain::index::{self, Space};
use domain::platform::PLATFORM;
use domain::resources::notices::About;
use domain::values::ids::{EntityId, Id};
use std::ops::ControlFlow;

/// The answer to an event, known or not.
pub(super) fn received() -> Reply {
    Reply::json(200, Object::new().boolean("received", true).end())
}

/// The work that is left to do for an event.
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
    if let Some((tenant, payment)) = known(services, reference.as_deref())? {
        return Ok(ControlFlow::Continue(Work::Look { tenant, payment }));
    }
    let Some(id) = visible(&id).map(str::to_owned) else { return Ok(ControlFlow::Break(received())) };
    let reference = reference.as_deref().and_then(visible).map(str::to_owned);
    Ok(ControlFlow::Continue(Work::Keep(RailCall::Event, About::Transaction { id, reference })))
}

/// The payment whose operation a transaction is named by, and whose it is.
fn known(services: &Services, reference: Option<&str>) -> Result<Option<(u64, EntityId)>, Problem> {
    let Some(operation) = reference.and_then(Id::parse) else { return Ok(None) };
    let (payment, _) = operation.entity_and_operation();
    let key = index::name(PLATFORM, Space::CopPayment, &payment.to_string());
    let Some(value) = services.engine.reader().index_get(&key).map_err(Unreadable::from)? else {
        return Ok(None);
    };
    let tenant = <[u8; 8]>::try_from(value.as_slice())
        .map_err(|_| Unreadable("a payment in pesos of no tenant".to_owned()))?;
    Ok(Some((u64::from_be_bytes(tenant), EntityId::cop_payment(payment))))
}
