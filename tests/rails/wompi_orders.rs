//! Collections at Wompi: what is posted, what is asked, and what becomes of each answer.

use crate::goldens::{assert_golden, shown};
use crate::r4_orders::call;
use crate::scripted::{Scripted, Step, json, nobody};
use domain::rail::{Collection, Instruction, Order};
use domain::trace::Progress;
use domain::values::colombia::{Buyer, Channel, ColombianPhone, DocumentNumber, DocumentType};
use domain::values::ids::Id;
use domain::values::money::Cop;
use domain::values::time::Timestamp;
use domain::values::token::{StepToken, Token};
use pasarela::rails::Call;
use pasarela::rails::http::{BaseUrl, IDLE};
use pasarela::rails::live::{LiveRail, Look, NotSent, OrderOutcome, RailId, Recall, Report};
use pasarela::rails::secret::ApiSecret;
use pasarela::rails::wompi::{Settings, Wompi};
use std::time::Duration;
use uuid::Uuid;

const OPERATION: Uuid = Uuid::from_u128(0x0193_5a00_0000_7000_8000_0000_0000_0007);

fn settings(base: &str) -> Settings {
    Settings {
        base_url: BaseUrl::parse(base).expect("an address"),
        public_key: ApiSecret::new("pub_test_1"),
        private_key: ApiSecret::new("prv_test_1"),
        events_secret: ApiSecret::new("test_events_1"),
        integrity_secret: ApiSecret::new("test_integrity_1"),
        customer_email: Some("pagos@tienda.example".to_owned()),
        timeout: Duration::from_millis(1_500),
        idle: IDLE,
    }
}

fn rail(bank: &Scripted) -> Wompi {
    Wompi::new(settings(&format!("{}/v1", bank.base()))).expect("a client")
}

fn collection() -> Collection {
    let amount = Cop::from_minor(50_000);
    Collection { original: Id::from(OPERATION), amount, expires_at: Timestamp::EPOCH }
}

fn collect(channel: Channel) -> Call {
    let buyer = Buyer {
        email: (channel == Channel::Push).then(|| "ana@correo.example".to_owned()),
        phone: ColombianPhone::parse("3991111111").ok(),
        document_type: Some(DocumentType::Cc),
        document_number: DocumentNumber::parse("1020304050").ok(),
    };
    let order = Order::CollectCop {
        collection: collection(),
        channel,
        amount: Cop::from_minor(50_000),
        transfer_key: "@K".to_owned(),
        buyer: Some(Box::new(buyer)),
        is_paid: false,
    };
    Call { operation_id: OPERATION, ..call(order) }
}

fn tell(instruction: Instruction) -> Call {
    tell_with(None, instruction)
}

fn tell_with(token: Option<StepToken>, instruction: Instruction) -> Call {
    call(Order::TellCop { collection: collection(), rail_id: None, token, instruction })
}

fn code() -> Call {
    code_with(None)
}

/// A code, with the token that the step before it gave.
fn code_with(token: Option<StepToken>) -> Call {
    tell_with(token, Instruction::Code(Token::parse_debit("574829").expect("digits")))
}

fn tokens(n: u32) -> Step {
    json(&format!(
        r#"{{"data":{{"presigned_acceptance":{{"acceptance_token":"terms-{n}"}},"presigned_personal_data_auth":{{"acceptance_token":"data-{n}"}}}}}}"#
    ))
}

/// A transaction, with these members besides.
fn transaction(status: &str, members: &str) -> String {
    format!(
        r#"{{"id":"1234-1","status":"{status}","status_message":"why","reference":"{OPERATION}","amount_in_cents":5000000,"currency":"COP"{members}}}"#
    )
}

fn one(status: &str, members: &str) -> Step {
    json(&format!(r#"{{"data":{}}}"#, transaction(status, members)))
}

fn list(transactions: &[String]) -> Step {
    json(&format!(r#"{{"data":[{}]}}"#, transactions.join(",")))
}

fn invalid(field: &str) -> Step {
    let body = format!(
        r#"{{"error":{{"type":"INPUT_VALIDATION_ERROR","messages":{{"{field}":["no es válido"]}}}}}}"#
    );
    Step::Answer(422, body)
}

fn done() -> OrderOutcome {
    OrderOutcome::Done { reference: Some("1234-1".to_owned()) }
}

fn refused(code: &str) -> OrderOutcome {
    OrderOutcome::Refused { code: code.to_owned() }
}

fn open() -> OrderOutcome {
    OrderOutcome::Open { id: RailId::parse("1234-1") }
}

const UNKNOWN: OrderOutcome = OrderOutcome::Open { id: None };

/// The member with the URLs on which codes are sent and typed, at the bank's own address.
fn services(token: &str) -> String {
    format!(
        r#","payment_method":{{"extra":{{"url_services":{{"token":"{token}","code_otp_send":"/v1/dvp/send","code_otp_validate":"/v1/dvp/validate"}}}}}}"#
    )
}

fn report(look: Look) -> Report {
    match look {
        Look::Report(report) => report,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn calls_to_wompi() {
    let qr = r#","payment_method":{"extra":{"qr_image":"data:image/png;base64,AAAA"}}"#;
    let rows: [(&str, Channel, Vec<Step>); 3] = [
        ("wompi-nequi.txt", Channel::Push, vec![tokens(1), one("PENDING", "")]),
        ("wompi-qr.txt", Channel::Qr, vec![tokens(1), one("PENDING", ""), one("PENDING", qr)]),
        (
            "wompi-daviplata.txt",
            Channel::Sms,
            vec![
                tokens(1),
                one("PENDING", ""),
                one("PENDING", &services("first")),
                json(r#"{"authorization":{"access_token":"second"}}"#),
                json(r#"{"data":{"authorization":{"access_token":"third"}}}"#),
                one("APPROVED", ""),
            ],
        ),
    ];
    for (name, channel, steps) in rows {
        let bank = Scripted::start(steps.clone()).await;
        let wompi = rail(&bank);
        let created = wompi.execute(&collect(channel)).await;
        let mut meant = format!("{created:?}");
        if channel == Channel::Sms {
            let sent = wompi.execute(&tell(Instruction::SendCode)).await;
            meant.push_str(&format!("\n{sent:?}"));
            let token = sent.expect("it was sent").token;
            meant.push_str(&format!("\n{:?}", wompi.execute(&code_with(token)).await));
        }
        assert_eq!(bank.requests().len(), steps.len(), "{name}");
        assert_golden(name, &format!("{}\n\n--- what it means\n{meant}\n", shown(&bank)));
    }
    let found = |status| list(&[transaction(status, "")]);
    let bank = Scripted::start(vec![found("PENDING"), one("DECLINED", ""), found("DECLINED")]).await;
    let wompi = rail(&bank);
    let by_reference = wompi.look(&collect(Channel::Push), None).await;
    let by_id = wompi.look(&collect(Channel::Push), RailId::parse("1234-1").as_ref()).await;
    let text = format!("{}\n\n--- what it means\n{by_reference:?}\n{by_id:?}\n", shown(&bank));
    assert_golden("wompi-looks.txt", &text);
}

#[tokio::test]
async fn what_a_create_comes_to() {
    let found = || list(&[transaction("PENDING", "")]);
    let anothers = |status: &str| {
        let anothers = transaction(status, "").replace(&OPERATION.to_string(), "another");
        json(&format!(r#"{{"data":{anothers}}}"#))
    };
    let rows: [(&str, Vec<Step>, OrderOutcome, bool); 17] = [
        ("approved at once", vec![one("APPROVED", "")], done(), true),
        ("declined at once", vec![one("DECLINED", "")], refused("rejected"), true),
        ("voided", vec![one("VOIDED", "")], refused("rejected"), true),
        ("error", vec![one("ERROR", "")], refused("processor_error"), true),
        ("a new state", vec![one("HELD", "")], open(), true),
        ("a duplicate", vec![invalid("reference"), found()], open(), true),
        ("a duplicate of which nothing is found", vec![invalid("reference"), list(&[])], UNKNOWN, false),
        ("bad input", vec![invalid("customer_email")], refused("processor_error"), true),
        ("bad input without a word", vec![Step::Answer(422, "{}".to_owned())], UNKNOWN, true),
        (
            "bad keys",
            vec![Step::Answer(401, r#"{"error":{"type":"INVALID_ACCESS_TOKEN"}}"#.to_owned())],
            UNKNOWN,
            true,
        ),
        ("broken", vec![Step::Answer(500, "{}".to_owned())], UNKNOWN, false),
        ("cut", vec![Step::Cut], UNKNOWN, false),
        ("garbage", vec![json("[]")], UNKNOWN, false),
        ("a redirect", vec![Step::Redirect], UNKNOWN, false),
        // Asked about is what bears our reference, and not what somebody else pays.
        ("another's that waits", vec![anothers("PENDING")], UNKNOWN, true),
        ("another's that is declined", vec![anothers("DECLINED")], UNKNOWN, true),
        ("another's that is approved", vec![anothers("APPROVED")], open(), true),
    ];
    for (what, mut steps, outcome, is_answered) in rows {
        steps.insert(0, tokens(1));
        let calls = steps.len();
        let bank = Scripted::start(steps).await;
        let created = rail(&bank).execute(&collect(Channel::Push)).await.expect("it was sent");
        assert_eq!((created.outcome, created.is_answered), (outcome, is_answered), "{what}");
        assert_eq!(bank.requests().len(), calls, "{what}");
    }
}

#[tokio::test]
async fn stale_tokens_are_fetched_again_and_the_order_sent_once_more() {
    for field in ["acceptance_token", "accept_personal_auth"] {
        let steps = vec![tokens(1), invalid(field), tokens(2), one("PENDING", ""), one("PENDING", "")];
        let bank = Scripted::start(steps).await;
        let wompi = rail(&bank);
        for _ in 0..2 {
            let created = wompi.execute(&collect(Channel::Push)).await.expect("it was sent");
            assert_eq!(created.outcome, open());
        }
        let requests = bank.requests();
        assert!(requests[1].contains("terms-1") && requests[1].contains("data-1"));
        assert!(requests[3].contains("terms-2") && requests[3].contains("data-2"));
        assert!(requests[4].contains("terms-2"), "they are kept");
        let reference = format!("\"reference\":\"{OPERATION}\"");
        assert!(requests[1].contains(&reference) && requests[3].contains(&reference));
        assert_eq!(requests.len(), 5);
    }
    let stale = || invalid("acceptance_token");
    let bank = Scripted::start(vec![tokens(1), stale(), tokens(2), stale()]).await;
    let created = rail(&bank).execute(&collect(Channel::Push)).await.expect("it was sent");
    assert_eq!((created.outcome, bank.requests().len()), (refused("processor_error"), 4));
}

#[tokio::test]
async fn without_tokens_or_a_connection_nothing_is_sent() {
    for step in [Step::Close, Step::Answer(404, "{}".to_owned()), json("{}")] {
        let bank = Scripted::start(vec![step]).await;
        let sent = rail(&bank).execute(&collect(Channel::Push)).await;
        assert_eq!((sent, bank.requests().len()), (Err(NotSent::NoConnection), 1));
    }
    let wompi = Wompi::new(settings(&nobody().await)).expect("a client");
    assert_eq!(wompi.execute(&collect(Channel::Push)).await, Err(NotSent::NoConnection));
    assert_eq!(report(wompi.look(&collect(Channel::Push), None).await).outcome, UNKNOWN);
    assert!(!wompi.probe().await);
}

#[tokio::test]
async fn what_a_look_comes_to() {
    let of = |status: &str| transaction(status, "");
    let other = |status: &str| of(status).replace(&OPERATION.to_string(), "another");
    let rows: [(&str, Step, Look); 12] = [
        ("nothing there", list(&[]), Look::NeverReceived),
        ("paid", list(&[of("APPROVED")]), state(done())),
        ("declined, then paid", list(&[of("DECLINED"), of("APPROVED")]), state(done())),
        ("declined, then asked again", list(&[of("DECLINED"), of("PENDING")]), state(open())),
        ("declined", list(&[of("DECLINED")]), state(refused("rejected"))),
        ("another amount", list(&[of("APPROVED").replace("5000000", "4999900")]), state(open())),
        ("another currency", list(&[of("APPROVED").replace("COP", "USD")]), state(open())),
        ("another's", list(&[other("APPROVED")]), state(UNKNOWN)),
        ("another's and ours", list(&[other("APPROVED"), of("PENDING")]), state(open())),
        ("no list", json(r#"{"data":{}}"#), state(UNKNOWN)),
        ("unreadable", json(r#"{"data":[{}]}"#), state(UNKNOWN)),
        ("not found", Step::Answer(404, r#"{"data":[]}"#.to_owned()), state(UNKNOWN)),
    ];
    for (what, step, meant) in rows {
        let bank = Scripted::start(vec![step]).await;
        let look = rail(&bank).look(&collect(Channel::Push), None).await;
        match (look, meant) {
            (Look::Report(look), Look::Report(meant)) => assert_eq!(look.outcome, meant.outcome, "{what}"),
            (look, meant) => assert_eq!(look, meant, "{what}"),
        }
    }
}

#[tokio::test]
async fn a_refusal_is_believed_unless_another_transaction_of_the_reference_counts_more() {
    let declined = || transaction("DECLINED", "");
    let second = |status: &str| transaction(status, "").replace("1234-1", "1234-2");
    let paid = OrderOutcome::Done { reference: Some("1234-2".to_owned()) };
    let waits = OrderOutcome::Open { id: RailId::parse("1234-2") };
    let rows: [(&str, Step, OrderOutcome); 8] = [
        ("paid in another", list(&[declined(), second("APPROVED")]), paid),
        ("another waits", list(&[second("PENDING"), declined()]), waits.clone()),
        ("too little in another", list(&[second("APPROVED").replace("5000000", "49")]), waits),
        ("refused in another too", list(&[second("ERROR"), declined()]), refused("rejected")),
        ("the list is behind", list(&[transaction("PENDING", "")]), refused("rejected")),
        ("no list", list(&[]), refused("rejected")),
        ("broken", Step::Answer(500, "{}".to_owned()), refused("rejected")),
        ("cut", Step::Cut, refused("rejected")),
    ];
    for (what, step, outcome) in rows {
        let bank = Scripted::start(vec![one("DECLINED", ""), step]).await;
        let look = rail(&bank).look(&collect(Channel::Push), RailId::parse("1234-1").as_ref()).await;
        assert_eq!((report(look).outcome, bank.requests().len()), (outcome, 2), "{what}");
    }
    // An answer about another transaction is none about ours.
    let another = format!(r#"{{"data":{}}}"#, second("VOIDED"));
    let bank = Scripted::start(vec![json(&another)]).await;
    let look = rail(&bank).look(&collect(Channel::Push), RailId::parse("1234-1").as_ref()).await;
    assert_eq!((report(look).outcome, bank.requests().len()), (open(), 1));
    // Of what was paid its own transaction alone tells, whatever else is under its reference.
    let paid = || {
        let mut call = collect(Channel::Push);
        if let Order::CollectCop { is_paid, .. } = &mut call.order {
            *is_paid = true;
        }
        call
    };
    let bank = Scripted::start(vec![one("VOIDED", "")]).await;
    let look = rail(&bank).look(&paid(), RailId::parse("1234-1").as_ref()).await;
    assert_eq!((report(look).outcome, bank.requests().len()), (refused("rejected"), 1));
}

fn state(outcome: OrderOutcome) -> Look {
    Look::Report(Report { outcome, ..Report::unanswered(None) })
}

#[tokio::test]
async fn codes_of_daviplata() {
    let created = || {
        vec![
            tokens(1),
            one("PENDING", &services("first")),
            json(r#"{"authorization":{"access_token":"second"}}"#),
        ]
    };
    let told = |outcome, is_answered| Ok((outcome, is_answered));
    type Row = (&'static str, Vec<Step>, Result<(OrderOutcome, bool), NotSent>);
    let rows: [Row; 7] = [
        ("right", vec![json("{}"), one("APPROVED", "")], told(done(), true)),
        ("right, and still pending", vec![json("{}"), one("PENDING", "")], told(open(), true)),
        ("wrong", vec![invalid("code")], told(refused("wrong_code"), true)),
        ("no answer", vec![Step::Close], told(open(), false)),
        ("broken", vec![Step::Answer(500, "{}".to_owned())], told(open(), false)),
        ("the token is over", vec![Step::Answer(401, "{}".to_owned())], Err(NotSent::NothingDone)),
        ("too many calls", vec![Step::Answer(429, "{}".to_owned())], Err(NotSent::NothingDone)),
    ];
    for (what, steps, outcome) in rows {
        let bank = Scripted::start(created().into_iter().chain(steps.clone()).collect()).await;
        let wompi = rail(&bank);
        assert_eq!(wompi.execute(&collect(Channel::Sms)).await.expect("it was sent").outcome, open());
        let sent = wompi.execute(&tell(Instruction::SendCode)).await.expect("it was sent");
        assert_eq!((sent.outcome, sent.is_answered), (open(), true));
        let told = wompi.execute(&code_with(sent.token)).await;
        assert_eq!(told.map(|told| (told.outcome, told.is_answered)), outcome, "{what}");
        let requests = bank.requests();
        assert!(requests[2].starts_with("POST /v1/dvp/send") && requests[2].contains("Bearer first"));
        assert!(requests[3].starts_with("POST /v1/dvp/validate") && requests[3].contains("Bearer second"));
        assert!(requests[3].ends_with(r#"{"code":"574829"}"#));
        assert_eq!(requests.len(), 3 + steps.len(), "{what}: nothing is validated twice");
    }
}

#[tokio::test]
async fn another_process_goes_on_with_the_token_of_the_transaction_or_the_newest() {
    let pending = || list(&[transaction("PENDING", &services("third"))]);
    let bank = Scripted::start(vec![pending(), json("{}"), one("PENDING", "")]).await;
    let told = rail(&bank).execute(&code()).await.expect("it was sent");
    assert_eq!((told.outcome, bank.requests().len()), (open(), 3));
    assert!(bank.requests()[1].contains("Bearer third"));
    // What the step before gave counts, whatever is shown.
    let bank = Scripted::start(vec![pending(), json("{}"), one("PENDING", "")]).await;
    let told = rail(&bank).execute(&code_with(Some(StepToken::new("fourth")))).await.expect("it was sent");
    assert_eq!((told.outcome, told.token), (open(), None));
    assert!(bank.requests()[1].contains("Bearer fourth"));
    // No code is wanted any more.
    let bank = Scripted::start(vec![list(&[transaction("APPROVED", "")])]).await;
    assert_eq!(rail(&bank).execute(&code()).await.expect("a report").outcome, done());
    let bank = Scripted::start(vec![list(&[])]).await;
    assert_eq!(rail(&bank).execute(&code()).await, Err(NotSent::NoConnection));
}

#[tokio::test]
async fn a_code_is_sent_at_the_word_alone() {
    let ready = || list(&[transaction("PENDING", &services("first"))]);
    let bank = Scripted::start(vec![ready(), ready(), json("{}")]).await;
    let wompi = rail(&bank);
    let look = report(wompi.look(&collect(Channel::Sms), None).await);
    assert_eq!((look.outcome, look.progress), (open(), Some(Progress::AwaitsCode)));
    assert_eq!(wompi.execute(&tell(Instruction::SendCode)).await.expect("it was sent").outcome, open());
    let sent: Vec<bool> =
        bank.requests().iter().map(|request| request.starts_with("POST /v1/dvp/send")).collect();
    assert_eq!(sent, [false, false, true]);
}

#[tokio::test]
async fn a_token_whose_answer_was_lost_is_asked_for() {
    let ready = |token| list(&[transaction("PENDING", &services(token))]);
    let bank =
        Scripted::start(vec![ready("first"), Step::Close, ready("second"), json("{}"), one("APPROVED", "")])
            .await;
    let wompi = rail(&bank);
    let sent = wompi.execute(&tell(Instruction::SendCode)).await.expect("it may have been sent");
    assert_eq!((sent.outcome, sent.is_answered), (open(), false));
    assert_eq!(wompi.execute(&code()).await.expect("it was sent").outcome, done());
    assert!(bank.requests()[3].contains("Bearer second"));
}

#[tokio::test]
async fn a_token_goes_to_no_address_in_the_clear() {
    let elsewhere = services("first").replace("/v1/dvp/", "http://dvp.example/");
    let bank = Scripted::start(vec![tokens(1), one("PENDING", &elsewhere)]).await;
    let wompi = rail(&bank);
    assert_eq!(wompi.execute(&collect(Channel::Sms)).await.expect("it was sent").outcome, open());
    for told in [tell(Instruction::SendCode), code()] {
        assert_eq!(wompi.execute(&told).await, Err(NotSent::NoConnection));
    }
    assert_eq!(bank.requests().len(), 2);
}

#[tokio::test]
async fn how_what_waits_stands() {
    for (transaction, progress) in [
        (transaction("PENDING", ""), Some(Progress::Waits)),
        (transaction("PENDING", &services("first")), Some(Progress::AwaitsCode)),
        (transaction("APPROVED", "").replace("5000000", "4999900"), Some(Progress::Misfit)),
        (transaction("APPROVED", ""), None),
        (transaction("DECLINED", ""), None),
        (transaction("HELD", ""), None),
    ] {
        let bank = Scripted::start(vec![list(std::slice::from_ref(&transaction))]).await;
        let look = report(rail(&bank).look(&collect(Channel::Sms), None).await);
        assert_eq!(look.progress, progress, "{transaction}");
    }
    // What cannot be read says nothing, whatever is known of it.
    for step in [Step::Answer(404, "{}".to_owned()), Step::Close] {
        let bank = Scripted::start(vec![step]).await;
        let look = rail(&bank).look(&collect(Channel::Sms), RailId::parse("1234-1").as_ref()).await;
        assert_eq!((report(look.clone()).progress, report(look).outcome), (None, open()));
    }
}

#[tokio::test]
async fn a_cancellation_and_a_refund_are_no_calls_that_move_money() {
    let bank = Scripted::start(Vec::new()).await;
    let wompi = rail(&bank);
    let refund = call(Order::RefundCop {
        original: Id::from(OPERATION),
        reference: "1234-1".to_owned(),
        amount: Cop::from_minor(50_000),
        completed_at: Timestamp::EPOCH,
    });
    assert_eq!(wompi.execute(&refund).await.expect("a report").outcome, UNKNOWN);
    assert_eq!(wompi.look(&refund, None).await, Look::NotAsked);
    assert_eq!(wompi.recall(&refund.order), Some(Recall::Unaskable));
    assert_eq!(wompi.recall(&collect(Channel::Qr).order), Some(Recall::ByOperation));
    for played in [Instruction::Cancel, Instruction::Paid, Instruction::Declined] {
        assert!(matches!(wompi.execute(&tell(played)).await, Err(NotSent::Unfit(_))));
    }
    assert!(bank.requests().is_empty());
}

#[tokio::test]
async fn any_answer_below_500_closes_the_circuit() {
    for (step, closes) in [
        (tokens(1), true),
        (Step::Answer(404, "{}".to_owned()), true),
        (Step::Answer(503, "{}".to_owned()), false),
    ] {
        let bank = Scripted::start(vec![step]).await;
        assert_eq!(rail(&bank).probe().await, closes);
        assert!(bank.requests()[0].starts_with("GET /v1/merchants/pub_test_1 HTTP/1.1"));
    }
}

#[tokio::test]
async fn a_picture_that_ends_an_attribute_of_a_page_is_none() {
    for (picture, shown) in [
        ("iVBORw0KGgo=", true),
        ("data:image/png;base64,AAAA", true),
        ("https://wompi.example/qr?id=1&size=2", true),
        (r#"\"><script>alert(1)</script>"#, false),
        ("x' onerror='alert(1)", false),
        (r"AAAA\u0000", false),
    ] {
        let qr = format!(r#","payment_method":{{"extra":{{"qr_image":"{picture}"}}}}"#);
        let bank = Scripted::start(vec![one("PENDING", &qr)]).await;
        let look = report(rail(&bank).look(&collect(Channel::Qr), RailId::parse("1234-1").as_ref()).await);
        assert_eq!(look.qr_image.is_some(), shown, "{picture}");
    }
}
