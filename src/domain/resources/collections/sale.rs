//! A sale in any currency: its shares, postings and holds, and those of its reversal
//! (`docs/contract.md, 6.3, 6.4`). All figures are in minor units.

use crate::decision::{Draft, Turn};
use crate::entities::sale::Marketplace;
use crate::events::{BalanceReason, EventKind};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::ledger::{Ledger, MovementKind, Row};
use crate::refusal::Refusal;
use crate::resources::collections::set_aside::SetAside;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{AMOUNT_MINOR_MAX, Currency, Rate};
use crate::values::text::ExternalRef;
use crate::values::time::{DAY_MS, Timestamp, nth_business_day_after};
use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};
use std::sync::Arc;

/// The time for which every completed payment is held, in milliseconds (`docs/contract.md, 6.3`).
pub const HOLD_MS: i64 = DAY_MS;

/// The end of the hold on a seller's share: the later of the business days and the 24 hours.
pub fn seller_available_at(book: &Book, turn: &Turn) -> Timestamp {
    let hold = turn.now.plus_ms(HOLD_MS);
    match book.tenant_settings.settings.seller_hold_business_days {
        0 => hold,
        days => nth_business_day_after(turn.now, days, turn.holidays).max(hold),
    }
}

/// The shares in a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    pub fee: i64,
    pub commission: Option<i64>,
    /// The seller's share; negative when the commission and the fee exceed the amount.
    pub seller_net: Option<i64>,
    pub platform_fee: Option<i64>,
}

impl Figures {
    /// The shares in a sale of `amount` with this fee, each rounded half up. `commission_percent` is the part that the
    /// tenant keeps of a seller's sale, and `link_percent` the operator's of a sale through a payment link: it comes out
    /// of the commission, so the lower percentage counts, and what the tenant keeps is never negative
    /// (`docs/contract.md, 12.3`). `None` when a figure overflows.
    pub fn of(
        amount: i64,
        fee: i64,
        commission_percent: Option<Rate>,
        link_percent: Option<Rate>,
    ) -> Option<Figures> {
        let share = |percent: Rate| {
            let exact = percent.percent_of(Decimal::from(amount))?;
            let rounded = exact.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero);
            rounded.to_i64().filter(|minor| minor.abs() <= AMOUNT_MINOR_MAX)
        };
        let left = amount.checked_sub(fee)?;
        let platform_fee = match link_percent {
            Some(link) => Some(share(commission_percent.map_or(link, |own| own.min(link)))?.min(left)),
            None => None,
        };
        let (commission, seller_net) = match commission_percent {
            Some(percent) => {
                let commission = share(percent)?;
                (Some(commission), Some(left.checked_sub(commission)?))
            }
            None => (None, None),
        };
        Some(Figures { fee, commission, seller_net, platform_fee })
    }

    /// Refuses a sale of which a seller would owe something.
    pub fn leaves_something(&self) -> Result<(), Refusal> {
        if self.seller_net.is_some_and(|net| net < 0) {
            return Err(Refusal::Invalid {
                field: "applicationFeePercent",
                message: "the commission and the fee together exceed the amount",
            });
        }
        Ok(())
    }

    /// The seller's side of a sale that completes now. One who was deleted meanwhile cannot be owed anything, so the
    /// tenant keeps the share; and none has to pay because fees rose since the sale began.
    pub fn shared<A: Clone>(
        &self,
        sale: &Marketplace<A>,
        of_minor: fn(i64) -> A,
        book: &Book,
        turn: &Turn,
    ) -> Box<Marketplace<A>> {
        let is_there = book.sellers.contains_key(&sale.merchant);
        let net = self.seller_net.filter(|_| is_there).unwrap_or_default().max(0);
        Box::new(Marketplace {
            commission: self.commission.map(of_minor),
            seller_net: Some(of_minor(net)),
            seller_available_at: Some(seller_available_at(book, turn)),
            ..sale.clone()
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct SellerShare {
    pub merchant: Id,
    pub minor: i64,
    pub available_at: Timestamp,
}

impl SellerShare {
    /// The share in a completed sale.
    pub fn of<A: Copy>(sale: Option<&Marketplace<A>>, minor: fn(A) -> i64) -> Option<SellerShare> {
        let sale = sale?;
        let (minor, available_at) = (minor(sale.seller_net?), sale.seller_available_at?);
        Some(SellerShare { merchant: sale.merchant, minor, available_at })
    }
}

pub struct Sale {
    pub currency: Currency,
    pub subject: EntityId,
    pub external_ref: Option<ExternalRef>,
    pub amount: i64,
    pub fee: i64,
    /// The operator's share of a sale through a payment link.
    pub platform_fee: i64,
    pub share: Option<SellerShare>,
}

impl Sale {
    fn row(&self, kind: MovementKind, words: &str, available_at: Option<Timestamp>) -> Option<Row> {
        let external_ref = self.external_ref.clone();
        Some(Row { external_ref, available_at, ..Row::new(kind, self.subject, words) })
    }

    /// Posts and holds the money of a sale, and says that it is made: the event, and to the seller their share.
    /// Returns the part of it that is the tenant's own.
    pub fn collect(&self, draft: &mut Draft, book: &Book, available_at: Timestamp) -> i64 {
        let mut post = |minor, kind, words, against| {
            let row = self.row(kind, words, Some(available_at));
            draft.post((self.currency, minor), (Ledger::Tenant, row), against);
        };
        let words = "operator's share of a sale through a link";
        post(self.amount, MovementKind::Payment, "payment received", (Ledger::Rail, None));
        post(-self.fee, MovementKind::Fee, "payment fee", (Ledger::Fees, None));
        post(-self.platform_fee, MovementKind::PlatformFee, words, (Ledger::Fees, None));
        if let Some(SellerShare { merchant, minor, available_at: at }) = self.share {
            let kind = MovementKind::SellerTransfer;
            let seller = Ledger::Seller(merchant);
            let theirs = self.row(kind, "share of the payment", Some(at));
            post(-minor, kind, "seller's share of the payment", (seller, theirs));
            draft.hold((seller, self.currency), at, self.subject.id, minor);
        }
        let parts = [self.fee, self.platform_fee, self.share.map_or(0, |share| share.minor)];
        let own = parts.into_iter().try_fold(self.amount, i64::checked_sub).unwrap_or_default();
        draft.hold((Ledger::Tenant, self.currency), available_at, self.subject.id, own);
        draft.event(EventKind::PaymentCompleted, self.subject);
        if let Some(share) = self.share.filter(|share| share.minor != 0) {
            sellers::tell(draft, book, share.merchant, self.currency, share.minor, BalanceReason::Sale);
        }
        own
    }

    /// Posts the reversal of the whole sale, with its fee, from what is set aside for it. Then says that it was given
    /// back: the event, to the seller what is left to them, and the outcome in place of the kept answer.
    pub fn give_back(
        &self,
        draft: &mut Draft,
        book: &Book,
        words: &str,
        aside: &SetAside<'_>,
        kept: Option<Arc<KeepRef>>,
    ) {
        let mut post = |minor, kind, words, against| {
            draft.post((self.currency, minor), (Ledger::Tenant, self.row(kind, words, None)), against);
        };
        post(-self.amount, MovementKind::Reversal, words, (Ledger::Rail, None));
        post(self.fee, MovementKind::FeeReversal, "payment fee returned", (Ledger::Fees, None));
        let returned = "operator's share returned";
        post(self.platform_fee, MovementKind::PlatformFee, returned, (Ledger::Fees, None));
        if let Some(SellerShare { merchant, minor, .. }) = self.share {
            let kind = MovementKind::SellerTransferReversal;
            let theirs = self.row(kind, "share of the payment returned", None);
            post(minor, kind, "seller's share returned", (Ledger::Seller(merchant), theirs));
        }
        aside.end(draft, book);
        draft.event(EventKind::PaymentReversed, self.subject);
        if let Some(share) = self.share.filter(|share| share.minor != 0) {
            let from_seller = aside.money.sellers.total();
            let (merchant, reason) = (share.merchant, BalanceReason::Reversal);
            sellers::tell(draft, book, merchant, self.currency, -from_seller, reason);
        }
        draft.replaces_kept = kept;
    }
}
