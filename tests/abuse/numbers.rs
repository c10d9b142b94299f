//! Amounts, phones and documents that look like something else: digits of other scripts, exponents,
//! signs, what no integer holds. Each is refused by name, or is exactly what it says; and what
//! takes long to read is refused before it is read on.

use crate::harness::client::Api;
use crate::harness::flows::{fresh, merged, number, payer, payout_body};
use crate::harness::server::Server;
use serde_json::{Value, json};

/// No amount, whatever it looks like.
const NO_AMOUNTS: [&str; 22] = [
    "١٢.٠٠",
    "１２.００",
    "1２.00",
    "12٫00",
    "1,00",
    "1.000,00",
    "+1.00",
    "-1.00",
    "--1",
    "1e2",
    "1E2",
    "0x10",
    "1.005",
    "1.00 ",
    " 1.00",
    "1.00\u{0}",
    "1\u{200b}.00",
    "NaN",
    "Infinity",
    "½",
    "",
    "92233720368547758.08",
];

/// Numbers of JSON that are no amount.
const NO_NUMBERS: [&str; 8] =
    ["-1", "1.005", "0", "1e400", "1e-400", "92233720368547758.08", "1e18", "123456789012345678901234567890"];

#[test]
fn what_looks_like_an_amount_is_none() {
    let server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    for written in NO_AMOUNTS {
        let fund = json!({ "currency": "VES", "amount": written });
        api.post("/v1/test/fund", &fund).refused(400, "invalid_data");
        let answer = api.post("/v1/payouts", &payout_body(&merchant, written));
        assert_eq!(answer.status, 400, "{written:?}: {}", answer.text());
        let answer = api.request_c2p(written, json!({}));
        assert_eq!(answer.status, 400, "{written:?}: {}", answer.text());
    }
    for written in NO_NUMBERS {
        let answer = api.request_c2p(number(written), json!({}));
        assert_eq!(answer.status, 400, "{written}: {}", answer.text());
    }
    api.assert_books("100.00", "0.00", "100.00");
}

#[test]
fn digits_of_other_scripts_are_no_digits() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (member, written) in [
        ("debtorId", "V١٢٣٤٥٦٧٨"),
        ("debtorId", "V１２３４５６７８"),
        ("debtorId", "Ⅴ12345678"),
        ("debtorCellPhone", "０４１４１２３４５６７"),
        ("debtorCellPhone", "٠٤١٤١٢٣٤٥٦٧"),
        ("debtorCellPhone", "0414\u{200b}1234567"),
        ("debtorBankCode", "٠١٣٤"),
    ] {
        let body = merged(payer(), json!({ "usdAmount": 1, "externalRef": fresh("pay") }));
        api.post("/v1/payments/c2p/request", &merged(body, json!({ member: written }))).names(&[member]);
    }
}

/// The sums of a balance have an end: an amount beyond what is counted is refused before any bank
/// is asked.
#[test]
fn sums_have_an_end_that_no_request_reaches() {
    let server = Server::start();
    let api = server.tenant().test;
    let fund = |amount: &str| api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": amount }));
    let mut put: u64 = 0;
    // A quarter of what an i64 holds, in as few steps as the bounds of one request allow.
    for amount in ["10000000000000000.00", "1000000000000000.00", "100000000000.00", "1000000000.00"] {
        for _ in 0..40 {
            let answer = fund(amount);
            match answer.status {
                201 => put += 1,
                400 | 409 | 422 => break,
                other => panic!("{amount}: {other} {}", answer.text()),
            }
        }
    }
    assert!(put > 0, "nothing was put in");
    api.books();
    api.pay_at_the_end();
    api.books();
}

impl Api {
    /// Makes a payment that may or may not have room; in either case the books are right.
    fn pay_at_the_end(&self) {
        let intent = self.request_c2p(1, json!({}));
        if intent.status == 201 {
            let answer = self.execute(&intent.json(), "12345678", json!({}));
            assert!(answer.status < 500, "{}", answer.text());
        } else {
            assert!((400..500).contains(&intent.status), "{}", intent.text());
        }
    }
}

#[test]
fn bodies_that_take_long_to_read_are_refused() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("10.00");
    let long = |inside: String| format!("{{\"currency\":\"VES\",\"amount\":{inside}}}");
    let members: String = (0..40_000).map(|n| format!("\"m{n}\":{n},")).collect();
    let twins = "\"amount\":\"1.00\",".repeat(50_000);
    for (what, body) in [
        ("a number of a million digits", long("9".repeat(1_000_000))),
        ("a fraction of a million digits", long(format!("1.{}", "0".repeat(1_000_000)))),
        ("an exponent of a million digits", long(format!("1e{}", "9".repeat(1_000_000)))),
        ("lists in lists", "[".repeat(1_000_000)),
        ("objects in objects", "{\"a\":".repeat(200_000)),
        ("forty thousand members", format!("{{{members}\"currency\":\"VES\"}}")),
        ("one member fifty thousand times", format!("{{{twins}\"currency\":\"VES\"}}")),
        ("escapes", long(format!("\"{}\"", "\\u0031".repeat(170_000)))),
        ("half a surrogate", long("\"\\ud800\"".to_owned())),
        ("no UTF-8", String::from("{\"currency\":\"VES\",\"amount\":\"1\u{fffd}\"}")),
    ] {
        let answer = api.post_raw("/v1/test/fund", body);
        assert_eq!(answer.status, 400, "{what}: {}", &answer.text()[..answer.text().len().min(500)]);
        assert!(answer.text().len() < 100_000, "{what}: the answer has {} bytes", answer.text().len());
    }
    let query: String = (0..2_000).map(|n| format!("p{n}={n}&")).collect();
    assert!(matches!(api.get(&format!("/v1/payments?{query}")).status, 400 | 414 | 431));
    api.assert_books("10.00", "0.00", "10.00");
}

#[test]
fn batches_have_an_end() {
    let server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = |items: usize| -> Value {
        let items: Vec<Value> = (0..items).map(|_| payout_body(&merchant, "0.01")).collect();
        json!({ "externalRef": fresh("batch"), "items": items })
    };
    api.post("/v1/payouts/batch", &body(0)).refused(400, "invalid_data");
    api.post("/v1/payouts/batch", &body(1_001)).refused(400, "invalid_data");
    api.post("/v1/payouts/batch", &body(12_000)).refused(413, "payload_too_large");
    // The same payout a thousand times is one of them, or none.
    let once = payout_body(&merchant, "1.00");
    let twins = json!({ "externalRef": fresh("batch"), "items": vec![once; 1_000] });
    let answer = api.post("/v1/payouts/batch", &twins);
    assert!((200..500).contains(&answer.status), "{}", answer.text());
    let left = api.books();
    assert!(["99.00", "100.00"].contains(&left["ledgerNetVes"].as_str().expect("text")), "{left}");
}
