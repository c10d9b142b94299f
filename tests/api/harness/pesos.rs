//! The ways through payments, payouts and the balance in pesos.

use super::check::{decimal, list, sum, text};
use super::client::{Answer, Api};
use super::flows::{fresh, merged};
use super::server::{Server, Tenant};
use serde_json::{Value, json};

/// The buyer's members of a payment by push or SMS.
pub fn buyer() -> Value {
    json!({ "email": "ana@example.com", "phone": "+573001234567", "documentType": "CC", "documentNumber": "1020304050" })
}

/// The body of a payment of so many pesos by a channel; it has a buyer when the channel needs one.
pub fn cop_body(amount: i64, channel: &str) -> Value {
    let body = json!({ "amountCop": amount, "channel": channel, "reference": fresh("cop"), "metadata": { "order": 7, "tags": ["a", { "b": null }] } });
    if channel == "qr" { body } else { merged(body, json!({ "buyer": buyer() })) }
}

/// The body of a payout as the operator asks for it.
pub fn cop_payout_body(amount: i64) -> Value {
    json!({
        "mode": "test", "amountCop": amount, "bank": "Bancolombia", "accountNumber": "12345678901", "accountType": "savings",
        "holderName": "Ana Pérez", "documentType": "CC", "documentNumber": "1020304050", "externalRef": fresh("cpo"),
    })
}

impl Api {
    /// A pending payment of so many pesos by a channel.
    #[track_caller]
    pub fn cop(&self, amount: i64, channel: &str) -> Value {
        self.post("/v1/cop/payments", &cop_body(amount, channel)).expect(201)
    }

    /// A completed payment of so many pesos.
    #[track_caller]
    pub fn cop_paid(&self, amount: i64) -> Value {
        let pending = self.cop(amount, "qr");
        let paid = self.cop_buyer(&pending, "pay").expect(200);
        assert_eq!(paid["status"], "completed", "{paid}");
        paid
    }

    /// Pays or declines as the buyer.
    #[track_caller]
    pub fn cop_buyer(&self, payment: &Value, act: &str) -> Answer {
        self.act(&format!("/v1/test/cop/payments/{}/{act}", text(payment, "id")))
    }

    /// The payment as it is now.
    #[track_caller]
    pub fn cop_now(&self, payment: &Value) -> Value {
        self.get(&cop_path(payment)).expect(200)
    }

    /// Sends the buyer's SMS code.
    #[track_caller]
    pub fn cop_otp(&self, payment: &Value, otp: &str) -> Answer {
        self.post(&format!("{}/otp", cop_path(payment)), &json!({ "otp": otp }))
    }

    /// Cancels a payment.
    #[track_caller]
    pub fn cop_cancel(&self, payment: &Value) -> Answer {
        self.act(&format!("{}/cancel", cop_path(payment)))
    }

    /// Refunds a payment.
    #[track_caller]
    pub fn cop_refund(&self, payment: &Value) -> Answer {
        self.act(&format!("{}/refund", cop_path(payment)))
    }

    /// Puts pesos into the balance.
    #[track_caller]
    pub fn cop_fund(&self, amount: &str, held: bool) -> Value {
        self.post("/v1/test/fund", &json!({ "currency": "COP", "amount": amount, "held": held })).expect(201)
    }

    /// The balance in pesos, after it was seen to agree with its movements. Only for a tenant that
    /// nobody else uses at the time.
    #[track_caller]
    pub fn cop_books(&self) -> Value {
        let balance = self.get("/v1/cop/balance").expect(200);
        let rows = self.cop_rows();
        assert_eq!(
            sum(&rows, "amountCop"),
            decimal(&balance["ledgerNetCop"]),
            "the movements do not add up to {balance}"
        );
        let figure = |member: &str| decimal(&balance[member]);
        assert_eq!(figure("ledgerNetCop") - figure("heldCop"), figure("availableCop"), "{balance}");
        balance
    }

    /// Asserts ledger, held and available pesos.
    #[track_caller]
    pub fn assert_pesos(&self, ledger: &str, held: &str, available: &str) {
        let balance = self.cop_books();
        assert_eq!(
            [text(&balance, "ledgerNetCop"), text(&balance, "heldCop"), text(&balance, "availableCop")],
            [ledger, held, available]
        );
    }

    /// Every movement in pesos, newest first.
    #[track_caller]
    pub fn cop_rows(&self) -> Vec<Value> {
        self.walk("/v1/cop/balance/transactions", &[], 100)
    }

    /// The names and data of every event, oldest first.
    #[track_caller]
    pub fn told(&self) -> Vec<(String, Value)> {
        let page = self.get("/v1/events?limit=100").expect(200);
        list(&page, "items")
            .iter()
            .map(|event| (text(event, "event").to_owned(), event["data"].clone()))
            .collect()
    }
}

impl Server {
    /// The operator asks for a payout of so many pesos; members of `over` are added or replaced.
    #[track_caller]
    pub fn cop_payout(&self, tenant: &Tenant, amount: i64, over: Value) -> Answer {
        self.admin().post(
            &format!("/admin/tenants/{}/cop-payouts", tenant.id),
            &merged(cop_payout_body(amount), over),
        )
    }
}

/// The path of a payment in pesos.
#[track_caller]
pub fn cop_path(payment: &Value) -> String {
    format!("/v1/cop/payments/{}", text(payment, "id"))
}

/// Type and amount of rows, newest first.
pub fn rows(rows: &[Value]) -> Vec<(&str, &str)> {
    rows.iter().map(|row| (text(row, "type"), text(row, "amountCop"))).collect()
}
