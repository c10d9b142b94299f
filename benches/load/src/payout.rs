//! The members of a payout that come in and go out, as the gateway takes and answers them, for the
//! server that does nothing (`do_nothing.rs`).

use serde::{Deserialize, Serialize};

/// The body of a payout.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewPayout<'a> {
    /// The recipient.
    pub merchant_id: &'a str,
    /// The amount, with two decimals.
    pub monto: &'a str,
    /// The purpose.
    pub concepto: &'a str,
    /// The reference, which may be used once per tenant.
    pub external_ref: &'a str,
}

/// The members of a payout that has arrived.
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

/// A payout that was made.
pub fn show(id: i64, new: &NewPayout<'_>) -> Vec<u8> {
    // The number fills as many digits as such an id has.
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
