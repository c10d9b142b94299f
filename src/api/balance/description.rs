//! Balances and movements, as the description tells of them.

use super::CHAPTER;
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::Schema;
use crate::openapi::values::page;

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "The balance, what of it is held, and every movement behind it: the sum of `amountVes` over \
            all movements is `ledgerNetVes`, and `ledgerNetVes` less `reserveVes` and `heldVes` is \
            `availableVes`, always.",
        schemas: schemas! {
            "Balance" = super::schema(),
                example r#"{"ledgerNetVes":"2068.50","reserveVes":"0.00","heldVes":"2068.50",
                "nextReleaseAt":"2026-11-22T02:13:04.120Z","availableVes":"0.00",
                "balanceHoldHours":24,"convertedVes":"0.00","platformAvailableVes":"0.00",
                "sellerPendingVes":"0.00","sellerAvailableVes":"0.00","livemode":false}"#;
            "Movement" = movement();
            "MovementPage" = page("Movement");
        },
        ..Chapter::default()
    }
}

pub fn movement() -> Schema {
    super::movements::schema().example(
        r#"{"id":"01975a2e-7c00-7000-8000-0000000000c0","type":"payment","amountVes":"2100.00",
        "currency":"VES","paymentId":"01975a2e-7c00-7000-8000-000000000000","payoutId":null,
        "chargebackId":null,"externalRef":"order-1","description":"C2P payment",
        "livemode":false,"createdAt":"2026-11-21T02:13:04.120Z",
        "availableAt":"2026-11-22T02:13:04.120Z"}"#,
    )
}

pub(crate) fn of_a_merchant() -> Schema {
    super::seller_schema().example(
        r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","externalRef":"seller-1",
        "pendingVes":"1806.00","availableVes":"0.00","nextReleaseAt":"2026-11-22T02:13:04.120Z",
        "livemode":false}"#,
    )
}
