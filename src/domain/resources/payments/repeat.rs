//! Repeats of a charge on a reference that is known: the same payload, or another.

use super::charge::{NewCharge, Price};
use super::{Debtor, Means, Payment, without_zeros};
use crate::decision::Ruling;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::refusal::Refusal;

/// The ruling on a known reference: a repeat of the same payload is answered with its payment,
/// another is a conflict. Any earlier attempt counts, whatever its end and its method.
pub fn repeat(book: &Book, payment: &Payment, again: &NewCharge) -> Ruling {
    let differs = differs(payment, again);
    if differs.is_empty() {
        return Ruling::unchanged();
    }
    if differs.contains(&"merchantId") && sellers::is_unknown(book, again.marketplace) {
        return Ruling::refuse(Refusal::NotFound);
    }
    Ruling::refuse(Refusal::ExternalRefConflict { existing: payment.id, differs })
}

/// The names of the members in which a repeat differs (`docs/contract.md, 1.7`).
fn differs(payment: &Payment, again: &NewCharge) -> Vec<&'static str> {
    let same_price = match again.price {
        Price::Usd(usd) => payment.usd == usd,
        Price::Ves(ves) => payment.ves == ves,
    };
    let mut differs = Vec::new();
    let mut compare = |name, same: bool| {
        if !same {
            differs.push(name);
        }
    };
    compare("method", payment.method() == again.means.method());
    compare(again.price.field(), same_price);
    // Payments by different means differ in the method.
    match &payment.means {
        Means::Card { mark, .. } => {
            if let Means::Card { mark: other, .. } = &again.means {
                compare("card", mark == other);
            }
        }
        Means::Debit { debtor, name } => {
            if let Means::Debit { debtor: other, name: other_name } = &again.means {
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
