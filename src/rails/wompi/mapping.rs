//! What Wompi's states and errors mean for money (`docs/contract.md, 18.4`): a state decides, an
//! error of the input refuses, everything else leaves the transaction open.

use super::signature::cents;
use super::wire::{Transaction, error_words, invalid_fields};
use crate::rails::http::HttpAnswer;
use crate::rails::live::{BankWord, Look, OrderOutcome, RailId, Report};
pub use domain::entities::cop_payment::PROCESSOR_ERROR;
use domain::rail::Collection;
use domain::trace::Progress;
use uuid::Uuid;

/// Ours, where the buyer or the bank said no.
pub const REJECTED: &str = "rejected";

const PENDING: &str = "PENDING";
const APPROVED: &str = "APPROVED";
/// Without a payment.
const FINAL: [&str; 3] = ["DECLINED", "VOIDED", "ERROR"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub operation: Uuid,
    /// Without one no approval can be held against it, so none is believed.
    pub amount_in_cents: Option<i64>,
}

impl Asked {
    pub fn of(collection: &Collection) -> Asked {
        Asked { operation: collection.original.into(), amount_in_cents: cents(collection.amount) }
    }
}

/// An approval of another amount, currency or reference decides nothing: it is an operator's.
pub fn standing(transaction: &Transaction, asked: &Asked) -> Report {
    let open = OrderOutcome::Open { id: Some(transaction.id.clone()) };
    let refused = |code: &str| OrderOutcome::Refused { code: code.to_owned() };
    let mut text = transaction.status_message.clone();
    let outcome = match transaction.status.as_str() {
        APPROVED if is_asked_for(transaction, asked) => {
            OrderOutcome::Done { reference: Some(transaction.id.as_str().to_owned()) }
        }
        APPROVED => {
            text = format!("approved with another amount, currency or reference. {text}");
            open
        }
        // A state of another payment decides nothing about ours.
        _ if !is_under(transaction, asked) => open,
        "DECLINED" | "VOIDED" => refused(REJECTED),
        "ERROR" => refused(PROCESSOR_ERROR),
        _ => open,
    };
    let word = BankWord::new(&transaction.status, &text);
    let progress = match transaction.status.as_str() {
        PENDING if transaction.codes.is_some() => Some(Progress::AwaitsCode),
        PENDING => Some(Progress::Waits),
        APPROVED if !is_asked_for(transaction, asked) => Some(Progress::Misfit),
        _ => None,
    };
    let qr_image = transaction.qr_image.clone().filter(|_| progress.is_some());
    Report { qr_image, progress, ..Report::answered(outcome, word) }
}

fn is_asked_for(transaction: &Transaction, asked: &Asked) -> bool {
    asked.amount_in_cents.is_some()
        && transaction.amount_in_cents == asked.amount_in_cents
        && transaction.currency == "COP"
        && is_under(transaction, asked)
}

/// Whether a transaction that answers a POST is another payment's, and says nothing of ours. One that was
/// approved is an operator's, whose it may be.
pub fn is_anothers(transaction: &Transaction, asked: &Asked) -> bool {
    transaction.status != APPROVED && !is_under(transaction, asked)
}

fn is_under(transaction: &Transaction, asked: &Asked) -> bool {
    transaction.reference.eq_ignore_ascii_case(&asked.operation.to_string())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    Transaction(Box<Transaction>),
    StaleTokens,
    /// There is one under this reference already.
    Duplicate,
    Refused(BankWord),
    Unknown {
        is_answered: bool,
        word: Option<BankWord>,
    },
}

pub fn created(answer: &HttpAnswer) -> Created {
    let unknown = |is_answered, word| Created::Unknown { is_answered, word };
    match answer.status {
        200..=299 => match Transaction::read(&answer.body) {
            Some(transaction) => Created::Transaction(Box::new(transaction)),
            None => unknown(false, None),
        },
        422 => {
            let fields = invalid_fields(&answer.body);
            let names = |name: &str| fields.iter().any(|field| field == name);
            if names("acceptance_token") || names("accept_personal_auth") {
                Created::StaleTokens
            } else if names("reference") {
                Created::Duplicate
            } else if fields.is_empty() {
                unknown(true, Some(words(answer)))
            } else {
                Created::Refused(words(answer))
            }
        }
        400..=499 => unknown(true, Some(words(answer))),
        _ => unknown(false, None),
    }
}

pub fn words(answer: &HttpAnswer) -> BankWord {
    let (kind, text) = error_words(&answer.body);
    if kind.is_empty() {
        BankWord::new(&answer.status.to_string(), &text)
    } else {
        BankWord::new(&kind, &text)
    }
}

/// None at all, in an answer that can be read: it was never received. Of several the one that was
/// paid counts, then one that may yet be.
pub fn under_reference(answer: &HttpAnswer, asked: &Asked) -> Look {
    if !(200..300).contains(&answer.status) {
        return Look::Report(no_transaction(answer));
    }
    let Some(found) = Transaction::read_list(&answer.body) else {
        return Look::Report(Report::unanswered(None));
    };
    if found.is_empty() {
        return Look::NeverReceived;
    }
    Look::Report(match counts(&found, asked) {
        Some(transaction) => standing(transaction, asked),
        // The transactions are others', which says nothing of this one.
        None => Report::unanswered(None),
    })
}

pub fn counts<'a>(found: &'a [Transaction], asked: &Asked) -> Option<&'a Transaction> {
    let ours = || found.iter().filter(|transaction| is_under(transaction, asked));
    let is_open = |transaction: &&Transaction| !FINAL.contains(&transaction.status.as_str());
    let approved = ours().find(|transaction| transaction.status == APPROVED);
    approved.or_else(|| ours().find(is_open)).or_else(|| ours().next())
}

/// Of another transaction than that with the id nothing was asked.
pub fn by_id(answer: &HttpAnswer, id: &RailId, asked: &Asked) -> Report {
    if !(200..300).contains(&answer.status) {
        return no_transaction(answer);
    }
    match Transaction::read(&answer.body).filter(|transaction| transaction.id == *id) {
        Some(transaction) => standing(&transaction, asked),
        None => Report::unanswered(None),
    }
}

fn no_transaction(answer: &HttpAnswer) -> Report {
    match answer.status {
        400..=499 => Report::answered(OrderOutcome::Open { id: None }, words(answer)),
        _ => Report::unanswered(None),
    }
}
