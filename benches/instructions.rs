//! The cost in instructions of the pure parts of a request, without actors, disk or HTTP: parsing the
//! body, deciding, applying, checking the invariants, indexing, encoding and decoding the record, rendering
//! the answer, each alone and as turns of a book. Whatever a request costs beyond this is transport, waiting
//! and storage. Instructions are counted by Valgrind, so a noisy machine counts the same as a quiet one:
//! `benches/instructions` runs this.

// The macros' code writes whole paths.
#![allow(unused_qualifications)]

use actors::{Machine, Turn};
use api::answer::{Facts, NoSecrets, Rendered};
use api::fields::Fields;
use api::operators::changes;
use api::payouts::{Form, read_new};
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::verification::KnownPhone;
use domain::machine::Command;
use domain::machine::{AnyBook, Domain};
use domain::rail::{RailAnswer, RailReply};
use domain::record::Record;
use domain::resources::adjustments::Adjustment;
use domain::resources::banks::Catalogue;
use domain::resources::merchants;
use domain::resources::merchants::Registration;
use domain::resources::payouts::{NewPayout, Receiver};
use domain::resources::verification::Start;
use domain::trace::Said;
use domain::values::ids::{EntityId, Id};
use domain::values::money::{Currency, Ves};
use domain::values::text::ExternalRef;
use domain::values::time::Timestamp;
use domain::values::venezuela::{BankCode, MobilePhone};
use gungraun::prelude::*;
use std::hint::black_box;
use std::sync::Arc;
use wal::IndexOps;

const TENANT: u64 = 3;
/// The number of holds on a large balance: as many as the gate has time to make, under Valgrind and
/// not optimised.
const HOLDS: u64 = if cfg!(debug_assertions) { 5_000 } else { 100_000 };
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
            person_marks: Default::default(),
            changes,
        };
        let book = domain.empty(TENANT);
        let mut bench = Bench { domain, book, seed: 0, passed_ms: 0, bytes: 0 };
        bench.adjust(9_000_000_000_000, false);
        bench
    }

    /// Decides, at the next time and with the next seed.
    fn decide(&mut self, entity: Option<&Entity>, command: impl Into<Command>) -> Arc<Record> {
        self.seed += 1;
        let now_ms = self.now_ms();
        self.domain.settle(&mut self.book, now_ms);
        let decision = self.domain.decide(
            &self.book,
            entity,
            command.into().into(),
            Turn { tenant: TENANT, now_ms, seed: self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), ahead_ms: 0 },
        );
        assert!(decision.refusal.is_none(), "{:?}", decision.refusal);
        Arc::new(decision.record.expect("a record"))
    }

    /// Takes a turn of a book, as its actor does.
    fn turn(&mut self, entity: Option<&Entity>, command: impl Into<Command>) -> Arc<Record> {
        let record = self.decide(entity, command);
        let now_ms = self.now_ms();
        self.domain.evolve(&mut self.book, &record, now_ms);
        self.domain.check(&self.book, &record).expect("sound books");
        let mut index = IndexOps::new();
        self.domain.index(TENANT, now_ms, &record, &mut index);
        self.bytes = black_box(self.domain.encode(&record)).len();
        black_box(index);
        record
    }

    /// The time of the last turn, in ms.
    fn now_ms(&self) -> i64 {
        1_800_000_000_000 + self.passed_ms + i64::try_from(self.seed / 100).expect("few turns")
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
            name: Some("Bodega La Esquina".to_owned()),
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
        let start = Box::new(Start { amounts, phone: KnownPhone { bank, phone, starts: Vec::new() } });
        for ask in [
            merchants::Command::StartVerification { method, start },
            merchants::Command::Verify { method, seen: amounts },
        ] {
            entity = state(&self.turn(Some(&entity), ask));
        }
        id
    }

    /// Creates a payout, and has the bank pay it: two records.
    fn payout(&mut self, merchant: Id) {
        let new = self.new_payout(merchant);
        let id = new.id;
        let created = self.turn(None, Box::new(new));
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

    fn new_payout(&self, merchant: Id) -> NewPayout {
        NewPayout {
            id: Id::derived(1_800_000_000_000, self.seed, 0),
            external_ref: ExternalRef::parse(&format!("bench-{:012x}", self.seed)).expect("a reference"),
            receiver: Receiver::Merchant { merchant, method: None, from_balance: false },
            amount: Ves::from_minor(100),
            concept: "pago de prueba".to_owned(),
        }
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

/// The body of a payout, as clients send it.
const BODY: &[u8] = br#"{"merchantId":"018bcfe5-6800-7000-8000-000000000001","monto":"1.00","concepto":"pago de prueba","externalRef":"bench-000000000001"}"#;

/// A book with a merchant, and the record of a payout that it has decided on and not applied.
fn decided() -> (Bench, Arc<Record>) {
    let (mut bench, merchant) = with_merchant();
    let new = bench.new_payout(merchant);
    let record = bench.decide(None, Box::new(new));
    (bench, record)
}

/// The same book, and the payout that it will decide on.
fn asked() -> (Bench, NewPayout) {
    let (bench, merchant) = with_merchant();
    let new = bench.new_payout(merchant);
    (bench, new)
}

/// The bytes of such a record.
fn encoded() -> (Bench, Vec<u8>) {
    let (bench, record) = decided();
    let bytes = bench.domain.encode(&record);
    (bench, bytes)
}

#[library_benchmark]
#[bench::of_a_payout(Catalogue::embedded())]
fn parse(banks: Catalogue) -> (Catalogue, NewPayout) {
    let fields = Fields::parse(black_box(BODY)).expect("an object");
    let new = read_new(fields, Form::Merchant { alone: true }, Id::derived(1, 1, 0), &banks);
    (banks, new.expect("a payout"))
}

#[library_benchmark]
#[bench::of_a_payout(asked())]
fn decide((mut bench, new): (Bench, NewPayout)) -> (Bench, Arc<Record>) {
    let record = bench.decide(None, Box::new(new));
    (bench, record)
}

#[library_benchmark]
#[bench::of_a_payout(decided())]
fn evolve((mut bench, record): (Bench, Arc<Record>)) -> (Bench, Arc<Record>) {
    let now_ms = bench.now_ms();
    bench.domain.evolve(&mut bench.book, &record, now_ms);
    (bench, record)
}

#[library_benchmark]
#[bench::of_a_payout(decided())]
fn index((bench, record): (Bench, Arc<Record>)) -> (Bench, IndexOps) {
    let mut index = IndexOps::new();
    bench.domain.index(TENANT, bench.now_ms(), &record, &mut index);
    (bench, index)
}

#[library_benchmark]
#[bench::of_a_payout(decided())]
fn encode((bench, record): (Bench, Arc<Record>)) -> (Bench, Vec<u8>) {
    let bytes = bench.domain.encode(black_box(&record));
    (bench, bytes)
}

#[library_benchmark]
#[bench::of_a_payout(encoded())]
fn decode((bench, bytes): (Bench, Vec<u8>)) -> (Bench, Record) {
    let record = bench.domain.decode(black_box(&bytes)).expect("a record");
    (bench, record)
}

#[library_benchmark]
#[bench::of_a_payout(decided())]
fn show((bench, record): (Bench, Arc<Record>)) -> (Bench, Rendered) {
    let entity = state(&record);
    let facts = Facts {
        livemode: true,
        record: Some(&record),
        time: Timestamp::from_unix_ms(bench.now_ms()),
        entity: Some(&entity),
        refusal: None,
        request_id: "bench",
        related: &[],
        about: None,
        secrets: &NoSecrets,
    };
    let rendered = black_box(&facts).shown_by(Some(api::payouts::created)).expect("a payout");
    (bench, rendered)
}

library_benchmark_group!(name = turns, benchmarks = [debit, hold, payout]);
library_benchmark_group!(name = parts, benchmarks = [parse, decide, evolve, index, encode, decode, show]);
main!(library_benchmark_groups = turns, parts);
