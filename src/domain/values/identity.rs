//! Venezuelan identity documents: `V`, `E`, `J`, `P` or `G` and 5 to 9 digits
//! (`docs/contract.md, 1.5`).
//!
//! A document is personal data: it has no Display, its Debug is masked, and whoever shows it in
//! clear says so by calling `clear`.

use crate::codec::stored;
use std::fmt;

/// The message for text that is not a document.
const EXPECTED: &str =
    "must be an identity document: V, E, J, P or G and 5 to 9 digits, for example V12345678";

stored! {
    /// An identity document. Leading zeros are part of it: a company's number has nine digits and may
    /// begin with one.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct IdentityDocument {
        0 pub(crate) letter: u8,
        1 pub(crate) digits: u8,
        2 pub(crate) number: u32,
    }
}

impl IdentityDocument {
    /// Reads a document in either case, with or without a dash after the letter; the error is a
    /// message for the caller.
    pub fn parse(text: &str) -> Result<IdentityDocument, &'static str> {
        let (first, rest) = text.as_bytes().split_first().ok_or(EXPECTED)?;
        let letter = first.to_ascii_uppercase();
        if !matches!(letter, b'V' | b'E' | b'J' | b'P' | b'G') {
            return Err(EXPECTED);
        }
        let digits = rest.strip_prefix(b"-").unwrap_or(rest);
        if !(5..=9).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
            return Err(EXPECTED);
        }
        let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        Ok(IdentityDocument { letter, digits: digits.len() as u8, number })
    }

    /// The letter: `V`, `E`, `J`, `P` or `G`.
    pub const fn letter(self) -> char {
        self.letter as char
    }

    /// The number, without leading zeros.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The document unmasked: `V12345678`. Only for whoever registered it.
    pub fn clear(self) -> impl fmt::Display {
        fmt::from_fn(move |f| {
            write!(f, "{}{:0width$}", self.letter(), self.number, width = usize::from(self.digits))
        })
    }

    /// The document masked to its letter and last three digits: `V***678`.
    pub fn masked(self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "{}***{:03}", self.letter(), self.number % 1000))
    }
}

/// The masked document.
impl fmt::Debug for IdentityDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.masked(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted_normalised_and_masked() {
        for (given, clear, masked) in [
            ("V12345678", "V12345678", "V***678"),
            ("v-12345678", "V12345678", "V***678"),
            ("e84211905", "E84211905", "E***905"),
            ("j-301234567", "J301234567", "J***567"),
            ("J000029709", "J000029709", "J***709"),
            ("P12345", "P12345", "P***345"),
            ("g200099976", "G200099976", "G***976"),
            ("V00000", "V00000", "V***000"),
            ("V999999999", "V999999999", "V***999"),
        ] {
            let document = IdentityDocument::parse(given).expect(given);
            assert_eq!(document.clear().to_string(), clear);
            assert_eq!(document.masked().to_string(), masked);
            assert_eq!(format!("{document:?}"), masked);
        }
    }

    #[test]
    fn the_same_however_written() {
        assert_eq!(IdentityDocument::parse("v-12345678"), IdentityDocument::parse("V12345678"));
        assert_ne!(IdentityDocument::parse("V12345678"), IdentityDocument::parse("E12345678"));
        assert_ne!(IdentityDocument::parse("V12345678"), IdentityDocument::parse("V012345678"));
    }

    #[test]
    fn refused() {
        for given in [
            "",
            "V",
            "V-",
            "12345678",
            "X12345678",
            "F12345678",
            "V1234",
            "V1234567890",
            "V12.345.678",
            "V 12345678",
            "V--12345678",
            "VV1234567",
            "V-1234567-8",
            " V12345678",
            "V12345678 ",
            "V１２３４５",
            "ñ12345678",
            "V+12345678",
        ] {
            assert_eq!(IdentityDocument::parse(given), Err(EXPECTED), "{given}");
        }
    }
}
