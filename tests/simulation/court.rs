//! The court, which holds what the books did against what must be: each tenant's turns against the
//! sum of its postings, and those of the one that the model knows against the model.

use crate::mandates::Purses;
use crate::model::{Dispute, INTENT, Model, Paying, Proof, Sending};
use crate::statements::Days;
use crate::witness::{Asked, Seen, Turn};
use domain::cause::Cause;
use domain::entities::payment::{Phase, Status};
use domain::entities::{Entity, chargeback, payout};
use domain::ledger::Ledger;
use domain::ledger::balance::balance;
use domain::ledger::book::Book;
use domain::ledger::sellers;
use domain::values::ids::{EntityId, Id};
use domain::values::money::Currency;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use wal::Reader;

/// The court's knowledge of one tenant key.
#[derive(Default)]
struct Case {
    turns: Vec<Turn>,
    /// The number of turns that wrote a record.
    records: usize,
    model: Option<Model>,
    sums: HashMap<(Ledger, Currency), i64>,
    events: u64,
    releases: u64,
    /// The offset by which the test clock was moved, in ms.
    offset_ms: i64,
    /// What moved on each day.
    days: Days,
    purses: Purses,
    entities: HashMap<EntityId, Arc<Entity>>,
    /// The book as it was when it was last looked at, with the time.
    book: Option<(i64, Box<Book>)>,
}

/// The court: the cases of all tenant keys.
pub struct Court {
    cases: BTreeMap<u64, Case>,
    /// The tenant that the model knows.
    modelled: u64,
    /// The change that makes the model wrong, to see that it is noticed.
    pub mislead: fn(&mut Model),
    /// The names of what was recorded and what was refused.
    pub seen: BTreeSet<&'static str>,
}

impl Court {
    pub fn new(modelled: u64) -> Court {
        Court { cases: BTreeMap::new(), modelled, mislead: |_| {}, seen: BTreeSet::new() }
    }

    fn case(&mut self, tenant: u64) -> &mut Case {
        let (is_modelled, mislead) = (tenant == self.modelled, self.mislead);
        self.cases.entry(tenant).or_insert_with(|| {
            let mut model = is_modelled.then(Model::default);
            model.iter_mut().for_each(mislead);
            Case { model, ..Case::default() }
        })
    }

    /// Judges what happened, in its order.
    pub fn hear(&mut self, seen: Vec<Seen>) {
        for seen in seen {
            match seen {
                Seen::Turn(turn) => {
                    self.seen.extend(turn.refusal);
                    self.seen.extend(turn.record.as_ref().map(|record| record.cause.name()));
                    self.case(turn.tenant).judge(turn);
                }
                Seen::View { tenant, now, book } => {
                    let case = self.case(tenant);
                    case.compare(&book, now);
                    case.book = Some((now, book));
                }
            }
        }
    }

    /// Starts the server anew with so many records of each tenant: what came after them has never
    /// happened.
    pub fn start_again(&mut self, records: &BTreeMap<u64, usize>) {
        for (tenant, case) in std::mem::take(&mut self.cases) {
            let durable = records.get(&tenant).copied().unwrap_or(0);
            assert!(durable <= case.records, "{tenant} has {durable} records, and wrote {}", case.records);
            let after = case
                .turns
                .iter()
                .enumerate()
                .filter(|(_, turn)| turn.record.is_some())
                .nth(durable)
                .map_or(case.turns.len(), |(at, _)| at);
            let again = self.case(tenant);
            case.turns.into_iter().take(after).for_each(|turn| again.judge(turn));
        }
        for (tenant, records) in records {
            assert_eq!(self.case(*tenant).records, *records, "the records of {tenant}");
        }
    }

    /// The offset by which a tenant's test clock was moved, in ms, by its records.
    pub fn offset_ms(&self, tenant: u64) -> i64 {
        self.cases.get(&tenant).map_or(0, |case| case.offset_ms)
    }

    /// A book as it was looked at last, and when.
    pub fn book(&self, tenant: u64) -> Option<(i64, Box<Book>)> {
        self.cases.get(&tenant)?.book.clone()
    }

    /// Compares the statements of a tenant with what its records moved.
    pub fn compare_statements(&self, tenant: u64, reader: &Reader) {
        if let Some(case) = self.cases.get(&tenant)
            && let Some((now, book)) = &case.book
        {
            case.days.compare(reader, tenant, book, *now);
        }
    }

    /// The sales and payouts for which a bank is waited for, in words.
    pub fn waiting(&self) -> Vec<String> {
        self.cases.values().filter_map(|case| case.model.as_ref()).flat_map(Model::waiting).collect()
    }
}

impl Case {
    fn judge(&mut self, turn: Turn) {
        if let Some(model) = &mut self.model {
            let expected = model.judge(&turn);
            let got = turn.refusal.map_or(Ok(()), Err);
            assert_eq!(got, expected, "the verdict on {:?} of {:?}", turn.asked, turn.entity);
        }
        if matches!(turn.asked, Asked::Deadline) {
            assert_eq!(turn.refusal, None, "a deadline that has come is not refused");
        }
        if let Some(record) = &turn.record {
            assert_eq!(record.first_event, self.events + 1, "events are numbered without gaps");
            self.records += 1;
            self.events += record.events.len() as u64;
            if record.cause == Cause::SellerReleased {
                self.releases += record.events.len() as u64;
            }
            self.offset_ms += record.clock_advance_ms;
            self.days.add(record, turn.now);
            self.purses.add(record, turn.within.as_ref());
            for posting in &record.postings {
                *self.sums.entry((posting.ledger, posting.currency)).or_default() += posting.minor;
            }
            for written in &record.entities {
                let before = self.entities.insert(written.state.id(), Arc::clone(&written.state));
                if let Some(Entity::MandateApproval(before)) = before.as_deref() {
                    assert!(before.decision.is_none(), "the approval {} is decided twice", before.id);
                }
            }
            for (removed, _) in &record.removed {
                self.entities.remove(removed);
            }
        }
        self.turns.push(turn);
    }

    /// Compares a settled book with everything that is known.
    fn compare(&self, book: &Book, now: i64) {
        for currency in [Currency::Ves, Currency::Cop, Currency::Usdt] {
            let sum = |ledger| self.sums.get(&(ledger, currency)).copied().unwrap_or(0);
            assert_eq!(book.account(currency).net, sum(Ledger::Tenant), "the movements in {currency:?}");
            for (id, seller) in book.sellers.iter() {
                let net = seller.account(currency).net;
                assert_eq!(net, sum(Ledger::Seller(*id)), "the movements of {id} in {currency:?}");
            }
            for ledger in [Ledger::Fees, Ledger::Rail, Ledger::Operator, Ledger::Exchange] {
                let counted = book.counter.get(&(ledger, currency)).copied().unwrap_or(0);
                assert_eq!(counted, sum(ledger), "{ledger:?} in {currency:?}");
            }
            let all: i64 = self.sums.iter().filter(|((_, of), _)| *of == currency).map(|(_, sum)| sum).sum();
            assert_eq!(all, 0, "the double entry in {currency:?}");
        }
        assert_eq!(book.events, self.events, "the number of events");
        self.purses.compare(&self.entities);
        if let Some(model) = &self.model {
            self.compare_with(model, book, now);
        }
    }

    fn compare_with(&self, model: &Model, book: &Book, now: i64) {
        let shown = balance(book);
        let there = || model.shops.iter().filter(|(_, shop)| !shop.gone);
        let pending: i64 = there().map(|(shop, _)| model.pending(*shop, now)).sum();
        let owed: i64 = there().map(|(_, shop)| shop.net).sum();
        assert_eq!(shown.ledger_net.minor(), model.net, "the sum");
        assert_eq!(shown.held.minor(), model.held(now), "what is held");
        assert_eq!(shown.available.minor(), model.available(now), "what is available");
        assert_eq!(shown.next_release.map(|at| at.unix_ms()), model.next_release(now), "the next release");
        assert_eq!(
            (shown.seller_pending.minor(), shown.seller_available.minor()),
            (pending, owed - pending),
            "what sellers are owed"
        );
        assert_eq!(self.events - self.releases, model.events, "what was told");
        for id in model.shops.keys() {
            self.compare_shop(model, *id, book, now);
        }
        for (id, sale) in &model.sales {
            self.compare_sale(*id, sale);
        }
        for (id, sent) in &model.sent {
            let Some(Entity::Payout(payout)) = self.state(EntityId::payout(*id)) else {
                panic!("{id} is lost")
            };
            let stands = match payout.status {
                payout::Status::Pending => Sending::Pending,
                payout::Status::Completed => Sending::Completed,
                payout::Status::Failed => Sending::Failed,
            };
            let shown = (stands, payout.amount.minor(), payout.fee.minor());
            assert_eq!(shown, (sent.stands, sent.cents, sent.fee), "{id}");
        }
        model.compare_mandates(book, now);
        let proved = model.own.map(|proof| proof == Proof::Proved);
        assert_eq!(book.own.map(|(_, proved)| proved), proved, "the tenant's own account");
    }

    fn state(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id).map(|entity| &**entity)
    }

    fn compare_shop(&self, model: &Model, id: Id, book: &Book, now: i64) {
        let (shop, shown) = (&model.shops[&id], sellers::balance(book, id));
        if shop.gone {
            assert!(shown.is_none() && self.state(EntityId::merchant(id)).is_none(), "{id} was deleted");
            return;
        }
        let pending = model.pending(id, now);
        let shown = shown.expect("a seller");
        assert_eq!(
            (shown.pending.minor(), shown.available.minor()),
            (pending, shop.net - pending),
            "the balance of a seller"
        );
        let payouts = book.sellers.get(&id).map_or(0, |seller| seller.payouts);
        assert_eq!(payouts, shop.payouts, "payouts that a seller was sent");
        let Some(Entity::Merchant(merchant)) = self.state(EntityId::merchant(id)) else {
            panic!("{id} is lost")
        };
        let methods: Vec<(Id, bool)> =
            merchant.methods.iter().map(|method| (method.id, method.status.is_verified())).collect();
        let expected: Vec<(Id, bool)> =
            shop.methods.iter().map(|(id, proof)| (*id, *proof == Proof::Proved)).collect();
        assert_eq!(
            (methods, merchant.default_method, merchant.active),
            (expected, shop.default, !shop.inactive),
            "the methods of a seller"
        );
    }

    fn compare_sale(&self, id: Id, sale: &crate::model::Sale) {
        let Some(Entity::Payment(payment)) = self.state(EntityId::payment(id)) else {
            panic!("{id} is lost")
        };
        let stands = match (payment.status, &payment.phase) {
            (Status::Pending, Phase::Idle) => Paying::Intent,
            (Status::Pending, _) => Paying::Charging,
            (Status::Completed, Phase::Idle) => Paying::Completed,
            (Status::Completed, _) => Paying::Reversing,
            (Status::Reversed, _) => Paying::Reversed,
            (Status::Failed, _) => Paying::Failed,
            (Status::Canceled, _) => Paying::Canceled,
        };
        let shown = (stands, payment.ves.minor(), payment.attempt);
        assert_eq!(shown, (sale.stands, sale.ves, sale.attempt), "{id}");
        if sale.completed != 0 {
            let share =
                payment.marketplace.as_ref().and_then(|sale| sale.seller_net).unwrap_or_default().minor();
            assert_eq!(
                (payment.fee.unwrap_or_default().minor(), share),
                (sale.fee, sale.share),
                "the figures of {id}"
            );
            assert_eq!(payment.completed_at.map(|at| at.unix_ms()), Some(sale.completed), "{id}");
        }
        if stands == Paying::Intent {
            assert_eq!(payment.expires_at.map(|at| at.unix_ms()), Some(sale.created + INTENT), "{id}");
        }
        let dispute = |status| match status {
            chargeback::Status::Open => Dispute::Open,
            chargeback::Status::Won => Dispute::Won,
            chargeback::Status::Lost => Dispute::Lost,
        };
        let taken: Vec<_> = payment
            .chargebacks
            .iter()
            .map(|each| (each.id, each.amount.minor(), each.fee.minor(), dispute(each.status)))
            .collect();
        let expected: Vec<_> =
            sale.taken.iter().map(|each| (each.id, each.cents, each.fee, each.dispute)).collect();
        assert_eq!(taken, expected, "the chargebacks of {id}");
    }
}
