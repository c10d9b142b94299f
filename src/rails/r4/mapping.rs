//! What R4's codes mean for money (`docs/contract.md, 18.2, 21.4, 21.5`). A readable code decides
//! under any status below 500. What is in no table decides nothing, and neither does a code that
//! speaks of another thing than the order: of the question, or of a message that was merely taken.

use super::wire::{Operation, Reply};
use crate::rails::http::{Exchange, HttpAnswer};
use crate::rails::live::{BankWord, NotSent, OrderOutcome, Report};
use domain::resources::payments::reasons::Reason;

const NUMERIC: [&str; 21] = [
    "01", "07", "08", "11", "12", "13", "14", "15", "30", "41", "43", "51", "55", "56", "57", "62", "80",
    "90", "91", "92", "99",
];

const REJECTS: [&str; 42] = [
    "AB01", "AB07", "AC01", "AC04", "AC06", "AC09", "AG01", "AG09", "AG10", "AM02", "AM03", "AM04", "AM05",
    "BE01", "BE20", "CH20", "CUST", "DS02", "CANC", "EX01", "DT03", "DU01", "ED05", "TECH", "FF05", "FF07",
    "MD01", "MD09", "MD15", "MD21", "MD22", "MBE01", "RC08", "RJCT", "TKCM", "TM01", "VE01", "TE11", "US03",
    "TE28", "TE29", "VE02",
];

/// Of those, the ones that may speak of the question and not of the operation that was asked about.
const OF_THE_QUESTION: [&str; 3] = ["TE28", "TE29", "VE02"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Done,
    Refused,
    /// It waits (AC00, WAIT, PEND, PROC), or the bank waited in vain, or answers late (05, 68, 87): nobody knows.
    Unknown,
}

pub fn meaning(operation: Operation, code: &str) -> Meaning {
    let of_question = operation == Operation::ConsultarOperaciones;
    match code {
        _ if operation.is_done(code) => Meaning::Done,
        _ if of_question && (NUMERIC.contains(&code) || OF_THE_QUESTION.contains(&code)) => Meaning::Unknown,
        _ if NUMERIC.contains(&code) || REJECTS.contains(&code) => Meaning::Refused,
        _ => Meaning::Unknown,
    }
}

pub fn failure_code(operation: Operation, code: &str) -> String {
    let ours = match code {
        "51" => Reason::InsufficientFunds.code(),
        "15" => Reason::WrongKey.code(),
        "55" if operation == Operation::C2p => Reason::WrongKey.code(),
        "14" | "56" | "80" => "BE01",
        "13" => "AM02",
        "62" => "AG01",
        "41" | "43" | "91" => "AB07",
        _ if NUMERIC.contains(&code) => return format!("R4_{code}"),
        simf => simf,
    };
    ours.to_owned()
}

pub fn report(operation: Operation, exchange: Exchange) -> Result<Report, NotSent> {
    match exchange {
        Exchange::NotSent(_) => Err(NotSent::NoConnection),
        Exchange::NoAnswer(_) => Ok(Report::unanswered(None)),
        Exchange::Answer(answer) => Ok(read(operation, &answer)),
    }
}

pub fn read(operation: Operation, answer: &HttpAnswer) -> Report {
    // The place where a redirect leads has no answer to an order.
    if answer.status >= 500 || (300..400).contains(&answer.status) {
        return Report::unanswered(None);
    }
    let Some(reply) = Reply::read(&answer.body) else { return Report::unanswered(None) };
    let word = BankWord::new(&reply.code, &reply.message);
    let id = reply.id.filter(|_| has_id(operation));
    let (outcome, id) = match meaning(operation, &reply.code) {
        Meaning::Done => (OrderOutcome::Done { reference: reply.reference }, id),
        Meaning::Refused => (OrderOutcome::Refused { code: failure_code(operation, &reply.code) }, id),
        // The bank's word about a question does not name what was asked about anew.
        _ if operation == Operation::ConsultarOperaciones => (OrderOutcome::Open { id: None }, id),
        Meaning::Unknown => (OrderOutcome::Open { id }, None),
    };
    Report { id, ..Report::answered(outcome, word) }
}

pub const fn has_id(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::DebitoInmediato
            | Operation::CreditoInmediato
            | Operation::CiCuentas
            | Operation::ConsultarOperaciones
    )
}
