//! The balances of a tenant in bolívares and in pesos.

use crate::ledger::book::Book;
use crate::values::money::{Cop, Currency, Ves};
use crate::values::time::Timestamp;

/// The balance in pesos (`docs/contract.md, 11.7`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopBalance {
    pub ledger_net: Cop,
    pub held: Cop,
    pub next_release: Option<Timestamp>,
    /// The amount that may be paid out.
    pub available: Cop,
}

/// The balance in pesos of a settled book.
pub fn cop_balance(book: &Book) -> CopBalance {
    let account = book.account(Currency::Cop);
    CopBalance {
        ledger_net: Cop::from_minor(account.net),
        held: Cop::from_minor(account.held),
        next_release: account.next_release(),
        available: Cop::from_minor(account.free()),
    }
}

/// The balance in bolívares (`docs/contract.md, 6.1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    pub ledger_net: Ves,
    /// The reserve, which may not be spent.
    pub reserve: Ves,
    pub held: Ves,
    pub next_release: Option<Timestamp>,
    /// The amount that may be paid out.
    pub available: Ves,
    pub converted: Ves,
    pub seller_pending: Ves,
    /// The bolívares owed to sellers that may be paid out.
    pub seller_available: Ves,
}

pub fn balance(book: &Book) -> Balance {
    balance_with(book, book.seller_totals())
}

/// The balance where what all sellers have together, pending and available, is known: to add it up takes a visit to
/// each seller.
pub fn balance_with(book: &Book, (seller_pending, seller_available): (i64, i64)) -> Balance {
    let account = book.account(Currency::Ves);
    Balance {
        ledger_net: Ves::from_minor(account.net),
        reserve: book.tenant_settings.settings.reserve,
        held: Ves::from_minor(account.held),
        next_release: account.next_release(),
        available: book.available(),
        converted: Ves::from_minor(book.converted.ves),
        seller_pending: Ves::from_minor(seller_pending),
        seller_available: Ves::from_minor(seller_available),
    }
}
