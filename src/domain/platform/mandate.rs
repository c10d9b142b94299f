//! The mandate of a key: what it may take out of its account. What was spent of it is in the account's book
//! (`src/domain/ledger/spending.rs`).

use crate::codec::stored;
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::venezuela::{AccountNumber, MobilePhone};
use std::collections::BTreeMap;

/// The most payees that a mandate names.
pub const PAYEES_MAX: usize = 100;

stored! {
    /// The most that may go out, in minor units; of a currency that is not named nothing.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Limits(pub BTreeMap<Currency, i64>);

    /// Who may be paid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Payee {
        0 Merchant(Id),
        1 Account(AccountNumber),
        2 Phone(MobilePhone),
        /// The canonical address of a wallet.
        3 Wallet(Box<str>),
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Mandate {
        /// The key that it was first given to, under which is counted what is spent: also by the keys that come in its
        /// place.
        0 pub id: Id,
        /// Who holds the key.
        1 pub agent: Option<Box<str>>,
        2 pub per_call: Option<Limits>,
        3 pub per_day: Option<Limits>,
        4 pub per_month: Option<Limits>,
        /// All that the account may pay, if it names nobody.
        5 pub payees: Vec<Payee>,
        /// What goes out in a call above this waits for somebody's approval; of a currency that is not named nothing does.
        6 pub approval_above: Option<Limits>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Limit {
        0 PerCall "perCall",
        1 PerDay "perDay",
        2 PerMonth "perMonth",
    }
}
