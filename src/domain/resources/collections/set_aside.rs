//! Money set aside: moved from the balance and its holds to a hold that lasts until a bank has
//! decided, so that it can go back to the same holds.

use crate::decision::Draft;
use crate::entities::sale::{Aside, Taken};
use crate::ledger::book::Book;
use crate::ledger::{Ledger, Release};
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::time::Timestamp;

/// The money that is set aside for a payment, of the tenant and of its seller.
pub struct SetAside<'a> {
    pub currency: Currency,
    pub payment: Id,
    pub seller: Option<Id>,
    pub money: &'a Aside,
}

impl SetAside<'_> {
    fn givers(&self) -> impl Iterator<Item = ((Ledger, Currency), &Taken)> {
        let seller = self.seller.map(|merchant| (Ledger::Seller(merchant), &self.money.sellers));
        let givers = std::iter::once((Ledger::Tenant, &self.money.own)).chain(seller);
        givers.map(|(ledger, taken)| ((ledger, self.currency), taken))
    }

    /// Moves the money to the hold for the payment.
    pub fn begin(&self, draft: &mut Draft) {
        for (account, taken) in self.givers() {
            draft.hold(account, Release::WhenDecided, self.payment, taken.total());
            for part in &taken.from_holds {
                draft.hold(account, part.release_at, part.hold, -part.minor);
            }
        }
    }

    /// Ends the hold for the payment, as the bank has decided.
    pub fn end(&self, draft: &mut Draft, book: &Book) {
        let own = Some(((Ledger::Tenant, self.currency), book.account(self.currency)));
        let seller = self.seller.and_then(|merchant| {
            let account = book.sellers.get(&merchant)?.account(self.currency);
            Some(((Ledger::Seller(merchant), self.currency), account))
        });
        for (whose, account) in own.into_iter().chain(seller) {
            let minor = account.held_for(Release::WhenDecided, self.payment);
            draft.hold(whose, Release::WhenDecided, self.payment, -minor);
        }
    }

    /// Puts the money back into its holds; the part of a hold that has ended meanwhile becomes
    /// available.
    pub fn put_back(&self, draft: &mut Draft, book: &Book, now: Timestamp) {
        self.end(draft, book);
        for (account, taken) in self.givers() {
            for part in taken.from_holds.iter().filter(|part| part.release_at > now) {
                draft.hold(account, part.release_at, part.hold, part.minor);
            }
        }
    }
}
