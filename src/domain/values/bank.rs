//! Codes of Venezuelan banks. Which bank has a code, and what it offers, is in `resources/banks/`.

use crate::codec::stored;
use std::fmt;

stored! {
    /// A bank's number in the Venezuelan payment system, written with four digits.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct BankCode(pub(crate) u16);
}

impl BankCode {
    /// Reads four digits, such as `0134`; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<BankCode, &'static str> {
        const EXPECTED: &str = "must be a bank code of 4 digits, for example 0134";
        if text.len() != 4 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(EXPECTED);
        }
        text.parse().ok().filter(|number| *number > 0).map(BankCode).ok_or(EXPECTED)
    }

    /// The code from a number, such as 134, which some calls carry; the error is a message for the
    /// caller.
    pub fn from_number(number: i64) -> Result<BankCode, &'static str> {
        match u16::try_from(number) {
            Ok(number @ 1..=9999) => Ok(BankCode(number)),
            _ => Err("must be a bank code as a number, for example 134"),
        }
    }

    /// The number, such as 134.
    pub const fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Display for BankCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.0)
    }
}

impl fmt::Debug for BankCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
