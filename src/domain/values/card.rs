//! A payment card: the number, its expiry and its code are a secret between the caller and the
//! bank.
//!
//! [`Card`] has no Debug, Display, Clone or encoding, so it can be in no record, no log line and no
//! answer: it goes into the order to the bank and is dropped with it, and its memory is zeroed
//! then. What is kept of a card is its brand, its last four digits, and a keyed hash that tells a
//! repeat from another card.

use crate::codec::stored;
use crate::values::time::{Timestamp, Zone};
use zeroize::Zeroizing;

/// The bounds of the number of digits of a card number.
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

stored! {
    /// The scheme of a card, by the first digits of its number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Brand {
        /// Numbers that begin with 4.
        0 Visa "visa",
        /// Numbers that begin with 51 to 55 and 2221 to 2720.
        1 Mastercard "mastercard",
        /// Numbers that begin with 34 and 37.
        2 Amex "amex",
        /// Numbers that begin with 300 to 305, 36, 38 and 39.
        3 Diners "diners",
        /// Numbers that begin with 6011, 644 to 649 and 65.
        4 Discover "discover",
        /// Numbers that begin with 3528 to 3589.
        5 Jcb "jcb",
        /// Numbers that begin with 62.
        6 UnionPay "unionpay",
        /// Numbers that begin with 50 and 56 to 69, unless they are of another brand.
        7 Maestro "maestro",
        8 Unknown "unknown",
    }
}

impl Brand {
    /// The brand of a card whose number starts with these four digits.
    const fn of(first_four: u32) -> Brand {
        match first_four {
            4000..=4999 => Brand::Visa,
            5100..=5599 | 2221..=2720 => Brand::Mastercard,
            3400..=3499 | 3700..=3799 => Brand::Amex,
            3000..=3059 | 3600..=3699 | 3800..=3999 => Brand::Diners,
            6011 | 6440..=6599 => Brand::Discover,
            3528..=3589 => Brand::Jcb,
            6200..=6299 => Brand::UnionPay,
            5000..=5099 | 5600..=6999 => Brand::Maestro,
            _ => Brand::Unknown,
        }
    }
}

/// The card of test mode whose holder disputes what it paid (`docs/contract.md, 4.5`). The other numbers
/// with a meaning are the simulated bank's, because they mean something to a charge alone.
const DISPUTED: &str = "4000000000000259";

/// A card number: 13 to 19 digits with a right check digit.
pub struct Number(Zeroizing<Box<str>>);

impl Number {
    /// Reads a number; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<Number, &'static str> {
        if !DIGITS.contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err("must have 13 to 19 digits");
        }
        if luhn(text) {
            Ok(Number(Zeroizing::new(Box::from(text))))
        } else {
            Err("is not a card number: a digit is wrong")
        }
    }

    fn digits(&self, digits: &str) -> u32 {
        digits.bytes().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    }

    pub fn brand(&self) -> Brand {
        Brand::of(self.digits(&self.0[..4]))
    }

    pub fn last_four(&self) -> u16 {
        u16::try_from(self.digits(&self.0[self.0.len() - 4..])).unwrap_or(0)
    }

    /// Whether its holder disputes what it paid, in test mode.
    pub fn is_disputed(&self) -> bool {
        self.reveal() == DISPUTED
    }

    /// The digits: for the bank, and for a keyed hash of them.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Whether the digits pass the Luhn check: with every second digit from the right doubled, the sum
/// of all digits ends in 0.
fn luhn(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit - b'0') << (place % 2);
            value / 10 + value % 10
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The code on a card: 3 or 4 digits.
pub struct Cvv(Zeroizing<Box<str>>);

impl Cvv {
    /// Reads a code of 3 or 4 digits; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<Cvv, &'static str> {
        let fits = (3..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Cvv(Zeroizing::new(Box::from(text)))) } else { Err("must have 3 or 4 digits") }
    }

    /// Whether a card of this brand may have it: four digits are on those of American Express alone.
    pub fn fits(&self, brand: Brand) -> bool {
        self.0.len() == 3 || brand == Brand::Amex
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// The last month in which a card is good.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expiry {
    pub year: i32,
    /// The month, 1 to 12.
    pub month: i32,
}

impl Expiry {
    /// The member of the request body that names the expiry as past, by the date in Caracas; `None`
    /// while the card is good.
    pub fn expired_at(self, now: Timestamp) -> Option<&'static str> {
        let (year, month, _) = now.date_in(Zone::Caracas).civil();
        match self < (Expiry { year, month: month as i32 }) {
            false => None,
            true if self.year < year => Some("card.expYear"),
            true => Some("card.expMonth"),
        }
    }
}

pub struct Card {
    pub number: Number,
    /// The last month in which it is good.
    pub expiry: Expiry,
    pub cvv: Cvv,
    pub holder_name: String,
    pub holder_id: crate::values::venezuela::IdentityDocument,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_right_last_digit() {
        for (text, brand, last_four) in [
            ("4111111111111111", Brand::Visa, 1111),
            ("4222222222222", Brand::Visa, 2222),
            ("5555555555554444", Brand::Mastercard, 4444),
            ("2223003122003222", Brand::Mastercard, 3222),
            ("378282246310005", Brand::Amex, 5),
            ("30569309025904", Brand::Diners, 5904),
            ("6011111111111117", Brand::Discover, 1117),
            ("3530111333300000", Brand::Jcb, 0),
            ("6200000000000005", Brand::UnionPay, 5),
            ("6759649826438453", Brand::Maestro, 8453),
            ("4000000000000002", Brand::Visa, 2),
        ] {
            let number = Number::parse(text).ok().unwrap_or_else(|| panic!("{text} is right"));
            assert_eq!((number.brand(), number.last_four(), number.reveal()), (brand, last_four, text));
        }
        for text in [
            "",
            "4111111111111112",
            "411111111111",
            "41111111111111111111",
            "4111 1111 1111 1111",
            "411111111111111a",
            "４111111111111111",
        ] {
            assert!(Number::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn codes() {
        for (text, right) in
            [("123", true), ("1234", true), ("12", false), ("12345", false), ("12a", false), ("", false)]
        {
            assert_eq!(Cvv::parse(text).is_ok(), right, "{text}");
        }
    }

    #[test]
    fn a_card_is_good_to_the_end_of_its_month_in_caracas() {
        let at = |text| Timestamp::parse(text).expect("an instant");
        let expiry = Expiry { year: 2026, month: 11 };
        assert_eq!(expiry.expired_at(at("2026-11-30T23:59:59-04:00")), None);
        assert_eq!(expiry.expired_at(at("2026-12-01T00:00:00-04:00")), Some("card.expMonth"));
        assert_eq!(expiry.expired_at(at("2027-01-01T00:00:00-04:00")), Some("card.expYear"));
        assert_eq!(Expiry { year: 2027, month: 1 }.expired_at(at("2026-12-01T00:00:00-04:00")), None);
    }
}
