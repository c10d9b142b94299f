//! Sellers' balances: the event for a change of one, and the record that announces a release
//! (`docs/contract.md, 6.5`). The money itself is in the sale, its reversal and the holds; a hold
//! ends at its instant with or without a record.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::events::{BalanceReason, EventKind, Extra};
use crate::ledger::Account;
use crate::ledger::book::Book;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Rate, Usdt, Ves};
use crate::values::time::Timestamp;

/// A seller's balance (`docs/contract.md, 6.5`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerBalance {
    pub merchant: Id,
    pub external_ref: String,
    pub pending: Ves,
    /// The bolívares that may be paid out.
    pub available: Ves,
    /// The instant at which the next hold ends, in any currency.
    pub next_release: Option<Timestamp>,
    /// The pesos, held and available, of a seller who has had any.
    pub pesos: Option<(Cop, Cop)>,
    /// The USDT, held and available, of a seller who has had any.
    pub usdt: Option<(Usdt, Usdt)>,
}

/// The balance of a seller in a settled book; `None` if there is no such seller.
pub fn balance(book: &Book, merchant: Id) -> Option<SellerBalance> {
    let seller = book.sellers.get(&merchant)?;
    let ves = seller.account(Currency::Ves);
    let pesos = seller
        .accounts
        .get(&Currency::Cop)
        .map(|account| (Cop::from_minor(account.held), Cop::from_minor(account.free())));
    let usdt = seller
        .accounts
        .get(&Currency::Usdt)
        .map(|account| (Usdt::from_minor(account.held), Usdt::from_minor(account.free())));
    Some(SellerBalance {
        merchant,
        external_ref: seller.external_ref.clone(),
        pending: Ves::from_minor(ves.held),
        available: Ves::from_minor(ves.free()),
        next_release: seller.accounts.values().filter_map(Account::next_release).min(),
        pesos,
        usdt,
    })
}

/// Adds an event for the seller's balance after this record, in which the pending money in
/// `currency` changes by `pending_change` minor units.
pub fn tell(
    draft: &mut Draft,
    book: &Book,
    merchant: Id,
    currency: Currency,
    pending_change: i64,
    reason: BalanceReason,
) {
    let Some(SellerBalance { external_ref, mut pending, available, mut pesos, mut usdt, .. }) =
        balance(book, merchant)
    else {
        return;
    };
    match currency {
        Currency::Ves => pending = pending.plus(Ves::from_minor(pending_change)).unwrap_or(pending),
        Currency::Cop => {
            let (held, free) = pesos.unwrap_or_default();
            pesos = Some((held.plus(Cop::from_minor(pending_change)).unwrap_or(held), free));
        }
        Currency::Usdt => {
            let (held, free) = usdt.unwrap_or_default();
            usdt = Some((held.plus(Usdt::from_minor(pending_change)).unwrap_or(held), free));
        }
    }
    let extra = Extra::SellerBalance { external_ref, pending, available, pesos, usdt, reason };
    draft.event_with(EventKind::MerchantBalanceUpdated, Some(EntityId::merchant(merchant)), extra);
}

/// Announces that holds of a seller have ended, unless that was announced already.
pub fn release(book: &Book, merchant: Id, turn: &Turn) -> Ruling {
    if !book.has_released(EntityId::merchant(merchant), turn.now) {
        return Ruling::unchanged();
    }
    let mut draft = Draft::new(Cause::SellerReleased);
    tell(&mut draft, book, merchant, Currency::Ves, 0, BalanceReason::Release);
    Ruling::write(draft)
}

/// Whether a sale names a seller that the book does not have.
pub fn is_unknown(book: &Book, marketplace: Option<(Id, Rate)>) -> bool {
    marketplace.is_some_and(|(merchant, _)| !book.sellers.contains_key(&merchant))
}

/// Whether a sale names a seller that is not active.
pub fn is_inactive(book: &Book, marketplace: Option<(Id, Rate)>) -> bool {
    marketplace.is_some_and(|(merchant, _)| book.sellers.get(&merchant).is_some_and(|seller| !seller.active))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::{Entity, merchant};
    use crate::ledger::{HoldChange, Ledger};
    use crate::machine::Command;
    use crate::machine::{AnyBook, Domain};
    use crate::record::Record;
    use crate::resources::adjustments::Adjustment;
    use crate::resources::collections::sale::HOLD_MS;
    use crate::resources::merchants;
    use crate::resources::merchants::Registration;
    use crate::values::text::ExternalRef;
    use actors::Machine;
    use std::sync::Arc;

    struct World {
        domain: Domain,
        book: AnyBook,
        merchant: Arc<Entity>,
    }

    impl World {
        fn new() -> World {
            let domain = Domain {
                rails: Arc::new(crate::rail::TestModeAlone),
                holidays: Vec::new(),
                person_marks: Default::default(),
                changes: |_| crate::platform::audit::Changes::default(),
            };
            let ask = Registration {
                id: Id::derived(1, 1, 0),
                external_ref: ExternalRef::parse("m").expect("a reference"),
                name: Some("Bodega".to_owned()),
                identification: None,
                contact_email: None,
                contact_phone: None,
                method: None,
            };
            let mut world =
                World { book: domain.empty(3), domain, merchant: Arc::new(Entity::Merchant(nobody())) };
            let record =
                world.ask(None, merchants::Command::Register(Box::new(ask)), 1_000).expect("a record");
            world.merchant = Arc::clone(&record.entities[0].state);
            world
        }

        fn ask(
            &mut self,
            entity: Option<&Entity>,
            command: impl Into<Command>,
            now_ms: i64,
        ) -> Option<Arc<Record>> {
            self.domain.settle(&mut self.book, now_ms);
            let turn = actors::Turn { tenant: 3, now_ms, seed: now_ms.unsigned_abs(), ahead_ms: 0 };
            let decision = self.domain.decide(&self.book, entity, command.into().into(), turn);
            assert!(decision.refusal.is_none(), "{:?}", decision.refusal);
            let record = decision.record?;
            self.domain.evolve(&mut self.book, &record, now_ms);
            self.domain.check(&self.book, &record).expect("sound books");
            Some(Arc::new(record))
        }

        fn id(&self) -> Id {
            self.merchant.id().id
        }

        fn fund_held(&mut self, minor: i64, now_ms: i64) -> HoldChange {
            let (merchant, description) = (Some(self.id()), String::new());
            let ask = Adjustment {
                cause: Cause::Funded,
                currency: Currency::Ves,
                minor,
                merchant,
                held: true,
                description,
                external_ref: None,
            };
            self.ask(None, Command::Adjust(Box::new(ask)), now_ms).expect("a record").holds[0]
        }

        fn deadline(&mut self, now_ms: i64) -> Option<Arc<Record>> {
            let merchant = Arc::clone(&self.merchant);
            self.ask(Some(&merchant), Command::Deadline, now_ms)
        }

        fn due(&self) -> Option<i64> {
            self.domain.next_due(&self.book, &|_| false).map(|(at, _)| at)
        }

        fn book(&mut self) -> &mut Book {
            let AnyBook::Tenant(book) = &mut self.book else { panic!("a tenant's book") };
            book
        }
    }

    fn nobody() -> merchant::Merchant {
        merchant::Merchant {
            id: Id::derived(0, 0, 0),
            external_ref: ExternalRef::parse("x").expect("a reference"),
            name: String::new(),
            identification: None,
            contact_email: None,
            contact_phone: None,
            active: true,
            rejected: false,
            methods: Vec::new(),
            default_method: None,
            livemode: false,
            created_at: Timestamp::from_unix_ms(0),
            updated_at: Timestamp::from_unix_ms(0),
        }
    }

    #[test]
    fn a_release_is_told_once_at_its_instant() {
        let mut world = World::new();
        world.fund_held(500, 2_000);
        world.fund_held(300, 3_000);
        assert_eq!(world.due(), Some(2_000 + HOLD_MS));
        assert!(world.deadline(1_999 + HOLD_MS).is_none(), "not yet");
        let record = world.deadline(2_000 + HOLD_MS).expect("a record");
        assert_eq!((record.cause, record.events.len(), record.postings.len()), (Cause::SellerReleased, 1, 0));
        let told = Extra::SellerBalance {
            external_ref: "m".to_owned(),
            pending: Ves::from_minor(300),
            available: Ves::from_minor(500),
            pesos: None,
            usdt: None,
            reason: BalanceReason::Release,
        };
        assert_eq!(record.events[0].extra, told);
        assert_eq!(world.due(), Some(3_000 + HOLD_MS));
        assert!(world.deadline(2_500 + HOLD_MS).is_none(), "told already");
        assert!(world.deadline(9_000 + HOLD_MS).is_some());
        assert_eq!(world.due(), None);
    }

    #[test]
    fn what_goes_before_its_instant_is_not_told_as_released() {
        let mut world = World::new();
        let first = world.fund_held(500, 2_000);
        let second = world.fund_held(300, 2_000);
        let id = world.id();
        assert_eq!(first.ledger, Ledger::Seller(id));
        let taken =
            |hold: HoldChange| Record { holds: vec![HoldChange { minor: -hold.minor, ..hold }], ..empty() };
        world.book().evolve(&taken(first), Timestamp::from_unix_ms(4_000));
        // Both have one name here; the other one is still held until then.
        assert_eq!(world.due(), Some(2_000 + HOLD_MS));
        world.book().evolve(&taken(second), Timestamp::from_unix_ms(4_000));
        assert_eq!(world.due(), None);
    }

    fn empty() -> Record {
        Record { first_event: 1, ..Record::new(Cause::BankAsked) }
    }
}
