//! Venezuelan mobile phones (`docs/contract.md, 1.5`): `04`, an operator's two digits, seven more.
//!
//! A phone is personal data: it has no Display, its Debug is masked, and whoever shows it unmasked
//! says so by calling `clear`.

use crate::codec::stored;
use std::fmt;

/// The operators' prefixes, without the leading 0. 422 is the newest; older validators refuse it.
const PREFIXES: [u32; 6] = [412, 414, 416, 422, 424, 426];

/// The message for text that is not a phone.
const EXPECTED: &str = "must be a Venezuelan mobile phone: 0412, 0414, 0416, 0422, 0424 or 0426 and 7 digits, for example 04141234567";

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
            ["+58", "58", "0"].iter().find_map(|prefix| text.strip_prefix(prefix)).ok_or(EXPECTED)?;
        if national.len() != 10 || !national.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(EXPECTED);
        }
        let number =
            |digits: &str| digits.bytes().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        let prefix = number(&national[..3]);
        if !PREFIXES.contains(&prefix) {
            return Err(EXPECTED);
        }
        Ok(MobilePhone { prefix: prefix as u16, line: number(&national[3..]) })
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

/// The masked phone.
impl fmt::Debug for MobilePhone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.masked(), f)
    }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(MobilePhone::parse(given), Err(EXPECTED), "{given}");
        }
    }
}
