//! Version 3 of the proof of a payout method: the bank's own words about the deposits.

use crate::resources::verification::{self, booked::Booked};
use crate::stored::layout::layout;
use crate::stored::v1::values::{Id, Timestamp, Ves};
use crate::stored::v3::trace::BankWord;

layout! {
    past struct Word of verification::Word {
        operation: Id,
        amounts: (Ves, Ves),
        sent_at: Timestamp,
        reference: Option<String>,
        code: Option<String>,
        contradicted_at: Option<Timestamp>,
        bank: Option<Box<BankWord>>,
    } then {
        asked_at: None,
        asks: 0,
        booked: Booked::default(),
    }
}
