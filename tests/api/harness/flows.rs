//! The ways through the API that most tests need, and the two invariants of the books.

use super::check::{decimal, instant, list, sum, text};
use super::client::{Answer, Api};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// An id that nothing has.
pub const UNKNOWN: &str = "01930000-0000-7000-8000-000000000000";

/// A name that nobody used before.
pub fn fresh(prefix: &str) -> String {
    format!("{prefix}-{}", &uuid::Uuid::now_v7().simple().to_string()[16..])
}

/// `base` with the members of `over` added or replaced.
pub fn merged(mut base: Value, over: Value) -> Value {
    let members = base.as_object_mut().expect("an object");
    members.extend(over.as_object().expect("an object").clone());
    base
}

/// The payer's members of a C2P body. Bank 134 sends no SMS.
pub fn payer() -> Value {
    json!({ "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": 134 })
}

/// The number as written, such as 4.35: it goes through no float.
pub fn number(written: &str) -> Value {
    serde_json::from_str(written).expect("a number")
}

impl Api {
    /// Asks for an intent; members of `over` are added or replaced.
    #[track_caller]
    pub fn request_c2p(&self, usd: impl Into<Value>, over: Value) -> Answer {
        let base = merged(payer(), json!({ "usdAmount": usd.into(), "externalRef": fresh("pay") }));
        self.post("/v1/payments/c2p/request", &merged(base, over))
    }

    /// An intent over so many dollars.
    #[track_caller]
    pub fn intent(&self, usd: impl Into<Value>) -> Value {
        self.request_c2p(usd, json!({})).expect(201)
    }

    /// Executes an intent with the details it was asked for with; members of `over` are added or
    /// replaced.
    #[track_caller]
    pub fn execute(&self, intent: &Value, token: &str, over: Value) -> Answer {
        self.post("/v1/payments/c2p", &merged(execution(intent, token), over))
    }

    /// A payment of so many dollars, executed with this token.
    #[track_caller]
    pub fn pay_with(&self, usd: impl Into<Value>, token: &str) -> Value {
        let intent = self.intent(usd);
        let answer = self.execute(&intent, token, json!({}));
        assert!(matches!(answer.status, 200 | 202), "{}", answer.text());
        answer.json()
    }

    /// A completed payment of so many dollars.
    #[track_caller]
    pub fn pay(&self, usd: impl Into<Value>) -> Value {
        let payment = self.pay_with(usd, "12345678");
        assert_eq!(payment["status"], "COMPLETED", "{payment}");
        payment
    }

    /// Charges a card; members of `over` are added or replaced, those of its `card` within the
    /// card.
    #[track_caller]
    pub fn vpos(&self, usd: impl Into<Value>, over: Value) -> Answer {
        self.post("/v1/payments/vpos", &vpos_body(usd, over))
    }

    /// A completed card payment of so many dollars.
    #[track_caller]
    pub fn vpos_pay(&self, usd: impl Into<Value>) -> Value {
        let payment = self.vpos(usd, json!({})).expect(201);
        assert_eq!(payment["status"], "COMPLETED", "{payment}");
        payment
    }

    /// The payment as it is now.
    #[track_caller]
    pub fn payment(&self, of: &Value) -> Value {
        let id = of["paymentId"].as_str().or(of["intentId"].as_str()).expect("a payment or an intent");
        self.get(&format!("/v1/payments/{id}")).expect(200)
    }

    /// Gives back a payment.
    #[track_caller]
    pub fn reverse(&self, payment: &Value) -> Answer {
        self.act(&format!("/v1/payments/{}/reverse", text(payment, "paymentId")))
    }

    /// Registers a merchant with a payout method; members of `over` are added or replaced.
    #[track_caller]
    pub fn create_merchant(&self, over: Value) -> Answer {
        self.post("/v1/merchants", &merged(merchant_body(), over))
    }

    /// A merchant whose method is verified.
    #[track_caller]
    pub fn merchant(&self) -> Value {
        let merchant = self.create_merchant(json!({})).expect(201);
        let path = method_path(&merchant, 0);
        self.act(&format!("{path}/verify/start")).expect(202);
        self.verify(&path, "0.32", "0.45").expect(200);
        self.merchant_now(&merchant)
    }

    /// The merchant as it is now.
    #[track_caller]
    pub fn merchant_now(&self, merchant: &Value) -> Value {
        self.get(&format!("/v1/merchants/{}", text(merchant, "merchantId"))).expect(200)
    }

    /// Reports which two amounts arrived at a method.
    #[track_caller]
    pub fn verify(&self, method_path: &str, amount1: &str, amount2: &str) -> Answer {
        self.post(&format!("{method_path}/verify"), &json!({ "amount1": amount1, "amount2": amount2 }))
    }

    /// Pays a merchant; members of `over` are added or replaced.
    #[track_caller]
    pub fn payout(&self, merchant: &Value, monto: &str, over: Value) -> Answer {
        self.post("/v1/payouts", &merged(payout_body(merchant, monto), over))
    }

    /// The payout as it is now.
    #[track_caller]
    pub fn payout_now(&self, payout: &Value) -> Value {
        self.get(&format!("/v1/payouts/{}", text(payout, "payoutId"))).expect(200)
    }

    /// Puts bolívares into the balance.
    #[track_caller]
    pub fn fund(&self, amount: &str) -> Value {
        self.post("/v1/test/fund", &json!({ "currency": "VES", "amount": amount })).expect(201)
    }

    /// The balance.
    #[track_caller]
    pub fn balance(&self) -> Value {
        self.get("/v1/balance").expect(200)
    }

    /// The balance as it was at that moment.
    #[track_caller]
    pub fn balance_at(&self, when: DateTime<Utc>) -> Value {
        self.query("/v1/balance", &[("at", &super::check::stamp(when))]).expect(200)
    }

    /// Every movement, page by page, newest first.
    #[track_caller]
    pub fn movements(&self) -> Vec<Value> {
        self.walk("/v1/balance/transactions", &[], 100)
    }

    /// Every item of a list, page by page.
    #[track_caller]
    pub fn walk(&self, path: &str, parameters: &[(&str, &str)], limit: usize) -> Vec<Value> {
        let limit = limit.to_string();
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut query: Vec<(&str, &str)> = parameters.to_vec();
            query.push(("limit", &limit));
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = self.query(path, &query).expect(200);
            items.extend_from_slice(list(&page, "items"));
            match &page["nextCursor"] {
                Value::Null => return items,
                next => {
                    cursor = Some(next.as_str().unwrap_or_else(|| panic!("nextCursor is {next}")).to_owned())
                }
            }
        }
    }

    /// Moves the test clock forward.
    #[track_caller]
    pub fn advance(&self, seconds: i64) -> Value {
        self.post("/v1/test/clock", &json!({ "advanceSeconds": seconds })).expect(200)
    }

    /// The test clock.
    #[track_caller]
    pub fn clock(&self) -> DateTime<Utc> {
        instant(&self.get("/v1/test/clock").expect(200)["now"])
    }

    /// Moves the test clock to `when` or, as it moves by whole seconds, up to a second past it.
    #[track_caller]
    pub fn advance_to(&self, when: DateTime<Utc>) {
        let ms = (when - self.clock()).num_milliseconds();
        if ms > 0 {
            self.advance(ms.unsigned_abs().div_ceil(1000) as i64);
        }
    }

    /// The balance, after it was seen to agree with the movements. Only for a tenant that nobody
    /// else uses at the time.
    #[track_caller]
    pub fn books(&self) -> Value {
        let (balance, rows) = (self.balance(), self.movements());
        let figure = |member: &str| decimal(&balance[member]);
        assert_eq!(
            sum(&rows, "amountVes"),
            figure("ledgerNetVes"),
            "the movements do not add up to {balance}"
        );
        assert_eq!(
            figure("ledgerNetVes") - figure("reserveVes") - figure("heldVes"),
            figure("availableVes"),
            "{balance}"
        );
        let ids: BTreeSet<&str> = rows.iter().map(|row| text(row, "id")).collect();
        assert_eq!(ids.len(), rows.len(), "a movement was listed twice");
        balance
    }

    /// Asserts ledger, held and available after the books were seen to agree.
    #[track_caller]
    pub fn assert_books(&self, ledger: &str, held: &str, available: &str) {
        assert_eq!(figures(&self.books()), [ledger, held, available]);
    }
}

/// A charge of a card that is approved.
pub fn vpos_body(usd: impl Into<Value>, mut over: Value) -> Value {
    let card = json!({ "number": "4111111111111111", "expMonth": 12, "expYear": 2035, "cvv": "123", "holderName": "Ana Pérez", "holderId": "V12345678" });
    let card = match over.as_object_mut().expect("an object").remove("card") {
        Some(Value::Object(of_card)) => merged(card, Value::Object(of_card)),
        Some(other) => other,
        None => card,
    };
    merged(
        json!({ "usdAmount": usd.into(), "card": card, "externalRef": fresh("card"), "description": "compra" }),
        over,
    )
}

/// The body that executes an intent with the details it was asked for with.
pub fn execution(intent: &Value, token: &str) -> Value {
    let of = |member: &str| intent[member].clone();
    let details = json!({ "intentId": of("intentId"), "usdAmount": of("usdAmount"), "externalRef": of("externalRef"), "token": token });
    merged(payer(), details)
}

/// A merchant with a payout method.
pub fn merchant_body() -> Value {
    json!({
        "externalRef": fresh("m"), "name": "Bodega La Esquina", "identification": "V87654321", "contactEmail": "bodega@example.com",
        "contactPhone": "04147654321", "bankCode": "0134", "phone": "04147654321",
    })
}

/// A payout to a merchant's default method.
pub fn payout_body(merchant: &Value, monto: &str) -> Value {
    json!({ "merchantId": merchant["merchantId"], "monto": monto, "concepto": "pago", "externalRef": fresh("po") })
}

/// The path of a merchant's payout method.
#[track_caller]
pub fn method_path(merchant: &Value, at: usize) -> String {
    let method = &list(merchant, "payoutMethods")[at];
    format!(
        "/v1/merchants/{}/payout-methods/{}",
        text(merchant, "merchantId"),
        text(method, "payoutMethodId")
    )
}

/// Ledger, held and available of a balance.
#[track_caller]
pub fn figures(balance: &Value) -> [&str; 3] {
    [text(balance, "ledgerNetVes"), text(balance, "heldVes"), text(balance, "availableVes")]
}

/// A second, for arithmetic on instants.
pub const SECOND: TimeDelta = TimeDelta::seconds(1);
/// A millisecond.
pub const MS: TimeDelta = TimeDelta::milliseconds(1);
/// A day, which is how long money is held.
pub const DAY: TimeDelta = TimeDelta::days(1);
