//! Sellers and their payout methods, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, boolean, list, named, object, one_of, text};
use crate::openapi::values::{
    bank_code, external_ref, identity, instant, items, livemode, page, phone, shown_identity, shown_phone,
    shown_ref, uuid,
};
use crate::payouts::description::started;
use domain::resources::merchants::Status;

/// The chapter.
pub fn chapter() -> Chapter {
    Chapter {
        tag: "Merchants",
        about: "The sellers of a marketplace and how they are paid. A payout method is proved by two micro-deposits, whose amounts the seller reads from the account.",
        operations: operations(),
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn operations() -> Vec<Operation> {
    vec![
        operation("registerMerchant", "Register a merchant")
            .about("`bankCode` and `phone` together make its first payout method; without them it is a shell. When no method is left, the same reference with new ones attaches a method (200).")
            .body("NewMerchant")
            .example("with a payout method", r#"{"externalRef":"seller-1","name":"Bodega La Esquina","identification":"V87654321","contactEmail":"bodega@example.com","contactPhone":"04147654321","bankCode":"0134","phone":"04147654321"}"#)
            .example("a shell", r#"{"externalRef":"seller-2","name":"Panaderia Sol"}"#)
            .answers(201, "Merchant", "The new merchant")
            .answers(200, "Merchant", "The merchant that is there under this reference")
            .refuses(409, &["external_ref_conflict"]),
        operation("listMerchants", "List merchants, or read one by your reference")
            .query("status", one_of(Status::ALL.map(Status::name)))
            .query("isActive", boolean())
            .query("externalRef", text().chars(1..=64).about("Answers the one merchant with this reference, or 404."))
            .pages()
            .answers_with(200, crate::openapi::schema::any_of([named("MerchantPage"), named("Merchant")]), "Newest first; with `externalRef` the merchant itself")
            .refuses(404, &["not_found"]),
        operation("getMerchant", "Read a merchant").answers(200, "Merchant", "The merchant"),
        operation("updateMerchant", "Activate or deactivate a merchant")
            .body("MerchantUpdate")
            .example("deactivate", r#"{"isActive":false}"#)
            .answers(200, "Merchant", "The merchant"),
        operation("deleteMerchant", "Delete a merchant that was never paid")
            .about("Frees its reference.")
            .answers(200, "DeletedMerchant", "It is gone")
            .refuses(409, &["merchant_has_payouts", "merchant_has_balance"]),
        operation("addPayoutMethod", "Add a payout method")
            .body("NewPayoutMethod")
            .example("a phone", r#"{"bankCode":"0102","phone":"04167654321"}"#)
            .answers(201, "PayoutMethod", "The new method")
            .answers(200, "PayoutMethod", "The merchant has it already")
            .refuses(409, &["too_many_payout_methods"]),
        operation("listPayoutMethods", "List payout methods").answers(200, "PayoutMethodList", "Oldest first"),
        operation("deletePayoutMethod", "Delete a payout method")
            .about("When it was the default, the oldest verified one takes its place.")
            .answers(200, "Merchant", "The merchant without it"),
        operation("setDefaultPayoutMethod", "Make a payout method the default").answers(200, "PayoutMethod", "The method"),
        operation("startVerification", "Send the two micro-deposits")
            .about("They cost you nothing. When the bank says that the holder is somebody else (`BE01`), the method is deleted and `merchant.rejected` is sent.")
            .answers_with(202, object().member("payoutMethodId", uuid()).and(started("payout_method_deleted")), "They are sent, or the method was rejected")
            .refuses(409, &["verification_in_progress", "already_verified"])
            .refuses(503, &["rail_not_configured"]),
        operation("verifyPayoutMethod", "Prove a payout method by the amounts of the micro-deposits")
            .about("In either order; three tries.")
            .body("SeenAmounts")
            .example("those of test mode", r#"{"amount1":"0.32","amount2":"0.45"}"#)
            .answers(200, "PayoutMethod", "The method, verified")
            .refuses(400, &["amounts_mismatch"])
            .refuses(409, &["verification_not_started", "verification_locked", "already_verified"]),
        operation("getMerchantBalance", "Read a merchant's balance").answers(200, "MerchantBalance", "Its balance"),
        crate::balance::description::movements(operation("listMerchantMovements", "List the movements of a merchant's balance")),
    ]
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
    object()
        .member("merchantId", uuid())
        .member("object", text().constant("merchant"))
        .member("externalRef", shown_ref())
        .member("name", text().or_null())
        .member("identification", shown_identity().or_null())
        .member("contactEmail", text().or_null())
        .member("contactPhone", shown_phone().or_null())
        .member("status", one_of(Status::ALL.map(Status::name)).about("`shell`: no method; `verified`: at least one verified; `rejected`: the bank rejected the last one."))
        .member("isActive", boolean())
        .member("payoutMethods", list(named("PayoutMethod")))
        .member("message", text().or_null().about("Says so when no payout method exists."))
        .member("livemode", livemode())
        .member("createdAt", instant())
        .member("updatedAt", instant())
        .example(r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","object":"merchant","externalRef":"seller-1","name":"Bodega La Esquina","identification":"V87654321","contactEmail":"bodega@example.com","contactPhone":"04147654321","status":"verified","isActive":true,"payoutMethods":[{"payoutMethodId":"01975a2e-7c00-7000-8000-0000000000ac","identifier":"01975a2e-7c00-7000-8000-0000000000ac","bankCode":"0134","phone":"04147654321","status":"verified","isDefault":true,"createdAt":"2026-11-21T02:13:00.000Z","verifiedAt":"2026-11-21T02:15:00.000Z"}],"message":null,"livemode":false,"createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:15:00.000Z"}"#)
}

fn method() -> Schema {
    object()
        .member("payoutMethodId", uuid())
        .member("identifier", uuid().about("Equal to `payoutMethodId`."))
        .member("bankCode", bank_code())
        .member("phone", shown_phone())
        .member("status", one_of(["unverified", "verifying", "verified"]))
        .member("isDefault", boolean())
        .member("createdAt", instant())
        .member("verifiedAt", instant().or_null())
}
