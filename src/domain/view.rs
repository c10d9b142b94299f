//! Queries to a book, and their answers: the balance at an instant, the clock, the platform.

use crate::ledger::Ledger;
use crate::ledger::book::Book;
use crate::ledger::days::Present;
use crate::ledger::sellers::SellerBalance;
use crate::platform::operators::OperatorAccount;
use crate::platform::{ApiKey, Tenant};
use crate::resources::banks::BankBook;
use crate::resources::crypto::CryptoBalance;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Ves};
use crate::values::time::Timestamp;
use persistent::{SortedMap, SortedSet};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Balance,
    Clock,
    /// All tenants, keys and operators, of the platform's book.
    Platform,
    /// A key by its id, of the platform's book.
    Key(Id),
    Seller(Id),
    Crypto,
    CopBalance,
    Banks,
    Agenda,
    /// The days of an account of the tenant, a seller or, with its fees, the platform.
    Days(Ledger, Currency),
    Kept,
}

pub enum View {
    Balance(Balance),
    Clock(Timestamp),
    Platform {
        tenants: SortedMap<u32, Arc<Tenant>>,
        keys: SortedMap<Id, Arc<ApiKey>>,
        operators: SortedMap<Id, Arc<OperatorAccount>>,
        /// The tenants that asked for live mode, and when.
        live_asked: SortedMap<u32, Timestamp>,
    },
    /// The answer to [`Query::Key`]; `None` when there is no such key.
    Key(Option<Arc<ApiKey>>),
    /// The answer to [`Query::Seller`]; `None` when there is no such seller.
    Seller(Option<SellerBalance>),
    Crypto(CryptoBalance),
    CopBalance(CopBalance),
    Banks(Box<BankBook>),
    Agenda {
        now: Timestamp,
        due: SortedSet<(Timestamp, EntityId)>,
    },
    /// The answer to [`Query::Days`]; `None` if the book has no such seller.
    Days(Option<Present>),
    Kept {
        changes: u64,
        entities: Vec<EntityId>,
    },
}

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
    let account = book.account(Currency::Ves);
    let (seller_pending, seller_available) = book.seller_totals();
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
