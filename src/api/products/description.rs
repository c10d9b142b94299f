//! Products, payment links and checkout sessions, as the description tells of them.

use super::links::CHAPTER;
use super::{links, read_change, read_new};
use crate::fields::body;
use crate::openapi::document::{Chapter, schemas};

use crate::openapi::values::{items, page};
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "What you sell, and the links under which buyers pay for it at `/pay/{slug}`.",
        schemas: schemas! {
            "NewProduct" = body(|fields| read_new(fields, false, Id::from_bytes([0; 16])));
            "ProductChange" = body(|fields| read_change(fields, false));
            "Product" = super::schema();
            "ProductPage" = page("Product");
            "NewPaymentLink" = body(|fields| links::read_new(fields, false));
            "PaymentLinkChange" = body(|fields| links::read_change(fields, false));
            "PaymentLink" = links::schema(),
                example r#"{"id":"01975a2e-7c00-7000-8000-000000000121","object":"payment_link",
                "productId":"01975a2e-7c00-7000-8000-000000000120","slug":"camisa-lino",
                "hostedCheckoutPath":"/pay/camisa-lino","status":"active","allowQuantity":true,
                "maxQuantity":5,"redirectUrl":null,"merchantId":null,"applicationFeePercent":null,
                "livemode":false,"createdAt":"2026-11-21T02:13:00.000Z"}"#;
            "PaymentLinkList" = items("PaymentLink");
        },
        ..Chapter::default()
    }
}
