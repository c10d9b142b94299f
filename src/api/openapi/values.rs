//! Schemas of single values, which occur in many resources: ids, instants, amounts, people.

use super::schema::{Schema, integer, list, named, number, object, one_of, text};

/// `NAME = SCHEMA;`
macro_rules! values {
    ($($(#[$doc:meta])* $name:ident = $schema:expr;)*) => {
        $($(#[$doc])* pub fn $name() -> Schema { $schema })*
    };
}

values! {
    uuid = text().format("uuid");
    /// An instant in UTC with milliseconds.
    instant = text().format("date-time").example("\"2026-11-21T02:13:00.000Z\"");
    day = text().format("date");
    count = integer().at_least("0");
    /// Bolívares in an answer: never negative.
    ves = text().pattern(r"^(0|[1-9][0-9]*)\.[0-9]{2}$").example("\"10.00\"");
    /// Bolívares in an answer that may be owed.
    signed_ves = text().pattern(r"^-?(0|[1-9][0-9]*)\.[0-9]{2}$").example("\"10.00\"");
    /// An amount in a body: exactly two decimals.
    amount = text()
        .pattern(r"^(0|[1-9][0-9]{0,11})\.[0-9]{2}$")
        .about("Exactly two decimals, at most 999999999999.99.");
    /// An amount in a body: exactly two decimals, more than nothing.
    positive_amount = text()
        .pattern(r"^(0\.(0[1-9]|[1-9][0-9])|[1-9][0-9]{0,11}\.[0-9]{2})$")
        .about("Exactly two decimals, from 0.01 to 999999999999.99.");
    /// An amount in a body, with two decimals or fewer.
    cents = text()
        .pattern(r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,2})?$")
        .about("At most two decimals, at most 999999999999.99.");
    pesos = text().pattern("^(0|[1-9][0-9]*)$").example("\"50000\"");
    /// Whole pesos as text, which may be owed.
    signed_pesos = text().pattern("^-?(0|[1-9][0-9]*)$").example("\"50000\"");
    four_decimals = text().pattern(r"^(0|[1-9][0-9]*)\.[0-9]{4}$").example("\"1.5000\"");
    /// An amount in an answer that is a JSON number.
    figure = number().at_least("0");
    /// The number of an attempt among those on its reference.
    attempt = integer().at_least("1").about("The number of this payment among those under its `externalRef`, from 1.");
    usd_price = number()
        .range("0.01", "100000")
        .about("US dollars, at most 2 decimals; read as the exact decimal that is written.");
    external_ref = text().chars(1..=64).pattern(r"\S").about(
        "Your own reference, 1 to 64 characters after trimming. The same reference with the same payload \
         answers what is there; with another payload it is 409 `external_ref_conflict`.",
    );
    shown_ref = text().chars(1..=64);
    identity = text()
        .pattern("^[VEJPGvejpg]-?[0-9]{5,9}$")
        .about("V, E, J, P or G and 5 to 9 digits, with or without a dash.");
    shown_identity = text().pattern("^[VEJPG][0-9]{5,9}$").example("\"V12345678\"");
    phone = text()
        .pattern(r"^(0|58|\+58)4(12|14|16|22|24|26)[0-9]{7}$")
        .about("A Venezuelan mobile phone, with 0, 58 or +58 in front.");
    shown_phone = text().pattern("^04(12|14|16|22|24|26)[0-9]{7}$").example("\"04141234567\"");
    bank_code = text().pattern("^[0-9]{4}$").example("\"0134\"").about("Four digits; see `GET /v1/banks`.");
    bank_number = integer().range("1", "9999").about("The bank's code as a number, such as 134; see `GET /v1/banks`.");
    request_id = text().chars(1..=64).pattern("^[!-~]+$");
    idempotency_key = text().chars(1..=255).pattern("^[\\t -~]+$");
    /// The member that says whether real money moved.
    livemode = super::schema::boolean().about("Whether real money moves: false under a test key.");
    currency = one_of(["VES", "COP", "USDT"]);
}

pub fn page(of: &'static str) -> Schema {
    let next = text()
        .or_null()
        .about("What to send as `cursor` for the next page; null exactly when nothing follows.");
    object().member("items", list(named(of))).member("nextCursor", next)
}

pub fn items(of: &'static str) -> Schema {
    object().member("items", list(named(of)))
}

/// The schema of a parameter of a path, by its name.
pub fn in_path(name: &str) -> Schema {
    match name {
        "externalRef" => text().chars(1..=64),
        "key" => text().chars(1..=255),
        "slug" => text().pattern("^[a-z0-9-]{3,64}$"),
        "requestId" => request_id(),
        "code" => text().pattern("^[0-9]{4}$"),
        _ => uuid(),
    }
}
