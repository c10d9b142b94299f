//! Schemas of single values, which occur in many resources: ids, instants, amounts, people.

use super::schema::{Schema, integer, list, named, number, object, one_of, text};

pub fn uuid() -> Schema {
    text().format("uuid")
}

/// An instant in UTC with milliseconds.
pub fn instant() -> Schema {
    text().format("date-time").example("\"2026-11-21T02:13:00.000Z\"")
}

pub fn day() -> Schema {
    text().format("date")
}

pub fn count() -> Schema {
    integer().at_least("0")
}

/// Bolívares in an answer: never negative.
pub fn ves() -> Schema {
    text().pattern(r"^(0|[1-9][0-9]*)\.[0-9]{2}$").example("\"10.00\"")
}

/// Bolívares in an answer that may be owed.
pub fn signed_ves() -> Schema {
    text().pattern(r"^-?(0|[1-9][0-9]*)\.[0-9]{2}$").example("\"10.00\"")
}

/// An amount in a body: exactly two decimals.
pub fn amount() -> Schema {
    text()
        .pattern(r"^(0|[1-9][0-9]{0,11})\.[0-9]{2}$")
        .about("Exactly two decimals, at most 999999999999.99.")
}

/// An amount in a body: exactly two decimals, more than nothing.
pub fn positive_amount() -> Schema {
    text()
        .pattern(r"^(0\.(0[1-9]|[1-9][0-9])|[1-9][0-9]{0,11}\.[0-9]{2})$")
        .about("Exactly two decimals, from 0.01 to 999999999999.99.")
}

/// An amount in a body, with two decimals or fewer.
pub fn cents() -> Schema {
    text()
        .pattern(r"^(0|[1-9][0-9]{0,11})(\.[0-9]{1,2})?$")
        .about("At most two decimals, at most 999999999999.99.")
}

pub fn pesos() -> Schema {
    text().pattern("^(0|[1-9][0-9]*)$").example("\"50000\"")
}

/// Whole pesos as text, which may be owed.
pub fn signed_pesos() -> Schema {
    text().pattern("^-?(0|[1-9][0-9]*)$").example("\"50000\"")
}

pub fn four_decimals() -> Schema {
    text().pattern(r"^(0|[1-9][0-9]*)\.[0-9]{4}$").example("\"1.5000\"")
}

/// An amount in an answer that is a JSON number.
pub fn figure() -> Schema {
    number().at_least("0")
}

/// The number of an attempt among those on its reference.
pub fn attempt() -> Schema {
    integer().at_least("1").about("The number of this payment among those under its `externalRef`, from 1.")
}

pub fn usd_price() -> Schema {
    number()
        .range("0.01", "100000")
        .about("US dollars, at most 2 decimals; read as the exact decimal that is written.")
}

pub fn external_ref() -> Schema {
    text().chars(1..=64).pattern(r"\S").about(
        "Your own reference, 1 to 64 characters after trimming. The same reference with the same payload \
         answers what is there; with another payload it is 409 `external_ref_conflict`.",
    )
}

pub fn shown_ref() -> Schema {
    text().chars(1..=64)
}

pub fn identity() -> Schema {
    text()
        .pattern("^[VEJPGvejpg]-?[0-9]{5,9}$")
        .about("V, E, J, P or G and 5 to 9 digits, with or without a dash.")
}

pub fn shown_identity() -> Schema {
    text().pattern("^[VEJPG][0-9]{5,9}$").example("\"V12345678\"")
}

pub fn phone() -> Schema {
    text()
        .pattern(r"^(0|58|\+58)4(12|14|16|22|24|26)[0-9]{7}$")
        .about("A Venezuelan mobile phone, with 0, 58 or +58 in front.")
}

pub fn shown_phone() -> Schema {
    text().pattern("^04(12|14|16|22|24|26)[0-9]{7}$").example("\"04141234567\"")
}

pub fn bank_code() -> Schema {
    text().pattern("^[0-9]{4}$").example("\"0134\"").about("Four digits; see `GET /v1/banks`.")
}

pub fn bank_number() -> Schema {
    integer().range("1", "9999").about("The bank's code as a number, such as 134; see `GET /v1/banks`.")
}

pub fn request_id() -> Schema {
    text().chars(1..=64).pattern("^[!-~]+$")
}

pub fn idempotency_key() -> Schema {
    text().chars(1..=255).pattern("^[\\t -~]+$")
}

/// The member that says whether real money moved.
pub fn livemode() -> Schema {
    super::schema::boolean().about("Whether real money moves: false under a test key.")
}

pub fn currency() -> Schema {
    one_of(["VES", "COP", "USDT"])
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
