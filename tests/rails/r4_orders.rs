//! Orders to R4: what an order becomes, and what is refused before a call.

use crate::scripted::{Scripted, Step, json, nobody};
use domain::rail::{Order, RailAnswer};
use domain::values::ids::Id;
use domain::values::money::Ves;
use domain::values::time::{Date, Timestamp};
use domain::values::token::Token;
use domain::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use pasarela::rails::Call;
use pasarela::rails::http::{BaseUrl, IDLE};
use pasarela::rails::live::{LiveRail, Look, NotSent, OrderOutcome, RailId, Recall, UNFIT, after_sending};
use pasarela::rails::r4::{CreditBy, PathFamily, R4, Settings, SignatureCase};
use pasarela::rails::secret::ApiSecret;
use std::time::Duration;
use uuid::Uuid;

pub fn settings(base: &str) -> Settings {
    Settings {
        base_url: BaseUrl::parse(base).expect("an address"),
        commerce_token: ApiSecret::new("commerce-token-1"),
        path_family: PathFamily::Mb,
        signature_case: SignatureCase::Lower,
        c2p_leading_space: false,
        credit_by: CreditBy::Vuelto,
        timeout: Duration::from_millis(600),
        idle: IDLE,
    }
}

pub fn rail(base: &str) -> R4 {
    R4::new(settings(base)).expect("a client")
}

pub fn call(order: Order) -> Call {
    Call { operation_id: Uuid::from_u128(7), at: Timestamp::EPOCH, tenant: 2, order }
}

fn bank() -> BankCode {
    BankCode::parse("0134").expect("a bank")
}

fn document() -> IdentityDocument {
    IdentityDocument::parse("V12345678").expect("a document")
}

fn phone() -> MobilePhone {
    MobilePhone::parse("04141234567").expect("a phone")
}

const AMOUNT: Ves = Ves::from_minor(12_345);

pub fn charge(amount: Ves) -> Order {
    let token = Token::parse_c2p("00123456").ok();
    Order::ChargeC2p { bank: bank(), debtor: document(), phone: phone(), amount, token }
}

pub fn reversal(reference: &str) -> Order {
    Order::ReverseC2p {
        original: Id::from(Uuid::from_u128(6)),
        bank: bank(),
        debtor: document(),
        reference: reference.to_owned(),
        amount: AMOUNT,
    }
}

pub fn otp() -> Order {
    Order::RequestOtp { bank: bank(), debtor: document(), phone: phone(), amount: AMOUNT }
}

pub fn debit() -> Order {
    Order::Debit {
        bank: bank(),
        debtor: document(),
        phone: phone(),
        name: "José Ángel Núñez de la Peña".to_owned(),
        amount: AMOUNT,
        concept: "Pedido #42 \"ñandú\"".to_owned(),
        otp: Token::parse_debit("12345678").ok(),
    }
}

pub fn credit(identity: Option<IdentityDocument>) -> Order {
    Order::Credit { bank: bank(), phone: phone(), identity, amount: AMOUNT, concept: "Vuelto".to_owned() }
}

pub fn paid() -> Option<IdentityDocument> {
    Some(document())
}

pub fn credit_account() -> Order {
    Order::CreditAccount {
        account: account("0191", "0047", "2147000123"),
        identity: document(),
        name: "José".to_owned(),
        amount: AMOUNT,
        concept: "Retiro".to_owned(),
    }
}

/// The account with its check digits, whichever they are.
fn account(bank: &str, branch: &str, number: &str) -> AccountNumber {
    (0..100)
        .find_map(|check| AccountNumber::parse(&format!("{bank}{branch}{check:02}{number}"), |_| true).ok())
        .expect("check digits that fit")
}

pub fn micro_deposits() -> Order {
    let amounts = (Ves::from_minor(17), Ves::from_minor(83));
    Order::MicroDeposit { bank: bank(), phone: phone(), identity: paid(), amounts }
}

pub fn refused(code: &str) -> OrderOutcome {
    OrderOutcome::Refused { code: code.to_owned() }
}

pub fn done(reference: &str) -> OrderOutcome {
    OrderOutcome::Done { reference: Some(reference.to_owned()) }
}

const OPEN: OrderOutcome = OrderOutcome::Open { id: None };

#[tokio::test]
async fn what_the_bank_could_not_take_is_refused_without_a_call() {
    let bank = Scripted::start(vec![]).await;
    let r4 = rail(&bank.base());
    for order in [
        charge(Ves::from_minor(10_000_000_000)),
        charge(Ves::ZERO),
        reversal(""),
        credit(None),
        Order::PriceUsdt { currency: domain::values::money::Currency::Cop },
    ] {
        let call = call(order);
        assert!(matches!(r4.execute(&call).await, Err(NotSent::Unfit(_))), "{:?}", call.order);
        let (answer, _) = after_sending(r4.recall(&call.order), r4.execute(&call).await);
        assert_eq!(answer, RailAnswer::refused(UNFIT));
    }
    assert_eq!(bank.requests().len(), 0);
}

/// A concept with nothing that R4 takes is left out of change (vuelto), and replaced for the
/// clearing house, which needs one.
#[tokio::test]
async fn a_concept_without_letters_and_digits_is_left_out_or_replaced() {
    for (credit_by, end) in
        [(CreditBy::Vuelto, r#""123.45"}"#), (CreditBy::CreditoInmediato, r#""Concepto":"Pago"}"#)]
    {
        let bank = Scripted::start(vec![json(r#"{"code":"51"}"#)]).await;
        let r4 = R4::new(Settings { credit_by, ..settings(&bank.base()) }).expect("a client");
        let mut order = credit(paid());
        if let Order::Credit { concept, .. } = &mut order {
            *concept = "¡!".to_owned();
        }
        r4.execute(&call(order)).await.expect("it was sent");
        assert!(bank.requests()[0].ends_with(end), "{}", bank.requests()[0]);
    }
    let bank = Scripted::start(vec![]).await;
    let mut nameless = debit();
    if let Order::Debit { name, .. } = &mut nameless {
        *name = "42".to_owned();
    }
    assert!(matches!(rail(&bank.base()).execute(&call(nameless)).await, Err(NotSent::Unfit(_))));
    assert_eq!(bank.requests().len(), 0);
}

#[tokio::test]
async fn an_order_whose_key_is_gone_is_neither_sent_nor_refused() {
    let bank = Scripted::start(vec![]).await;
    let Order::ChargeC2p { bank: of, debtor, phone, amount, .. } = charge(AMOUNT) else { panic!("a charge") };
    let call = call(Order::ChargeC2p { bank: of, debtor, phone, amount, token: None });
    let report = rail(&bank.base()).execute(&call).await.expect("a report");
    assert_eq!((report.outcome, report.is_answered, bank.requests().len()), (OPEN, false, 0));
}

#[tokio::test]
async fn a_connection_that_was_never_opened_is_not_sent_and_never_called_never_received() {
    let base = nobody().await;
    let r4 = rail(&base);
    assert_eq!(r4.execute(&call(charge(AMOUNT))).await, Err(NotSent::NoConnection));
    assert_eq!(r4.execute(&call(micro_deposits())).await, Err(NotSent::NoConnection));
    assert!(!r4.probe().await);
}

#[tokio::test]
async fn what_can_be_asked_about_is_in_the_types() {
    let by_id = Some(Recall::ById);
    let bank = Scripted::start(vec![]).await;
    let vuelto = rail(&bank.base());
    let credito = R4::new(Settings { credit_by: CreditBy::CreditoInmediato, ..settings(&bank.base()) });
    let credito = credito.expect("a client");
    let found = Order::FindTransfer {
        bank: self::bank(),
        debtor: document(),
        phone: phone(),
        date: Date::from_days(0),
        reference: "1".to_owned(),
        amount: AMOUNT,
    };
    for (order, by_vuelto, by_credito) in [
        (charge(AMOUNT), Some(Recall::Unaskable), Some(Recall::Unaskable)),
        (reversal("1"), Some(Recall::Unaskable), Some(Recall::Unaskable)),
        (otp(), Some(Recall::Unaskable), Some(Recall::Unaskable)),
        (micro_deposits(), Some(Recall::Unaskable), Some(Recall::Unaskable)),
        (debit(), by_id, by_id),
        (credit_account(), by_id, by_id),
        (credit(paid()), Some(Recall::Unaskable), by_id),
        // The bank's notices say it.
        (found, None, None),
    ] {
        let serves = order.service().is_some_and(|service| vuelto.profile().services.contains(&service));
        assert_eq!(by_vuelto.is_some(), serves, "what it serves it says how to learn of: {order:?}");
        assert_eq!((vuelto.recall(&order), credito.recall(&order)), (by_vuelto, by_credito), "{order:?}");
        let call = call(order);
        assert_eq!(vuelto.look(&call, None).await, Look::NotAsked, "{:?}", call.order);
        if by_vuelto != by_id {
            assert_eq!(vuelto.look(&call, RailId::parse("7").as_ref()).await, Look::NotAsked);
        }
    }
    assert_eq!(bank.requests().len(), 0);
}

#[tokio::test]
async fn a_debit_that_waits_is_asked_about_under_the_banks_id_until_it_is_final() {
    let id = "d3b07384-d9a7-4f3b-8c0e-3f0b6f5f7a11";
    let bank = Scripted::start(vec![
        json(&format!(r#"{{"code":"AC00","message":"EN ESPERA","Id":"{id}"}}"#)),
        json(r#"{"code":"AC00","success":true}"#),
        Step::Answer(401, r#"{"code":"08","message":"token"}"#.to_owned()),
        json(r#"{"code":"SMF001","message":"NO EXISTE"}"#),
        Step::Close,
        json(r#"{"code":"ACCP","reference":"00004711","success":true}"#),
    ])
    .await;
    let r4 = rail(&bank.base());
    let call = call(debit());
    let sent = r4.execute(&call).await.expect("a report");
    let waits = OrderOutcome::Open { id: RailId::parse(id) };
    assert_eq!(sent.outcome, waits);
    for step in ["waits", "the question was refused", "not found is not never received", "cut"] {
        let Look::Report(report) = r4.look(&call, RailId::parse(id).as_ref()).await else { panic!("{step}") };
        assert_eq!((report.outcome, report.is_answered), (waits.clone(), step != "cut"), "{step}");
    }
    let Look::Report(report) = r4.look(&call, RailId::parse(id).as_ref()).await else { panic!("a report") };
    assert_eq!(report.outcome, done("00004711"));
    assert!(bank.requests()[1].ends_with(&format!("{{\"Id\":\"{id}\"}}")));
}

#[tokio::test]
async fn micro_deposits_are_two_calls_and_one_outcome() {
    let done_one = || json(r#"{"code":"00","reference":"00000001"}"#);
    let done_two = || json(r#"{"code":"00","reference":"00000002"}"#);
    let wrong = || json(r#"{"code":"56","message":"no coincide"}"#);
    let late = || json(r#"{"code":"68"}"#);
    for (steps, outcome, calls) in [
        (vec![done_one(), done_two()], done("00000001/00000002"), 2),
        (vec![wrong()], refused("BE01"), 1),
        (vec![done_one(), wrong()], refused("BE01"), 2),
        (vec![late(), wrong()], refused("BE01"), 2),
        (vec![late(), done_two()], OPEN, 2),
        (vec![done_one(), late()], OPEN, 2),
        (vec![done_one(), Step::Close], OPEN, 2),
    ] {
        let bank = Scripted::start(steps.clone()).await;
        let report = rail(&bank.base()).execute(&call(micro_deposits())).await.expect("a report");
        assert_eq!((report.outcome, bank.requests().len()), (outcome, calls), "{steps:?}");
    }
}

#[tokio::test]
async fn the_bcv_rate_is_that_of_the_newest_day_that_has_one() {
    let none = || json(r#"{"code":"01","message":"COTIZACION NO ENCONTRADA"}"#);
    let bank = Scripted::start(vec![none(), none(), json(r#"{"code":"00","tipocambio":247.3051}"#)]).await;
    let quotation = rail(&bank.base()).newest_quotation("USD").await.expect("a rate");
    assert_eq!(bank.requests().len(), 3);
    assert!(bank.requests()[2].ends_with(&format!("\"Fechavalor\":\"{}\"}}", quotation.value_date)));
    assert_eq!(quotation.rate.0.to_string(), "247.3051");
    let bank = Scripted::start((0..9).map(|_| none()).collect()).await;
    assert_eq!(rail(&bank.base()).newest_quotation("USD").await, None);
    assert_eq!(bank.requests().len(), 8, "today and seven days before");
    let bank = Scripted::start(vec![none(), Step::Close]).await;
    assert_eq!(rail(&bank.base()).newest_quotation("USD").await, None);
    assert_eq!(bank.requests().len(), 2);
    assert_eq!(rail(&nobody().await).newest_quotation("USD").await, None);
}

#[tokio::test]
async fn any_answer_below_500_closes_the_circuit() {
    for (step, closes) in [
        (json(r#"{"code":"00"}"#), true),
        (Step::Answer(401, "{}".to_owned()), true),
        (Step::Answer(500, "{}".to_owned()), false),
        (Step::Close, false),
    ] {
        let bank = Scripted::start(vec![step.clone()]).await;
        assert_eq!(rail(&bank.base()).probe().await, closes, "{step:?}");
        assert!(bank.requests()[0].starts_with("POST /MBbcv HTTP/1.1"));
    }
}
