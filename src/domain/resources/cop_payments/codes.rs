//! Wrong SMS codes, as the records of a payment tell of them: no record is about one alone.
//!
//! A code counts when it is sent, and what came of it follows from the next record: the count stays when
//! it was wrong, and goes back when nobody judged it. The code itself is in no record.

use crate::cause::Cause;
use crate::entities::cop_payment::{CopPayment, Telling};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongCode {
    pub nth: u8,
    pub of: u8,
    /// Whether it was the last one, so that the processor is asked to call the payment off.
    pub is_void: bool,
}

impl fmt::Display for WrongCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wrong code, {} of {}", self.nth, self.of)?;
        if self.is_void { f.write_str("; attempt void") } else { Ok(()) }
    }
}

/// The search for wrong codes in the records of a payment.
#[derive(Debug, Default)]
pub struct WrongCodes {
    /// The codes that were sent, if the last of them is still to be judged.
    sent: Option<u8>,
}

impl WrongCodes {
    /// The wrong code that the next record of the payment tells of: its cause, and the payment after it.
    pub fn next(&mut self, cause: Cause, payment: &CopPayment) -> Option<WrongCode> {
        let waiting = payment.phase.waiting();
        let telling = waiting.and_then(|waiting| waiting.telling);
        let codes = payment.codes();
        let is_sent = telling == Some(Telling::Code);
        let before = std::mem::replace(&mut self.sent, is_sent.then_some(codes));
        // Another record may give up waiting for the processor's word, and says nothing about the code.
        let is_judged = cause == Cause::CopPaymentInstructed && waiting.is_some() && !is_sent;
        (is_judged && before == Some(codes)).then(|| WrongCode {
            nth: codes,
            of: payment.codes_max(),
            is_void: telling == Some(Telling::Void),
        })
    }
}
