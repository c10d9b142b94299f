//! Products, payment links and checkout sessions, as the description tells of them.

use crate::openapi::document::Chapter;
use crate::openapi::operation::{Operation, operation};
use crate::openapi::schema::{Schema, boolean, integer, list, named, number, object, one_of, text};
use crate::openapi::values::{figure, instant, items, livemode, page, usd_price, uuid, ves};

const WAYS: [&str; 3] = ["c2p", "usdt", "cop"];

/// Products and links.
pub fn chapter() -> Chapter {
    Chapter {
        tag: "Products and links",
        about: "What you sell, and the links under which buyers pay for it at `/pay/{slug}`.",
        operations: operations(),
        schemas: schemas(),
        ..Chapter::default()
    }
}

fn operations() -> Vec<Operation> {
    let deleted = || object().member("deleted", boolean()).member("id", uuid());
    vec![
        operation("createProduct", "Create a product")
            .body("NewProduct")
            .example("a shirt", r#"{"name":"Camisa de lino","priceUsd":"25.50","description":"Talla M"}"#)
            .answers(201, "Product", "The product"),
        operation("listProducts", "List products").query("active", boolean()).pages().answers(200, "ProductPage", "Newest first"),
        operation("getProduct", "Read a product and its links").answers(200, "Product", "The product"),
        operation("updateProduct", "Change a product")
            .about("Only what is sent changes; an empty `description` or `imageUrl` clears it.")
            .body("ProductChange")
            .example("a new price", r#"{"priceUsd":"27.00"}"#)
            .answers(200, "Product", "The product"),
        operation("deleteProduct", "Delete a product and its links").answers_with(200, deleted(), "It is gone").refuses(409, &["product_has_sales"]),
        operation("createPaymentLink", "Create a payment link")
            .about("The slug is made from the product's name when none is sent. With `merchantId` the sale is a marketplace sale.")
            .body_optional("NewPaymentLink")
            .example("with a quantity", r#"{"slug":"camisa-lino","allowQuantity":true,"maxQuantity":5}"#)
            .answers(201, "PaymentLink", "The link")
            .refuses(409, &["slug_taken", "too_many_links", "merchant_inactive"]),
        operation("listPaymentLinks", "List a product's links").answers(200, "PaymentLinkList", "Newest first"),
        operation("getPaymentLink", "Read a payment link").answers(200, "PaymentLink", "The link"),
        operation("updatePaymentLink", "Change a payment link").body("PaymentLinkChange").example("disable", r#"{"status":"disabled"}"#).answers(
            200,
            "PaymentLink",
            "The link",
        ),
        operation("deletePaymentLink", "Delete a payment link").answers_with(200, deleted(), "It is gone").refuses(409, &["product_has_sales"]),
    ]
}

/// Checkout sessions, as tenants see them.
pub fn sessions() -> Chapter {
    Chapter {
        tag: "Checkout sessions",
        about: "A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed it with `clientSecret` and `/checkout.js`.",
        operations: vec![
            operation("createCheckoutSession", "Open a checkout session")
                .body("NewCheckoutSession")
                .example("25.50 USD", r#"{"amountUsd":25.5,"description":"pedido 81","reference":"order-81","successUrl":"https://shop.example/gracias"}"#)
                .answers(201, "CheckoutSession", "The session"),
            operation("getCheckoutSession", "Read a checkout session").answers(200, "CheckoutSession", "Once it is paid, with `paymentId`"),
        ],
        schemas: vec![
            (
                "NewCheckoutSession",
                object()
                    .member("amountUsd", usd_price())
                    .optional("description", text().chars(1..=255).pattern(r"\S").or_null())
                    .optional("reference", text().chars(1..=128).pattern(r"\S").or_null())
                    .optional("successUrl", text().or_null().about("https; http to loopback in test mode."))
                    .optional("cancelUrl", text().or_null())
                    .optional("methods", list(one_of(WAYS)).or_null().about("Every enabled one if empty or missing."))
                    .optional("metadata", object().or_null().about("Yours, at most 4096 bytes, without control characters."))
                    .closed(),
            ),
            (
                "CheckoutSession",
                object()
                    .member("id", uuid())
                    .member("object", text().constant("checkout.session"))
                    .member("status", one_of(["open", "paid", "expired"]))
                    .member("url", text())
                    .member("clientSecret", text().about("Opens this session for a buyer's page, and nothing else."))
                    .member("amountUsd", ves())
                    .member("description", text().or_null())
                    .member("reference", text().or_null())
                    .member("successUrl", text().or_null())
                    .member("cancelUrl", text().or_null())
                    .member("methods", list(one_of(WAYS)))
                    .member("metadata", object())
                    .member("paymentLinkId", uuid().or_null())
                    .member("quantity", integer().or_null())
                    .member("paymentId", uuid().or_null())
                    .member("livemode", livemode())
                    .member("createdAt", instant())
                    .member("expiresAt", instant()),
            ),
        ],
        ..Chapter::default()
    }
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
            object()
                .member("id", uuid())
                .member("object", text().constant("product"))
                .member("name", text())
                .member("priceUsd", ves())
                .member("description", text().or_null())
                .member("imageUrl", text().or_null())
                .member("active", boolean())
                .member("links", list(named("PaymentLink")))
                .member("livemode", livemode())
                .member("createdAt", instant())
                .member("updatedAt", instant()),
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
            object()
                .member("id", uuid())
                .member("object", text().constant("payment_link"))
                .member("productId", uuid())
                .member("slug", text())
                .member("hostedCheckoutPath", text())
                .member("status", one_of(["active", "disabled"]))
                .member("allowQuantity", boolean())
                .member("maxQuantity", integer())
                .member("redirectUrl", text().or_null())
                .member("merchantId", uuid().or_null())
                .member("applicationFeePercent", figure().or_null())
                .member("livemode", livemode())
                .member("createdAt", instant())
                .example(r#"{"id":"01975a2e-7c00-7000-8000-000000000121","object":"payment_link","productId":"01975a2e-7c00-7000-8000-000000000120","slug":"camisa-lino","hostedCheckoutPath":"/pay/camisa-lino","status":"active","allowQuantity":true,"maxQuantity":5,"redirectUrl":null,"merchantId":null,"applicationFeePercent":null,"livemode":false,"createdAt":"2026-11-21T02:13:00.000Z"}"#),
        ),
        ("PaymentLinkList", items("PaymentLink")),
    ]
}
