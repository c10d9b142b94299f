//! A tenant's book in one mode: the state that its money decisions need, in memory. Everything in
//! it derives from the tenant's records.

use crate::cause::Cause;
use crate::codec::stored;
use crate::entities::Entity;
use crate::entities::merchant::Merchant;
use crate::entities::own_account::OwnPhone;
use crate::entities::payment::Status;
use crate::entities::product::product_of;
use crate::entities::resource::IndexedState;
use crate::entities::sale::Sale;
use crate::ledger::days::{ClosedDay, Counted, Day, Present, counted, zone};
use crate::ledger::spending::{self, AllSpent};
use crate::ledger::totals::Totals;
use crate::ledger::waiting::{self, AllWaiting};
use crate::ledger::{Account, HoldChange, Ledger, Posting, Release};
use crate::platform::settings::TenantSettings;
use crate::record::Record;
use crate::values::ids::{EntityId, Id, Kind};
use crate::values::money::{Currency, Ves};
use crate::values::time::{DAY_MS, Timestamp};
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use persistent::{SortedMap, SortedSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

stored! {
    /// The part of a merchant's state that the balance needs in order to pay it or sell for it.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Seller {
        /// The balances that the tenant owes the seller, by currency.
        0 pub accounts: BTreeMap<Currency, Account>,
        1 pub external_ref: String,
        2 pub active: bool,
        3 pub name: String,
        4 pub identification: Option<IdentityDocument>,
        5 pub methods: Vec<SellerMethod>,
        /// The method that is used when none is named.
        6 pub default_method: Option<Id>,
        /// The number of payouts to the seller, failed ones included.
        7 pub payouts: u64,
    }
}

impl Seller {
    /// The balance that the tenant owes the seller in a currency; an empty one if it never had any.
    pub fn account(&self, currency: Currency) -> &Account {
        self.accounts.get(&currency).unwrap_or(&NOTHING)
    }

    /// Releases the holds that end at or before `now`.
    fn settle(&mut self, now: Timestamp) {
        for account in self.accounts.values_mut() {
            account.settle(now);
        }
    }
}

stored! {
    /// A payout method as the balance sees it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SellerMethod {
        0 pub id: Id,
        1 pub bank: BankCode,
        2 pub phone: MobilePhone,
        /// Whether the method is verified, so that money may be sent to it.
        3 pub verified: bool,
    }
}

/// The bound of the sum to which a request may bring a ledger, in minor units: a quarter of what an
/// `i64` holds. The rest is for what cannot be refused: banks' answers to orders that were under
/// way.
pub const SUM_MAX: u64 = (i64::MAX / 4).unsigned_abs();

stored! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Book {
        /// The time of the newest record.
        0 pub last: Timestamp,
        /// The milliseconds by which the test clock is ahead of the server's.
        1 pub offset_ms: i64,
        2 pub tenant_settings: TenantSettings,
        /// The tenant's own balances, by currency.
        3 pub accounts: BTreeMap<Currency, Account>,
        /// The other side of the double entry, in minor units: fees, rails, the operator, the exchange.
        4 pub counter: BTreeMap<(Ledger, Currency), i64>,
        5 pub sellers: SortedMap<Id, Arc<Seller>>,
        /// The instants at which sellers' holds end, so that passing time need not visit every seller.
        6 pub seller_releases: SortedSet<(Timestamp, Id)>,
        /// The tenant's own account, and whether money may be sent to it.
        7 pub own: Option<(OwnPhone, bool)>,
        8 pub events: u64,
        /// The deadlines of entities, in order.
        9 pub agenda: SortedSet<(Timestamp, EntityId)>,
        /// Products and payment links through which something was sold: they can't be deleted.
        10 pub sold: SortedSet<Id>,
        /// The sums that were converted, on the current day and in all.
        11 pub converted: Totals,
        /// USDT that left the balance and has not arrived: payouts under review or on their way, fees
        /// included, in cents.
        12 pub pending_payouts_usdt: i64,
        /// The instants at which holds of sellers end that are to be announced by an event, in order.
        /// Not in the agenda: a seller may have a deadline of its own there, even at the same instant.
        13 pub releases: SortedSet<(Timestamp, EntityId)>,
        /// The webhook endpoints: as long as there are any, somebody waits for events.
        14 pub webhooks: BTreeSet<Id>,
        /// The present day of each account, which is the newest on which anything moved.
        15 pub days: SortedMap<(Ledger, Currency), Day>,
        /// The verifications that were started in the last 24 hours, by their instant.
        16 pub deposit_starts: SortedMap<Timestamp, u32>,
        /// The number of the event with which the book began anew the last time; 0 if it never did.
        17 pub begun_at: u64,
        /// The changes so far of what a book that begins anew keeps: webhook endpoints and the own account.
        18 pub kept_changes: u64,
        /// What was spent of mandates.
        19 pub spent: AllSpent = since 8 else AllSpent::default(),
        /// Calls of keys with a mandate that wait for somebody's approval.
        20 pub waiting: AllWaiting = since 8 else AllWaiting::default(),
    }
}

/// The number of entries, of some 26 bytes each, from which a book counts as large.
const LARGE_FROM: usize = 8_192;

static NOTHING: Account = Account { net: 0, held: 0, holds: SortedMap::new() };

impl Book {
    /// The tenant's own balance in a currency; an empty one if it never had any.
    pub fn account(&self, currency: Currency) -> &Account {
        self.accounts.get(&currency).unwrap_or(&NOTHING)
    }

    /// The account of the tenant or of a seller; `None` of any other ledger, and of a seller that the book does
    /// not have.
    pub fn owned(&self, ledger: Ledger, currency: Currency) -> Option<&Account> {
        let accounts = match ledger {
            Ledger::Tenant => &self.accounts,
            Ledger::Seller(merchant) => &self.sellers.get(&merchant)?.accounts,
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => return None,
        };
        Some(accounts.get(&currency).unwrap_or(&NOTHING))
    }

    /// The balance of an account whose days are counted, in minor units.
    pub fn net(&self, ledger: Ledger, currency: Currency) -> i64 {
        match self.owned(ledger, currency) {
            Some(account) => account.net,
            None => self.counter.get(&(ledger, currency)).copied().unwrap_or(0),
        }
    }

    /// The tenant's balance that may be paid out, in minor units: the ledger less the holds and, of bolívares,
    /// the reserve (`docs/contract.md, 6.1`). May be negative.
    pub fn spendable(&self, currency: Currency) -> i64 {
        let reserve = match currency {
            Currency::Ves => self.tenant_settings.settings.reserve.minor(),
            Currency::Cop | Currency::Usdt => 0,
        };
        self.account(currency).free() - reserve
    }

    /// The bolívares owed to all sellers together, pending and available, in cents.
    pub fn seller_totals(&self) -> (i64, i64) {
        let accounts = self.sellers.values().map(|seller| seller.account(Currency::Ves));
        accounts.fold((0, 0), |(pending, available), account| {
            (pending + account.held, available + account.free())
        })
    }

    /// Whether a posting of `minor` units keeps its ledger's sum below [`SUM_MAX`], or brings it
    /// nearer to zero.
    pub fn fits(&self, ledger: Ledger, currency: Currency, minor: i64) -> bool {
        let sum = self.net(ledger, currency);
        let Some(after) = sum.checked_add(minor) else { return false };
        after.unsigned_abs() < SUM_MAX || after.unsigned_abs() <= sum.unsigned_abs()
    }

    /// Whether `minor` units can be credited to the tenant from `from`. Asked before an order goes
    /// to a bank, whose answer cannot be refused.
    pub fn has_room_for(&self, currency: Currency, minor: i64, from: Ledger) -> bool {
        let Some(taken) = minor.checked_neg() else { return false };
        self.fits(Ledger::Tenant, currency, minor) && self.fits(from, currency, taken)
    }

    /// Releases the holds that end at or before `now`.
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

    pub fn evolve(&mut self, record: &Record, time: Timestamp) {
        let begins = record.cause == Cause::TestReset;
        if begins {
            self.begin_anew(record.first_event);
        }
        self.last = self.last.max(time);
        self.offset_ms += record.clock_advance_ms;
        if let Some(tenant_settings) = &record.tenant_settings {
            self.tenant_settings = tenant_settings.clone();
        }
        for written in &record.entities {
            // Nothing of before is in the agenda of a book that begins anew.
            let indexed = if begins { None } else { written.indexed };
            self.plan(written.state.id(), indexed, written.state.deadline());
            self.project(&written.state, indexed);
        }
        for (id, indexed) in &record.removed {
            self.plan(*id, Some(*indexed), None);
            if *id == EntityId::OWN_ACCOUNT {
                self.own = None;
            }
            if id.kind == Kind::Webhook {
                self.webhooks.remove(&id.id);
            }
            if self.sellers.remove(&id.id).is_some() {
                self.releases.retain(|(_, due)| due != id);
                for currency in [Currency::Ves, Currency::Cop, Currency::Usdt] {
                    self.days.remove(&(Ledger::Seller(id.id), currency));
                }
            }
        }
        for Counted { ledger, currency, column, minor } in counted(&record.postings) {
            let (date, minor) = (time.date_in(zone(currency)), minor.into());
            match self.days.get_mut(&(ledger, currency)) {
                Some(day) if day.date >= date => {
                    day.add(column, minor);
                    day.movements += 1;
                }
                _ => {
                    let day = Day { date, sums: vec![(column, minor)], movements: 1 };
                    self.days.insert((ledger, currency), day);
                }
            }
        }
        if matches!(record.cause, Cause::VerificationStarted | Cause::VerificationUnsent) {
            self.count_deposit_start(record.cause, time);
        }
        for Posting { ledger, currency, minor, .. } in &record.postings {
            match ledger {
                Ledger::Tenant => self.accounts.entry(*currency).or_default().net += minor,
                Ledger::Seller(merchant) => self
                    .seller(*merchant, |seller| seller.accounts.entry(*currency).or_default().net += minor),
                Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {
                    *self.counter.entry((*ledger, *currency)).or_insert(0) += minor
                }
            }
        }
        for change in &record.holds {
            self.hold(change);
        }
        for change in &record.spent {
            spending::apply(&mut self.spent, *change);
        }
        self.events += record.events.len() as u64;
        if record.cause == Cause::SellerReleased {
            for seller in record.events.iter().filter_map(|event| event.subject) {
                // Ends that have passed are at the front; those still to come, perhaps of every
                // other seller, are not visited.
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

    /// Forgets everything but the settings, which the record says, and what counts on from before. The clock
    /// is the server's again.
    fn begin_anew(&mut self, begun_at: u64) {
        *self = Book {
            tenant_settings: std::mem::take(&mut self.tenant_settings),
            events: self.events,
            begun_at,
            kept_changes: self.kept_changes,
            ..Book::default()
        };
    }

    /// Counts a start of a verification, or one less that was not sent, and forgets those of more than a day ago.
    fn count_deposit_start(&mut self, cause: Cause, time: Timestamp) {
        if cause == Cause::VerificationStarted {
            while let Some((first, _)) = self.deposit_starts.first_key_value()
                && first.plus_ms(DAY_MS) <= time
            {
                self.deposit_starts.pop_first();
            }
            self.deposit_starts.with(time, || 0, |count| *count += 1);
        } else {
            let newest = self.deposit_starts.last_key_value().map(|(at, count)| (*at, *count));
            match newest {
                Some((at, 1)) => drop(self.deposit_starts.remove(&at)),
                Some((at, _)) => self.deposit_starts.with(at, || 0, |count| *count -= 1),
                None => {}
            }
        }
    }

    /// Whether holds of this seller have ended by `now` without an event that announced it.
    pub fn has_released(&self, seller: EntityId, now: Timestamp) -> bool {
        self.releases.iter().take_while(|(at, _)| *at <= now).any(|(_, due)| *due == seller)
    }

    /// The earliest deadline or announcement of a release, of those whose entity is not skipped.
    pub fn next_due(&self, skip: &dyn Fn(EntityId) -> bool) -> Option<(Timestamp, EntityId)> {
        let mut first = None;
        for agenda in [&self.agenda, &self.releases] {
            for due in agenda.iter() {
                if !skip(due.1) {
                    first = if first.is_some_and(|first| first <= *due) { first } else { Some(*due) };
                    break;
                }
            }
        }
        first
    }

    /// Moves an entity in the agenda.
    fn plan(&mut self, id: EntityId, indexed: Option<IndexedState>, now: Option<Timestamp>) {
        // What a book that begins anew keeps.
        self.kept_changes += u64::from(matches!(id.kind, Kind::Webhook | Kind::OwnAccount));
        let before = if let Some(indexed) = indexed { indexed.deadline } else { None };
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

    /// Keeps the part of an entity's state that the balance needs.
    fn project(&mut self, state: &Arc<Entity>, indexed: Option<IndexedState>) {
        match &**state {
            Entity::Merchant(merchant) => self.know_seller(merchant),
            Entity::Payout(payout) if indexed.is_none() => {
                if let Some(merchant) = payout.merchant {
                    self.sellers.with(merchant, Arc::default, |seller| Arc::make_mut(seller).payouts += 1);
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
            Entity::Webhook(webhook) => {
                self.webhooks.insert(webhook.id);
            }
            Entity::MandateApproval(approval) => waiting::apply(&mut self.waiting, approval),
            _ => {}
        }
    }

    /// Notes that something was sold; `sale` is `None` for a payment that came by no checkout.
    fn know_sale(&mut self, sale: Option<&Sale>) {
        if let Some(link) = sale.and_then(|sale| sale.link) {
            self.sold.extend([link, product_of(link).id]);
        }
    }

    /// Changes the balance's copy of a seller, which is made if there is none.
    fn seller<R>(&mut self, merchant: Id, change: impl FnOnce(&mut Seller) -> R) -> R {
        self.sellers.with(merchant, Arc::default, |seller| change(Arc::make_mut(seller)))
    }

    fn know_seller(&mut self, merchant: &Merchant) {
        self.seller(merchant.id, |seller| {
            str::clone_into(&merchant.external_ref, &mut seller.external_ref);
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
                // Releases are announced: the seller is due at every instant at which one of its
                // holds ends.
                let due = (at, EntityId::merchant(merchant));
                match more_then {
                    true => self.releases.insert(due),
                    false => self.releases.remove(&due),
                };
            }
            // Ledgers without holds; the invariants refuse a record that says otherwise.
            Ledger::Fees | Ledger::Rail | Ledger::Operator | Ledger::Exchange => {}
        }
    }

    /// Whether the book is large enough that its snapshot is encoded beside its turns, as that
    /// takes a part of a millisecond and more.
    pub fn is_large(&self) -> bool {
        let held = |account: &Account| account.holds.len();
        let own: usize = self.accounts.values().map(held).sum();
        // Sellers' holds are counted by the instants at which they end, so that not every seller is
        // visited; eight stands for a seller's names and methods.
        let sellers =
            self.sellers.len() * 8 + self.days.len() + self.seller_releases.len() + self.releases.len();
        own + sellers + self.agenda.len() + self.sold.len() >= LARGE_FROM
    }

    /// The balance in bolívares that may be paid out, as the refusal for an insufficient balance
    /// shows it.
    pub fn available(&self) -> Ves {
        Ves::from_minor(self.spendable(Currency::Ves))
    }

    /// An account at present; `None` for a seller that the book does not have.
    pub fn present(&self, ledger: Ledger, currency: Currency, now: Timestamp) -> Option<Present> {
        if let Ledger::Seller(merchant) = ledger {
            self.sellers.get(&merchant)?;
        }
        let day = self.days.get(&(ledger, currency)).cloned();
        Some(Present { now, day, net: self.net(ledger, currency) })
    }

    /// The days that a record with these postings ends at `now`: of each account that it moves, the day
    /// that is counted, if it is an earlier one.
    pub fn days_closed_by(&self, postings: &[Posting], now: Timestamp) -> Vec<ClosedDay> {
        let mut closed: Vec<ClosedDay> = Vec::new();
        for Counted { ledger, currency, .. } in counted(postings) {
            let today = now.date_in(zone(currency));
            if let Some(day) = self.days.get(&(ledger, currency))
                && day.date < today
                && !closed.iter().any(|known| known.ledger == ledger && known.currency == currency)
            {
                let (day, net) = (day.clone(), self.net(ledger, currency));
                closed.push(ClosedDay { ledger, currency, day, net });
            }
        }
        closed
    }
}
