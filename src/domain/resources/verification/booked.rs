//! Micro-deposits that a bank's statement shows one by one, while their operation has no outcome
//! (`docs/contract.md, 20.7`): the operation is done when both are booked.

use super::{BETWEEN_REFERENCES, Deposits, MethodStatus, references_of_two};
use crate::codec::stored;
use crate::decision::Draft;
use crate::record::{Cause, Entity};
use crate::refusal::{OperationRefusal, Refusal, VerificationRefusal};
use crate::resources::own_account::OwnAccount;
use crate::values::ids::Id;

stored! {
    /// The references of the lines by which each of two deposits is booked.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Booked {
        /// The reference of the first deposit.
        0 pub first: Option<String>,
        1 pub second: Option<String>,
    }
}

/// Lines of a bank's statement that show deposits of an operation.
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

impl Booked {
    pub const fn is_empty(&self) -> bool {
        self.first.is_none() && self.second.is_none()
    }

    /// Whether a line under this reference has booked a deposit.
    pub fn has(&self, reference: &str) -> bool {
        [&self.first, &self.second].into_iter().flatten().any(|known| known == reference)
    }

    /// Whether a deposit is booked in both.
    const fn overlaps(&self, other: &Booked) -> bool {
        self.first.is_some() && other.first.is_some() || self.second.is_some() && other.second.is_some()
    }

    pub fn with(&self, other: &Booked) -> Booked {
        Booked {
            first: self.first.clone().or_else(|| other.first.clone()),
            second: self.second.clone().or_else(|| other.second.clone()),
        }
    }

    /// The references of both, if both are booked.
    pub fn both(&self) -> Option<String> {
        let (first, second) = (self.first.clone()?, self.second.clone()?);
        references_of_two(Some(first), Some(second))
    }

    /// The references of both, where `said` is the bank's word, or an operator's, for what is not booked.
    pub(super) fn completed_by(&self, said: String) -> String {
        if self.is_empty() {
            return said;
        }
        let halves = said.split_once(BETWEEN_REFERENCES);
        let (first, second) = halves.unwrap_or((said.as_str(), said.as_str()));
        let rest = Booked { first: Some(first.to_owned()), second: Some(second.to_owned()) };
        self.with(&rest).both().unwrap_or_default()
    }
}

/// The open deposits of an operation, and what is booked of them.
pub fn open_deposits(entity: &Entity, operation: Id) -> Option<(Deposits, Booked)> {
    let status = status_of(entity, operation)?;
    let (deposits, ..) = status.open()?;
    Some((deposits, status.booked(operation).cloned().unwrap_or_default()))
}

fn status_of(entity: &Entity, operation: Id) -> Option<&MethodStatus> {
    match entity {
        Entity::Merchant(merchant) => {
            merchant.methods.iter().map(|method| &method.status).find(|status| status.waits_for(operation))
        }
        Entity::OwnAccount(account) => Some(&account.status).filter(|status| status.waits_for(operation)),
        _ => None,
    }
}

/// Books deposits by lines of a statement.
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
    let mut draft = Draft::new(Cause::DepositBooked);
    match entity {
        Entity::Merchant(merchant) => {
            // The state that the tenant sees does not change.
            let mut changed = merchant.clone();
            for method in changed.methods.iter_mut().filter(|method| method.status.waits_for(*operation)) {
                method.status = method.status.booking(lines);
            }
            draft.change(merchant, Entity::Merchant(changed));
        }
        Entity::OwnAccount(account) => {
            let status = account.status.booking(lines);
            draft.change(account, Entity::OwnAccount(OwnAccount { status, ..account.clone() }));
        }
        // Nothing else is proved by deposits.
        _ => return Err(OperationRefusal::Resolved.into()),
    }
    Ok(BookingOutcome::One(Box::new(draft)))
}

impl MethodStatus {
    /// The booked ones among the deposits of an operation.
    pub fn booked(&self, operation: Id) -> Option<&Booked> {
        self.word().filter(|word| word.operation == operation).map(|word| &word.booked)
    }

    /// The status with open deposits booked.
    fn booking(&self, lines: &Booked) -> MethodStatus {
        let mut booked = match self {
            MethodStatus::Verifying { .. } => self.with_word(self.clone(), None, None),
            _ => self.clone(),
        };
        if let MethodStatus::Contradicted { word, .. } = &mut booked {
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
