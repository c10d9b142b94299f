//! Wompi's answers: envelopes, errors, a transaction as it is shown (docs/contract.md, 21.10).

use super::books::{Status, Transaction};
use crate::http::Answer;
use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};

/// A PNG of one point: the sandbox shows that there is a picture, not where to pay.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

/// The most times that a code of Daviplata may be sent, and the most codes that may be tried.
pub const CODES_MAX: u32 = 2;

/// An instant as Wompi writes it.
pub fn instant(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// An answer with data, in its envelope.
pub fn data(status: u16, data: Value) -> Answer {
    Answer::new(status, json!({"data": data, "meta": {}}))
}

/// A 401.
pub fn bad_token(reason: &str) -> Answer {
    Answer::new(401, json!({"error": {"type": "INVALID_ACCESS_TOKEN", "reason": reason}}))
}

/// A 404.
pub fn not_found(reason: &str) -> Answer {
    Answer::new(404, json!({"error": {"type": "NOT_FOUND_ERROR", "reason": reason}}))
}

/// A 422, with the reason for each wrong member.
pub fn invalid(problems: &[(&str, String)]) -> Answer {
    let messages: Map<String, Value> =
        problems.iter().map(|(name, problem)| ((*name).to_owned(), json!([problem]))).collect();
    Answer::new(422, json!({"error": {"type": "INPUT_VALIDATION_ERROR", "messages": messages}}))
}

/// The data of Daviplata's steps: their URLs, and the present token.
pub struct Steps {
    /// The address of the sandbox with its prefix.
    pub base: String,
    /// The present token.
    pub token: String,
}

/// A transaction at an instant.
pub fn transaction(transaction: &Transaction, now_ms: i64, steps: &Steps) -> Value {
    let created = &transaction.created;
    let status = transaction.status(now_ms);
    let mut method = created.payment_method.clone();
    method["extra"] = match (transaction.method(), now_ms >= created.ready_ms) {
        ("DAVIPLATA", true) => {
            let at = |step: &str| format!("{}/daviplata/{}/{step}", steps.base, created.id);
            json!({"url_services": {
                "token": steps.token, "code_otp_send": at("send"), "code_otp_validate": at("validate"),
            }})
        }
        ("BANCOLOMBIA_QR", true) => json!({"qr_image": PICTURE}),
        _ => json!({}),
    };
    let final_at =
        transaction.decided.filter(|_| status != Status::Pending).map(|(_, from_ms)| instant(from_ms));
    json!({
        "id": created.id,
        "created_at": instant(created.at_ms),
        "finalized_at": final_at,
        "amount_in_cents": created.amount_in_cents,
        "reference": created.reference,
        "customer_email": created.customer_email,
        "currency": "COP",
        "payment_method_type": transaction.method(),
        "payment_method": method,
        "status": status,
        "status_message": message(status),
    })
}

fn message(status: Status) -> Value {
    match status {
        Status::Declined => json!("La transacción fue rechazada"),
        Status::Error => json!("Hubo un error al procesar la transacción"),
        Status::Voided => json!("La transacción fue anulada"),
        Status::Pending | Status::Approved => Value::Null,
    }
}

/// The contrary of an answer: approved for declined, everything else that is final for approved.
pub fn contrary(answer: &Answer) -> Answer {
    let mut answer = answer.clone();
    let turn = |transaction: &mut Value| {
        let contrary = match transaction.get("status").and_then(Value::as_str) {
            Some("APPROVED") => "DECLINED",
            Some("DECLINED" | "VOIDED" | "ERROR") => "APPROVED",
            _ => return,
        };
        transaction["status"] = json!(contrary);
    };
    match answer.body.get_mut("data") {
        Some(Value::Array(list)) => list.iter_mut().for_each(turn),
        Some(one) => turn(one),
        None => {}
    }
    answer
}
