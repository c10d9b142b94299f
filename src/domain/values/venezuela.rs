//! Venezuelan banks, accounts, mobile phones and identity documents (`docs/contract.md, 1.5`).
//!
//! All but a bank's code are personal data: they have no Display, their Debug is masked, and whoever shows one
//! unmasked says so by calling `clear`.

use crate::codec::stored;
use crate::values::text::{number, write_digits};
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
        match number(text.as_bytes()) {
            Some(code @ 1..) if text.len() == 4 => Ok(BankCode(code as u16)),
            _ => Err(EXPECTED),
        }
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

const ACCOUNT_EXPECTED: &str = "must be a bank account of 20 digits with both check digits right";
const UNKNOWN_BANK: &str = "must be an account of a known bank";

/// The weights of the check digits, from the left, over as many digits as are checked.
const WEIGHTS: [u32; 14] = [3, 2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2];

stored! {
    /// A bank account whose check digits are right.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct AccountNumber {
        0 pub(crate) bank: BankCode,
        1 pub(crate) branch: u16,
        2 pub(crate) number: u64,
    }
}

impl AccountNumber {
    /// Reads an account. `known` says whether there is such a bank; the error is a message for the
    /// caller.
    pub fn parse(text: &str, known: impl FnOnce(BankCode) -> bool) -> Result<AccountNumber, &'static str> {
        let digits: &[u8; 20] = text.as_bytes().try_into().map_err(|_| ACCOUNT_EXPECTED)?;
        let parts =
            (number(&digits[..4]), number(&digits[4..8]), number(&digits[8..10]), number(&digits[10..]));
        let (Some(bank), Some(branch), Some(_), Some(number)) = parts else { return Err(ACCOUNT_EXPECTED) };
        let bank = BankCode::from_number(bank as i64).map_err(|_| UNKNOWN_BANK)?;
        let account = AccountNumber { bank, branch: branch as u16, number };
        if account.ascii() != *digits {
            return Err(ACCOUNT_EXPECTED);
        }
        if !known(bank) {
            return Err(UNKNOWN_BANK);
        }
        Ok(account)
    }

    pub const fn bank(self) -> BankCode {
        self.bank
    }

    /// The account unmasked: 20 digits. Only for the bank.
    pub fn clear(self) -> impl fmt::Display {
        fmt::from_fn(move |f| f.write_str(std::str::from_utf8(&self.ascii()).map_err(|_| fmt::Error)?))
    }

    /// The account masked to its last four digits: `…1234`.
    pub fn masked(self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "…{:04}", self.number % 10_000))
    }

    fn ascii(self) -> [u8; 20] {
        let mut out = [b'0'; 20];
        write_digits(&mut out[..4], u64::from(self.bank.number()));
        write_digits(&mut out[4..8], u64::from(self.branch));
        write_digits(&mut out[10..], self.number);
        out[8] = check_digit(out[..8].iter());
        out[9] = check_digit(out[4..8].iter().chain(&out[10..]));
        out
    }
}

fn check_digit<'a>(digits: impl Iterator<Item = &'a u8>) -> u8 {
    let sum: u32 = digits.zip(WEIGHTS).map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    b'0' + match 11 - sum % 11 {
        10 => 0,
        11 => 1,
        digit => digit as u8,
    }
}

/// The operators' prefixes, without the leading 0. 422 is the newest; older validators refuse it.
const PREFIXES: [u16; 6] = [412, 414, 416, 422, 424, 426];

const PHONE_EXPECTED: &str = "must be a Venezuelan mobile phone: 0412, 0414, 0416, 0422, 0424 or 0426 and 7 digits, for example 04141234567";

stored! {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct MobilePhone {
        0 pub(crate) prefix: u16,
        1 pub(crate) line: u32,
    }
}

impl MobilePhone {
    /// Reads a phone whose leading `0` may be `58` or `+58` instead; the error is a message for the
    /// caller.
    pub fn parse(text: &str) -> Result<MobilePhone, &'static str> {
        let national =
            ["+58", "58", "0"].iter().find_map(|prefix| text.strip_prefix(prefix)).ok_or(PHONE_EXPECTED)?;
        let number = number(national.as_bytes()).filter(|_| national.len() == 10).ok_or(PHONE_EXPECTED)?;
        let (prefix, line) = ((number / 10_000_000) as u16, (number % 10_000_000) as u32);
        if PREFIXES.contains(&prefix) { Ok(MobilePhone { prefix, line }) } else { Err(PHONE_EXPECTED) }
    }

    /// The phone unmasked, as used in the country: `04141234567`. Only for whoever registered it,
    /// and for the bank.
    pub fn clear(self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "0{}{:07}", self.prefix, self.line))
    }

    /// The phone masked to its prefix and last four digits: `0414***4567`.
    pub fn masked(self) -> impl fmt::Display {
        fmt::from_fn(move |f| write!(f, "0{}***{:04}", self.prefix, self.last_four()))
    }

    pub const fn last_four(self) -> u32 {
        self.line % 10_000
    }
}

const DOCUMENT_EXPECTED: &str =
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
        let (first, rest) = text.as_bytes().split_first().ok_or(DOCUMENT_EXPECTED)?;
        let letter = first.to_ascii_uppercase();
        if !matches!(letter, b'V' | b'E' | b'J' | b'P' | b'G') {
            return Err(DOCUMENT_EXPECTED);
        }
        let digits = rest.strip_prefix(b"-").unwrap_or(rest);
        match number(digits) {
            Some(number) if (5..=9).contains(&digits.len()) => {
                Ok(IdentityDocument { letter, digits: digits.len() as u8, number: number as u32 })
            }
            _ => Err(DOCUMENT_EXPECTED),
        }
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

debug_as! { AccountNumber MobilePhone IdentityDocument: it => it.masked() }

#[cfg(test)]
mod account_tests {
    use super::*;
    use proptest::prelude::*;

    /// The check digits in a second way, which the test compares: the table of the rule, over the
    /// text.
    fn with_check_digits(bank: &str, branch: &str, number: &str) -> String {
        let digit = |digits: &str| {
            let sum: u32 = digits
                .chars()
                .zip([3, 2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])
                .map(|(d, w)| d.to_digit(10).expect("a digit") * w)
                .sum();
            ["1", "0", "9", "8", "7", "6", "5", "4", "3", "2", "1"][(sum % 11) as usize]
        };
        format!(
            "{bank}{branch}{}{}{number}",
            digit(&format!("{bank}{branch}")),
            digit(&format!("{branch}{number}"))
        )
    }

    #[test]
    fn a_right_account_is_kept_whole_and_shown_masked() {
        let text = with_check_digits("0134", "0001", "0123456789");
        let account = AccountNumber::parse(&text, |bank| bank.number() == 134).expect("an account");
        assert_eq!(account.clear().to_string(), text);
        assert_eq!(account.masked().to_string(), "…6789");
        assert_eq!(format!("{account:?}"), "…6789");
        assert_eq!(account.bank().to_string(), "0134");
    }

    #[test]
    fn every_wrong_digit_but_few_is_noticed() {
        let text = with_check_digits("0191", "0047", "2147000123");
        assert!(AccountNumber::parse(&text, |_| true).is_ok());
        for at in 0..20 {
            let mut wrong = text.clone().into_bytes();
            wrong[at] = if wrong[at] == b'9' { b'0' } else { wrong[at] + 1 };
            let wrong = String::from_utf8(wrong).expect("digits");
            assert_eq!(AccountNumber::parse(&wrong, |_| true), Err(ACCOUNT_EXPECTED), "{wrong}");
        }
    }

    #[test]
    fn refused() {
        for given in [
            "",
            "0134",
            "01340001380123456789",
            "0134000138012345678",
            "0134-0001-00-0123456789",
            "0134000100012345678a",
            "０1340001001234567",
        ] {
            assert_eq!(AccountNumber::parse(given, |_| true), Err(ACCOUNT_EXPECTED), "{given}");
        }
        let foreign = with_check_digits("9999", "0001", "0123456789");
        assert_eq!(AccountNumber::parse(&foreign, |_| false), Err(UNKNOWN_BANK));
        assert_eq!(AccountNumber::parse("00000001112222222222", |_| true), Err(UNKNOWN_BANK));
    }

    proptest! {
        #[test]
        fn any_account_with_right_digits_comes_back(bank in 1..=9999_u32, branch in 0..=9999_u32, number in 0..=9_999_999_999_u64) {
            let text = with_check_digits(&format!("{bank:04}"), &format!("{branch:04}"), &format!("{number:010}"));
            let account = AccountNumber::parse(&text, |_| true).expect("an account");
            prop_assert_eq!(account.clear().to_string(), text);
        }
    }
}

#[cfg(test)]
mod phone_tests {
    use super::*;

    #[test]
    fn every_form_of_every_operator() {
        for prefix in ["412", "414", "416", "422", "424", "426"] {
            for lead in ["0", "58", "+58"] {
                let phone = MobilePhone::parse(&format!("{lead}{prefix}0034567")).expect(prefix);
                assert_eq!(phone.clear().to_string(), format!("0{prefix}0034567"));
                assert_eq!(phone.masked().to_string(), format!("0{prefix}***4567"));
                assert_eq!(format!("{phone:?}"), format!("0{prefix}***4567"));
            }
        }
        assert_eq!(MobilePhone::parse("04140000001").map(MobilePhone::last_four), Ok(1));
    }

    #[test]
    fn refused() {
        for given in [
            "",
            "0",
            "04131234567",
            "04111234567",
            "02121234567",
            "0414123456",
            "041412345678",
            "4141234567",
            "+574141234567",
            "0584141234567",
            "+5804141234567",
            "5804141234567",
            "0414-1234567",
            "0414 1234567",
            " 04141234567",
            "0414123456a",
            "0414１２３",
            "+04141234567",
        ] {
            assert_eq!(MobilePhone::parse(given), Err(PHONE_EXPECTED), "{given}");
        }
    }
}

#[cfg(test)]
mod identity_tests {
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
            assert_eq!(IdentityDocument::parse(given), Err(DOCUMENT_EXPECTED), "{given}");
        }
    }
}
