//! Products, payment links and checkout sessions, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, boolean, integer, number, object, one_of, text};
use crate::openapi::values::{items, page, uuid};
use crate::shown::Describing;

/// The heading of the chapter.
pub(crate) const TAG: &str = "Products and links";

/// Products and links.
pub fn chapter() -> Chapter {
    Chapter {
        tag: TAG,
        about: "What you sell, and the links under which buyers pay for it at `/pay/{slug}`.",
        schemas: schemas(),
        ..Chapter::default()
    }
}

/// The answer to a deletion.
pub(crate) fn deleted() -> Schema {
    object().member("deleted", boolean()).member("id", uuid())
}

fn schemas() -> Vec<(&'static str, Schema)> {
    let price = || {
        text()
            .pattern(r"^(0|[1-9][0-9]{0,5})(\.[0-9]{1,2})?$")
            .about("US dollars from \"0.01\" to \"100000.00\".")
    };
    let name = || text().chars(1..=120).pattern(r"\S");
    let quantity = || integer().range("1", "999");
    let address = || text().about("https; http to loopback in test mode. Empty clears it.");
    vec![
        (
            "NewProduct",
            object()
                .member("name", name())
                .member("priceUsd", price())
                .optional("description", text().chars(0..=1000).or_null())
                .optional("imageUrl", address().or_null())
                .optional("active", boolean().or_null().default("true"))
                .closed(),
        ),
        (
            "ProductChange",
            object()
                .optional("name", name().or_null())
                .optional("priceUsd", price().or_null())
                .optional("description", text().chars(0..=1000).or_null())
                .optional("imageUrl", address().or_null())
                .optional("active", boolean().or_null())
                .members_min(1)
                .closed(),
        ),
        (
            "Product",
            super::members(Describing::object()).schema(),
        ),
        ("ProductPage", page("Product")),
        (
            "NewPaymentLink",
            object()
                .optional("slug", text().pattern("^[a-z0-9-]{3,64}$").or_null())
                .optional("allowQuantity", boolean().or_null().default("false"))
                .optional("maxQuantity", quantity().or_null())
                .optional("redirectUrl", address().or_null())
                .optional("merchantId", uuid().or_null())
                .optional("applicationFeePercent", number().range("0", "100").or_null())
                .closed(),
        ),
        (
            "PaymentLinkChange",
            object()
                .optional("status", one_of(["active", "disabled"]).or_null())
                .optional("allowQuantity", boolean().or_null())
                .optional("maxQuantity", quantity().or_null())
                .optional("redirectUrl", address().or_null())
                .members_min(1)
                .closed(),
        ),
        (
            "PaymentLink",
            super::links::members(Describing::object()).schema().example(r#"{"id":"01975a2e-7c00-7000-8000-000000000121","object":"payment_link","productId":"01975a2e-7c00-7000-8000-000000000120","slug":"camisa-lino","hostedCheckoutPath":"/pay/camisa-lino","status":"active","allowQuantity":true,"maxQuantity":5,"redirectUrl":null,"merchantId":null,"applicationFeePercent":null,"livemode":false,"createdAt":"2026-11-21T02:13:00.000Z"}"#),
        ),
        ("PaymentLinkList", items("PaymentLink")),
    ]
}
