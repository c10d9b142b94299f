//! Answers of live banks and processors: the first line of an input is the status, the rest is the
//! body, and every reader of such bodies is given it.
//!
//! Nothing that can't be read decides anything; what is done says so in the bank's own word for
//! success; what a processor approves is what it was asked for; and only an empty list says that
//! nothing was ever received.

use crate::bytes::first_line;
use domain::bank_names::without_zeros;
use domain::resources::notices;
use domain::values::money::Ves;
use domain::values::time::Date;
use pasarela::rails::http::HttpAnswer;
use pasarela::rails::live::{Look, OrderOutcome, Report};
use pasarela::rails::r4::wire::Operation;
use pasarela::rails::r4::{mapping as r4, notice, quotation};
use pasarela::rails::secret::ApiSecret;
use pasarela::rails::wompi::acceptance::Acceptance;
use pasarela::rails::wompi::mapping::{Asked, Created, by_id, created, under_reference};
use pasarela::rails::wompi::{signature, wire};
use uuid::Uuid;

/// The order that the processor was asked for: the kept inputs have it.
const ASKED: Asked = Asked { operation: Uuid::from_u128(7), amount_in_cents: Some(5_000_000) };
/// Characters of what is kept of a bank's words.
const KEPT_CHARACTERS_MAX: usize = 200;

pub fn run(input: &[u8]) {
    let (status, body) = first_line(input);
    let status =
        std::str::from_utf8(status).ok().and_then(|status| status.trim().parse().ok()).unwrap_or(200);
    let answer = HttpAnswer { status, body: body.to_vec() };
    for operation in Operation::ALL {
        let report = r4::read(operation, &answer);
        holds(&report);
        if let OrderOutcome::Done { .. } = report.outcome {
            let code = report.word.expect("a code").code;
            assert!(["00", "202", "ACCP"].contains(&code.as_str()), "{code} is done");
            assert!(status < 300 || (400..500).contains(&status), "{status} is done");
        }
    }
    let day = Date::from_days(20_000);
    if let quotation::Published::Yes(found) = quotation::read(&answer, day) {
        assert!(found.value_date == day && found.rate.0.is_sign_positive() && !found.rate.0.is_zero());
    }
    of_wompi(&answer);
    of_r4_itself(&answer.body);
}

/// What R4 tells by itself: a transfer is of more than nothing, and its reference has digits alone.
fn of_r4_itself(body: &[u8]) {
    if let Ok(notice::Said::Made(notice::Made { transfer, .. })) = notice::notice(body) {
        assert!(transfer.amount > Ves::ZERO && transfer.reference.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(notices::ends_with(without_zeros(&transfer.reference), &transfer.reference));
    }
    let _ = notice::question(body);
}

fn of_wompi(answer: &HttpAnswer) {
    if let Created::Transaction(transaction) = created(answer) {
        assert!(wire::is_plain(&transaction.id), "{:?} stands in a path", transaction.id);
    }
    if let Some(transaction) = wire::Transaction::read(&answer.body) {
        let one = by_id(answer, &transaction.id, &ASKED);
        holds(&one);
        if let OrderOutcome::Done { .. } = one.outcome {
            assert_eq!(
                (transaction.amount_in_cents, transaction.currency.as_str()),
                (Some(5_000_000), "COP")
            );
        }
    }
    match under_reference(answer, &ASKED) {
        Look::Report(report) => holds(&report),
        Look::NeverReceived => assert_eq!(wire::Transaction::read_list(&answer.body), Some(Vec::new())),
        Look::NotAsked => panic!("it was asked"),
    }
    let _ = (Acceptance::read(&answer.body), wire::next_token(&answer.body));
    assert!(signature::event(&answer.body, &ApiSecret::new("a secret that no input knows")).is_err());
}

fn holds(report: &Report) {
    assert!(report.is_answered || report.outcome == OrderOutcome::Open { id: None }, "nothing decided");
    if let Some(word) = &report.word {
        let shown =
            |text: &str| text.chars().count() <= KEPT_CHARACTERS_MAX && !text.contains(char::is_control);
        assert!(shown(&word.code) && shown(&word.text), "{word:?}");
    }
    if let OrderOutcome::Refused { code } = &report.outcome {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        assert!((1..=32).contains(&code.len()) && code.bytes().all(fits), "{code}");
    }
}
