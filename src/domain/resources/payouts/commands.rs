//! Commands to payouts in bolívares, and the rule that answers each.

use super::request::{create, repeat};
use super::{NewPayout, Payout};
use crate::decision::{Ruling, Turn};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use std::sync::Arc;

/// A command to a payout.
pub enum Command {
    /// A request for a payout; the entity is the payout with its reference, if there is one.
    Pay(Box<NewPayout>),
}

/// The ruling on a command.
pub fn decide(
    book: &Book,
    payout: Option<&Payout>,
    command: Command,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Ruling {
    match (command, payout) {
        (Command::Pay(new), None) => create(book, *new, keep, turn),
        (Command::Pay(new), Some(payout)) => repeat(book, payout, &new),
    }
}
