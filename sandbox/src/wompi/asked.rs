//! Reading `POST /transactions`: which members, their forms, the integrity signature, what each
//! method needs (docs/contract.md, 21.9, 21.10).
//!
//! Promises: an unknown member is named, not ignored; no secret is in what is said.

use crate::signing::{same, same_hex, sha256_hex};
use serde_json::{Map, Value};

/// Members of a transaction that are not needed and not looked at.
const OPTIONAL: [&str; 5] = ["expiration_time", "customer_data", "redirect_url", "shipping_address", "ip"];

/// Kinds of documents that Daviplata takes.
const DOCUMENTS: [&str; 2] = ["CC", "NIT"];

/// The longest description that Daviplata takes.
const DESCRIPTION_MAX: usize = 30;

/// The wrong members of a body, each with the reason.
pub type Problems = Vec<(&'static str, String)>;

/// A transaction that is asked for.
#[derive(Debug)]
pub struct Asked {
    /// The merchant's reference.
    pub reference: String,
    /// The amount, in cents.
    pub amount_in_cents: u64,
    /// The buyer's address.
    pub customer_email: String,
    /// The way of payment.
    pub payment_method: Value,
}

/// The values that a transaction is checked against.
pub struct Expected<'a> {
    /// The secret of the signature.
    pub integrity_secret: &'a str,
    /// The token of the terms.
    pub acceptance: &'a str,
    /// The token of the use of personal data.
    pub personal: &'a str,
}

/// Reads and checks a body.
///
/// # Errors
/// What is wrong with which members; all of them.
pub fn read(body: &Value, expected: &Expected<'_>) -> Result<Asked, Problems> {
    let members = body.as_object().ok_or_else(|| vec![("body", "is no object".to_owned())])?;
    let mut problems = Problems::new();
    let required = [
        "acceptance_token",
        "accept_personal_auth",
        "amount_in_cents",
        "currency",
        "signature",
        "customer_email",
        "reference",
        "payment_method",
    ];
    let is_known = |name: &String| required.contains(&name.as_str()) || OPTIONAL.contains(&name.as_str());
    problems.extend(
        members.keys().filter(|name| !is_known(name)).map(|name| ("body", format!("has no member {name}"))),
    );
    problems.extend(
        required
            .iter()
            .filter(|name| !members.contains_key(**name))
            .map(|name| (*name, "is missing".to_owned())),
    );
    if !problems.is_empty() {
        return Err(problems);
    }
    let text = |name: &str| members[name].as_str().unwrap_or_default();
    let amount_in_cents = members["amount_in_cents"].as_u64().filter(|amount| *amount > 0);
    let checks = [
        ("acceptance_token", same(text("acceptance_token"), expected.acceptance), "is none that is in force"),
        (
            "accept_personal_auth",
            same(text("accept_personal_auth"), expected.personal),
            "is none that is in force",
        ),
        ("amount_in_cents", amount_in_cents.is_some(), "has to be a whole number above nothing"),
        ("currency", text("currency") == "COP", "has to be COP"),
        ("customer_email", is_address(text("customer_email")), "has to be an address"),
        ("reference", (1..=255).contains(&text("reference").len()), "has to be 1 to 255 characters"),
        ("signature", members["signature"].is_string(), "has to be text"),
    ];
    problems.extend(
        checks.iter().filter(|(_, holds, _)| !holds).map(|(name, _, text)| (*name, (*text).to_owned())),
    );
    problems.extend(method_problems(&members["payment_method"]));
    if let Some(amount) = amount_in_cents.filter(|_| problems.is_empty()) {
        let expiration = members.get("expiration_time").and_then(Value::as_str).unwrap_or_default();
        let signed =
            [text("reference"), &amount.to_string(), "COP", expiration, expected.integrity_secret].concat();
        if !same_hex(text("signature"), &sha256_hex(&signed)) {
            let order =
                "reference, amount_in_cents, currency, expiration_time if there is one, and the secret";
            problems.push(("signature", format!("is not the SHA-256 in hex of {order}")));
        }
    }
    match amount_in_cents {
        Some(amount_in_cents) if problems.is_empty() => Ok(Asked {
            reference: text("reference").to_owned(),
            amount_in_cents,
            customer_email: text("customer_email").to_owned(),
            payment_method: members["payment_method"].clone(),
        }),
        _ => Err(problems),
    }
}

fn is_address(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'))
}

fn method_problems(method: &Value) -> Problems {
    let empty = Map::new();
    let members = method.as_object().unwrap_or(&empty);
    let text = |name: &str| members.get(name).and_then(Value::as_str).unwrap_or_default();
    let description = text("payment_description").chars().count();
    let (names, checks): (&[&str], Vec<(bool, &str)>) = match text("type") {
        "NEQUI" => (
            &["phone_number"],
            vec![(is_phone(text("phone_number")), "phone_number: 10 digits that begin with 3")],
        ),
        "DAVIPLATA" => (
            &["user_legal_id", "user_legal_id_type", "payment_description"],
            vec![
                (DOCUMENTS.contains(&text("user_legal_id_type")), "user_legal_id_type: CC or NIT"),
                (is_number(text("user_legal_id")), "user_legal_id: digits"),
                ((1..=DESCRIPTION_MAX).contains(&description), "payment_description: 1 to 30 characters"),
            ],
        ),
        "BANCOLOMBIA_QR" => (
            &["payment_description", "sandbox_status"],
            vec![
                (description > 0, "payment_description is missing"),
                (
                    ["", "APPROVED", "DECLINED", "ERROR"].contains(&text("sandbox_status")),
                    "sandbox_status: APPROVED, DECLINED or ERROR",
                ),
            ],
        ),
        _ => (&[], vec![(false, "type: NEQUI, DAVIPLATA or BANCOLOMBIA_QR")]),
    };
    let is_unknown = |name: &&String| *name != "type" && !names.contains(&name.as_str());
    let unknown = members.keys().find(is_unknown).map(|name| format!("has no member {name}"));
    let wrong = checks.into_iter().find(|(holds, _)| !holds).map(|(_, text)| text.to_owned());
    wrong.or(unknown).map(|problem| ("payment_method", problem)).into_iter().collect()
}

fn is_phone(text: &str) -> bool {
    text.len() == 10 && text.starts_with('3') && is_number(text)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
