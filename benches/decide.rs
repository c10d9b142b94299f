//! The cost in instructions of the pure part of a debit, of a payout and of a hold, without actors,
//! disk or HTTP: decide, apply, check the invariants, index, encode. Whatever a request costs
//! beyond this is transport, waiting and storage. Instructions are counted by Valgrind, so a noisy
//! machine counts the same as a quiet one: `benches/decide-instructions` runs this.

// The macros' code is not documented and writes whole paths.
#![allow(missing_docs, unused_qualifications)]

use actors::{Rules, Storage, Turn};
use api::operators::changes;
use api::render::render;
use domain::commands::Command;
use domain::machine::{AnyBook, Domain};
use domain::rail::{RailAnswer, RailReply};
use domain::record::{Cause, Entity, Record};
use domain::resources::adjustments::Adjustment;
use domain::resources::banks::BankCode;
use domain::resources::merchants;
use domain::resources::merchants::Registration;
use domain::resources::payouts;
use domain::resources::payouts::{NewPayout, Receiver};
use domain::trace::Said;
use domain::values::external_ref::ExternalRef;
use domain::values::ids::{EntityId, Id};
use domain::values::money::{Currency, Ves};
use domain::values::phone::MobilePhone;
use gungraun::prelude::*;
use std::hint::black_box;
use std::sync::Arc;
use wal::IndexOps;

const TENANT: u64 = 3;
/// The number of holds on a large balance.
const HOLDS: u64 = 100_000;
/// The time that money is held here; a hundred turns take a millisecond.
const HELD_MS: i64 = 24 * 3_600_000;

/// A book and the machine that decides on it.
struct Bench {
    domain: Domain,
    book: AnyBook,
    seed: u64,
    /// The time since the beginning, in ms, beside what the turns take.
    passed_ms: i64,
    bytes: usize,
}

impl Bench {
    fn new() -> Bench {
        let domain = Domain {
            rails: std::sync::Arc::new(domain::rail::TestModeAlone),
            holidays: Vec::new(),
            render,
            person_marks: Default::default(),
            changes,
        };
        let book = domain.empty(TENANT);
        let mut bench = Bench { domain, book, seed: 0, passed_ms: 0, bytes: 0 };
        bench.adjust(9_000_000_000_000, false);
        bench
    }

    /// Takes a turn of a book, as its actor does.
    fn turn(&mut self, entity: Option<&Entity>, command: impl Into<Command>) -> Arc<Record> {
        self.seed += 1;
        let now_ms = 1_800_000_000_000 + self.passed_ms + i64::try_from(self.seed / 100).expect("few turns");
        self.domain.settle(&mut self.book, now_ms);
        let decision = self.domain.decide(
            &self.book,
            entity,
            command.into().into(),
            Turn { tenant: TENANT, now_ms, seed: self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), ahead_ms: 0 },
        );
        assert!(decision.refusal.is_none(), "{:?}", decision.refusal);
        let record = decision.record.expect("a record");
        self.domain.evolve(&mut self.book, &record, now_ms);
        self.domain.check(&self.book, &record).expect("sound books");
        let mut index = IndexOps::new();
        self.domain.index(TENANT, now_ms, &record, &mut index);
        self.bytes = black_box(self.domain.encode(&record)).len();
        black_box(index);
        record
    }

    fn adjust(&mut self, minor: i64, held: bool) {
        let ask = Adjustment {
            cause: Cause::Funded,
            currency: Currency::Ves,
            minor,
            merchant: None,
            held,
            description: "bench".to_owned(),
            external_ref: None,
        };
        self.turn(None, Command::Adjust(Box::new(ask)));
    }

    /// Adds a merchant whose payout method is verified, and returns its id.
    fn merchant(&mut self) -> Id {
        let id = Id::derived(1, 1, 0);
        let phone = MobilePhone::parse("04147654321").expect("a phone");
        let bank = BankCode::parse("0134").expect("a bank");
        let ask = Registration {
            id,
            external_ref: ExternalRef::parse("bench").expect("a reference"),
            name: "Bodega La Esquina".to_owned(),
            identification: None,
            contact_email: None,
            contact_phone: None,
            method: Some((bank, phone)),
        };
        let record = self.turn(None, merchants::Command::Register(Box::new(ask)));
        let Some(Entity::Merchant(merchant)) = record.entities.first().map(|written| &*written.state) else {
            panic!("no merchant")
        };
        let (method, amounts) = (merchant.methods[0].id, (Ves::from_minor(32), Ves::from_minor(45)));
        let mut entity = state(&record);
        for ask in [
            merchants::Command::StartVerification { method, amounts },
            merchants::Command::Verify { method, seen: amounts },
        ] {
            entity = state(&self.turn(Some(&entity), ask));
        }
        id
    }

    /// Creates a payout, and has the bank pay it: two records.
    fn payout(&mut self, merchant: Id) {
        let id = Id::derived(1_800_000_000_000, self.seed, 0);
        let new = NewPayout {
            id,
            external_ref: ExternalRef::parse(&format!("bench-{:012x}", self.seed)).expect("a reference"),
            receiver: Receiver::Merchant { merchant, method: None, from_balance: false },
            amount: Ves::from_minor(100),
            concept: "pago de prueba".to_owned(),
        };
        let created = self.turn(None, payouts::Command::Pay(Box::new(new)));
        let operation = match &*state(&created) {
            Entity::Payout(payout) => payout.operation().expect("sent"),
            _ => panic!("not {:?}", EntityId::payout(id)),
        };
        let heard = RailReply {
            said: Said::default(),
            operation,
            how: domain::rail::How::Send,
            answer: RailAnswer::done("000000000042"),
        };
        self.turn(Some(&state(&created)), Command::RailReply(heard));
    }
}

fn state(record: &Record) -> Arc<Entity> {
    Arc::clone(&record.entities.first().expect("an entity").state)
}

/// A book that has decided a little, so that nothing is done for the first time.
fn warm() -> Bench {
    let mut bench = Bench::new();
    (0..100).for_each(|_| bench.adjust(-1, false));
    bench
}

/// A warm book with a merchant that has been paid.
fn with_merchant() -> (Bench, Id) {
    let mut bench = warm();
    let merchant = bench.merchant();
    bench.payout(merchant);
    (bench, merchant)
}

/// A book with many holds; `ending`: the next turn ends some of them.
fn large(ending: bool) -> Bench {
    let mut bench = warm();
    let first = bench.seed;
    (0..HOLDS).for_each(|_| bench.adjust(1, true));
    if ending {
        bench.passed_ms = HELD_MS - i64::try_from((bench.seed - first) / 100).expect("few turns");
    }
    bench
}

#[library_benchmark]
#[bench::plain(warm())]
#[bench::beside_many_holds(large(false))]
fn debit(mut bench: Bench) -> Bench {
    bench.adjust(-1, false);
    bench
}

#[library_benchmark]
#[bench::beside_many_holds(large(false))]
#[bench::while_others_end(large(true))]
fn hold(mut bench: Bench) -> Bench {
    bench.adjust(1, true);
    bench
}

#[library_benchmark]
#[bench::created_and_paid(with_merchant())]
fn payout((mut bench, merchant): (Bench, Id)) -> Bench {
    bench.payout(merchant);
    bench
}

library_benchmark_group!(name = decide, benchmarks = [debit, hold, payout]);
main!(library_benchmark_groups = decide);
