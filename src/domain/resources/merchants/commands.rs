//! Commands to merchants, and the rule that answers each.

use super::{
    Registration, add_method, delete, delete_method, register, set_active, set_default, start_verification,
    verify,
};
use crate::decision::{Ruling, Turn};
use crate::entities::merchant::Merchant;
use crate::ledger::book::Book;
use crate::refusal::Refusal;
use crate::resources::verification::Start;
use crate::values::bank::BankCode;
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::phone::MobilePhone;

pub enum Command {
    /// A request for a new merchant, or one for a known reference.
    Register(Box<Registration>),
    AddMethod(BankCode, MobilePhone),
    /// A request to pay to this method when none is named.
    SetDefaultMethod(Id),
    DeleteMethod(Id),
    /// A request to verify a payout method by micro-deposits.
    StartVerification {
        method: Id,
        start: Box<Start>,
    },
    /// A request to verify a payout method with the amounts that the seller saw.
    Verify {
        method: Id,
        seen: (Ves, Ves),
    },
    SetActive(bool),
    Delete,
}

pub fn decide(book: &Book, merchant: Option<&Merchant>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, merchant) {
        (Command::Register(ask), merchant) => register(merchant, *ask, turn),
        (Command::AddMethod(bank, phone), Some(merchant)) => add_method(merchant, bank, phone, turn),
        (Command::SetDefaultMethod(method), Some(merchant)) => set_default(merchant, method, turn),
        (Command::DeleteMethod(method), Some(merchant)) => delete_method(merchant, method, turn),
        (Command::StartVerification { method, start }, Some(merchant)) => {
            start_verification(book, merchant, method, &start, turn)
        }
        (Command::Verify { method, seen }, Some(merchant)) => verify(merchant, method, seen, turn),
        (Command::SetActive(active), Some(merchant)) => set_active(merchant, active, turn),
        (Command::Delete, Some(merchant)) => delete(book, merchant),
        (
            Command::AddMethod(..)
            | Command::SetDefaultMethod(_)
            | Command::DeleteMethod(_)
            | Command::StartVerification { .. }
            | Command::Verify { .. }
            | Command::SetActive(_)
            | Command::Delete,
            None,
        ) => Ruling::refuse(Refusal::NotFound),
    }
}
