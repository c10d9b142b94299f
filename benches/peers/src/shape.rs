//! What comes in and what goes out: the members that the gateway takes and answers.

use serde::{Deserialize, Serialize};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The body of a payout.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewPayout<'a> {
    /// Who is paid.
    pub merchant_id: &'a str,
    /// How much, with two decimals.
    pub monto: &'a str,
    /// What for.
    pub concepto: &'a str,
    /// What may be used once per tenant.
    pub external_ref: &'a str,
}

/// A payout to be written down.
pub struct Debit {
    /// Its id.
    pub id: i64,
    /// Whose money.
    pub tenant: i32,
    /// How much, in cents.
    pub minor: i64,
    /// Who is paid.
    pub merchant: String,
    /// What for.
    pub concept: String,
    /// What may be used once per tenant.
    pub reference: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payout<'a> {
    payout_id: &'a str,
    object: &'a str,
    kind: &'a str,
    status: &'a str,
    reference: &'a str,
    failure_code: Option<&'a str>,
    external_ref: &'a str,
    batch_id: Option<&'a str>,
    merchant_id: &'a str,
    payout_method_id: &'a str,
    merchant_name: &'a str,
    monto: &'a str,
    fee_ves: &'a str,
    concepto: &'a str,
    bank_code: &'a str,
    destination: &'a str,
    from_merchant_balance: bool,
    operation_id: &'a str,
    livemode: bool,
    created_at: &'a str,
    settled_at: &'a str,
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

/// A payout that was made.
pub fn show(id: i64, new: &NewPayout<'_>) -> Vec<u8> {
    // As many digits as such an id has.
    let id = format!("01930000-0000-7000-8000-{:012x}", id & 0xffff_ffff_ffff);
    let payout = Payout {
        payout_id: &id,
        object: "payout",
        kind: "merchant",
        status: "completed",
        reference: "000000000042",
        failure_code: None,
        external_ref: new.external_ref,
        batch_id: None,
        merchant_id: new.merchant_id,
        payout_method_id: "01930000-0000-7000-8000-000000000002",
        merchant_name: "Bodega La Esquina",
        monto: new.monto,
        fee_ves: "0.00",
        concepto: new.concepto,
        bank_code: "0134",
        destination: "…4321",
        from_merchant_balance: false,
        operation_id: "01930000-0000-7000-8000-000000000003",
        livemode: false,
        created_at: "2026-01-01T00:00:00.000Z",
        settled_at: "2026-01-01T00:00:00.000Z",
    };
    serde_json::to_vec(&payout).unwrap_or_default()
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
