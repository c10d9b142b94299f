//! What a book answers: its balance at an instant, its clock, its platform.

use crate::ledger::book::Book;
use crate::ledger::sellers::SellerBalance;
use crate::platform::{ApiKey, Tenant};
use crate::resources::banks::BankBook;
use crate::resources::crypto::CryptoBalance;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Ves};
use crate::values::time::Timestamp;
use persistent::{SortedMap, SortedSet};
use std::sync::Arc;

/// A question to a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The balance in bolívares, now.
    Balance,
    /// The tenant's clock.
    Clock,
    /// All tenants and keys, of the platform's book.
    Platform,
    /// A key by its id, of the platform's book.
    Key(Id),
    /// The balance of a seller, now.
    Seller(Id),
    /// The balance in USDT, now.
    Crypto,
    /// The balance in pesos, now.
    CopBalance,
    /// The banks, of the platform's book.
    Banks,
    /// What is due by itself one day.
    Agenda,
}

/// The answer.
pub enum View {
    /// To [`Query::Balance`].
    Balance(Balance),
    /// To [`Query::Clock`].
    Clock(Timestamp),
    /// To [`Query::Platform`].
    Platform {
        /// Every tenant.
        tenants: SortedMap<u32, Arc<Tenant>>,
        /// Every key.
        keys: SortedMap<Id, Arc<ApiKey>>,
    },
    /// To [`Query::Key`]; `None` when there is no such key.
    Key(Option<Arc<ApiKey>>),
    /// To [`Query::Seller`]; `None` when there is no such seller.
    Seller(Option<SellerBalance>),
    /// To [`Query::Crypto`].
    Crypto(CryptoBalance),
    /// To [`Query::CopBalance`].
    CopBalance(CopBalance),
    /// To [`Query::Banks`].
    Banks(Box<BankBook>),
    /// To [`Query::Agenda`].
    Agenda {
        /// The tenant's clock.
        now: Timestamp,
        /// The instants of what is due.
        due: SortedSet<(Timestamp, EntityId)>,
    },
}

/// The balance in pesos (`docs/contract.md, 11.7`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopBalance {
    /// The sum of all movements.
    pub ledger_net: Cop,
    /// The amount that is held.
    pub held: Cop,
    /// The instant at which the next hold ends.
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
    /// The sum of all movements.
    pub ledger_net: Ves,
    /// What stays.
    pub reserve: Ves,
    /// The amount that is held.
    pub held: Ves,
    /// The instant at which the next hold ends.
    pub next_release: Option<Timestamp>,
    /// The amount that may be paid out.
    pub available: Ves,
    /// What became USDT.
    pub converted: Ves,
    /// What sellers are owed, pending.
    pub seller_pending: Ves,
    /// What sellers are owed, available.
    pub seller_available: Ves,
}

/// The balance of a settled book.
pub fn balance(book: &Book) -> Balance {
    let account = book.account(Currency::Ves);
    let (seller_pending, seller_available) = book.seller_totals();
    Balance {
        ledger_net: Ves::from_minor(account.net),
        reserve: book.tenant_settings.settings.reserve,
        held: Ves::from_minor(account.held),
        next_release: account.next_release(),
        available: book.available(),
        converted: Ves::from_minor(book.converted.ves()),
        seller_pending: Ves::from_minor(seller_pending),
        seller_available: Ves::from_minor(seller_available),
    }
}
