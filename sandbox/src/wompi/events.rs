//! Events to the merchant: signed, sent when a transaction is decided, and again until one is
//! answered 200 (docs/contract.md, 18.6, 21.10).
//!
//! Promises: an event says what the books said at its instant; one that arrived is in the books,
//! and a start sends those that did not.

use super::books::{Entry, Status, Transaction};
use super::options::Options;
use super::{Wompi, answers, now_ms};
use crate::calls::Call;
use crate::faults::{Fault, Kind};
use crate::http::post;
use crate::signing::sha256_hex;
use serde_json::{Value, json};
use std::time::Duration;

/// The path of events on the gateway.
const PATH: &str = "/rails/wompi/events";

/// The bytes sent in place of JSON.
const GARBAGE: &[u8] = b"{\"event\": ";

/// The receiver of events, how they are signed, and when they are sent again.
pub struct Events {
    gateway: Option<String>,
    secret: String,
    properties: Vec<String>,
    pauses: Vec<Duration>,
}

impl Events {
    /// Events as the options have them.
    ///
    /// # Errors
    /// When the address of the gateway is none.
    pub fn new(options: &Options) -> Result<Events, String> {
        Ok(Events {
            gateway: options.common.gateway()?,
            secret: options.events_secret.clone(),
            properties: options.event_properties.clone(),
            pauses: options.event_retry_seconds.iter().map(|seconds| Duration::from_secs(*seconds)).collect(),
        })
    }

    /// The checksum over members of the data, in order, the timestamp and the secret.
    fn checksum(&self, data: &Value, timestamp: i64) -> String {
        let member = |path: &String| path.split('.').fold(data, |value, name| &value[name]);
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let signed: String = self.properties.iter().map(member).map(text).collect();
        sha256_hex(&format!("{signed}{timestamp}{}", self.secret)).to_ascii_uppercase()
    }
}

impl Wompi {
    /// Sends the event of a decided transaction when its status shows.
    pub(super) fn schedule_event(&self, transaction: &Transaction) {
        let Some((status, from_ms)) = transaction.decided else { return };
        let Some(site) = self.site.get().cloned().filter(|_| self.events.gateway.is_some()) else { return };
        let id = transaction.created.id.clone();
        tokio::spawn(async move {
            let wait = u64::try_from(from_ms.saturating_sub(now_ms())).unwrap_or_default();
            tokio::time::sleep(Duration::from_millis(wait)).await;
            let pauses = site.upgrade().map(|site| site.bank.events.pauses.clone()).unwrap_or_default();
            for pause in [Duration::ZERO].into_iter().chain(pauses) {
                tokio::time::sleep(pause).await;
                let Some(site) = site.upgrade() else { return };
                if site.bank.send_event(&site, &id, status).await {
                    return;
                }
            }
        });
    }

    /// Sends the events that had not arrived when the process ended.
    pub(super) async fn resume_events(&self) {
        for transaction in self.books.with(|books| books.ledger().untaken()).await {
            self.schedule_event(&transaction);
        }
    }

    /// Sends one event, under the fault that applies to it, and says whether it arrived.
    pub(super) async fn send_event(&self, site: &crate::site::Site<Wompi>, id: &str, status: Status) -> bool {
        let (Some(gateway), Ok(transaction)) = (&self.events.gateway, self.transaction(id).await) else {
            return false;
        };
        let mut data = json!({"transaction": self.bare(&transaction, status)});
        let fault = site.faults.draw("event", PATH, &data).await;
        let kind = fault.as_ref().map(|fault| fault.kind);
        if let Some(fault) = &fault {
            tokio::time::sleep(fault.pause).await;
            fault.alter(&mut data);
        }
        let now = now_ms();
        let checksum = match kind {
            Some(Kind::Unauthorized) => sha256_hex("not the secret").to_ascii_uppercase(),
            _ => self.events.checksum(&data, now / 1_000),
        };
        let event = json!({
            "event": "transaction.updated",
            "data": data,
            "environment": "test",
            "signature": {"properties": self.events.properties, "checksum": checksum},
            "timestamp": now / 1_000,
            "sent_at": answers::instant(now),
        });
        let bytes = match kind {
            Some(Kind::Garbage) => GARBAGE.to_vec(),
            _ => event.to_string().into_bytes(),
        };
        let times = match kind {
            Some(Kind::SilentBefore) => 0,
            Some(Kind::Twice) => 2,
            _ => 1,
        };
        let mut arrived = false;
        for _ in 0..times {
            let headers = [("x-event-checksum", checksum.clone())];
            let reply = post(&format!("{gateway}{PATH}"), &headers, bytes.clone()).await;
            let (status, answer, note) = match reply {
                Ok(reply) => (Some(reply.status), reply.body, format!("sent {id}")),
                Err(problem) => (None, Value::Null, problem),
            };
            arrived |= status == Some(200);
            let fault = fault.as_ref().map(Fault::name);
            let call = Call {
                operation: "event",
                path: PATH,
                fields: &event,
                fault,
                status,
                answer: &answer,
                note: &note,
            };
            site.record(&call).await;
        }
        if arrived {
            let id = id.to_owned();
            self.books.with(move |books| books.enter(Entry::EventTaken { id, status })).await;
        }
        arrived
    }

    /// A transaction as events show it: without addresses and tokens of Daviplata's steps.
    fn bare(&self, transaction: &Transaction, status: Status) -> Value {
        let mut shown = self.shown(transaction);
        shown["status"] = json!(status);
        shown["payment_method"] = transaction.created.payment_method.clone();
        shown
    }
}
