//! The postings and holds of a sale, and of its reversal (`docs/contract.md, 6.3, 6.4`).

use crate::decision::Draft;
use crate::events::{BalanceReason, EventKind};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::ledger::{HoldChange, Ledger, MovementKind, Posting, Row};
use crate::values::ids::{EntityId, Id};
use crate::values::money::Currency;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub struct SellerShare {
    pub merchant: Id,
    /// The amount, in minor units.
    pub minor: i64,
    pub available_at: Timestamp,
}

/// A sale, in minor units of its currency.
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
    fn row(&self, kind: MovementKind, words: &str, available_at: Option<Timestamp>) -> Option<Box<Row>> {
        Some(Box::new(Row {
            kind,
            subject: Some(self.subject),
            chargeback: None,
            external_ref: self.external_ref.clone(),
            description: words.to_owned(),
            available_at,
        }))
    }

    fn post(&self, draft: &mut Draft, ledger: Ledger, minor: i64, row: Option<Box<Row>>) {
        draft.post(Posting { ledger, currency: self.currency, minor, row });
    }

    fn hold(&self, draft: &mut Draft, ledger: Ledger, release_at: Timestamp, minor: i64) {
        let release_at = release_at.into();
        draft.hold(HoldChange { ledger, currency: self.currency, release_at, hold: self.subject.id, minor });
    }

    /// Posts and holds the money of a sale; returns the part of it that is the tenant's own, in
    /// minor units.
    pub fn collect(&self, draft: &mut Draft, available_at: Timestamp) -> i64 {
        let row = |kind, words| self.row(kind, words, Some(available_at));
        self.post(draft, Ledger::Tenant, self.amount, row(MovementKind::Payment, "payment received"));
        self.post(draft, Ledger::Rail, -self.amount, None);
        self.post(draft, Ledger::Tenant, -self.fee, row(MovementKind::Fee, "payment fee"));
        self.post(draft, Ledger::Fees, self.fee, None);
        let words = "operator's share of a sale through a link";
        self.post(draft, Ledger::Tenant, -self.platform_fee, row(MovementKind::PlatformFee, words));
        self.post(draft, Ledger::Fees, self.platform_fee, None);
        if let Some(SellerShare { merchant, minor, available_at: at }) = self.share {
            let kind = MovementKind::SellerTransfer;
            self.post(draft, Ledger::Tenant, -minor, row(kind, "seller's share of the payment"));
            let theirs = self.row(kind, "share of the payment", Some(at));
            self.post(draft, Ledger::Seller(merchant), minor, theirs);
            self.hold(draft, Ledger::Seller(merchant), at, minor);
        }
        let parts = [self.fee, self.platform_fee, self.share.map_or(0, |share| share.minor)];
        let own = parts.into_iter().try_fold(self.amount, i64::checked_sub).unwrap_or_default();
        self.hold(draft, Ledger::Tenant, available_at, own);
        own
    }

    /// Says that the sale was given back: the event, to the seller what is left to them,
    /// `from_seller` of whose balance went back, and the outcome in place of the kept answer.
    pub fn given_back(&self, draft: &mut Draft, book: &Book, from_seller: i64, kept: Option<Arc<KeepRef>>) {
        draft.event(EventKind::PaymentReversed, self.subject);
        if let Some(share) = self.share.filter(|share| share.minor != 0) {
            let (merchant, reason) = (share.merchant, BalanceReason::Reversal);
            sellers::tell(draft, book, merchant, self.currency, -from_seller, reason);
        }
        draft.replaces_kept = kept;
    }

    /// Posts the reversal of the whole sale, with its fee.
    pub fn give_back(&self, draft: &mut Draft, words: &str) {
        let row = |kind, words| self.row(kind, words, None);
        self.post(draft, Ledger::Tenant, -self.amount, row(MovementKind::Reversal, words));
        self.post(draft, Ledger::Rail, self.amount, None);
        self.post(draft, Ledger::Tenant, self.fee, row(MovementKind::FeeReversal, "payment fee returned"));
        self.post(draft, Ledger::Fees, -self.fee, None);
        let returned = row(MovementKind::PlatformFee, "operator's share returned");
        self.post(draft, Ledger::Tenant, self.platform_fee, returned);
        self.post(draft, Ledger::Fees, -self.platform_fee, None);
        if let Some(SellerShare { merchant, minor, .. }) = self.share {
            let kind = MovementKind::SellerTransferReversal;
            self.post(draft, Ledger::Tenant, minor, row(kind, "seller's share returned"));
            self.post(draft, Ledger::Seller(merchant), -minor, row(kind, "share of the payment returned"));
        }
    }
}
