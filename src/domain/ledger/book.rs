//! A tenant's book in one mode: what its money decisions need, in memory. Everything in it derives
//! from the tenant's records.

use crate::ledger::{Account, HoldChange, Ledger, Posting, Release};
use crate::platform::settings::TenantSettings;
use crate::record::{Cause, Entity, IndexedState, Record};
use crate::resources::banks::BankCode;
use crate::resources::checkout::Sale;
use crate::resources::conversions::totals::Totals;
use crate::resources::merchants::Merchant;
use crate::resources::own_account::OwnPhone;
use crate::resources::payments::Status;
use crate::resources::products::product_of;
use crate::values::identity::IdentityDocument;
use crate::values::ids::{EntityId, Id, Kind};
use crate::values::money::{Currency, Ves};
use crate::values::phone::MobilePhone;
use crate::values::time::Timestamp;
use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the balance must know of a merchant in order to pay it or sell for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seller {
    /// What the tenant owes it, by currency.
    pub accounts: BTreeMap<Currency, Account>,
    /// The tenant's name for it.
    pub external_ref: String,
    /// Whether it takes part.
    pub active: bool,
    /// Its name, for payouts.
    pub name: String,
    /// Who it is, for the bank.
    pub identification: Option<IdentityDocument>,
    /// Where it can be paid.
    pub methods: Vec<SellerMethod>,
    /// The method that is used when none is named.
    pub default_method: Option<Id>,
    /// Payouts that it was sent, failed ones included.
    pub payouts: u64,
}

impl Seller {
    /// What the tenant owes it in a currency.
    pub fn account(&self, currency: Currency) -> &Account {
        self.accounts.get(&currency).unwrap_or(&NOTHING)
    }

    /// Lets holds end.
    fn settle(&mut self, now: Timestamp) {
        for account in self.accounts.values_mut() {
            account.settle(now);
        }
    }
}

/// A payout method as the balance sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerMethod {
    /// The id.
    pub id: Id,
    /// The bank.
    pub bank: BankCode,
    /// The phone.
    pub phone: MobilePhone,
    /// Whether money may be sent to it.
    pub verified: bool,
}

/// What a request may bring a ledger to, in minor units. The rest of what an `i64` holds is for
/// what cannot be refused: the answers of banks to what was on its way by then.
pub const SUM_MAX: u64 = (i64::MAX / 4).unsigned_abs();

/// The book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    /// The time of the newest record.
    pub last: Timestamp,
    /// How far the test clock is ahead.
    pub offset_ms: i64,
    /// Settings and live status.
    pub tenant_settings: TenantSettings,
    /// The tenant's own balances, by currency.
    pub accounts: BTreeMap<Currency, Account>,
    /// What stands against them: fees, rails, the operator.
    pub counter: BTreeMap<(Ledger, Currency), i64>,
    /// Sellers.
    pub sellers: SortedMap<Id, Arc<Seller>>,
    /// The instant at which sellers' holds end: so that time passing need not visit every seller.
    pub seller_releases: SortedSet<(Timestamp, Id)>,
    /// The tenant's own account, and whether money may be sent to it.
    pub own: Option<(OwnPhone, bool)>,
    /// The number of the newest event.
    pub events: u64,
    /// What is due by itself, in order.
    pub agenda: SortedSet<(Timestamp, EntityId)>,
    /// Products and payment links of which something was sold: they can't be deleted.
    pub sold: SortedSet<Id>,
    /// What was converted, today and in all.
    pub converted: Totals,
    /// USDT that left the balance and has not arrived: payouts under review or on their way, fees
    /// included, in cents.
    pub pending_payouts_usdt: i64,
    /// Ends of sellers' holds that are to be told, in order. Not in the agenda: a seller may have
    /// something of its own there, at the same instant even.
    pub releases: SortedSet<(Timestamp, EntityId)>,
    /// Webhook endpoints: how many there are, and whether anybody waits to hear of events.
    pub webhooks: BTreeSet<Id>,
}

/// So many entries, of some 26 bytes each, make a book large.
const LARGE_FROM: usize = 8_192;

static NOTHING: Account = Account { net: 0, held: 0, holds: SortedMap::new() };

impl Book {
    /// The tenant's own account in a currency.
    pub fn account(&self, currency: Currency) -> &Account {
        self.accounts.get(&currency).unwrap_or(&NOTHING)
    }

    /// What may be paid out: the ledger less the reserve and what is held
    /// (`docs/contract.md, 6.1`). In cents; may be negative.
    pub fn available_ves(&self) -> i64 {
        self.account(Currency::Ves).free() - self.tenant_settings.settings.reserve.minor()
    }

    /// What sellers are owed in bolívares: pending and available, in cents.
    pub fn seller_totals(&self) -> (i64, i64) {
        let accounts = self.sellers.values().map(|seller| seller.account(Currency::Ves));
        accounts.fold((0, 0), |(pending, available), account| {
            (pending + account.held, available + account.free())
        })
    }

    /// Whether the posting keeps its ledger below [`SUM_MAX`], or brings it nearer to nothing.
    pub fn fits(&self, ledger: Ledger, currency: Currency, minor: i64) -> bool {
        let sum = match ledger {
            Ledger::Tenant => self.account(currency).net,
            Ledger::Seller(merchant) => {
                self.sellers.get(&merchant).map_or(0, |seller| seller.account(currency).net)
            }
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {
                self.counter.get(&(ledger, currency)).copied().unwrap_or(0)
            }
        };
        sum.checked_add(minor)
            .is_some_and(|after| after.unsigned_abs() < SUM_MAX || after.unsigned_abs() <= sum.unsigned_abs())
    }

    /// Whether the tenant can be given so much by `from`: asked before a bank is, whose answer
    /// cannot be refused.
    pub fn has_room_for(&self, currency: Currency, minor: i64, from: Ledger) -> bool {
        minor.checked_neg().is_some_and(|taken| {
            self.fits(Ledger::Tenant, currency, minor) && self.fits(from, currency, taken)
        })
    }

    /// Lets holds end.
    pub fn settle(&mut self, now: Timestamp) {
        for account in self.accounts.values_mut() {
            account.settle(now);
        }
        while let Some(&(at, merchant)) = self.seller_releases.first()
            && at <= now
        {
            self.seller_releases.pop_first();
            if let Some(seller) = self.sellers.get_mut(&merchant) {
                Arc::make_mut(seller).settle(now);
            }
        }
    }

    /// Applies a record.
    pub fn evolve(&mut self, record: &Record, time: Timestamp) {
        self.last = self.last.max(time);
        self.offset_ms += record.clock_advance_ms;
        if let Some(tenant_settings) = &record.tenant_settings {
            self.tenant_settings = tenant_settings.clone();
        }
        for written in &record.entities {
            self.agenda(written.state.id(), written.indexed, written.state.deadline());
            self.project(&written.state, written.indexed);
        }
        for (id, indexed) in &record.removed {
            self.agenda(*id, Some(*indexed), None);
            if *id == EntityId::OWN_ACCOUNT {
                self.own = None;
            }
            if id.kind == Kind::Webhook {
                self.webhooks.remove(&id.id);
            }
            if self.sellers.remove(&id.id).is_some() {
                self.releases.retain(|(_, due)| due != id);
            }
        }
        for posting in &record.postings {
            self.post(posting);
        }
        for change in &record.holds {
            self.hold(change);
        }
        self.events += record.events.len() as u64;
        if record.cause == Cause::SellerReleased {
            for seller in record.events.iter().filter_map(|event| event.subject) {
                // What has ended is at the front: those whose holds last still, all other sellers
                // maybe, are not looked at.
                let ended: Vec<_> = self
                    .releases
                    .iter()
                    .take_while(|(at, _)| *at <= time)
                    .filter(|(_, due)| *due == seller)
                    .copied()
                    .collect();
                for ended in ended {
                    self.releases.remove(&ended);
                }
            }
        }
    }

    /// Whether holds of this seller ended, and nobody was told.
    pub fn has_released(&self, seller: EntityId, now: Timestamp) -> bool {
        self.releases.iter().take_while(|(at, _)| *at <= now).any(|(_, due)| *due == seller)
    }

    /// What is due first, of those that are not skipped.
    pub fn next_due(&self, skip: &dyn Fn(EntityId) -> bool) -> Option<(Timestamp, EntityId)> {
        let first =
            |agenda: &SortedSet<(Timestamp, EntityId)>| agenda.iter().find(|(_, id)| !skip(*id)).copied();
        first(&self.agenda).into_iter().chain(first(&self.releases)).min()
    }

    fn agenda(&mut self, id: EntityId, indexed: Option<IndexedState>, now: Option<Timestamp>) {
        let before = indexed.and_then(|indexed| indexed.deadline);
        if before == now {
            return;
        }
        if let Some(at) = before {
            self.agenda.remove(&(at, id));
        }
        if let Some(at) = now {
            self.agenda.insert((at, id));
        }
    }

    /// Keeps what the balance must know of an entity.
    fn project(&mut self, state: &Arc<Entity>, indexed: Option<IndexedState>) {
        match &**state {
            Entity::Merchant(merchant) => self.know_seller(merchant),
            Entity::Payout(payout) if indexed.is_none() => {
                if let Some(merchant) = payout.merchant {
                    self.seller(merchant, |seller| seller.payouts += 1);
                }
            }
            Entity::OwnAccount(account) => self.own = Some((account.held, account.status.is_verified())),
            Entity::Payment(payment) if payment.status == Status::Completed => {
                self.know_sale(payment.checkout.as_deref())
            }
            Entity::CopPayment(payment) if payment.status == Status::Completed => {
                self.know_sale(payment.checkout.as_ref().map(|checkout| &checkout.sale))
            }
            Entity::Conversion(conversion) => self.converted.evolve(conversion, indexed),
            Entity::CryptoPayout(payout) => self.pending_payouts_usdt += payout.pending_change(indexed),
            Entity::Payout(_)
            | Entity::Batch(_)
            | Entity::Chargeback(_)
            | Entity::Otp(_)
            | Entity::Product(_)
            | Entity::Session(_)
            | Entity::DepositAddress(_)
            | Entity::Notice(_) => {}
            Entity::Payment(_) | Entity::CopPayment(_) | Entity::CopPayout(_) => {}
            Entity::Webhook(webhook) => {
                self.webhooks.insert(webhook.id);
            }
        }
    }

    /// Something was sold: through a link, or not.
    fn know_sale(&mut self, sale: Option<&Sale>) {
        if let Some(link) = sale.and_then(|sale| sale.link) {
            self.sold.extend([link, product_of(link).id]);
        }
    }

    /// Changes what is known of a seller.
    fn seller<R>(&mut self, merchant: Id, change: impl FnOnce(&mut Seller) -> R) -> R {
        self.sellers.with(merchant, Arc::default, |seller| change(Arc::make_mut(seller)))
    }

    fn know_seller(&mut self, merchant: &Merchant) {
        self.seller(merchant.id, |seller| {
            merchant.external_ref.as_str().clone_into(&mut seller.external_ref);
            seller.active = merchant.active;
            seller.name.clone_from(&merchant.name);
            seller.identification = merchant.identification;
            seller.default_method = merchant.default_method;
            seller.methods = merchant
                .methods
                .iter()
                .map(|method| SellerMethod {
                    id: method.id,
                    bank: method.bank,
                    phone: method.phone,
                    verified: method.status.is_verified(),
                })
                .collect();
        });
    }

    fn post(&mut self, posting: &Posting) {
        match posting.ledger {
            Ledger::Tenant => self.accounts.entry(posting.currency).or_default().net += posting.minor,
            Ledger::Seller(merchant) => self.seller(merchant, |seller| {
                seller.accounts.entry(posting.currency).or_default().net += posting.minor
            }),
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {
                *self.counter.entry((posting.ledger, posting.currency)).or_insert(0) += posting.minor
            }
        }
    }

    fn hold(&mut self, change: &HoldChange) {
        match change.ledger {
            Ledger::Tenant => self.accounts.entry(change.currency).or_default().hold(change),
            Ledger::Seller(merchant) => {
                let more_then = self.seller(merchant, |seller| {
                    seller.accounts.entry(change.currency).or_default().hold(change);
                    seller.accounts.values().any(|account| account.holds_until(change.release_at))
                });
                let Release::At(at) = change.release_at else { return };
                self.seller_releases.insert((at, merchant));
                // A release is told: the seller is due at every instant at which something of it
                // ends.
                let due = (at, EntityId::merchant(merchant));
                if more_then && change.release_at.instant().is_some() {
                    self.releases.insert(due);
                } else {
                    self.releases.remove(&due);
                }
            }
            // Nothing is held there; the invariants refuse a record that says otherwise.
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {}
        }
    }

    /// Whether there is so much in it that its turn is not the place to encode it: a part of a
    /// millisecond and more.
    pub fn is_large(&self) -> bool {
        let held = |account: &Account| account.holds.len();
        let own: usize = self.accounts.values().map(held).sum();
        // Sellers' holds are counted by their ends, lest all sellers be visited; each seller has
        // names and methods too.
        let sellers = self.sellers.len() * 8 + self.seller_releases.len() + self.releases.len();
        own + sellers + self.agenda.len() + self.sold.len() >= LARGE_FROM
    }

    /// What an insufficient balance is told.
    pub fn available(&self) -> Ves {
        Ves::from_minor(self.available_ves())
    }
}
