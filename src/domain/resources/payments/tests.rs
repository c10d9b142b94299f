//! Tests of charges, transfers and chargebacks, through the machine and its invariants: the record
//! and the effects of each command, from given records.

use super::charge::{NewCharge, Price, Secret, Transfer};
use crate::cause::Cause;
use crate::entities::Entity;
use crate::entities::chargeback::Reason;
use crate::entities::means::{Debtor, Means};
use crate::entities::payment::{Before, CHARGE, Payment, Phase, Status};
use crate::events::EventKind;
use crate::index::{self, Space};
use crate::ledger::{Ledger, MovementKind};
use crate::machine::Command;
use crate::machine::{AnyBook, Domain};
use crate::rail::{Effect, How, RailAnswer, RailReply};
use crate::record::Record;
use crate::refusal::{ChargebackRefusal, PaymentRefusal, Refusal};
use crate::resources::adjustments::Adjustment;
use crate::resources::chargebacks;
use crate::resources::chargebacks::{NewChargeback, Verdict};
use crate::resources::merchants;
use crate::resources::merchants::Registration;
use crate::resources::payments;
use crate::values::card::{Brand, Card, Cvv, Expiry, Number};
use crate::values::ids::Id;
use crate::values::money::{Currency, Rate, Usd, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::{Date, Timestamp};
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use actors::Machine;
use rust_decimal::Decimal;
use std::sync::Arc;

/// A tenant in test mode, and one payment of it.
struct Case {
    domain: Domain,
    book: AnyBook,
    entity: Option<Arc<Entity>>,
    now_ms: i64,
    turns: u64,
}

struct Then {
    record: Option<Arc<Record>>,
    refusal: Option<Refusal>,
    effects: Vec<Effect>,
}

const TENANT: u64 = 3;

impl Case {
    fn new() -> Case {
        let domain = Domain {
            rails: Arc::new(crate::rail::TestModeAlone),
            holidays: Vec::new(),
            person_marks: Default::default(),
            changes: |_| crate::platform::audit::Changes::default(),
        };
        let book = domain.empty(TENANT);
        Case { domain, book, entity: None, now_ms: 1_795_226_000_000, turns: 0 }
    }

    /// Asks; what is written is applied, and the invariants are checked.
    fn when(&mut self, command: impl Into<Command>) -> Then {
        self.now_ms += 1000;
        self.turns += 1;
        self.domain.settle(&mut self.book, self.now_ms);
        let turn = actors::Turn { tenant: TENANT, now_ms: self.now_ms, seed: self.turns, ahead_ms: 0 };
        let decided = self.domain.decide(&self.book, self.entity.as_deref(), command.into().into(), turn);
        if let Some(record) = &decided.record {
            self.domain.evolve(&mut self.book, record, self.now_ms);
            self.domain.check(&self.book, record).expect("the invariants hold");
            let back = self.domain.decode(&self.domain.encode(record)).expect("a record");
            assert_eq!(back, *record);
            self.entity =
                record.entities.first().map(|written| Arc::clone(&written.state)).or(self.entity.take());
        }
        Then { record: decided.record.map(Arc::new), refusal: decided.refusal, effects: decided.effects }
    }

    fn hears(&mut self, how: How, answer: RailAnswer) -> Then {
        let operation = self.payment().id.operation(CHARGE);
        self.when(Command::RailReply(RailReply::plain(operation, how, answer)))
    }

    fn payment(&self) -> &Payment {
        match self.entity.as_deref() {
            Some(Entity::Payment(payment)) => payment,
            other => panic!("{other:?} is no payment"),
        }
    }

    fn available(&self) -> i64 {
        match &self.book {
            AnyBook::Tenant(book) => book.spendable(Currency::Ves),
            AnyBook::Platform(_) => panic!("not a tenant"),
        }
    }

    fn paid_by_card() -> Case {
        let mut case = Case::new();
        case.when(charge(card()));
        case.hears(How::Send, RailAnswer::done("1"));
        case
    }

    fn charge_back(&mut self, amount: Option<i64>, fee: i64) -> Then {
        self.turns += 1;
        let id = Id::derived(self.now_ms, self.turns, 0);
        let new = NewChargeback {
            id,
            amount: amount.map(Ves::from_minor),
            fee: Some(Ves::from_minor(fee)),
            reason: Reason::Fraud,
            bank_debited_at: None,
        };
        self.when(chargebacks::Command::Open(Box::new(new)))
    }
}

impl Then {
    fn wrote(&self, cause: Cause) -> &Record {
        let record =
            self.record.as_ref().unwrap_or_else(|| panic!("nothing was written: {:?}", self.refusal));
        assert_eq!((record.cause, &self.refusal), (cause, &None));
        record
    }

    fn refused(&self, refusal: &Refusal) {
        assert_eq!((&self.record, self.refusal.as_ref()), (&None, Some(refusal)));
    }

    fn nothing(&self) {
        assert!(self.record.is_none() && self.refusal.is_none() && self.effects.is_empty());
    }
}

fn events(record: &Record) -> Vec<EventKind> {
    record.events.iter().map(|event| event.kind).collect()
}

/// The tenant's rows of a record, in cents.
fn rows(record: &Record) -> Vec<(MovementKind, i64)> {
    let own = record.postings.iter().filter(|posting| posting.ledger == Ledger::Tenant);
    own.filter_map(|posting| posting.row.as_ref().map(|row| (row.kind, posting.minor))).collect()
}

fn debtor() -> Debtor {
    Debtor {
        bank: BankCode::parse("0134").expect("a bank"),
        id: IdentityDocument::parse("V12345678").expect("a document"),
        phone: MobilePhone::parse("04141234567").expect("a phone"),
    }
}

fn card() -> Means {
    Means::Card { brand: Brand::Visa, last_four: 1111, mark: [7; 16] }
}

fn transfer(days_ago: i64) -> Means {
    let date = Date::parse("2026-11-20").expect("a date").plus_days(-i32::try_from(days_ago).expect("few"));
    Means::Transfer { debtor: debtor(), date, reference: "123456".to_owned() }
}

fn new_charge(means: Means) -> NewCharge {
    let secret = match means {
        Means::Card { .. } => Secret::Card(Arc::new(Card {
            number: Number::parse("4111111111111111").expect("a number"),
            expiry: Expiry { year: 2026, month: 11 },
            cvv: Cvv::parse("123").expect("a code"),
            holder_name: "Ana".to_owned(),
            holder_id: debtor().id,
        })),
        _ => Secret::None,
    };
    let id = Id::derived(1_795_226_000_000, 99, 0);
    let external_ref = ExternalRef::parse("r-1").expect("a reference");
    let price = Price::Usd(Usd::from_minor(1000));
    NewCharge {
        rate: Some(Rate(Decimal::new(200, 0))),
        ..NewCharge::new(id, external_ref, price, means, secret)
    }
}

fn in_ves(minor: i64) -> Price {
    Price::Ves { amount: Ves::from_minor(minor), field: "vesAmount" }
}

fn debit(code: u8) -> Means {
    Means::Debit { debtor: debtor(), name: "Ana".to_owned(), code_mark: [code; 16] }
}

fn other_card() -> Means {
    Means::Card { brand: Brand::Visa, last_four: 1111, mark: [8; 16] }
}

fn charge(means: Means) -> Command {
    payments::Command::Charge(Box::new(new_charge(means))).into()
}

#[test]
fn a_card_is_written_down_before_the_bank_is_called_and_again_with_its_outcome() {
    let mut case = Case::new();
    let then = case.when(charge(card()));
    let record = then.wrote(Cause::PaymentCharging);
    assert!(record.postings.is_empty() && record.events.is_empty());
    assert_eq!(then.effects.len(), 1);
    assert_eq!((then.effects[0].how, then.effects[0].order.kind()), (How::Send, "charge_card"));
    let then = case.hears(How::Send, RailAnswer::done("77"));
    let record = then.wrote(Cause::PaymentCompleted);
    assert_eq!(rows(record), [(MovementKind::Payment, 200_000), (MovementKind::Fee, -3_000)]);
    assert_eq!(events(record), [EventKind::PaymentCompleted]);
    // The opposite is written down once, and moves nothing.
    let declined = || RailAnswer::Refused { code: "card_declined".to_owned() };
    let then = case.hears(How::Ask, declined());
    let record = then.wrote(Cause::OperationContradicted);
    assert!(record.postings.is_empty() && record.holds.is_empty() && record.events.is_empty());
    assert_eq!(case.payment().status, Status::Completed);
    assert_eq!(case.payment().contradicted(), Some(CHARGE));
    case.hears(How::Ask, declined()).nothing();
}

#[test]
fn a_card_that_never_arrived_is_not_sent_again() {
    let mut case = Case::new();
    case.when(charge(card()));
    case.hears(How::Send, RailAnswer::Silent).nothing();
    assert_eq!(case.when(Command::Deadline).effects[0].how, How::Ask);
    let then = case.hears(How::Ask, RailAnswer::NeverReceived);
    assert_eq!(events(then.wrote(Cause::PaymentFailed)), [EventKind::PaymentFailed]);
    assert_eq!(case.payment().failure_code.as_deref(), Some("processing_error"));
}

#[test]
fn a_transfer_that_was_never_looked_for_is_looked_for_again() {
    let mut case = Case::new();
    case.when(charge(transfer(0)));
    let then = case.hears(How::Ask, RailAnswer::NeverReceived);
    then.wrote(Cause::BankAsked);
    assert_eq!((then.effects[0].how, then.effects[0].order.kind()), (How::Send, "find_transfer"));
    assert_eq!((&case.payment().phase, case.payment().order.looks), (&Phase::Charging, 1));
}

#[test]
fn what_the_tenants_clock_forbids() {
    let refused = |command: Command, field| {
        let then = Case::new().when(command);
        assert!(
            matches!(then.refusal, Some(Refusal::Invalid { field: found, .. }) if found == field),
            "{:?}",
            then.refusal
        );
    };
    refused(charge(transfer(-1)), "date");
    refused(charge(transfer(31)), "date");
    for days in [0, 30] {
        Case::new().when(charge(transfer(days))).wrote(Cause::PaymentCharging);
    }
    let mut expired = Case::new();
    expired.now_ms += 30 * 86_400_000;
    assert!(matches!(
        expired.when(charge(card())).refusal,
        Some(Refusal::Invalid { field: "card.expMonth", .. })
    ));
}

#[test]
fn what_is_refused_before_the_bank_is_called() {
    Case::new()
        .when(payments::Command::Charge(Box::new(NewCharge {
            transfer: Transfer::Used,
            ..new_charge(transfer(0))
        })))
        .refused(&PaymentRefusal::ReferenceAlreadyUsed.into());
    Case::new()
        .when(payments::Command::Charge(Box::new(NewCharge { rate: None, ..new_charge(card()) })))
        .refused(&Refusal::RateUnavailable);
    let sale = Some((Id::derived(1, 1, 0), Rate(Decimal::ONE)));
    Case::new()
        .when(payments::Command::Charge(Box::new(NewCharge { marketplace: sale, ..new_charge(card()) })))
        .refused(&Refusal::NotFound);
}

#[test]
fn a_repeat_is_the_same_payment_or_names_what_differs() {
    let mut case = Case::paid_by_card();
    // Neither the rate nor the clock matter to a repeat.
    case.now_ms += 60 * 86_400_000;
    case.when(payments::Command::Charge(Box::new(NewCharge { rate: None, ..new_charge(card()) }))).nothing();
    let existing = case.payment().id;
    let conflict =
        |differs: &[&'static str]| Refusal::ExternalRefConflict { existing, differs: differs.to_vec() };
    let over = NewCharge {
        price: Price::Usd(Usd::from_minor(1)),
        description: Some("x".to_owned()),
        ..new_charge(other_card())
    };
    case.when(payments::Command::Charge(Box::new(over))).refused(&conflict(&[
        "usdAmount",
        "card",
        "description",
    ]));
    case.when(charge(transfer(0))).refused(&conflict(&["method"]));
}

#[test]
fn what_a_charge_is_to_the_newest_payment_on_its_reference() {
    let declined = || RailAnswer::Refused { code: "card_declined".to_owned() };
    for (answer, status) in [
        (None, Status::Pending),
        (Some(RailAnswer::done("1")), Status::Completed),
        (Some(declined()), Status::Failed),
    ] {
        let mut case = Case::new();
        case.when(charge(card()));
        answer.map(|answer| case.hears(How::Send, answer));
        let existing = case.payment().id;
        assert_eq!(case.payment().status, status);
        case.when(charge(card())).nothing();
        let other = case.when(charge(other_card()));
        other.refused(&match status {
            Status::Completed => Refusal::ExternalRefConflict { existing, differs: vec!["card"] },
            // One that failed is asked about only by who came while it was at its bank.
            _ => PaymentRefusal::PaymentInProgress { existing }.into(),
        });
    }
    let mut reversed = Case::paid_by_card();
    reversed.charge_back(None, 0);
    let existing = reversed.payment().id;
    reversed.when(charge(card())).refused(&Refusal::ExternalRefConflict { existing, differs: Vec::new() });
}

#[test]
fn an_attempt_counts_on_from_the_one_before_it() {
    let mut case = Case::new();
    case.when(charge(card()));
    assert_eq!((case.payment().attempt, case.payment().previous), (1, None));
    let before = Before { id: Id::derived(1, 4, 0), attempt: 4 };
    let mut case = Case::new();
    case.when(payments::Command::Charge(Box::new(NewCharge { before: Some(before), ..new_charge(card()) })));
    assert_eq!((case.payment().attempt, case.payment().previous), (5, Some(before.id)));
    // The bank never heard of it, so nothing is left of it, and the reference is again of the one before.
    let then = case.hears(How::Send, RailAnswer::NotSent);
    let record = then.record.expect("it is written that nothing is left");
    assert_eq!((record.cause, record.freed_to), (Cause::PaymentUnsent, Some(before.id)));
    let mut ops = wal::IndexOps::new();
    case.domain.index(TENANT, case.now_ms, &record, &mut ops);
    let name = index::name(TENANT, Space::Payment, "r-1");
    let ops = ops.resolved(1);
    let led: Vec<_> = ops.ops().filter(|op| op.key == name).map(|op| op.value).collect();
    assert_eq!(led.len(), 1);
    assert_eq!(led[0], Some(before.id.as_bytes().as_slice()));
}

#[test]
fn the_code_or_the_card_of_an_attempt_that_failed_is_a_repeat_of_it_for_ten_minutes() {
    for (means, again, is_repeat) in [
        (card(), card(), true),
        (card(), other_card(), false),
        (debit(1), debit(1), true),
        (debit(1), debit(2), false),
        (debit(1), card(), false),
        (transfer(0), transfer(0), false),
    ] {
        let mut case = Case::new();
        case.when(charge(means));
        assert_eq!(case.payment().is_repeated_until(&new_charge(again.clone())), None, "it has not failed");
        case.hears(How::Send, RailAnswer::Refused { code: "51".to_owned() });
        let until = case.payment().is_repeated_until(&new_charge(again.clone()));
        let expected = Timestamp::from_unix_ms(case.now_ms).plus_ms(600_000);
        assert_eq!(until, is_repeat.then_some(expected), "{again:?}");
        let of_more = NewCharge { price: in_ves(1), ..new_charge(again) };
        assert_eq!(case.payment().is_repeated_until(&of_more), None, "another amount");
    }
}

#[test]
fn bolivares_become_dollars_half_up() {
    let rate = Rate(Decimal::new(200, 0));
    for (ves, usd) in [(100, 1), (199, 1), (300, 2), (10_000, 50)] {
        assert_eq!(in_ves(ves).at(rate).map(|figured| figured.usd), Ok(Usd::from_minor(usd)), "{ves}");
    }
    for ves in [1, 99, 2_000_000_100_000] {
        assert!(in_ves(ves).at(rate).is_err(), "{ves}");
    }
}

#[test]
fn chargebacks_take_and_give_back() {
    let mut case = Case::paid_by_card();
    let then = case.charge_back(Some(50_000), 0);
    let record = then.wrote(Cause::ChargebackOpened);
    assert_eq!(rows(record), [(MovementKind::Chargeback, -50_000)], "no row of nothing");
    assert_eq!(events(record), [EventKind::PaymentChargeback]);
    assert_eq!((case.available(), case.payment().status), (-50_000, Status::Completed));
    case.charge_back(Some(150_001), 0).refused(&ChargebackRefusal::ExceedsPayment.into());

    let then = case.charge_back(None, 1_000);
    let record = then.wrote(Cause::ChargebackOpened);
    assert_eq!(rows(record), [(MovementKind::Chargeback, -150_000), (MovementKind::ChargebackFee, -1_000)]);
    assert_eq!(events(record), [EventKind::PaymentChargeback, EventKind::PaymentReversed]);
    assert_eq!(case.payment().reversed_at, Some(Timestamp::from_unix_ms(case.now_ms)));
    case.charge_back(None, 0).refused(&ChargebackRefusal::ExceedsPayment.into());

    let [first, second] = [0, 1].map(|n| case.payment().chargebacks[n].id);
    let then = case.when(chargebacks::Command::Close(first, Verdict::Lost));
    assert!(then.wrote(Cause::ChargebackClosed).postings.is_empty());
    assert_eq!(case.payment().status, Status::Reversed);
    let then = case.when(chargebacks::Command::Close(second, Verdict::Won));
    let record = then.wrote(Cause::ChargebackClosed);
    assert_eq!(
        rows(record),
        [(MovementKind::ChargebackReversal, 150_000), (MovementKind::ChargebackReversal, 1_000)]
    );
    assert_eq!(events(record), [EventKind::PaymentChargebackClosed]);
    assert_eq!(
        (case.payment().status, case.payment().reversed_at, case.available()),
        (Status::Completed, None, -50_000)
    );
    for id in [first, second] {
        case.when(chargebacks::Command::Close(id, Verdict::Won)).refused(&ChargebackRefusal::Closed.into());
    }
    case.when(chargebacks::Command::Close(Id::derived(1, 2, 0), Verdict::Won)).refused(&Refusal::NotFound);
}

#[test]
fn only_completed_cards_are_charged_back() {
    let mut pending = Case::new();
    pending.when(charge(card()));
    pending.charge_back(None, 0).refused(&ChargebackRefusal::NotAllowed.into());
    let mut found = Case::new();
    found.when(charge(transfer(0)));
    found.hears(How::Send, RailAnswer::done("123456"));
    found.charge_back(None, 0).refused(&ChargebackRefusal::NotAllowed.into());
}

/// Test money for a seller moves what stands against it too, and both are refused long before a sum
/// could overflow.
#[test]
fn what_no_ledger_could_hold_one_day_is_refused_before_a_bank_hears_of_it() {
    let mut case = Case::new();
    let merchant = Id::derived(1, 1, 0);
    let fund = |minor: i64, merchant: Option<Id>| {
        let ask = Adjustment {
            cause: Cause::Funded,
            currency: Currency::Ves,
            minor,
            merchant,
            held: false,
            description: String::new(),
            external_ref: None,
        };
        Command::Adjust(Box::new(ask))
    };
    let external_ref = ExternalRef::parse("m").expect("a reference");
    let registration = Registration {
        id: merchant,
        external_ref,
        name: Some("Bodega".to_owned()),
        identification: None,
        contact_email: None,
        contact_phone: None,
        method: None,
    };
    assert!(case.when(merchants::Command::Register(Box::new(registration))).record.is_some());
    let largest = Currency::Ves.amount_minor_max();
    let often = (1..30_000).take_while(|_| case.when(fund(largest, Some(merchant))).record.is_some()).count();
    assert_eq!(often as i64, i64::MAX / 4 / largest);
    // The other side is the operator's, whoever is given the money.
    case.when(fund(largest, None)).refused(&Refusal::AmountOverflow);
    case.when(fund(-largest, Some(merchant))).wrote(Cause::Funded);
    case.when(fund(largest, None)).wrote(Cause::Funded);
    let mut full = Case::new();
    while full.when(fund(largest, None)).record.is_some() {}
    let large = in_ves(largest);
    full.entity = None;
    full.when(payments::Command::Charge(Box::new(NewCharge {
        price: large,
        rate: Some(Rate(Decimal::new(100_000_000, 0))),
        ..new_charge(card())
    })))
    .refused(&Refusal::AmountOverflow);
}
