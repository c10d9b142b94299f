//! What the simulated bank answers, order by order, and what it still knows after the gateway was
//! gone.

use super::*;
use crate::rails::Order;
use domain::values::time::Timestamp;
use domain::values::token::Token;
use domain::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// The answer of a future that must not wait.
fn now<T>(mut future: BoxFuture<'_, T>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("the simulated bank made somebody wait"),
    }
}

fn call(order: Order) -> Call {
    Call { operation_id: Uuid::now_v7(), at: Timestamp::EPOCH, tenant: 3, order }
}

fn bank() -> BankCode {
    BankCode::parse("0134").expect("a bank")
}

fn debtor() -> IdentityDocument {
    IdentityDocument::parse("V12345678").expect("a document")
}

fn phone(text: &str) -> MobilePhone {
    MobilePhone::parse(text).expect("a phone")
}

fn charge(token: &str) -> Call {
    let token = Token::parse_c2p(token).ok();
    call(Order::ChargeC2p {
        bank: bank(),
        debtor: debtor(),
        phone: phone("04141234567"),
        amount: Ves::from_minor(200_000),
        token,
    })
}

fn debit(otp: &str) -> Call {
    let (name, concept) = ("Ana Pérez".to_owned(), "cobro".to_owned());
    let otp = Token::parse_debit(otp).ok();
    call(Order::Debit {
        bank: bank(),
        debtor: debtor(),
        phone: phone("04141234567"),
        name,
        amount: Ves::from_minor(10_000),
        concept,
        otp,
    })
}

fn credit(cents: i64) -> Call {
    let amount = Ves::from_minor(cents);
    call(Order::Credit {
        bank: bank(),
        phone: phone("04147654321"),
        identity: Some(debtor()),
        amount,
        concept: "pago".to_owned(),
    })
}

fn credit_account(cents: i64) -> Call {
    let text = "01340001";
    let account = (0..100)
        .find_map(|check| AccountNumber::parse(&format!("{text}{check:02}0123456789"), |_| true).ok())
        .expect("an account");
    let (name, concept) = ("Ana Pérez".to_owned(), "pago".to_owned());
    call(Order::CreditAccount { account, identity: debtor(), name, amount: Ves::from_minor(cents), concept })
}

fn micro_deposit(to: &str) -> Call {
    call(Order::MicroDeposit {
        bank: bank(),
        phone: phone(to),
        identity: Some(debtor()),
        amounts: MICRO_DEPOSITS,
    })
}

fn reversal(of: &Call) -> Call {
    let reference = reference(of.operation_id);
    call(Order::ReverseC2p {
        original: of.operation_id.into(),
        bank: bank(),
        debtor: debtor(),
        reference,
        amount: Ves::from_minor(200_000),
    })
}

fn done(call: &Call) -> RailAnswer {
    RailAnswer::done(reference(call.operation_id))
}

fn refused_with(code: &str) -> RailAnswer {
    RailAnswer::Refused { code: code.to_owned() }
}

#[test]
fn magic_tokens() {
    let bank = Simulator::in_memory();
    for make in [charge as fn(&str) -> Call, debit] {
        for (token, sent, asked) in [
            ("12345678", None, None),
            ("99999999", Some(refused_with("AM04")), Some(refused_with("AM04"))),
            ("88888888", Some(refused_with("TKCM")), Some(refused_with("TKCM"))),
            ("77777777", Some(RailAnswer::Silent), None),
            ("66666666", Some(RailAnswer::Silent), Some(refused_with("AB01"))),
            ("55555555", None, None),
            ("9999999", None, None),
        ] {
            let call = make(token);
            assert_eq!(now(bank.send(&call)), sent.unwrap_or_else(|| done(&call)), "{token} sent");
            for _ in 0..2 {
                assert_eq!(
                    now(bank.ask(&call)),
                    asked.clone().unwrap_or_else(|| done(&call)),
                    "{token} asked"
                );
            }
        }
    }
    assert_eq!(bank.duplicate_calls(), 0);
}

#[test]
fn magic_amounts() {
    let bank = Simulator::in_memory();
    for make in [credit as fn(i64) -> Call, credit_account] {
        for (cents, sent, asked) in [
            (10_000, None, None),
            (10_004, Some(refused_with("AM04")), Some(refused_with("AM04"))),
            (10_005, Some(RailAnswer::Waiting), None),
            (10_006, Some(RailAnswer::Waiting), Some(refused_with("AC01"))),
            (10_040, None, None),
            (4, Some(refused_with("AM04")), Some(refused_with("AM04"))),
        ] {
            let call = make(cents);
            assert_eq!(now(bank.send(&call)), sent.unwrap_or_else(|| done(&call)), "{cents} sent");
            assert_eq!(now(bank.ask(&call)), asked.unwrap_or_else(|| done(&call)), "{cents} asked");
        }
    }
}

#[test]
fn what_never_arrived_may_be_sent_once_more() {
    let bank = Simulator::in_memory();
    let call = credit(10_007);
    assert_eq!(now(bank.send(&call)), RailAnswer::Silent);
    assert_eq!(now(bank.ask(&call)), RailAnswer::NeverReceived);
    assert_eq!(now(bank.send(&call)), done(&call));
    assert_eq!(now(bank.ask(&call)), done(&call));
    assert_eq!(bank.duplicate_calls(), 0);
}

#[test]
fn micro_deposits_meet_the_wrong_person_at_0001() {
    let bank = Simulator::in_memory();
    let (right, wrong) = (micro_deposit("04147654321"), micro_deposit("04147650001"));
    assert_eq!(now(bank.send(&right)), done(&right));
    assert_eq!(now(bank.send(&wrong)), refused_with("BE01"));
    assert_eq!(MICRO_DEPOSITS.0.to_string() + " " + MICRO_DEPOSITS.1.to_string().as_str(), "0.32 0.45");
}

#[test]
fn reversals() {
    let bank = Simulator::in_memory();
    for (token, expected) in [
        ("12345678", None),
        ("77777777", None),
        ("55555555", Some("41")),
        ("99999999", Some("12")),
        ("66666666", Some("12")),
    ] {
        let charge = charge(token);
        now(bank.send(&charge));
        let back = reversal(&charge);
        assert_eq!(now(bank.send(&back)), expected.map_or_else(|| done(&back), refused_with), "{token}");
    }
    assert_eq!(
        now(bank.send(&reversal(&charge("12345678")))),
        refused_with("12"),
        "of a charge that the bank never saw"
    );
}

#[test]
fn a_charge_without_its_token_is_refused_and_a_code_is_sent() {
    let bank = Simulator::in_memory();
    assert_eq!(now(bank.send(&charge(""))), refused_with("TKCM"));
    let otp = call(Order::RequestOtp {
        bank: self::bank(),
        debtor: debtor(),
        phone: phone("04141234567"),
        amount: Ves::from_minor(100),
    });
    assert_eq!(now(bank.send(&otp)), done(&otp));
}

#[test]
fn what_is_not_in_the_books_was_never_received() {
    assert_eq!(now(Simulator::in_memory().ask(&charge("12345678"))), RailAnswer::NeverReceived);
}

#[test]
fn a_second_send_is_counted_and_answered_with_the_first_decision() {
    let bank = Simulator::in_memory();
    for (call, expected) in
        [(charge("77777777"), None), (credit(10_006), Some("AC01")), (charge("99999999"), Some("AM04"))]
    {
        let before = bank.duplicate_calls();
        now(bank.send(&call));
        assert_eq!(now(bank.send(&call)), expected.map_or_else(|| done(&call), refused_with));
        assert_eq!(bank.duplicate_calls(), before + 1);
    }
}

#[test]
fn of_many_sends_at_once_one_is_the_first() {
    let bank = Simulator::in_memory();
    let call = charge("12345678");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(now(bank.send(&call)), done(&call)));
        }
    });
    assert_eq!(bank.duplicate_calls(), 7);
}

/// The log of a cluster, which refuses to agree when it is told to.
#[derive(Default)]
struct Agreed {
    decided: Mutex<HashMap<Uuid, Decided>>,
    is_lost: AtomicBool,
}

impl AgreedBooks for Agreed {
    fn read(&self, operation: Uuid) -> Result<Option<Decided>, BooksError> {
        Ok(self.decided.lock().expect("a lock").get(&operation).copied())
    }

    fn write(&self, operation: Uuid, decided: Decided) -> BoxFuture<'_, Result<(), BooksError>> {
        Box::pin(async move {
            if self.is_lost.load(Ordering::Relaxed) {
                return Err(BooksError::because("nobody agrees"));
            }
            self.decided.lock().expect("a lock").insert(operation, decided);
            Ok(())
        })
    }
}

#[test]
fn in_a_cluster_the_next_leader_has_the_books_and_no_others() {
    let agreed = Arc::new(Agreed::default());
    let leader = || Simulator::in_memory().agreed_in(Arc::<Agreed>::clone(&agreed));
    let (first, charge) = (leader(), charge("12345678"));
    let done = now(first.send(&charge));
    assert!(matches!(done, RailAnswer::Done { .. }), "{done:?}");
    assert_eq!(now(leader().ask(&charge)), done, "the next one knows of it");
    let lost = self::charge("12345678");
    agreed.is_lost.store(true, Ordering::Relaxed);
    assert_eq!(now(first.send(&lost)), RailAnswer::Silent, "nobody agreed, so nothing is said");
    agreed.is_lost.store(false, Ordering::Relaxed);
    assert_eq!(now(leader().ask(&lost)), RailAnswer::NeverReceived);
}

/// Room without a reserve.
fn plenty(path: &Path) -> Arc<Disk> {
    Arc::new(Disk::new(path, 0))
}

#[test]
fn the_books_outlive_the_gateway() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("simulator");
    let (silent, lost, refused, unseen) =
        (charge("77777777"), credit(10_007), charge("88888888"), charge("12345678"));
    {
        let bank = Simulator::open(&path, &plenty(&path), Duration::ZERO, Fault::None).expect("opens");
        for call in [&silent, &lost, &refused, &refused] {
            now(bank.send(call));
        }
        assert_eq!(bank.duplicate_calls(), 1);
    }
    let bank = Simulator::open(&path, &plenty(&path), Duration::ZERO, Fault::None).expect("opens again");
    assert_eq!(now(bank.ask(&silent)), done(&silent));
    assert_eq!(now(bank.ask(&lost)), RailAnswer::NeverReceived);
    assert_eq!(now(bank.ask(&refused)), refused_with("TKCM"));
    assert_eq!(now(bank.ask(&unseen)), RailAnswer::NeverReceived);
    assert_eq!(now(bank.send(&lost)), done(&lost));
    assert_eq!(bank.duplicate_calls(), 1);
}

#[test]
fn references_have_eight_digits_and_follow_from_the_id() {
    for _ in 0..1000 {
        let id = Uuid::now_v7();
        let text = reference(id);
        assert!(text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()), "{text}");
        assert_eq!(text, reference(id));
    }
}

#[test]
fn nothing_personal_is_in_the_debug_text_of_a_call() {
    let text = format!("{:?}", charge("12345678"));
    assert!(
        text.contains("charge_c2p") && !text.contains("12345678") && !text.contains("4141234567"),
        "{text}"
    );
}

/// Not a check: `cargo test --release -- --ignored --nocapture speed` says what a call costs.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let directory = tempfile::tempdir().expect("a directory");
    let bank = Simulator::open(directory.path(), &plenty(directory.path()), Duration::ZERO, Fault::None)
        .expect("opens");
    for round in 0..5 {
        let calls: Vec<Call> = (0..100_000).map(|_| credit(10_000)).collect();
        let started = std::time::Instant::now();
        for call in &calls {
            now(bank.send(call));
        }
        println!("round {round}: {} ns a call", started.elapsed().as_nanos() / calls.len() as u128);
    }
}

#[test]
fn every_fate_survives_the_books() {
    let others = [Fate::Done, Fate::DoneForGood, Fate::Lost, Fate::Open];
    for fate in CODES.into_iter().map(Fate::Refused).chain(others) {
        assert_eq!(Fate::from_bytes(&fate.bytes()), Some(fate));
    }
    for bytes in [&[][..], &[0], &[5, 0], &[0, 1], &[2, u8::MAX], &[0, 0, 0]] {
        assert_eq!(Fate::from_bytes(bytes), None, "{bytes:?}");
    }
}

mod collections {
    use super::*;
    use domain::values::colombia::Channel;
    use domain::values::ids::Id;
    use domain::values::money::Cop;

    const EXPIRES: Timestamp = Timestamp::from_unix_ms(1_000_000);
    const BEFORE: Timestamp = Timestamp::from_unix_ms(999_999);

    fn collect(collection: Collection, at: Timestamp) -> Call {
        let order = Order::CollectCop {
            collection,
            channel: Channel::Qr,
            amount: Cop::from_minor(50_000),
            transfer_key: "@K".to_owned(),
            buyer: None,
            is_paid: false,
        };
        Call { operation_id: collection.original.into(), at, tenant: 2, order }
    }

    fn looked(bank: &Simulator, collection: Collection, at: Timestamp) -> Result<RailAnswer, BooksError> {
        bank.look_up(&collect(collection, at))
    }

    fn tell(
        bank: &Simulator,
        collection: Collection,
        instruction: Instruction,
        at: Timestamp,
    ) -> Result<RailAnswer, BooksError> {
        let order = Order::TellCop { collection, rail_id: None, token: None, instruction };
        bank.receive(&Call { at, ..call(order) })
    }

    fn open(bank: &Simulator) -> Collection {
        let original = Id::from(Uuid::now_v7());
        let collection = Collection { original, amount: Cop::from_minor(50_000), expires_at: EXPIRES };
        let sent = bank.receive(&collect(collection, Timestamp::EPOCH));
        assert_eq!(sent.expect("an answer"), RailAnswer::Waiting);
        collection
    }

    fn code(text: &str) -> Instruction {
        Instruction::Code(Token::parse_debit(text).expect("digits"))
    }

    #[test]
    fn whatever_comes_first_ends_it() {
        let bank = Simulator::in_memory();
        for (told, ends_paid, code_of_end) in [
            (Instruction::Paid, true, ""),
            (code("123456"), true, ""),
            (Instruction::Declined, false, "rejected"),
            (Instruction::Cancel, false, "canceled"),
        ] {
            let collection = open(&bank);
            assert_eq!(looked(&bank, collection, BEFORE).expect("an answer"), RailAnswer::Waiting);
            let end = tell(&bank, collection, told, BEFORE).expect("an answer");
            if ends_paid {
                assert!(matches!(end, RailAnswer::Done { .. }))
            } else {
                assert_eq!(end, refused_with(code_of_end))
            }
            for after in
                [Instruction::Paid, Instruction::Cancel, Instruction::Declined, code("123456"), code("1111")]
            {
                assert_eq!(tell(&bank, collection, after, EXPIRES).expect("an answer"), end);
            }
            assert_eq!(looked(&bank, collection, EXPIRES).expect("an answer"), end);
        }
        assert_eq!(bank.duplicate_calls(), 0);
    }

    #[test]
    fn a_wrong_code_leaves_it_open_and_the_end_is_exact() {
        let bank = Simulator::in_memory();
        let collection = open(&bank);
        assert_eq!(
            tell(&bank, collection, code("654321"), BEFORE).expect("an answer"),
            refused_with(WRONG_CODE)
        );
        assert_eq!(looked(&bank, collection, BEFORE).expect("an answer"), RailAnswer::Waiting);
        assert_eq!(
            tell(&bank, collection, code("123456"), EXPIRES).expect("an answer"),
            refused_with("expired")
        );
        assert_eq!(
            tell(&bank, collection, Instruction::Paid, BEFORE).expect("an answer"),
            refused_with("expired")
        );
    }

    #[test]
    fn what_never_arrived_is_not_known() {
        let bank = Simulator::in_memory();
        let collection = Collection {
            original: Id::from(Uuid::now_v7()),
            amount: Cop::from_minor(50_000),
            expires_at: EXPIRES,
        };
        assert_eq!(looked(&bank, collection, BEFORE).expect("an answer"), RailAnswer::NeverReceived);
        assert_eq!(
            tell(&bank, collection, Instruction::Paid, BEFORE).expect("an answer"),
            RailAnswer::NeverReceived
        );
    }
}

#[test]
fn the_bytes_of_a_fate_are_those_in_the_books_of_before() {
    for (fate, bytes) in [
        (Fate::Done, [0, 0]),
        (Fate::Refused("AM04"), [2, 2]),
        (Fate::Refused(EXPIRED), [2, 15]),
        (Fate::Refused("processor_unavailable"), [2, 16]),
        (Fate::Lost, [7, 0]),
        (Fate::Open, [8, 0]),
    ] {
        assert_eq!((fate.bytes(), Fate::from_bytes(&bytes)), (bytes, Some(fate)));
    }
}
