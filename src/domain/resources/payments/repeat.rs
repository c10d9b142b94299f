//! Charges on a reference that is known: what is a repeat of its newest payment, and what a conflict with
//! it (`docs/contract.md, 5.15`).

use super::charge::NewCharge;
use crate::decision::{Ruled, Ruling, differing};
use crate::entities::payment::{Payment, Status};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::refusal::{PaymentRefusal, Refusal};
use crate::values::time::Timestamp;

/// The time for which the code or the card of an attempt that failed, sent again without a key, is a repeat
/// of it, in milliseconds.
const REPEAT_MS: i64 = 10 * 60 * 1000;

/// The ruling on a charge about the newest payment on its reference.
pub fn repeat(book: &Book, payment: &Payment, again: &NewCharge) -> Ruled {
    let differs = differs(payment, again);
    if differs.contains(&"merchantId") && sellers::is_unknown(book, again.marketplace) {
        return Err(Refusal::NotFound);
    }
    ruling(payment, differs)
}

/// The ruling on what is asked for under the reference of a payment, and differs from it in these members.
pub(super) fn ruling(payment: &Payment, differs: Vec<&'static str>) -> Ruled {
    let existing = payment.id;
    match payment.status {
        Status::Pending | Status::Completed | Status::Failed | Status::Canceled if differs.is_empty() => {
            Ok(Ruling::unchanged())
        }
        // One that is over by now was not when this was asked for.
        Status::Pending | Status::Failed | Status::Canceled => {
            Err(PaymentRefusal::PaymentInProgress { existing }.into())
        }
        Status::Completed | Status::Reversed => Err(Refusal::ExternalRefConflict { existing, differs }),
    }
}

impl Payment {
    /// Whether a charge on its reference asks for the same once more.
    pub fn is_asked_for_by(&self, again: &NewCharge) -> bool {
        differs(self, again).is_empty()
    }

    /// The instant until which a charge without a key is a repeat of this attempt, which failed; none of
    /// one with another code or card.
    pub fn is_repeated_until(&self, again: &NewCharge) -> Option<Timestamp> {
        let is_repeat = self.means.has_same_secret(&again.means) && self.is_asked_for_by(again);
        Some(self.failed_at.filter(|_| is_repeat)?.plus_ms(REPEAT_MS))
    }
}

/// The names of the members in which a repeat differs (`docs/contract.md, 1.7`).
fn differs(payment: &Payment, again: &NewCharge) -> Vec<&'static str> {
    let (sold, sells) = (payment.marketplace.as_ref(), again.marketplace);
    let merchant = sold.map(|sale| sale.merchant) != sells.map(|(merchant, _)| merchant);
    let percent = sold.map(|sale| sale.commission_percent) != sells.map(|(_, percent)| percent);
    let mut fields = vec![
        ("method", payment.method() != again.means.method()),
        (again.price.field(), !again.price.is_of(payment)),
    ];
    fields.extend(payment.means.differs(&again.means));
    fields.extend([
        (again.means.description_field(), payment.description != again.description),
        ("merchantId", merchant),
        ("applicationFeePercent", percent),
    ]);
    differing(fields)
}
