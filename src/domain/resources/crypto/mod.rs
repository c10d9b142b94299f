//! USDT: deposits at addresses, and payouts to wallets (`docs/contract.md, 10`). The balance itself
//! is an account like the others.
//!
//! Rules for deposits, payouts and transactions belong here. Nodes, keys and the forms of transactions
//! do not: they are in `src/rails/evm/` and `src/wallets/`.

pub mod deposits;
pub mod payouts;
pub mod transfers;

use crate::ledger::book::Book;
use crate::values::money::{Currency, Usdt};
use crate::values::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CryptoBalance {
    pub available: Usdt,
    pub held: Usdt,
    /// Payouts under review or on their way, fees included: no part of the balance any more.
    pub pending_payouts: Usdt,
    pub next_release: Option<Timestamp>,
}

pub fn balance(book: &Book) -> CryptoBalance {
    let account = book.account(Currency::Usdt);
    CryptoBalance {
        available: Usdt::from_minor(account.free()),
        held: Usdt::from_minor(account.held),
        pending_payouts: Usdt::from_minor(book.pending_payouts_usdt),
        next_release: account.next_release(),
    }
}
