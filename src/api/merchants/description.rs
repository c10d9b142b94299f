//! Sellers and their payout methods, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, boolean, object, text};
use crate::openapi::values::{bank_code, external_ref, identity, items, page, phone, shown_ref, uuid};
use crate::shown::Describing;

/// The heading of the chapter.
pub(crate) const TAG: &str = "Merchants";

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: TAG,
        about: "The sellers of a marketplace and how they are paid. A payout method is verified by two micro-deposits, whose amounts the seller reads from the account.",
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        (
            "NewMerchant",
            object()
                .member("externalRef", external_ref())
                .optional("name", text().chars(1..=120).pattern(r"\S").or_null())
                .optional("identification", identity().or_null())
                .optional("contactEmail", text().chars(3..=254).format("email").or_null())
                .optional("contactPhone", phone().or_null())
                .optional("bankCode", bank_code().or_null())
                .optional("phone", phone().or_null())
                .closed(),
        ),
        ("MerchantUpdate", object().member("isActive", boolean()).closed()),
        ("Merchant", merchant()),
        ("MerchantPage", page("Merchant")),
        (
            "DeletedMerchant",
            object()
                .member("deleted", boolean())
                .member("merchantId", uuid())
                .member("externalRef", shown_ref()),
        ),
        ("NewPayoutMethod", object().member("bankCode", bank_code()).member("phone", phone()).closed()),
        ("PayoutMethod", method()),
        ("PayoutMethodList", items("PayoutMethod")),
        ("MerchantBalance", crate::balance::description::of_a_merchant()),
    ]
}

/// A merchant.
pub(crate) fn merchant() -> Schema {
    super::members(Describing::object()).schema().example(r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","object":"merchant","externalRef":"seller-1","name":"Bodega La Esquina","identification":"V87654321","contactEmail":"bodega@example.com","contactPhone":"04147654321","status":"verified","isActive":true,"payoutMethods":[{"payoutMethodId":"01975a2e-7c00-7000-8000-0000000000ac","identifier":"01975a2e-7c00-7000-8000-0000000000ac","bankCode":"0134","phone":"04147654321","status":"verified","isDefault":true,"createdAt":"2026-11-21T02:13:00.000Z","verifiedAt":"2026-11-21T02:15:00.000Z"}],"message":null,"livemode":false,"createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:15:00.000Z"}"#)
}

fn method() -> Schema {
    super::method_members(Describing::object()).schema()
}
