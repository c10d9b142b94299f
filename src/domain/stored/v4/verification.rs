//! Version 4 of the proof of a payout method: how often the bank was asked about the deposits, and which of
//! them its statement showed.

use crate::resources::verification::{self, booked};
use crate::stored::layout::layout;
use crate::stored::v1::values::{Id, Timestamp, Ves};
use crate::stored::v3::trace::BankWord;

layout! {
    struct Word of verification::Word {
        operation: Id,
        amounts: (Ves, Ves),
        sent_at: Timestamp,
        asked_at: Option<Timestamp>,
        asks: u32,
        reference: Option<String>,
        code: Option<String>,
        contradicted_at: Option<Timestamp>,
        bank: Option<Box<BankWord>>,
        booked: Booked,
    }
}

layout! {
    struct Booked of booked::Booked {
        first: Option<String>,
        second: Option<String>,
    }
}
