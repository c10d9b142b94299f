//! Money set aside: moved from the balance and its holds to a hold that lasts until a bank has
//! decided, so that it can go back to the same holds.

use crate::decision::Draft;
use crate::ledger::book::Book;
use crate::ledger::{HoldChange, Ledger, Release};
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::time::Timestamp;

/// A part of a hold: the end and the id of the hold, and the amount in minor units.
pub type Part = (Timestamp, Id, i64);

/// An account that money is set aside from.
pub struct Giver {
    pub ledger: Ledger,
    pub from_holds: Vec<Part>,
    /// The whole amount, in minor units.
    pub total: i64,
}

/// The money that is set aside for a payment.
pub struct SetAside {
    pub currency: Currency,
    pub payment: Id,
    pub givers: Vec<Giver>,
}

impl SetAside {
    fn change(&self, ledger: Ledger, release_at: Release, hold: Id, minor: i64) -> HoldChange {
        HoldChange { ledger, currency: self.currency, release_at, hold, minor }
    }

    /// Moves the money to the hold for the payment.
    pub fn begin(&self, draft: &mut Draft) {
        for giver in &self.givers {
            draft.hold(self.change(giver.ledger, Release::WhenDecided, self.payment, giver.total));
            for (release_at, hold, minor) in &giver.from_holds {
                draft.hold(self.change(giver.ledger, Release::At(*release_at), *hold, -minor));
            }
        }
    }

    /// Ends the hold for the payment, as the bank has decided.
    pub fn end(&self, draft: &mut Draft, book: &Book) {
        for giver in &self.givers {
            let account = match giver.ledger {
                Ledger::Seller(merchant) => {
                    book.sellers.get(&merchant).map(|seller| seller.account(self.currency))
                }
                Ledger::Tenant | Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {
                    Some(book.account(self.currency))
                }
            };
            let minor = account.map_or(0, |account| account.held_for(Release::WhenDecided, self.payment));
            draft.hold(self.change(giver.ledger, Release::WhenDecided, self.payment, -minor));
        }
    }

    /// Puts the money back into its holds; the part of a hold that has ended meanwhile becomes
    /// available.
    pub fn put_back(&self, draft: &mut Draft, book: &Book, now: Timestamp) {
        self.end(draft, book);
        for giver in &self.givers {
            for (release_at, hold, minor) in giver.from_holds.iter().filter(|(at, ..)| *at > now) {
                draft.hold(self.change(giver.ledger, Release::At(*release_at), *hold, *minor));
            }
        }
    }
}
