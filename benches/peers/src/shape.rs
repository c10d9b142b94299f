//! The shape of a payout in the database.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A payout to be written down.
pub struct Debit {
    /// The debit's id.
    pub id: i64,
    /// The tenant whose balance is debited.
    pub tenant: i32,
    /// The amount, in cents.
    pub minor: i64,
    /// The recipient.
    pub merchant: String,
    /// The purpose.
    pub concept: String,
    /// The reference, which may be used once per tenant.
    pub reference: String,
}

/// A new id: larger than those of earlier processes, so that the primary key grows at its end.
pub fn next_id() -> i64 {
    static NEXT: LazyLock<AtomicI64> = LazyLock::new(|| {
        let us = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        AtomicI64::new(i64::try_from(us).unwrap_or(1))
    });
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// `12.30` as 1230.
pub fn minor(text: &str) -> Option<i64> {
    let (whole, cents) = text.split_once('.')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if cents.len() != 2 || !is_number(whole) || !is_number(cents) {
        return None;
    }
    whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents.parse().ok()?).filter(|minor| *minor > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        assert_eq!([minor("1.00"), minor("0.01"), minor("12.30")], [Some(100), Some(1), Some(1_230)]);
        assert_eq!([minor("1"), minor("1.0"), minor("-1.00"), minor("0.00"), minor("1.+1")], [None; 5]);
    }
}
