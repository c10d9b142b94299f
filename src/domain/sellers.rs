//! Sellers' balances: what is told when one changes, and the record that a release is told by (`contract.md`, sections 6 and 13). The money itself is in the sale, its reversal and
//! the holds; a hold ends at its instant with or without a record.

use crate::domain::book::Book;
use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::events::{BalanceReason, EventKind, Extra};
use crate::domain::ids::{EntityId, Id};
use crate::domain::money::Ves;
use crate::domain::record::Cause;
use crate::domain::time::Timestamp;

/// A seller's balance (`service.md`, "Balance").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerBalance {
    /// The seller.
    pub merchant: Id,
    /// Its name at the tenant's.
    pub external_ref: String,
    /// Held.
    pub pending: Ves,
    /// What may be paid out.
    pub available: Ves,
    /// When the next hold ends.
    pub next_release: Option<Timestamp>,
}

/// The balance of a seller, of a settled book.
pub fn balance(book: &Book, merchant: Id) -> Option<SellerBalance> {
    let seller = book.sellers.get(&merchant)?;
    Some(SellerBalance {
        merchant,
        external_ref: seller.external_ref.clone(),
        pending: Ves::from_minor(seller.account.held),
        available: Ves::from_minor(seller.account.free()),
        next_release: seller.account.next_release(),
    })
}

/// Tells that a seller's pending money changes by `pending_change` cents in this record, and why.
pub fn tell(draft: &mut Draft, book: &Book, merchant: Id, pending_change: i64, reason: BalanceReason) {
    let Some(balance) = balance(book, merchant) else { return };
    let pending = balance.pending.plus(Ves::from_minor(pending_change)).unwrap_or(balance.pending);
    let extra = Extra::SellerBalance { external_ref: balance.external_ref, pending, available: balance.available, reason };
    draft.event_with(EventKind::MerchantBalanceUpdated, Some(EntityId::merchant(merchant)), extra);
}

/// The instant has come at which holds of a seller ended.
pub fn release(book: &Book, merchant: Id, turn: &Turn) -> Outcome {
    if !book.is_due(EntityId::merchant(merchant), turn.now) {
        return Outcome::unchanged();
    }
    let mut draft = Draft::new(Cause::SellerReleased);
    tell(&mut draft, book, merchant, 0, BalanceReason::Release);
    Outcome::write(draft)
}
