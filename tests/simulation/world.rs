//! The pure core with its records, beside the model: every command goes to both, and they must give
//! the same verdict and stand the same afterwards.

use crate::model::{Dispute, HOLIDAY, INTENT, Model, Paying, Proof, Sending, Verdict};
use crate::steps::Bank;
use actors::{Machine, Turn};
use api::refusals::problem;
use api::render::render;
use domain::bank::{Answer, Effect, Heard, How};
use domain::book::Book;
use domain::chargebacks;
use domain::commands::Ask;
use domain::date::Date;
use domain::ids::{EntityId, Id};
use domain::ledger::Ledger;
use domain::machine::{AnyBook, Domain};
use domain::payments::{Payment, Phase, Status};
use domain::payouts;
use domain::record::{Cause, Entity, Record};
use domain::sellers;
use domain::view::balance;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A test key: the machine's clock is the tenant's.
pub const TENANT: u64 = 3;

/// Noon in Caracas, three days before the holiday.
const START: i64 = (HOLIDAY - 3) * crate::model::DAY + 16 * 3_600_000;

pub struct World {
    pub machine: Domain,
    pub book: AnyBook,
    pub now: i64,
    pub model: Model,
    /// Payments and payouts, oldest first.
    pub order: Vec<EntityId>,
    pub shops: Vec<Id>,
    pub sheets: u64,
    entities: HashMap<EntityId, Arc<Entity>>,
    seed: u64,
    /// As they are on the disk.
    pub records: Vec<(i64, Vec<u8>)>,
    /// A snapshot, and how many records it holds.
    snapshot: Option<(Vec<u8>, usize)>,
    moved: HashMap<Ledger, i64>,
    events: u64,
    releases: u64,
    /// What was recorded and what was refused, by name.
    pub seen: BTreeSet<&'static str>,
}

impl World {
    pub fn new() -> World {
        let holiday = Date::from_days(i32::try_from(HOLIDAY).expect("a day"));
        let machine = Domain { live_rails: false, holidays: vec![holiday], render };
        World {
            book: machine.empty(TENANT),
            machine,
            now: START,
            model: Model::default(),
            order: Vec::new(),
            shops: Vec::new(),
            sheets: 0,
            entities: HashMap::new(),
            seed: 100,
            records: Vec::new(),
            snapshot: None,
            moved: HashMap::new(),
            events: 0,
            releases: 0,
            seen: BTreeSet::new(),
        }
    }

    /// A name that nothing has.
    pub fn fresh(&mut self) -> Id {
        self.seed += 1;
        Id::derived(self.now, self.seed, 0)
    }

    pub fn entity(&self, id: EntityId) -> Option<&Entity> {
        self.entities.get(&id).map(|entity| &**entity)
    }

    pub fn payment(&self, id: Id) -> &Payment {
        match self.entity(EntityId::payment(id)) {
            Some(Entity::Payment(payment)) => payment,
            other => panic!("{id} is no payment: {other:?}"),
        }
    }

    pub fn known(&self, id: EntityId) -> Option<Arc<Entity>> {
        self.entities.get(&id).cloned()
    }

    /// One turn of the book, as its actor takes it: decides, applies, checks, writes. The effects,
    /// or the code of the refusal.
    pub fn ask(&mut self, id: EntityId, ask: Ask) -> Result<Vec<Effect>, &'static str> {
        self.seed += 1;
        self.machine.settle(&mut self.book, self.now);
        let entity = self.entities.get(&id).cloned();
        let turn = Turn { tenant: TENANT, now_ms: self.now, seed: self.seed, ahead_ms: 0 };
        let decision = self.machine.decide(&self.book, entity.as_deref(), ask.into(), turn);
        if let Some(record) = decision.record {
            assert_eq!(record.first_event, self.events + 1, "events are numbered without gaps");
            self.events += record.events.len() as u64;
            if record.cause == Cause::SellerReleased {
                self.releases += record.events.len() as u64;
            }
            self.machine.evolve(&mut self.book, &record, self.now);
            self.machine.check(&self.book, &record).expect("the invariants hold");
            for posting in &record.postings {
                *self.moved.entry(posting.ledger).or_default() += posting.minor;
            }
            for written in &record.entities {
                self.entities.insert(written.state.id(), Arc::clone(&written.state));
            }
            for (removed, _) in &record.removed {
                self.entities.remove(removed);
            }
            let bytes = self.machine.encode(&record);
            assert_eq!(self.machine.decode(&bytes).expect("a record can be read back"), *record);
            self.records.push((self.now, bytes));
            self.seen.insert(record.cause.name());
        }
        match decision.refusal {
            Some(refusal) => {
                let code = problem(&refusal).code;
                self.seen.insert(code);
                Err(code)
            }
            None => Ok(decision.effects),
        }
    }

    /// Asks, and sees that the verdict is the one that the model has.
    #[track_caller]
    pub fn agree(&mut self, id: EntityId, ask: Ask, expected: Verdict) -> Option<Vec<Effect>> {
        let got = self.ask(id, ask);
        assert_eq!(got.as_ref().map(|_| ()).map_err(|code| *code), expected, "the verdict on {id:?}");
        got.ok()
    }

    /// Has the bank carry out effects and what they lead to.
    pub fn perform(&mut self, effects: Vec<Effect>, bank: Bank) {
        let mut to_do = effects;
        while let Some(effect) = to_do.pop() {
            let answer = match (bank, effect.how) {
                (Bank::Done, _) => Answer::Done { reference: "12345678".to_owned() },
                (Bank::Refused, _) => Answer::Refused { code: "BE01".to_owned() },
                (Bank::Silent, How::Send) => Answer::Waiting,
                (Bank::Silent, How::Ask) | (Bank::Lost, How::Send) => Answer::Silent,
                (Bank::Lost, How::Ask) => Answer::NeverReceived,
            };
            let Effect { entity, operation, how, .. } = effect;
            let heard = |answer| Ask::Heard(Heard { operation, how, answer });
            let expected = self.model.heard(entity, operation, how, bank, self.now);
            to_do.extend(self.agree(entity, heard(answer), expected).unwrap_or_default());
            if matches!(bank, Bank::Done | Bank::Refused) {
                // A bank that speaks twice finds it settled. That it contradicts itself is written
                // down once, and moves nothing.
                let records = self.records.len();
                for answer in [
                    Answer::Done { reference: "87654321".to_owned() },
                    Answer::Refused { code: "BE01".to_owned() },
                    Answer::NeverReceived,
                ] {
                    assert!(
                        self.ask(entity, heard(answer)).is_ok_and(|effects| effects.is_empty()),
                        "a second answer came to something"
                    );
                }
                let written: Vec<Record> = self.records[records..]
                    .iter()
                    .map(|(_, bytes)| self.machine.decode(bytes).expect("a record"))
                    .collect();
                assert!(written.len() <= 1, "a second answer wrote {written:?}");
                let is_quiet = |record: &Record| {
                    record.postings.is_empty() && record.holds.is_empty() && record.events.is_empty()
                };
                assert!(
                    written
                        .iter()
                        .all(|record| record.cause == Cause::OperationContradicted && is_quiet(record)),
                    "{written:?}"
                );
            }
        }
    }

    /// Time passes: what falls due happens in its order, each at its own instant, as a jump of the
    /// clock has it.
    pub fn wait(&mut self, ms: i64, bank: Bank) {
        let target = self.now + ms;
        let mut dealt_with: HashSet<(i64, EntityId)> = HashSet::new();
        let mut skip: HashSet<EntityId> = HashSet::new();
        while let Some((at, id)) =
            self.machine.next_due(&self.book, &|id| skip.contains(&id)).filter(|(at, _)| *at <= target)
        {
            if !dealt_with.insert((at, id)) {
                // Nobody has answered it yet: it stays due.
                skip.insert(id);
                continue;
            }
            self.now = self.now.max(at);
            if let Some(intent) = self.model.sales.get(&id.id).filter(|sale| sale.stands == Paying::Intent) {
                assert_eq!(at, intent.created + INTENT, "an intent lives a quarter of an hour");
                self.model.cancel(id.id);
            }
            let effects = self.ask(id, Ask::Deadline).expect("a deadline is never refused");
            self.perform(effects, bank);
        }
        self.now = target;
        self.agree(EntityId::payment(Id::derived(0, 0, 0)), Ask::MoveClock, Ok(()));
    }

    /// Loses the last record that moved money.
    pub fn lose_a_record(&mut self) {
        let moved = |(_, bytes): &(i64, Vec<u8>)| {
            self.machine.decode(bytes).is_ok_and(|record| !record.postings.is_empty())
        };
        let last = self.records.iter().rposition(moved).expect("money moved");
        self.records.remove(last);
    }

    /// A snapshot now and then, as the book's actor takes one.
    pub fn save(&mut self) {
        self.snapshot = Some((self.machine.save(&self.book), self.records.len()));
    }

    /// Everything in memory is lost, and read again: from the start, and from the newest snapshot.
    pub fn crash(&mut self) {
        let from_start = self.replayed(self.machine.empty(TENANT), 0);
        assert!(same(&from_start, &self.book), "a replay from the start is another book");
        if let Some((saved, from)) = &self.snapshot {
            let restored = self.machine.restore(TENANT, saved).expect("a snapshot can be read");
            assert!(
                same(&self.replayed(restored, *from), &self.book),
                "a replay from a snapshot is another book"
            );
        }
        self.book = from_start;
    }

    fn replayed(&self, mut book: AnyBook, from: usize) -> AnyBook {
        for (time, bytes) in &self.records[from..] {
            let record = self.machine.decode(bytes).expect("a record can be read back");
            self.machine.settle(&mut book, *time);
            self.machine.evolve(&mut book, &record, *time);
            self.machine.check(&book, &record).expect("the invariants hold in a replay");
        }
        self.machine.settle(&mut book, self.now);
        book
    }

    pub fn tenant(&self) -> &Book {
        let AnyBook::Tenant(book) = &self.book else { unreachable!("a tenant's book") };
        book
    }

    /// The whole world against the whole model.
    pub fn assert_as_the_model_says(&mut self) {
        self.machine.settle(&mut self.book, self.now);
        let (now, model) = (self.now, &self.model);
        let shown = balance(self.tenant());
        let pending: i64 = self.shops.iter().map(|shop| model.pending(*shop, now)).sum();
        let owed: i64 = self.shops.iter().map(|shop| model.shops[shop].net).sum();
        assert_eq!(shown.ledger_net.minor(), model.net, "the sum");
        assert_eq!(shown.held.minor(), model.held(now), "what is held");
        assert_eq!(shown.available.minor(), model.available(now), "what is available");
        assert_eq!(shown.next_release.map(|at| at.unix_ms()), model.next_release(now), "the next release");
        assert_eq!(
            (shown.seller_pending.minor(), shown.seller_available.minor()),
            (pending, owed - pending),
            "what sellers are owed"
        );
        assert_eq!(self.moved.get(&Ledger::Tenant).copied().unwrap_or(0), model.net, "the movements");
        assert_eq!(self.moved.values().sum::<i64>(), 0, "the double entry");
        assert_eq!(self.tenant().events, self.events, "the number of events");
        assert_eq!(self.events - self.releases, model.events, "what was told");
        for shop in &self.shops {
            self.assert_shop(*shop);
        }
        for (id, sale) in &model.sales {
            self.assert_sale(*id, sale);
        }
        for (id, sent) in &model.sent {
            let Some(Entity::Payout(payout)) = self.entity(EntityId::payout(*id)) else {
                panic!("{id} is lost")
            };
            let stands = match payout.status {
                payouts::Status::Pending => Sending::Pending,
                payouts::Status::Completed => Sending::Completed,
                payouts::Status::Failed => Sending::Failed,
            };
            assert_eq!(
                (stands, payout.amount.minor(), payout.fee.minor()),
                (sent.stands, sent.cents, sent.fee),
                "{id}"
            );
        }
        assert_eq!(
            self.tenant().own.map(|(_, proved)| proved),
            model.own.map(|proof| proof == Proof::Proved),
            "the tenant's own account"
        );
    }

    fn assert_shop(&self, id: Id) {
        let (shop, shown) = (&self.model.shops[&id], sellers::balance(self.tenant(), id));
        assert_eq!(
            self.moved.get(&Ledger::Seller(id)).copied().unwrap_or(0),
            shop.net,
            "the movements of a seller"
        );
        if shop.gone {
            assert!(shown.is_none() && self.entity(EntityId::merchant(id)).is_none(), "{id} was deleted");
            return;
        }
        let pending = self.model.pending(id, self.now);
        let shown = shown.expect("a seller");
        assert_eq!(
            (shown.pending.minor(), shown.available.minor()),
            (pending, shop.net - pending),
            "the balance of a seller"
        );
        assert_eq!(
            self.tenant().sellers.get(&id).map_or(0, |seller| seller.payouts),
            shop.payouts,
            "payouts that a seller was sent"
        );
        let Some(Entity::Merchant(merchant)) = self.entity(EntityId::merchant(id)) else {
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

    fn assert_sale(&self, id: Id, sale: &crate::model::Sale) {
        let payment = self.payment(id);
        let stands = match (payment.status, &payment.phase) {
            (Status::Pending, Phase::Idle) => Paying::Intent,
            (Status::Pending, _) => Paying::Charging,
            (Status::Completed, Phase::Idle) => Paying::Completed,
            (Status::Completed, _) => Paying::Reversing,
            (Status::Reversed, _) => Paying::Reversed,
            (Status::Failed, _) => Paying::Failed,
            (Status::Canceled, _) => Paying::Canceled,
        };
        assert_eq!((stands, payment.ves.minor()), (sale.stands, sale.ves), "{id}");
        assert!(stands != Paying::Intent || self.now < sale.created + INTENT, "{id} has expired");
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
        let dispute = |status| match status {
            chargebacks::Status::Open => Dispute::Open,
            chargebacks::Status::Won => Dispute::Won,
            chargebacks::Status::Lost => Dispute::Lost,
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

fn same(left: &AnyBook, right: &AnyBook) -> bool {
    matches!((left, right), (AnyBook::Tenant(left), AnyBook::Tenant(right)) if left == right)
}
