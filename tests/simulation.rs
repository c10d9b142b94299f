//! The pure core against a small sequential model: random sequences of commands, bank answers and time, checked after every step; then the same records replayed, from the start and
//! from a snapshot in the middle.

use actors::{Machine, Turn};
use pasarela::api::render::render;
use pasarela::domain::adjustments::Adjustment;
use pasarela::domain::bank::{Answer, Effect, Heard};
use pasarela::domain::banks::BankCode;
use pasarela::domain::external_ref::ExternalRef;
use pasarela::domain::identity::IdentityDocument;
use pasarela::domain::ids::{EntityId, Id};
use pasarela::domain::ledger::Ledger;
use pasarela::domain::machine::{AnyBook, Ask, Command, Domain};
use pasarela::domain::merchants::Registration;
use pasarela::domain::money::{Currency, Rate, Usd, Ves};
use pasarela::domain::payments::Debtor;
use pasarela::domain::payments::c2p::{Execute, NewIntent};
use pasarela::domain::payouts::NewPayout;
use pasarela::domain::phone::MobilePhone;
use pasarela::domain::record::{Cause, Entity, Record};
use pasarela::domain::refusal::Refusal;
use pasarela::domain::time::{DAY_MS, Timestamp};
use pasarela::domain::token::Token;
use pasarela::domain::view::balance;
use proptest::prelude::*;
use rust_decimal::Decimal;
use std::collections::HashMap;
use std::sync::Arc;

/// A test key: the machine's clock is the tenant's.
const TENANT: u64 = 3;

#[derive(Clone, Debug)]
enum Bank {
    Done,
    Refused,
    Silent,
}

#[derive(Clone, Debug)]
enum Step {
    Fund {
        cents: i64,
        held: bool,
    },
    Collect {
        usd_cents: i64,
        bank: Bank,
    },
    /// The bank is asked again about the n-th payment or payout.
    Ask {
        n: usize,
        bank: Bank,
    },
    Reverse {
        n: usize,
        bank: Bank,
    },
    Pay {
        cents: i64,
        bank: Bank,
    },
    Wait {
        ms: i64,
    },
}

fn bank() -> impl Strategy<Value = Bank> {
    prop_oneof![4 => Just(Bank::Done), 1 => Just(Bank::Refused), 1 => Just(Bank::Silent)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..500_000_i64, any::<bool>()).prop_map(|(cents, held)| Step::Fund { cents, held }),
        (1..20_000_i64, bank()).prop_map(|(usd_cents, bank)| Step::Collect { usd_cents, bank }),
        (any::<usize>(), bank()).prop_map(|(n, bank)| Step::Ask { n, bank }),
        (any::<usize>(), bank()).prop_map(|(n, bank)| Step::Reverse { n, bank }),
        (1..400_000_i64, bank()).prop_map(|(cents, bank)| Step::Pay { cents, bank }),
        prop_oneof![1..60_000_i64, 1..DAY_MS].prop_map(|ms| Step::Wait { ms }),
    ]
}

/// What the tenant has, as simply as it can be said: a sum, and holds with their ends.
#[derive(Default)]
struct Model {
    net: i64,
    holds: HashMap<Id, (i64, i64)>,
    aside: HashMap<Id, (i64, i64)>,
}

impl Model {
    fn held(&self, now: i64) -> i64 {
        let running: i64 = self.holds.values().filter(|(until, _)| *until > now).map(|(_, cents)| *cents).sum();
        running + self.aside.values().map(|(from_hold, from_available)| from_hold + from_available).sum::<i64>()
    }
}

struct World {
    machine: Domain,
    book: AnyBook,
    now: i64,
    seed: u64,
    entities: HashMap<EntityId, Arc<Entity>>,
    order: Vec<EntityId>,
    records: Vec<(i64, Record)>,
    model: Model,
    merchant: EntityId,
}

impl World {
    fn new() -> World {
        let machine = Domain { live_rails: false, holidays: Vec::new(), render };
        let book = machine.empty(TENANT);
        let merchant = EntityId::merchant(Id::derived(1, 1, 0));
        let mut world = World {
            machine,
            book,
            now: 1_795_226_000_000,
            seed: 100,
            entities: HashMap::new(),
            order: Vec::new(),
            records: Vec::new(),
            model: Model::default(),
            merchant,
        };
        let registration = Registration {
            id: merchant.id,
            external_ref: ExternalRef::parse("seller").expect("a reference"),
            name: "Bodega".to_owned(),
            identification: None,
            contact_email: None,
            contact_phone: None,
            method: Some((bank_code(), phone())),
        };
        world.ask(merchant, Ask::Register(Box::new(registration))).expect("registered");
        let Some(Entity::Merchant(registered)) = world.entities.get(&merchant).map(|entity| &**entity) else { unreachable!("it was just registered") };
        let method = registered.methods[0].id;
        let amounts = (Ves::from_minor(32), Ves::from_minor(45));
        world.ask(merchant, Ask::StartVerification { method, amounts }).expect("started");
        world.ask(merchant, Ask::Verify { method, seen: (amounts.1, amounts.0) }).expect("verified");
        world
    }

    /// Decides, applies, checks; gives the effects back.
    fn ask(&mut self, id: EntityId, ask: Ask) -> Result<Vec<Effect>, Refusal> {
        self.seed += 1;
        self.machine.settle(&mut self.book, self.now);
        let entity = self.entities.get(&id).cloned();
        let turn = Turn { tenant: TENANT, now_ms: self.now, seed: self.seed };
        let decision = self.machine.decide(&self.book, entity.as_deref(), Command { ask, keep: None }, turn);
        if let Some(record) = decision.record {
            self.machine.evolve(&mut self.book, &record, self.now);
            self.machine.check(&self.book, &record).expect("the invariants hold");
            let read = self.machine.decode(&self.machine.encode(&record)).expect("a record can be read back");
            assert_eq!(read, record);
            for written in &record.entities {
                self.entities.insert(written.state.id(), Arc::clone(&written.state));
            }
            self.records.push((self.now, record));
        }
        match decision.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(decision.effects),
        }
    }

    /// What the bank says to the one effect there is.
    fn answer(&mut self, effects: Vec<Effect>, bank: &Bank) -> Result<Vec<Effect>, Refusal> {
        let Some(effect) = effects.into_iter().next() else { return Ok(Vec::new()) };
        let answer = match bank {
            Bank::Done => Answer::Done { reference: "12345678".to_owned() },
            Bank::Refused => Answer::Refused { code: "AM04".to_owned() },
            Bank::Silent => Answer::Silent,
        };
        let heard = Heard { operation: effect.operation, how: effect.how, answer };
        let outcome = self.ask(effect.entity, Ask::Heard(heard.clone()));
        if !matches!(bank, Bank::Silent) {
            // A bank that answers twice, and contradicts itself, finds it settled.
            let records = self.records.len();
            for answer in [heard.answer, Answer::Done { reference: "87654321".to_owned() }, Answer::Refused { code: "AC01".to_owned() }, Answer::NeverReceived]
            {
                let again = self.ask(effect.entity, Ask::Heard(Heard { operation: effect.operation, how: effect.how, answer }));
                assert!(again.is_ok_and(|effects| effects.is_empty()));
            }
            assert_eq!(self.records.len(), records, "a second answer wrote something");
        }
        outcome
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Fund { cents, held } => self.fund(*cents, *held),
            Step::Collect { usd_cents, bank } => self.collect(*usd_cents, bank),
            Step::Ask { n, bank } => self.ask_again(*n, bank),
            Step::Reverse { n, bank } => self.reverse(*n, bank),
            Step::Pay { cents, bank } => self.pay(*cents, bank),
            Step::Wait { ms } => self.now += ms,
        }
        self.machine.settle(&mut self.book, self.now);
    }

    fn fund(&mut self, cents: i64, held: bool) {
        let ask = Adjustment {
            cause: Cause::Funded,
            currency: Currency::Ves,
            minor: cents,
            merchant: None,
            held,
            description: "funds".to_owned(),
            external_ref: None,
        };
        self.ask(EntityId::payment(Id::derived(0, 0, 0)), Ask::Adjust(Box::new(ask))).expect("funded");
        self.model.net += cents;
        if held {
            self.model.holds.insert(Id::derived(self.now, self.seed, 0), (self.now + DAY_MS, cents));
        }
    }

    fn collect(&mut self, usd_cents: i64, bank: &Bank) {
        let id = EntityId::payment(self.fresh());
        let (usd, rate) = (Usd::from_minor(usd_cents), Rate(Decimal::from(200)));
        let ves = Ves::rounded(usd.decimal() * rate.0).expect("it fits");
        let external_ref = ExternalRef::parse(&id.id.to_string()).expect("a reference");
        let new = NewIntent {
            id: id.id,
            external_ref: external_ref.clone(),
            usd,
            rate,
            ves,
            debtor: debtor(),
            bank_sends_otp: false,
        };
        self.ask(id, Ask::RequestC2p(Box::new(new))).expect("requested");
        let execute = Execute {
            external_ref,
            usd,
            debtor: debtor(),
            token: Token::parse_c2p("12345678").expect("a token"),
            token_mark: [1; 16],
            marketplace: None,
        };
        let effects = self.ask(id, Ask::ExecuteC2p(Box::new(execute))).expect("charging");
        self.order.push(id);
        self.answer(effects, bank).expect("an answer is never refused");
        self.note_sale(id);
    }

    /// A payment that is completed now and was not before is in the model's books.
    fn note_sale(&mut self, id: EntityId) {
        if let Some(Entity::Payment(payment)) = self.entities.get(&id).map(|entity| &**entity)
            && let (Some(at), Some(net), None) = (payment.completed_at, payment.net(), payment.reversed_at)
            && !self.model.holds.contains_key(&id.id)
        {
            // 1.5 %, half up, by hand.
            let fee = (payment.ves.minor() * 15 + 500) / 1000;
            assert_eq!(net.minor(), payment.ves.minor() - fee);
            self.model.net += net.minor();
            self.model.holds.insert(id.id, (at.unix_ms() + DAY_MS, net.minor()));
        }
    }

    fn ask_again(&mut self, n: usize, bank: &Bank) {
        if self.order.is_empty() {
            return;
        }
        let id = self.order[n % self.order.len()];
        let reversing = self.model.aside.contains_key(&id.id);
        let effects = self.ask(id, Ask::Deadline).expect("a deadline is never refused");
        let asked = !effects.is_empty();
        let answered = self.answer(effects, bank);
        if asked {
            match id.kind {
                pasarela::domain::ids::Kind::Payout => self.note_payout(id, bank),
                _ if reversing => self.note_reversal(id, &answered.map(|_| ()), bank),
                _ => self.note_sale(id),
            }
        }
    }

    fn reverse(&mut self, n: usize, bank: &Bank) {
        let payments: Vec<EntityId> =
            self.order.iter().copied().filter(|id| matches!(self.entities.get(id).map(|entity| &**entity), Some(Entity::Payment(_)))).collect();
        if payments.is_empty() {
            return;
        }
        let id = payments[n % payments.len()];
        let Some(&(until, net)) = self.model.holds.get(&id.id) else {
            self.ask(id, Ask::Reverse).err().expect("what is not completed cannot be reversed");
            return;
        };
        let left = if until > self.now { net } else { 0 };
        let available = self.model.net - self.model.held(self.now);
        let begun = self.ask(id, Ask::Reverse);
        let Ok(effects) = begun else {
            let refusal = begun.err().expect("refused");
            assert!(self.now >= until || self.model.aside.contains_key(&id.id) || left == 0 && available < net, "{refusal:?}");
            return;
        };
        self.model.holds.insert(id.id, (until, net - left));
        self.model.aside.insert(id.id, (left, net - left));
        let answered = self.answer(effects, bank).map(|_| ());
        self.note_reversal(id, &answered, bank);
    }

    fn note_reversal(&mut self, id: EntityId, answered: &Result<(), Refusal>, bank: &Bank) {
        let (until, _) = self.model.holds[&id.id];
        let (from_hold, from_available) = self.model.aside[&id.id];
        match bank {
            Bank::Done => {
                self.model.aside.remove(&id.id);
                self.model.net -= from_hold + from_available;
                // Gone for good: it may not be noted as a sale again.
                self.model.holds.insert(id.id, (0, 0));
            }
            Bank::Refused => {
                assert_eq!(*answered, Err(Refusal::ReversalRefused));
                self.model.aside.remove(&id.id);
                self.model.holds.insert(id.id, (until, from_hold + from_available));
            }
            Bank::Silent => {}
        }
    }

    fn pay(&mut self, cents: i64, bank: &Bank) {
        let id = EntityId::payout(self.fresh());
        let new = NewPayout {
            id: id.id,
            external_ref: ExternalRef::parse(&id.id.to_string()).expect("a reference"),
            merchant: self.merchant.id,
            method: None,
            amount: Ves::from_minor(cents),
            concept: "pago".to_owned(),
            from_merchant_balance: false,
        };
        let available = self.model.net - self.model.held(self.now);
        match self.ask(id, Ask::Pay(Box::new(new))) {
            Err(refusal) => {
                assert!(cents > available, "{refusal:?} although {available} were there for {cents}");
                assert_eq!(refusal, Refusal::InsufficientBalance { available: Ves::from_minor(available) });
            }
            Ok(effects) => {
                assert!(cents <= available, "{cents} paid of {available}");
                self.model.net -= cents;
                self.order.push(id);
                self.answer(effects, bank).expect("an answer is never refused");
                self.note_payout(id, bank);
            }
        }
    }

    fn note_payout(&mut self, id: EntityId, bank: &Bank) {
        if let (Bank::Refused, Some(Entity::Payout(payout))) = (bank, self.entities.get(&id).map(|entity| &**entity)) {
            self.model.net += payout.amount.minor();
        }
    }

    fn fresh(&mut self) -> Id {
        self.seed += 1;
        Id::derived(self.now, self.seed, 0)
    }

    fn assert_as_the_model_says(&self) {
        let AnyBook::Tenant(book) = &self.book else { unreachable!("a tenant's book") };
        let shown = balance(book);
        assert_eq!(shown.ledger_net.minor(), self.model.net, "the sum");
        assert_eq!(shown.held.minor(), self.model.held(self.now), "what is held");
        assert_eq!(shown.available.minor(), self.model.net - self.model.held(self.now), "what is available");
        let moved: i64 =
            self.records.iter().flat_map(|(_, record)| &record.postings).filter(|posting| posting.ledger == Ledger::Tenant).map(|posting| posting.minor).sum();
        assert_eq!(moved, self.model.net, "the movements");
    }

    /// The book that the records from `from` on make of `book`.
    fn replayed(&self, mut book: AnyBook, from: usize) -> AnyBook {
        for (time, record) in &self.records[from..] {
            self.machine.settle(&mut book, *time);
            self.machine.evolve(&mut book, record, *time);
        }
        self.machine.settle(&mut book, self.now);
        book
    }
}

fn bank_code() -> BankCode {
    BankCode::parse("0134").expect("a bank")
}

fn debtor() -> Debtor {
    Debtor { bank: bank_code(), id: IdentityDocument::parse("V12345678").expect("a document"), phone: phone() }
}

fn phone() -> MobilePhone {
    MobilePhone::parse("04141234567").expect("a phone")
}

fn same(left: &AnyBook, right: &AnyBook) -> bool {
    match (left, right) {
        (AnyBook::Tenant(left), AnyBook::Tenant(right)) => left == right,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_core_agrees_with_the_model_and_with_its_own_replay(steps in prop::collection::vec(step(), 1..60), middle in any::<prop::sample::Index>()) {
        let mut world = World::new();
        let middle = middle.index(steps.len());
        let mut snapshot = None;
        for (n, step) in steps.iter().enumerate() {
            world.take(step);
            world.assert_as_the_model_says();
            if n == middle {
                snapshot = Some((world.machine.save(&world.book), world.records.len()));
            }
        }
        prop_assert!(same(&world.replayed(world.machine.empty(TENANT), 0), &world.book), "a replay from the start");
        let (saved, from) = snapshot.expect("taken");
        let restored = world.machine.restore(TENANT, &saved).expect("a snapshot can be read");
        prop_assert!(same(&world.replayed(restored, from), &world.book), "a replay from a snapshot");
    }
}

#[test]
fn the_harness_notices_a_cent_too_much() {
    // The canary: a model that is off by one must be found, or the checks above check nothing.
    let mut world = World::new();
    world.take(&Step::Fund { cents: 100, held: false });
    world.model.net += 1;
    let noticed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.assert_as_the_model_says()));
    assert!(noticed.is_err());
    assert_eq!(Timestamp::from_unix_ms(world.now).unix_ms(), world.now);
}
