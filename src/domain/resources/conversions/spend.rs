//! Money that a conversion may spend: the available balance, and then holds, in the order in which
//! they would end (`docs/contract.md, 9.4`).

use crate::entities::conversion::Taken;
use crate::ledger::HOLDS_MAX;
use crate::ledger::book::Book;
use crate::refusal::{ConversionRefusal, Refusal};
use crate::values::money::Currency;

/// Takes `minor` units of the tenant's balance in a currency: returns the holds that they come out
/// of once the available balance is used up. Money that is set aside until a decision cannot be
/// taken, nor can holds beyond the first [`HOLDS_MAX`], nor anything while the available balance is
/// below zero.
pub fn take(book: &Book, currency: Currency, minor: i64) -> Result<Vec<Taken>, Refusal> {
    let available = available(book, currency);
    let mut left = match minor.checked_sub(available) {
        Some(left) if available >= 0 => left,
        _ => return Err(ConversionRefusal::InsufficientBalance { currency, available, spendable: 0 }.into()),
    };
    let account = book.account(currency);
    let mut taken = Vec::new();
    let with_an_end = account
        .holds
        .iter()
        .map_while(|((release_at, hold), held)| Some((release_at.instant()?, hold, held)));
    for (release_at, hold, held) in with_an_end.take(HOLDS_MAX) {
        if left <= 0 {
            break;
        }
        let minor = left.min(*held);
        taken.push(Taken { release_at, hold: *hold, minor });
        left -= minor;
    }
    if left > 0 {
        let held: i64 = taken.iter().map(|taken| taken.minor).sum();
        return Err(ConversionRefusal::InsufficientBalance {
            currency,
            available,
            spendable: available + held,
        }
        .into());
    }
    Ok(taken)
}

/// The balance that could be paid out, in minor units; only bolívares have a reserve.
pub fn available(book: &Book, currency: Currency) -> i64 {
    match currency {
        Currency::Ves => book.available_ves(),
        Currency::Cop | Currency::Usdt => book.account(currency).free(),
    }
}
