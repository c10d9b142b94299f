//! The calls that the sandbox was asked and made, for `GET /sandbox/calls`.
//!
//! Promises: codes, tokens and signatures are masked; memory is bounded. Calls are not part of the
//! books: a restart begins a new list.

use chrono::{SecondsFormat, Utc};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use tokio::sync::Mutex;

/// Calls that are kept.
const KEPT_MAX: usize = 10_000;

/// Members of what is asked that are secrets: keys that a payer typed, tokens, signatures.
const SECRET_ASKED: [&str; 6] =
    ["Otp", "OTP", "code", "acceptance_token", "accept_personal_auth", "signature"];

/// Members of an answer that are secrets.
const SECRET_ANSWERED: [&str; 3] = ["token", "access_token", "acceptance_token"];

/// The text in place of a secret.
const MASK: &str = "***";

/// A call, as the list of calls shows it.
pub struct Call<'a> {
    /// The operation, by its name at the bank.
    pub operation: &'a str,
    /// The path, with its query.
    pub path: &'a str,
    /// The body, or null if it was no JSON.
    pub fields: &'a Value,
    /// The fault that applied.
    pub fault: Option<&'static str>,
    /// The status that went out, none if nothing did.
    pub status: Option<u16>,
    /// The bank's answer, or what it would have been.
    pub answer: &'a Value,
    /// The note for a reader: what was done, or what was wrong.
    pub note: &'a str,
}

#[derive(Default)]
struct Kept {
    count: u64,
    last: VecDeque<Value>,
}

/// The last calls.
#[derive(Default)]
pub struct Calls(Mutex<Kept>);

impl Calls {
    /// Keeps a call.
    pub async fn add(&self, call: &Call<'_>) {
        let mut kept = self.0.lock().await;
        kept.count += 1;
        let shown = json!({
            "n": kept.count,
            "at": Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true),
            "operation": call.operation,
            "path": call.path,
            "fields": masked(call.fields, &SECRET_ASKED),
            "fault": call.fault,
            "status": call.status,
            "answer": masked(call.answer, &SECRET_ANSWERED),
            "note": call.note,
        });
        if kept.last.len() == KEPT_MAX {
            kept.last.pop_front();
        }
        kept.last.push_back(shown);
    }

    /// The calls, the oldest first.
    pub async fn shown(&self) -> Value {
        let kept = self.0.lock().await;
        json!({"count": kept.count, "calls": kept.last.iter().collect::<Vec<_>>()})
    }
}

/// A value in which members of these names are masked.
fn masked(value: &Value, names: &[&str]) -> Value {
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let hidden = names.contains(&name.as_str()) && !value.is_null();
                (name.clone(), if hidden { json!(MASK) } else { masked(value, names) })
            };
            Value::Object(members.iter().map(member).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(|item| masked(item, names)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let value = json!({"a": [{"Otp": "12345678", "Monto": "1.00"}], "signature": null});
        assert_eq!(
            masked(&value, &SECRET_ASKED),
            json!({"a": [{"Otp": "***", "Monto": "1.00"}], "signature": null})
        );
    }
}
