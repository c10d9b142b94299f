//! The double entry: postings that sum to zero per currency in every record, the rows that a tenant
//! sees of them, and accounts with holds.
//!
//! Rules that hold for money whatever it is for belong here: books, holds, days, sellers' accounts
//! and the invariants. Why money moves does not: that is said by a resource.
//!
//! The book of a tenant (`book.rs`) is the exception: besides accounts it keeps what a decision needs in
//! one turn of sellers, sales, conversions and payouts, so that it knows the states of those.

pub mod balance;
pub mod book;
pub mod days;
pub mod invariants;
pub mod sellers;
pub mod spending;
pub mod totals;
pub mod waiting;

use crate::codec::{stored, stored_as};
use crate::values::ids::{EntityId, Id};
use crate::values::money::Currency;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use persistent::SortedMap;

stored! {
    /// The owner of an account, or its purpose.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Ledger {
        /// The tenant's own balance.
        0 Tenant,
        1 Seller(Id),
        2 Fees,
        /// Money in transit on a rail: what banks owe us is negative here.
        3 Rail,
        /// The operator: adjustments and test money.
        4 Operator,
        /// The exchange: takes bolívares and pesos, gives USDT.
        5 Exchange,
    }

    /// The types of movements (`docs/contract.md, 6.2`), in the order of their list facets. New ones
    /// are added at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum MovementKind {
        0 Payment = 1 "payment",
        1 Fee "fee",
        2 FeeReversal "fee_reversal",
        3 Reversal "reversal",
        4 Chargeback "chargeback",
        5 ChargebackFee "chargeback_fee",
        6 ChargebackReversal "chargeback_reversal",
        7 Payout "payout",
        8 PayoutFee "payout_fee",
        9 PayoutReversal "payout_reversal",
        10 Adjustment "adjustment",
        11 SellerTransfer "seller_transfer",
        12 SellerTransferReversal "seller_transfer_reversal",
        13 Conversion "conversion",
        14 ConversionReversal "conversion_reversal",
        /// The operator's share of a sale through a link.
        15 PlatformFee "PLATFORM_FEE",
        16 Deposit "deposit",
    }

    /// A side of the double entry.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Posting {
        0 pub ledger: Ledger,
        1 pub currency: Currency,
        /// The signed amount, in minor units; never zero.
        2 pub minor: i64,
        /// The posting as its owner sees it: there is one for tenants and sellers, and for no others.
        3 pub row: Option<Box<Row>>,
    }

    /// A movement as its owner sees it. The movement's id is derived from the record and the posting's
    /// place in it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Row {
        0 pub kind: MovementKind,
        1 pub subject: Option<EntityId>,
        2 pub chargeback: Option<Id>,
        3 pub external_ref: Option<ExternalRef>,
        4 pub description: String,
        /// The end of the hold that came with it.
        5 pub available_at: Option<Timestamp>,
    }

    /// A change of what is held on an account.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HoldChange {
        0 pub ledger: Ledger,
        1 pub currency: Currency,
        2 pub release_at: Release,
        /// The id of what the money is held for: the payment, the conversion, the deposit or the
        /// adjustment.
        3 pub hold: Id,
        /// The amount added to the hold, in minor units; negative to take from it.
        4 pub minor: i64,
    }
}

impl Row {
    /// A row about an entity, in these words.
    pub fn new(kind: MovementKind, subject: EntityId, words: &str) -> Row {
        Row {
            kind,
            subject: Some(subject),
            chargeback: None,
            external_ref: None,
            description: words.to_owned(),
            available_at: None,
        }
    }
}

/// The end of a hold. Those that end at an instant come first, in the order of their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Release {
    /// The hold ends without a decision, at this instant.
    At(Timestamp),
    /// The hold ends with a bank's decision about a reversal or a refund, for which the money is
    /// set aside. No clock ends it.
    WhenDecided,
}

// Milliseconds since 1970, as an instant is; what has no instant is later than all that have one.
stored_as! {
    Release as i64: |release| match release {
        Release::At(at) => at.unix_ms(),
        Release::WhenDecided => i64::MAX,
    },
    |ms| Ok(if ms == i64::MAX { Release::WhenDecided } else { Release::At(Timestamp::from_unix_ms(ms)) })
}

#[cfg(test)]
impl crate::codec::tests::Sampled for Release {
    fn sample(full: bool, number: &mut u64) -> Release {
        if full { Release::WhenDecided } else { Timestamp::sample(true, number).into() }
    }
}

impl Release {
    /// The instant at which the hold ends without a decision, if it does.
    pub fn instant(self) -> Option<Timestamp> {
        match self {
            Release::At(at) => Some(at),
            Release::WhenDecided => None,
        }
    }
}

impl From<Timestamp> for Release {
    fn from(at: Timestamp) -> Release {
        Release::At(at)
    }
}

/// The largest number of holds that one record may take from. The record names each of them twice,
/// about 60 bytes together, and may have 16 MiB: this stays far below, and keeps a turn of the book
/// short.
pub const HOLDS_MAX: usize = 20_000;

stored! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Account {
        /// The sum of all postings, in minor units.
        0 pub net: i64,
        /// The sum of all holds, in minor units.
        1 pub held: i64,
        /// The holds, in the order of their ends; amounts in minor units.
        2 pub holds: SortedMap<(Release, Id), i64>,
    }
}

impl Account {
    /// Releases the holds that end at or before `now`.
    pub fn settle(&mut self, now: Timestamp) {
        while let Some((&(Release::At(at), _), &minor)) = self.holds.first_key_value()
            && at <= now
        {
            self.holds.pop_first();
            self.held -= minor;
        }
    }

    /// Adds `change.minor` to a hold, and removes the hold at zero. A change that would leave less
    /// than zero is a breach, which the invariants find.
    pub fn hold(&mut self, change: &HoldChange) {
        let key = (change.release_at, change.hold);
        let left = self.holds.with(
            key,
            || 0,
            |minor| {
                *minor += change.minor;
                *minor
            },
        );
        if left == 0 {
            self.holds.remove(&key);
        }
        self.held += change.minor;
    }

    /// The amount held under this id until `release_at`, in minor units; 0 if there is no such
    /// hold.
    pub fn held_for(&self, release_at: impl Into<Release>, hold: Id) -> i64 {
        self.holds.get(&(release_at.into(), hold)).copied().unwrap_or(0)
    }

    /// The holds that end by themselves, in the order of their ends.
    pub fn holds_with_an_end(&self) -> impl Iterator<Item = ((Timestamp, Id), i64)> {
        self.holds
            .iter()
            .map_while(|((release_at, hold), held)| Some(((release_at.instant()?, *hold), *held)))
    }

    /// The sum of all that is set aside until a bank decides, in minor units.
    pub fn undecided(&self) -> i64 {
        let first = (Release::WhenDecided, Id::from_bytes([0; 16]));
        self.holds.iter_from(&first).map(|(_, minor)| minor).sum()
    }

    pub fn holds_until(&self, release_at: Release) -> bool {
        self.holds
            .iter_from(&(release_at, Id::from_bytes([0; 16])))
            .next()
            .is_some_and(|((at, _), _)| *at == release_at)
    }

    /// The balance less the holds and before any reserve, in minor units.
    pub fn free(&self) -> i64 {
        self.net - self.held
    }

    /// The instant at which the next hold ends without a decision.
    pub fn next_release(&self) -> Option<Timestamp> {
        self.holds.first_key_value().and_then(|((release_at, _), _)| release_at.instant())
    }
}
