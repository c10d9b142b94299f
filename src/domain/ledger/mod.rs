//! The double entry: postings that sum to zero per currency in every record, the rows that a tenant
//! sees of them, and accounts with holds.

pub mod book;
pub mod invariants;
pub mod sellers;

use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::Currency;
use crate::values::time::Timestamp;
use persistent::SortedMap;

/// Whose money it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// The types of movements (`docs/contract.md, 6.2`), in the order of their list facets. New ones
/// are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// The cost of that.
    ChargebackFee,
    /// A dispute was won.
    ChargebackReversal,
    /// Money sent out.
    Payout,
    /// The cost of that.
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoldChange {
    /// Whose account.
    pub ledger: Ledger,
    /// In what.
    pub currency: Currency,
    /// The instant at which it ends.
    pub release_at: Release,
    /// What is held for: the payment, the conversion, the deposit, or the adjustment's id.
    pub hold: Id,
    /// Added to what is held, in minor units.
    pub minor: i64,
}

/// When a hold ends. Those that end at an instant come first, in the order of their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Release {
    /// By itself, at this instant.
    At(Timestamp),
    /// With a bank's decision: money that is set aside while it decides about a reversal or a
    /// refund. No clock ends it.
    WhenDecided,
}

impl Release {
    /// What earlier versions wrote for [`Release::WhenDecided`]: the last instant of the calendar.
    /// Their records mean what they meant then, so such a hold ends when a clock gets there; until
    /// then it is one that a bank decides about.
    const LAST_INSTANT: Release = Release::At(Timestamp::MAX);

    /// The instant at which it ends by itself, if it does.
    pub fn instant(self) -> Option<Timestamp> {
        match self {
            Release::LAST_INSTANT | Release::WhenDecided => None,
            Release::At(at) => Some(at),
        }
    }

    /// Whether it is over.
    fn has_come(self, now: Timestamp) -> bool {
        matches!(self, Release::At(at) if at <= now)
    }
}

impl From<Timestamp> for Release {
    fn from(at: Timestamp) -> Release {
        Release::At(at)
    }
}

/// Holds that one record may take from. It names each of them twice, about 60 bytes together, and a
/// record has 16 MiB: so many are far below that, and no book's turn is long.
pub const HOLDS_MAX: usize = 20_000;

/// One balance in one currency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The sum of all postings.
    pub net: i64,
    /// The sum of all holds.
    pub held: i64,
    /// What is held, by when it ends.
    pub holds: SortedMap<(Release, Id), i64>,
}

impl Account {
    /// Lets the holds that end at or before `now` go.
    pub fn settle(&mut self, now: Timestamp) {
        while let Some((&(release_at, _), &minor)) = self.holds.first_key_value()
            && release_at.has_come(now)
        {
            self.holds.pop_first();
            self.held -= minor;
        }
    }

    /// Changes a hold. A change that would leave less than nothing is a breach, which the
    /// invariants find.
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
    pub fn held_for(&self, release_at: impl Into<Release>, hold: Id) -> i64 {
        self.holds.get(&(release_at.into(), hold)).copied().unwrap_or(0)
    }

    /// What is set aside under this name until a bank has decided: of an earlier version's record
    /// under the calendar's last instant, and nothing if a clock was there already.
    pub fn set_aside_for(&self, hold: Id) -> impl Iterator<Item = (Release, i64)> {
        [Release::LAST_INSTANT, Release::WhenDecided]
            .map(|release_at| (release_at, self.held_for(release_at, hold)))
            .into_iter()
            .filter(|(_, minor)| *minor > 0)
    }

    /// All that is set aside until a bank has decided.
    pub fn undecided(&self) -> i64 {
        self.holds.iter_from(&(Release::LAST_INSTANT, Id::from_bytes([0; 16]))).map(|(_, minor)| minor).sum()
    }

    /// Whether anything is held until exactly then.
    pub fn holds_until(&self, release_at: Release) -> bool {
        self.holds
            .iter_from(&(release_at, Id::from_bytes([0; 16])))
            .next()
            .is_some_and(|((at, _), _)| *at == release_at)
    }

    /// What may be spent, before any reserve.
    pub fn free(&self) -> i64 {
        self.net - self.held
    }

    /// The instant at which the next hold ends.
    pub fn next_release(&self) -> Option<Timestamp> {
        self.holds.first_key_value().and_then(|((release_at, _), _)| release_at.instant())
    }
}
