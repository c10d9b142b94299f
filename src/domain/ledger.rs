//! The double entry: postings that sum to zero per currency in every record, the rows that a tenant sees of them, and accounts with holds.

use crate::domain::external_ref::ExternalRef;
use crate::domain::ids::{EntityId, Id};
use crate::domain::money::Currency;
use crate::domain::sorted::SortedMap;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};

/// Whose money it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum Ledger {
    /// The tenant's own balance.
    Tenant,
    /// A seller's balance, owed by the tenant.
    Seller(Id),
    /// What the platform earned.
    Fees,
    /// Money in transit on a rail: what banks owe us is negative here.
    Rail,
    /// The operator: adjustments and test money.
    Operator,
    /// The exchange: takes bolívares and pesos, gives USDT.
    Exchange,
}

/// The types of movements (`contract.md`, section 6), in the order of their list facets. New ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[repr(u8)]
pub enum MovementKind {
    /// A sale.
    Payment = 1,
    /// Its fee.
    Fee,
    /// The fee comes back.
    FeeReversal,
    /// A sale goes back.
    Reversal,
    /// A bank takes a card sale back.
    Chargeback,
    /// What that costs.
    ChargebackFee,
    /// A dispute was won.
    ChargebackReversal,
    /// Money sent out.
    Payout,
    /// What that costs.
    PayoutFee,
    /// A payout failed.
    PayoutReversal,
    /// The operator corrects, or test money.
    Adjustment,
    /// The seller's share of a sale.
    SellerTransfer,
    /// The seller's share goes back.
    SellerTransferReversal,
    /// Money that became USDT.
    Conversion,
    /// A conversion was canceled.
    ConversionReversal,
    /// The operator's share of a sale through a link.
    PlatformFee,
    /// USDT received.
    Deposit,
}

impl MovementKind {
    /// All of them, in facet order.
    pub const ALL: [MovementKind; 17] = [
        MovementKind::Payment,
        MovementKind::Fee,
        MovementKind::FeeReversal,
        MovementKind::Reversal,
        MovementKind::Chargeback,
        MovementKind::ChargebackFee,
        MovementKind::ChargebackReversal,
        MovementKind::Payout,
        MovementKind::PayoutFee,
        MovementKind::PayoutReversal,
        MovementKind::Adjustment,
        MovementKind::SellerTransfer,
        MovementKind::SellerTransferReversal,
        MovementKind::Conversion,
        MovementKind::ConversionReversal,
        MovementKind::PlatformFee,
        MovementKind::Deposit,
    ];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            MovementKind::Payment => "payment",
            MovementKind::Fee => "fee",
            MovementKind::FeeReversal => "fee_reversal",
            MovementKind::Reversal => "reversal",
            MovementKind::Chargeback => "chargeback",
            MovementKind::ChargebackFee => "chargeback_fee",
            MovementKind::ChargebackReversal => "chargeback_reversal",
            MovementKind::Payout => "payout",
            MovementKind::PayoutFee => "payout_fee",
            MovementKind::PayoutReversal => "payout_reversal",
            MovementKind::Adjustment => "adjustment",
            MovementKind::SellerTransfer => "seller_transfer",
            MovementKind::SellerTransferReversal => "seller_transfer_reversal",
            MovementKind::Conversion => "conversion",
            MovementKind::ConversionReversal => "conversion_reversal",
            MovementKind::PlatformFee => "PLATFORM_FEE",
            MovementKind::Deposit => "deposit",
        }
    }

    /// From what a filter names.
    pub fn from_name(name: &str) -> Option<Self> {
        MovementKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One side of the double entry.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Posting {
    /// Whose account.
    pub ledger: Ledger,
    /// In what.
    pub currency: Currency,
    /// Signed, in minor units; never zero.
    pub minor: i64,
    /// How its owner sees it; only tenants and sellers see theirs.
    pub row: Option<Box<Row>>,
}

/// A movement as its owner sees it. Its id is derived from the record and its place in it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Row {
    /// What kind of movement.
    pub kind: MovementKind,
    /// The payment or payout that it belongs to.
    pub subject: Option<EntityId>,
    /// The chargeback that it belongs to.
    pub chargeback: Option<Id>,
    /// The tenant's reference.
    pub external_ref: Option<ExternalRef>,
    /// For people.
    pub description: String,
    /// The end of the hold that came with it.
    pub available_at: Option<Timestamp>,
}

/// A change of what is held on an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct HoldChange {
    /// Whose account.
    pub ledger: Ledger,
    /// In what.
    pub currency: Currency,
    /// The instant at which it ends.
    pub release_at: Timestamp,
    /// What is held for: the payment, the conversion, the deposit, or the adjustment's id.
    pub hold: Id,
    /// Added to what is held, in minor units.
    pub minor: i64,
}

/// A hold without an end: money set aside while a bank decides about a reversal.
pub const UNTIL_DECIDED: Timestamp = Timestamp::from_unix_ms(i64::MAX);

/// Holds that one record may take from. It names each of them twice, about 60 bytes together, and a record has 16 MiB: so many are far below that, and no book's turn is long.
pub const HOLDS_MAX: usize = 20_000;

/// One balance in one currency.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Account {
    /// The sum of all postings.
    pub net: i64,
    /// The sum of all holds.
    pub held: i64,
    /// What is held, by the instant at which it ends.
    pub holds: SortedMap<(Timestamp, Id), i64>,
}

impl Account {
    /// Lets the holds that end at or before `now` go.
    pub fn settle(&mut self, now: Timestamp) {
        while let Some((&(release_at, _), &minor)) = self.holds.first_key_value()
            && release_at <= now
        {
            self.holds.pop_first();
            self.held -= minor;
        }
    }

    /// Changes a hold. A change that would leave less than nothing is a breach, which the invariants find.
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

    /// What is held under this name until then.
    pub fn held_for(&self, release_at: Timestamp, hold: Id) -> i64 {
        self.holds.get(&(release_at, hold)).copied().unwrap_or(0)
    }

    /// Whether anything is held until exactly then.
    pub fn holds_until(&self, release_at: Timestamp) -> bool {
        self.holds.iter_from(&(release_at, Id::from_bytes([0; 16]))).next().is_some_and(|((at, _), _)| *at == release_at)
    }

    /// What may be spent, before any reserve.
    pub fn free(&self) -> i64 {
        self.net - self.held
    }

    /// When the next hold ends.
    pub fn next_release(&self) -> Option<Timestamp> {
        self.holds.first_key_value().map(|((at, _), _)| *at).filter(|at| *at != UNTIL_DECIDED)
    }
}
