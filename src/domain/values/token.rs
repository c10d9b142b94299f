//! The key or code that a customer got from their bank: a secret that is good for one charge.
//!
//! Codes have no Debug, Display, Clone or encoding, so they can be in no record, no log line and no
//! answer. It is given to the bank and dropped, and its memory is zeroed then. And the token that a
//! processor gives for the next step, which has to outlive the process.

use crate::codec::stored;
use zeroize::Zeroizing;

/// A customer's key or code: 4 to 8 digits, as the bank gave it.
pub struct Token(Zeroizing<Box<str>>);

impl Token {
    /// Reads the key of a C2P payment: 6 to 8 digits; the error is a message for the caller.
    pub fn parse_c2p(text: &str) -> Result<Token, &'static str> {
        Token::parse(text, 6, "must have 6 to 8 digits")
    }

    /// Reads the code of an immediate debit: 4 to 8 digits; the error is a message for the caller.
    pub fn parse_debit(text: &str) -> Result<Token, &'static str> {
        Token::parse(text, 4, "must have 4 to 8 digits")
    }

    /// The digits: for the bank, and for a keyed hash of them.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn parse(text: &str, digits_min: usize, expected: &'static str) -> Result<Token, &'static str> {
        let fits = (digits_min..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Token(Zeroizing::new(Box::from(text)))) } else { Err(expected) }
    }
}

stored! {
    /// The token that a processor takes with the next step about a collection, as its newest answer gave it.
    /// It is in records, as nobody gives a lost one again, and in no answer and no log line.
    #[derive(Clone, PartialEq, Eq)]
    pub struct StepToken(pub(crate) Box<str>);
}

impl StepToken {
    /// The token that an answer gave.
    pub fn new(text: &str) -> StepToken {
        StepToken(Box::from(text))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for StepToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StepToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_the_right_number() {
        for (given, c2p, debit) in [
            ("12345678", true, true),
            ("123456", true, true),
            ("12345", false, true),
            ("1234", false, true),
            ("123", false, false),
            ("123456789", false, false),
            ("", false, false),
            ("12345a", false, false),
            (" 123456", false, false),
            ("１２", false, false),
        ] {
            assert_eq!(Token::parse_c2p(given).is_ok(), c2p, "{given}");
            assert_eq!(Token::parse_debit(given).is_ok(), debit, "{given}");
        }
        assert_eq!(
            Token::parse_c2p("00123456").ok().map(|token| token.reveal().to_owned()),
            Some("00123456".to_owned())
        );
    }
}
