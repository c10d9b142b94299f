//! Test money and the operator's corrections: movements of type `adjustment`
//! (`docs/contract.md, 3.7, 4.4`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind, Row};
use crate::refusal::Refusal;
use crate::resources::collections::sale::HOLD_MS;
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::text::ExternalRef;

/// A request to adjust a balance.
pub struct Adjustment {
    /// The cause of the record: test money or a correction.
    pub cause: Cause,
    pub currency: Currency,
    /// The signed amount, in minor units; not zero.
    pub minor: i64,
    /// The seller whose balance is adjusted; `None` for the tenant's own.
    pub merchant: Option<Id>,
    /// Whether the money is held for 24 hours.
    pub held: bool,
    pub description: String,
    pub external_ref: Option<ExternalRef>,
}

/// Writes the adjustment, against the operator's ledger; refuses an unknown seller.
pub fn adjust(book: &Book, ask: Adjustment, turn: &Turn) -> Ruling {
    let ledger = match ask.merchant {
        Some(merchant) if !book.sellers.contains_key(&merchant) => return Ruling::refuse(Refusal::NotFound),
        Some(merchant) => Ledger::Seller(merchant),
        None => Ledger::Tenant,
    };
    let release_at = turn.now.plus_ms(HOLD_MS);
    let row = Row {
        kind: MovementKind::Adjustment,
        subject: None,
        chargeback: None,
        external_ref: ask.external_ref,
        description: ask.description,
        available_at: ask.held.then_some(release_at),
    };
    let mut draft = Draft::new(ask.cause);
    draft.post((ask.currency, ask.minor), (ledger, Some(row)), (Ledger::Operator, None));
    if ask.held {
        let hold = Id::derived(turn.now.unix_ms(), turn.seed, 0);
        draft.hold((ledger, ask.currency), release_at, hold, ask.minor);
    }
    Ruling::write(draft)
}
