//! Money that a conversion may spend: the available balance, and then holds, in the order in which
//! they would end (`docs/contract.md, 9.4`).

use crate::codec::stored;
use crate::ledger::book::Book;
use crate::ledger::{HOLDS_MAX, HoldChange, Ledger, Release};
use crate::refusal::{ConversionRefusal, Refusal};
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::time::Timestamp;

stored! {
    /// Money that was taken out of a hold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Taken {
        /// The instant at which the hold would have ended.
        0 pub release_at: Timestamp,
        1 pub hold: Id,
        /// The amount, in minor units.
        2 pub minor: i64,
    }
}

impl Taken {
    /// The change of the hold, multiplied by `sign`: −1 takes the money, 1 gives it back.
    pub const fn change(&self, currency: Currency, sign: i64) -> HoldChange {
        HoldChange {
            ledger: Ledger::Tenant,
            currency,
            release_at: Release::At(self.release_at),
            hold: self.hold,
            minor: sign * self.minor,
        }
    }
}

/// Takes `minor` units of the tenant's balance in a currency: returns the holds that they come out
/// of once the available balance is used up. Money that is set aside until a decision cannot be
/// taken, nor can holds beyond the first [`HOLDS_MAX`], nor anything while the available balance is
/// below zero.
pub fn take(book: &Book, currency: Currency, minor: i64) -> Result<Vec<Taken>, Refusal> {
    let available = book.spendable(currency);
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
