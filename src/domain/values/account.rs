//! Venezuelan bank accounts: 20 digits = bank 4, branch 4, check digits 2, account 10.
//!
//! Only the digits that identify the account are kept; the check digits follow from them. An
//! account is shown masked.

use crate::codec::stored;
use crate::values::bank::BankCode;
use std::fmt;

/// The message for text that is not an account.
const EXPECTED: &str = "must be a bank account of 20 digits with both check digits right";
/// The message for an account of an unknown bank.
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
        let digits: &[u8; 20] = text.as_bytes().try_into().map_err(|_| EXPECTED)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(EXPECTED);
        }
        let number =
            |digits: &[u8]| digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        let bank = BankCode::from_number(number(&digits[..4]) as i64).map_err(|_| UNKNOWN_BANK)?;
        let account =
            AccountNumber { bank, branch: number(&digits[4..8]) as u16, number: number(&digits[10..]) };
        if account.ascii() != *digits {
            return Err(EXPECTED);
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
        write_number(&mut out[..4], u64::from(self.bank.number()));
        write_number(&mut out[4..8], u64::from(self.branch));
        write_number(&mut out[10..], self.number);
        out[8] = check_digit(out[..8].iter());
        out[9] = check_digit(out[4..8].iter().chain(&out[10..]));
        out
    }
}

fn write_number(out: &mut [u8], mut number: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
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

/// The masked account.
impl fmt::Debug for AccountNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.masked(), f)
    }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(AccountNumber::parse(&wrong, |_| true), Err(EXPECTED), "{wrong}");
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
            assert_eq!(AccountNumber::parse(given, |_| true), Err(EXPECTED), "{given}");
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
