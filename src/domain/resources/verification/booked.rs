//! Micro-deposits that a bank's statement shows one by one, while their operation has no outcome
//! (`docs/contract.md, 20.7`): the operation is done when both are booked.

use crate::cause::Cause;
use crate::decision::Draft;
use crate::entities::Entity;
use crate::entities::own_account::OwnAccount;
use crate::entities::verification::Booked;
use crate::entities::verification::{Deposits, MethodStatus};
use crate::refusal::{OperationRefusal, Refusal, VerificationRefusal};
use crate::values::ids::Id;

pub struct Booking {
    pub operation: Id,
    pub lines: Booked,
}

pub enum BookingOutcome {
    /// Both deposits are booked, under these references: the bank carried out the operation.
    Both(String),
    /// The record that books one, while the other is open.
    One(Box<Draft>),
}

pub fn open_deposits(entity: &Entity, operation: Id) -> Option<(Deposits, Booked)> {
    let status = match entity {
        Entity::Merchant(merchant) => {
            merchant.methods.iter().map(|method| &method.status).find(|status| status.waits_for(operation))
        }
        Entity::OwnAccount(account) => Some(&account.status).filter(|status| status.waits_for(operation)),
        _ => None,
    }?;
    let (deposits, ..) = status.open()?;
    Some((deposits, status.booked(operation).cloned().unwrap_or_default()))
}

pub fn book(entity: &Entity, booking: &Booking) -> Result<BookingOutcome, Refusal> {
    let Booking { operation, lines } = booking;
    let Some((_, known)) = open_deposits(entity, *operation) else {
        return Err(OperationRefusal::Resolved.into());
    };
    if known.overlaps(lines) || lines.is_empty() {
        return Err(VerificationRefusal::DepositBooked.into());
    }
    if let Some(references) = known.with(lines).both() {
        return Ok(BookingOutcome::Both(references));
    }
    let draft = match entity {
        Entity::Merchant(merchant) => {
            // The state that the tenant sees does not change.
            let mut changed = merchant.clone();
            for method in changed.methods.iter_mut().filter(|method| method.status.waits_for(*operation)) {
                method.status = method.status.booking(lines);
            }
            Draft::changed(Cause::DepositBooked, merchant, changed)
        }
        Entity::OwnAccount(account) => {
            let status = account.status.booking(lines);
            Draft::changed(Cause::DepositBooked, account, OwnAccount { status, ..account.clone() })
        }
        // Nothing else is proved by deposits.
        _ => return Err(OperationRefusal::Resolved.into()),
    };
    Ok(BookingOutcome::One(Box::new(draft)))
}

impl MethodStatus {
    /// The booked ones among the deposits of an operation.
    pub fn booked(&self, operation: Id) -> Option<&Booked> {
        self.word.as_ref().filter(|word| word.operation == operation).map(|word| &word.booked)
    }

    fn booking(&self, lines: &Booked) -> MethodStatus {
        let mut booked = self.clone().with_trace();
        if let Some(word) = &mut booked.word {
            word.booked = word.booked.with(lines);
        }
        booked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn booked(first: Option<&str>, second: Option<&str>) -> Booked {
        Booked { first: first.map(str::to_owned), second: second.map(str::to_owned) }
    }

    #[test]
    fn what_is_booked_keeps_its_reference_whatever_is_said_of_both() {
        for (known, said, both) in [
            (booked(None, None), "81", "81"),
            (booked(None, None), "81/82", "81/82"),
            (booked(None, None), "", ""),
            (booked(Some("81"), None), "90", "81/90"),
            (booked(None, Some("82")), "90", "90/82"),
            (booked(Some("81"), None), "81/82", "81/82"),
            (booked(Some("81"), None), "81", "81"),
            (booked(Some("81"), None), "", "81/"),
        ] {
            assert_eq!(known.completed_by(said.to_owned()), both, "{known:?} {said}");
        }
    }

    #[test]
    fn a_deposit_is_booked_once() {
        let (one, other) = (booked(Some("81"), None), booked(None, Some("82")));
        assert_eq!((one.both(), one.with(&other).both()), (None, Some("81/82".to_owned())));
        assert!(one.overlaps(&one) && !one.overlaps(&other) && one.has("81") && !one.has("82"));
    }
}
