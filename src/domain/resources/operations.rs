//! An operator's word on an operation with a bank, in the bank's place (`docs/contract.md, 5.13`). The
//! operations that operators may have to settle are those that no bank has answered, and those about which a
//! bank contradicted itself; each kind of entity knows its own.

use crate::decision::{Ruling, Turn};
use crate::entities::{Entity, cop_payment};
use crate::rail::RailAnswer;
pub use crate::rail::{Operation, OperationKind as Kind, Subject};
use crate::refusal::{OperationRefusal, Refusal};
use crate::resources::cop_payments::collect::WRONG_CODE;
use crate::values::ids::Id;
use std::sync::Arc;

/// The word of an operator on an operation, in the bank's place.
pub struct Resolution {
    pub operation: Id,
    pub answer: RailAnswer,
}

/// The bank's reply that corresponds to the operator's word; a refusal if the operation is not
/// open.
pub fn in_banks_words(entity: &Entity, resolution: &Resolution) -> Result<RailAnswer, Refusal> {
    if !entity.rules().unanswered().iter().any(|open| open.id == resolution.operation) {
        return Err(OperationRefusal::Resolved.into());
    }
    Ok(match (entity, &resolution.answer) {
        // The code is about an SMS code, and not about the collection.
        (Entity::CopPayment(_), RailAnswer::Refused { code }) if code == WRONG_CODE => {
            RailAnswer::Refused { code: cop_payment::Failure::Rejected.name().to_owned() }
        }
        (_, answer) => answer.clone(),
    })
}

/// The ruling on the corresponding reply, made an operator's: it refuses no
/// caller, and the bank is still asked whether it agrees.
pub fn resolved(ruling: Ruling, operation: Id, turn: &Turn<'_>) -> Ruling {
    let Ruling { record: Some(mut draft), refusal, effects } = ruling else {
        return Ruling::refuse(OperationRefusal::Resolved);
    };
    draft.refuses_kept = refusal;
    let (of, n) = operation.entity_and_operation();
    for written in &mut draft.record.entities {
        if let Some(entity) = Arc::get_mut(&mut written.state)
            && entity.id().id == of
        {
            entity.rules_mut().ask_on(n, turn);
        }
    }
    Ruling::write_then(draft, effects)
}
