//! Charges on a reference that is known: what is a repeat of its newest payment, and what a conflict with
//! it (`docs/contract.md, 5.15`).

use super::charge::NewCharge;
use crate::bank_names::without_zeros;
use crate::decision::Ruling;
use crate::entities::means::{Debtor, Means};
use crate::entities::payment::{Payment, Status};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::refusal::{PaymentRefusal, Refusal};
use crate::values::time::Timestamp;

/// The time for which the code or the card of an attempt that failed, sent again without a key, is a repeat
/// of it, in milliseconds.
const REPEAT_MS: i64 = 10 * 60 * 1000;

/// The ruling on a charge about the newest payment on its reference.
pub fn repeat(book: &Book, payment: &Payment, again: &NewCharge) -> Ruling {
    let differs = differs(payment, again);
    if differs.contains(&"merchantId") && sellers::is_unknown(book, again.marketplace) {
        return Ruling::refuse(Refusal::NotFound);
    }
    ruling(payment, differs)
}

/// The ruling on what is asked for under the reference of a payment, and differs from it in these members.
pub(super) fn ruling(payment: &Payment, differs: Vec<&'static str>) -> Ruling {
    let existing = payment.id;
    match payment.status {
        Status::Pending | Status::Completed | Status::Failed | Status::Canceled if differs.is_empty() => {
            Ruling::unchanged()
        }
        // One that is over by now was not when this was asked for.
        Status::Pending | Status::Failed | Status::Canceled => {
            Ruling::refuse(PaymentRefusal::PaymentInProgress { existing })
        }
        Status::Completed | Status::Reversed => {
            Ruling::refuse(Refusal::ExternalRefConflict { existing, differs })
        }
    }
}

impl Payment {
    /// Whether a charge on its reference asks for the same once more.
    pub fn is_asked_for_by(&self, again: &NewCharge) -> bool {
        differs(self, again).is_empty()
    }

    /// The instant until which a charge without a key is a repeat of this attempt, which failed; none of
    /// one with another code or card. A transfer is looked for at each call.
    pub fn is_repeated_until(&self, again: &NewCharge) -> Option<Timestamp> {
        let same_secret = match (&self.means, &again.means) {
            (Means::Card { .. }, _) => true,
            (Means::Debit { code_mark, .. }, Means::Debit { code_mark: other, .. }) => code_mark == other,
            (Means::Debit { .. } | Means::C2p { .. } | Means::Transfer { .. } | Means::Usdt { .. }, _) => {
                false
            }
        };
        let failed_at = self.failed_at.filter(|_| same_secret && self.is_asked_for_by(again))?;
        Some(failed_at.plus_ms(REPEAT_MS))
    }
}

/// The names of the members in which a repeat differs (`docs/contract.md, 1.7`).
fn differs(payment: &Payment, again: &NewCharge) -> Vec<&'static str> {
    let mut differs = Vec::new();
    let mut compare = |name, same: bool| {
        if !same {
            differs.push(name);
        }
    };
    compare("method", payment.method() == again.means.method());
    compare(again.price.field(), again.price.is_of(payment));
    // Payments by different means differ in the method.
    match &payment.means {
        Means::Card { mark, .. } => {
            if let Means::Card { mark: other, .. } = &again.means {
                compare("card", mark == other);
            }
        }
        Means::Debit { debtor, name, .. } => {
            if let Means::Debit { debtor: other, name: other_name, .. } = &again.means {
                compare_debtors(&mut compare, debtor, other, ["banco", "telefono", "cedula"]);
                compare("nombre", name == other_name);
            }
        }
        Means::Transfer { debtor, date, reference } => {
            if let Means::Transfer { debtor: other, date: other_date, reference: other_reference } =
                &again.means
            {
                compare("reference", without_zeros(reference) == without_zeros(other_reference));
                compare_debtors(&mut compare, debtor, other, ["bankCode", "phone", "debtorId"]);
                compare("date", date == other_date);
            }
        }
        // Payments by these means are not charges: C2P has an intent, and USDT come without a
        // request.
        Means::C2p { .. } | Means::Usdt { .. } => {}
    }
    compare(again.means.description_field(), payment.description == again.description);
    let (before, is) = (
        payment.marketplace.as_ref().map(|sale| (sale.merchant, sale.commission_percent)),
        again.marketplace,
    );
    compare("merchantId", before.map(|(merchant, _)| merchant) == is.map(|(merchant, _)| merchant));
    compare("applicationFeePercent", before.map(|(_, percent)| percent) == is.map(|(_, percent)| percent));
    differs
}

fn compare_debtors(
    compare: &mut impl FnMut(&'static str, bool),
    one: &Debtor,
    other: &Debtor,
    [bank, phone, id]: [&'static str; 3],
) {
    compare(bank, one.bank == other.bank);
    compare(phone, one.phone == other.phone);
    compare(id, one.id == other.id);
}
