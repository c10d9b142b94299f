//! Commands to conversions, and the rule that answers each.

use super::{Decision, NewQuote, accept, end, quote};
use crate::decision::{Ruling, Turn};
use crate::entities::conversion::Conversion;
use crate::ledger::book::Book;
use crate::refusal::Refusal;

/// The reason that a conversion canceled by the tenant shows.
pub const CANCELED_BY_TENANT: &str = "canceled_by_tenant";

pub enum Command {
    Quote(Box<NewQuote>),
    /// The acceptance of a quote, with the tenant's reference.
    Accept(Option<String>),
    /// The end of a conversion that waits, decided by the tenant or an operator.
    End(Decision),
}

pub fn decide(book: &Book, conversion: Option<&Conversion>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, conversion) {
        (Command::Quote(new), None) => quote(book, *new, turn),
        (Command::Accept(reference), Some(conversion)) => accept(book, conversion, reference, turn),
        (Command::End(decision), Some(conversion)) => end(conversion, decision, turn),
        (Command::Quote(_), Some(_)) | (Command::Accept(_) | Command::End(_), None) => {
            Ruling::refuse(Refusal::NotFound)
        }
    }
}
