//! R4's books: orders that moved money or were refused, transfers of customers, notices of them.
//!
//! Promises: what is here is on disk. No key of a payer is in them.

use crate::amount;
use crate::books::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The outcome of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The money moved.
    Done,
    /// The money did not move, and will not.
    Refused,
    /// The outcome is open; the first question about it decides.
    Pending,
}

/// An order to move money.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// The order's number, from 1.
    pub n: u64,
    /// The instant at which the order came.
    pub at: String,
    /// The call, by its name in the family MB.
    pub call: String,
    /// The outcome so far.
    pub outcome: Outcome,
    /// The outcome that a pending order comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub becomes: Option<Outcome>,
    /// The code of its outcome; of a pending one, of what it becomes.
    pub code: String,
    /// The reference of what was or will be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The id under which it may be asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The amount, in cents.
    pub cents: u64,
    /// The phone of the person whose money it is.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub phone: String,
    /// The identity document of the person whose money it is.
    pub document: String,
    /// The bank of the other side.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub bank: String,
    /// The account that is credited or debited.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub account: String,
    /// The order's concept: the purpose of the payment.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub concept: String,
    /// A charge whose annulment is refused.
    #[serde(default)]
    pub irreversible: bool,
    /// The charge that this annuls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annuls: Option<u64>,
}

/// A customer's transfer to the merchant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Transfer {
    /// The transfer's reference.
    pub reference: String,
    /// The instant at which the customer made it.
    pub at: String,
    /// The customer's phone.
    pub phone: String,
    /// The customer's bank, four digits.
    pub bank: String,
    /// The amount, in cents.
    pub cents: u64,
    /// The transfer's concept: the purpose of the payment.
    pub concept: String,
    /// The code of the network that notices of it bear.
    pub code: String,
}

/// A notice of a transfer, or a question before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Notice {
    /// The transfer.
    pub reference: String,
    /// R4consulta, R4notifica or MBconsulta.
    pub call: String,
    /// The instant at which the answer came, or the wait for it ended.
    pub at: String,
    /// The status of HTTP; none if there was no answer.
    pub status: Option<u16>,
    /// The merchant's answer: `abono`, or `status`.
    pub accepted: Option<bool>,
}

/// An entry of the books: one line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// An order that was done, refused, or is pending.
    Order(Order),
    /// A pending order, by its number, has become what it had to become.
    Settled(u64),
    /// A customer made a transfer.
    Transfer(Transfer),
    /// The merchant was told of it.
    Notice(Notice),
}

/// The books in memory.
#[derive(Default)]
pub struct R4Ledger {
    orders: Vec<Order>,
    by_id: HashMap<String, usize>,
    transfers: Vec<Transfer>,
    notices: Vec<Notice>,
}

impl Ledger for R4Ledger {
    type Entry = Entry;

    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Order(order) => {
                assert_eq!(order.n, self.next_number(), "orders are numbered without gaps");
                if let Some(id) = &order.id {
                    self.by_id.insert(id.clone(), self.orders.len());
                }
                self.orders.push(order);
            }
            Entry::Settled(n) => {
                let order = self.orders.iter_mut().find(|order| order.n == n).expect("an order of the books");
                order.outcome = order.becomes.take().expect("a pending order");
            }
            Entry::Transfer(transfer) => self.transfers.push(transfer),
            Entry::Notice(notice) => self.notices.push(notice),
        }
    }
}

impl R4Ledger {
    /// The number of the next order.
    pub fn next_number(&self) -> u64 {
        self.orders.len() as u64 + 1
    }

    /// The order of an id.
    pub fn order_of(&self, id: &str) -> Option<&Order> {
        self.by_id.get(&id.to_ascii_lowercase()).map(|at| &self.orders[*at])
    }

    /// The charge that an annulment means: of this person, at this bank, of this reference.
    pub fn charge(&self, document: &str, bank: &str, reference: &str) -> Option<&Order> {
        let is_it = |order: &&Order| {
            order.call == "MBc2p"
                && order.outcome == Outcome::Done
                && order.document == document
                && order.bank == bank
                && order.reference.as_deref() == Some(reference)
        };
        self.orders.iter().find(is_it)
    }

    /// Whether a charge was given back.
    pub fn is_annulled(&self, n: u64) -> bool {
        self.orders.iter().any(|order| order.annuls == Some(n) && order.outcome == Outcome::Done)
    }

    /// The transfer of a reference.
    pub fn transfer(&self, reference: &str) -> Option<&Transfer> {
        self.transfers.iter().find(|transfer| transfer.reference == reference)
    }

    /// A reference that no transfer has yet.
    pub fn next_transfer_reference(&self) -> String {
        let counted = (self.transfers.len() as u64 + 1..).map(|n| format!("{n:07}1"));
        let mut free = counted.filter(|reference| self.transfer(reference).is_none());
        free.next().expect("numbers do not end")
    }

    fn total(&self, calls: &[&str]) -> String {
        let counts = |order: &&Order| order.outcome == Outcome::Done && calls.contains(&order.call.as_str());
        amount::text(amount::sum(self.orders.iter().filter(counts).map(|order| order.cents)))
    }

    /// The books for a reader.
    pub fn shown(&self) -> Value {
        let order = |order: &Order| {
            json!({
                "n": order.n, "at": order.at, "call": order.call, "outcome": order.outcome,
                "becomes": order.becomes, "code": order.code, "reference": order.reference, "id": order.id,
                "amount": amount::text(order.cents), "phone": order.phone, "document": order.document,
                "bank": order.bank, "account": order.account, "concept": order.concept,
                "annuls": order.annuls, "annulled": self.is_annulled(order.n),
            })
        };
        let transfer = |transfer: &Transfer| {
            let of_it = |notice: &&Notice| notice.reference == transfer.reference;
            json!({
                "reference": transfer.reference, "at": transfer.at, "phone": transfer.phone,
                "bank": transfer.bank, "amount": amount::text(transfer.cents), "concept": transfer.concept,
                "code": transfer.code, "notices": self.notices.iter().filter(of_it).collect::<Vec<_>>(),
            })
        };
        json!({
            "orders": self.orders.iter().map(order).collect::<Vec<_>>(),
            "transfers": self.transfers.iter().map(transfer).collect::<Vec<_>>(),
            "totals": {
                "charged": self.total(&["MBc2p", "DebitoInmediato"]),
                "annulled": self.total(&["MBanulacionC2P"]),
                "paid": self.total(&["MBvuelto", "CreditoInmediato", "CICuentas"]),
                "received": amount::text(amount::sum(self.transfers.iter().map(|transfer| transfer.cents))),
            },
        })
    }
}
