//! The order of a payment or payout that a bank has now, and the form by which treasury says what became
//! of it (`docs/contract.md, 5.13, 18.7`).

use super::{Here, path};
use crate::gateway::services::Services;
use crate::pages::view::{Form, Input};
use domain::entities::Entity;
use domain::resources::operations::Operation;
use domain::trace::Trace;
use domain::values::time::Timestamp;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFrom {
    /// Nothing of the order has left this machine.
    Queued,
    Asked,
    Unaskable,
}

pub struct AtBank {
    pub operation: Operation,
    pub standing: AnswerFrom,
    pub is_unresolved: bool,
}

pub async fn of(services: &Arc<Services>, tenant: u64, entity: &Entity) -> Option<AtBank> {
    let operation = entity.rules().unanswered().into_iter().next()?;
    let standing = match &operation {
        operation if operation.is_queued => AnswerFrom::Queued,
        operation if operation.is_operators || is_unaskable(entity, operation) => AnswerFrom::Unaskable,
        _ => AnswerFrom::Asked,
    };
    // The page of a book that is halted is shown all the same.
    let is_unresolved = match services.engine.glance(tenant).await {
        Ok(Some((_, now_ms))) => services.waits.is_unresolved(&operation, Timestamp::from_unix_ms(now_ms)),
        _ => false,
    };
    Some(AtBank { operation, standing, is_unresolved })
}

fn is_unaskable(entity: &Entity, operation: &Operation) -> bool {
    let (_, n) = operation.id.entity_and_operation();
    let trace = entity.order().and_then(|order| order.of(n));
    trace.is_some_and(Trace::is_unaskable)
}

pub fn resolve_form(visit: &Here<'_>, id: &str) -> Form {
    // Nothing is chosen before somebody chooses.
    let outcomes = [
        ("", visit.say("Elige…", "Choose…")),
        ("done", visit.say("Se hizo", "It was done")),
        ("refused", visit.say("No se hizo", "It was not done")),
    ];
    let outcome = visit.say("Qué dice el banco", "What the bank says");
    let to = path("/console/operations", id, "resolve");
    let input = |name, label: &str| Input::new(name, label).value(visit.typed(&to, name));
    let reference = input("reference", visit.say("Referencia del banco", "The bank's reference"))
        .needed(visit.say("(si se hizo)", "(if it was done)"));
    let code = input("failureCode", visit.say("Código del fallo", "Failure code"))
        .hint(visit.say("Por ejemplo AC01.", "Such as AC01."))
        .needed(visit.say("(si no se hizo)", "(if it was not done)"));
    Form::new(&*to, "resolve", visit.say("Resolver", "Resolve"))
        .id(format!("resolve-{id}"))
        .input(Input::choice("outcome", outcome, outcomes, visit.typed(&to, "outcome")))
        .input(reference)
        .input(code)
        .input(input("note", visit.say("Nota", "Note")))
}
