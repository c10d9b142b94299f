//! Checkout sessions, and what their pages call.

use super::check::text;
use super::client::{Answer, Api};
use super::flows::{merged, payer};
use super::pesos::buyer;
use super::server::{Server, Tenant};
use serde_json::{Value, json};

/// A session of 10 dollars; members of `over` are added or replaced.
pub fn session(tenant: &Tenant, over: Value) -> Value {
    tenant.test.post("/v1/checkout/sessions", &merged(json!({ "amountUsd": 10 }), over)).expect(201)
}

/// The calls of a session's page.
pub struct Page {
    /// A client that carries the session's secret.
    pub api: Api,
    /// The path of the calls.
    pub base: String,
}

impl Page {
    /// The page of this session.
    pub fn of(server: &Server, session: &Value) -> Page {
        let api = server.nobody().with("authorization", &format!("Bearer {}", text(session, "clientSecret")));
        Page { api, base: format!("/checkout/{}", text(session, "id")) }
    }

    /// The session's state, as the page's script reads it.
    #[track_caller]
    pub fn state(&self) -> Value {
        self.api.get(&format!("{}/state", self.base)).expect(200)
    }

    /// Asks for an intent.
    #[track_caller]
    pub fn request(&self, over: Value) -> Answer {
        self.api.post(&format!("{}/c2p/request", self.base), &merged(payer(), over))
    }

    /// Sends the key.
    #[track_caller]
    pub fn execute(&self, intent: &Value, token: &str) -> Answer {
        let body = merged(payer(), json!({ "intentId": intent["intentId"], "token": token }));
        self.api.post(&format!("{}/c2p", self.base), &body)
    }

    /// Asks for an intent and sends the key.
    #[track_caller]
    pub fn pay(&self, token: &str) -> Value {
        let intent = self.request(json!({})).expect(201);
        self.execute(&intent, token).expect(200)
    }

    /// Begins to pay in pesos by this channel.
    #[track_caller]
    pub fn pesos(&self, channel: &str) -> Answer {
        let body = if channel == "qr" {
            json!({ "channel": channel })
        } else {
            json!({ "channel": channel, "buyer": buyer() })
        };
        self.api.post(&format!("{}/cop", self.base), &body)
    }

    /// Sends the SMS code.
    #[track_caller]
    pub fn code(&self, otp: &str) -> Answer {
        self.api.post(&format!("{}/cop/otp", self.base), &json!({ "otp": otp }))
    }

    /// Asks for the address on this network.
    #[track_caller]
    pub fn usdt(&self, network: &str) -> Answer {
        self.api.post(&format!("{}/usdt", self.base), &json!({ "network": network, "asset": "USDT" }))
    }
}

impl Api {
    /// Sends so much from the buyer to an address of a session.
    #[track_caller]
    pub fn buyer_sends(&self, to: &Value, amount: &str) -> Value {
        let body = json!({ "address": to["address"], "amount": amount, "network": to["network"], "asset": to["asset"] });
        self.post("/v1/test/crypto/deposits", &body).expect(201)
    }
}

/// The session as its tenant sees it.
pub fn of(tenant: &Tenant, session: &Value) -> Value {
    tenant.test.get(&format!("/v1/checkout/sessions/{}", text(session, "id"))).expect(200)
}
