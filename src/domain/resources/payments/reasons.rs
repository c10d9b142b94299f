//! The reasons of failed payments that their payer can do something about, by the codes that payments bear.
//!
//! Here is the one list of these codes: connectors translate by it, and pages tell payers by it. All other
//! codes are between the bank and the tenant.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    InsufficientFunds,
    WrongKey,
    NoAnswer,
    /// The card's issuer says no, and not why.
    CardDeclined,
    ExpiredCard,
    ReferenceNotFound,
    /// The transfer has paid for something else.
    ReferenceAlreadyUsed,
}

/// The codes of each reason. Of a bank's the first one is ours, and the numbers are what banks say for it,
/// which payments bear where an operator entered them.
const CODES: [(Reason, &[&str]); 7] = [
    (Reason::InsufficientFunds, &["AM04", "51", "insufficient_funds"]),
    (Reason::WrongKey, &["TKCM", "15", "55"]),
    (Reason::NoAnswer, &["AB01", "05", "87", "processing_error"]),
    (Reason::CardDeclined, &["card_declined"]),
    (Reason::ExpiredCard, &["expired_card"]),
    (Reason::ReferenceNotFound, &["reference_not_found"]),
    (Reason::ReferenceAlreadyUsed, &["reference_already_used"]),
];

impl Reason {
    pub fn of(code: &str) -> Option<Reason> {
        CODES.iter().find(|(_, codes)| codes.contains(&code)).map(|(reason, _)| *reason)
    }

    /// The code, ours, of a payment that failed for this reason at a bank.
    pub fn code(self) -> &'static str {
        let codes = CODES.iter().find(|(reason, _)| *reason == self).map(|(_, codes)| *codes);
        codes.and_then(<[&str]>::first).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_code_says_one_reason_and_each_reason_has_a_code() {
        let all: Vec<&str> = CODES.iter().flat_map(|(_, codes)| *codes).copied().collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        for (reason, codes) in CODES {
            assert!(codes.iter().all(|code| Reason::of(code) == Some(reason)), "{reason:?}");
            assert_eq!(Reason::of(reason.code()), Some(reason));
        }
        assert_eq!(Reason::of("BE01"), None);
    }
}
