//! Wompi's books: transactions, what became of them, events that arrived.
//!
//! Promises: what is here is on disk; a reference has one transaction; no secret, code or token is
//! in them.

use crate::books::Ledger;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;

/// A state of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// The outcome is open.
    Pending,
    /// The payment was made.
    Approved,
    /// The buyer or the bank said no: nothing was paid.
    Declined,
    /// The payment was called off.
    Voided,
    /// The payment failed.
    Error,
}

/// A transaction as it was asked for at first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Created {
    /// The transaction's id.
    pub id: String,
    /// The merchant's reference.
    pub reference: String,
    /// The amount, in cents.
    pub amount_in_cents: u64,
    /// The buyer's address.
    pub customer_email: String,
    /// The way of payment with its type, as the merchant wrote it.
    pub payment_method: Value,
    /// The instant of creation, in ms since 1970.
    pub at_ms: i64,
    /// The instant, in ms since 1970, from which its picture or its url_services are there.
    pub ready_ms: i64,
}

/// An entry of the books: one line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A transaction was created.
    Created(Created),
    /// The transaction is decided: from an instant on it shows a status.
    Decided { id: String, status: Status, from_ms: i64 },
    /// Daviplata's code was sent, and the token rotated.
    Sent { id: String, at_ms: i64 },
    /// A code was wrong.
    WrongCode { id: String },
    /// The merchant answered 200 to the event of a status.
    EventTaken { id: String, status: Status },
    /// Acceptance tokens of before are no longer good.
    TokensRenewed,
}

/// A transaction as the books have it.
#[derive(Clone, Debug)]
pub struct Transaction {
    /// The transaction as it was asked for.
    pub created: Created,
    /// The status that it shows from an instant on.
    pub decided: Option<(Status, i64)>,
    /// The status before that.
    pub before: Status,
    /// The number of times that its code was sent.
    pub sent: u32,
    /// The instant at which the code was last sent, in ms since 1970.
    pub sent_ms: i64,
    /// The number of wrong codes.
    pub wrong: u32,
    /// Statuses whose event arrived.
    pub taken: Vec<Status>,
}

impl Transaction {
    /// The transaction's status at an instant.
    pub fn status(&self, now_ms: i64) -> Status {
        match self.decided {
            Some((status, from_ms)) if from_ms <= now_ms => status,
            _ => self.before,
        }
    }

    /// The type of its payment method.
    pub fn method(&self) -> &str {
        self.created.payment_method["type"].as_str().unwrap_or_default()
    }
}

/// The books in memory.
#[derive(Default)]
pub struct WompiLedger {
    transactions: Vec<Transaction>,
    by_id: HashMap<String, usize>,
    by_reference: HashMap<String, usize>,
    /// The number of times that acceptance tokens were renewed.
    pub tokens_generation: u64,
}

impl Ledger for WompiLedger {
    type Entry = Entry;

    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Created(created) => {
                let at = self.transactions.len();
                self.by_id.insert(created.id.clone(), at);
                let taken = self.by_reference.insert(created.reference.clone(), at);
                assert!(taken.is_none(), "a reference has one transaction");
                let transaction = Transaction {
                    created,
                    decided: None,
                    before: Status::Pending,
                    sent: 0,
                    sent_ms: 0,
                    wrong: 0,
                    taken: Vec::new(),
                };
                self.transactions.push(transaction);
            }
            Entry::Decided { id, status, from_ms } => {
                let transaction = self.of_books(&id);
                transaction.before = transaction.status(from_ms);
                transaction.decided = Some((status, from_ms));
            }
            Entry::Sent { id, at_ms } => {
                let transaction = self.of_books(&id);
                transaction.sent += 1;
                transaction.sent_ms = at_ms;
            }
            Entry::WrongCode { id } => self.of_books(&id).wrong += 1,
            Entry::EventTaken { id, status } => self.of_books(&id).taken.push(status),
            Entry::TokensRenewed => self.tokens_generation += 1,
        }
    }
}

impl WompiLedger {
    fn of_books(&mut self, id: &str) -> &mut Transaction {
        let at = self.by_id[id];
        &mut self.transactions[at]
    }

    /// The transaction of an id.
    pub fn by_id(&self, id: &str) -> Option<&Transaction> {
        self.by_id.get(id).map(|at| &self.transactions[*at])
    }

    /// The transaction of a reference.
    pub fn by_reference(&self, reference: &str) -> Option<&Transaction> {
        self.by_reference.get(reference).map(|at| &self.transactions[*at])
    }

    /// Transactions that are decided and whose event has not arrived.
    pub fn untaken(&self) -> Vec<Transaction> {
        let is_untaken = |transaction: &&Transaction| {
            transaction.decided.is_some_and(|(status, _)| !transaction.taken.contains(&status))
        };
        self.transactions.iter().filter(is_untaken).cloned().collect()
    }

    /// The books for a reader at an instant.
    pub fn shown(&self, now_ms: i64) -> Value {
        let shown = |transaction: &Transaction| {
            json!({
                "id": transaction.created.id,
                "reference": transaction.created.reference,
                "amount_in_cents": transaction.created.amount_in_cents,
                "method": transaction.method(),
                "status": transaction.status(now_ms),
                "becomes": transaction.decided.map(|(status, _)| status),
                "codes_sent": transaction.sent,
                "codes_wrong": transaction.wrong,
                "events_taken": transaction.taken,
            })
        };
        let approved =
            self.transactions.iter().filter(|transaction| transaction.status(now_ms) == Status::Approved);
        let approved = crate::amount::sum(approved.map(|transaction| transaction.created.amount_in_cents));
        json!({
            "transactions": self.transactions.iter().map(shown).collect::<Vec<_>>(),
            "totals": {"approved_in_cents": approved},
        })
    }
}
