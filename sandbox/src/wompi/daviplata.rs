//! Daviplata's steps: a code is sent and checked under a token that changes
//! (docs/contract.md, 4.5, 21.10).
//!
//! Promises: a token that was rotated away is good for nothing; codes are sent and tried twice at
//! most, also across restarts; a code is nowhere in the books.

use super::answers::{CODES_MAX, bad_token, instant, invalid};
use super::books::{Entry, Status, Transaction, WompiLedger};
use super::options::TokenPlace;
use super::transactions::Reacted;
use super::{Wompi, now_ms};
use crate::books::Open;
use crate::http::{Answer, Request};
use crate::signing::same;
use serde_json::{Value, json};

/// The status that a code leads to; none if the code is wrong.
fn meaning(code: &str) -> Option<Status> {
    match code {
        "123456" | "574829" => Some(Status::Approved),
        "932015" | "186743" => Some(Status::Declined),
        "999999" => Some(Status::Error),
        _ => None,
    }
}

/// The outcome of trying a code.
enum Outcome {
    Taken(Status),
    Wrong(u32),
    Refused(&'static str),
}

/// A code, at an instant.
struct Try {
    /// The status that the code leads to; none if the code is wrong.
    meant: Option<Status>,
    /// The number of codes that had been sent when the caller's token was checked.
    sent: u32,
    /// Codes sent before this are no longer good.
    oldest_ms: i64,
    /// The instant from which the new status shows, in ms since 1970.
    from_ms: i64,
}

impl Wompi {
    /// The transaction of a step, if the caller has its token of now.
    async fn at_step(&self, request: &Request, id: &str) -> Result<Transaction, Answer> {
        let transaction = self.transaction(id).await?;
        let given =
            request.bearer().ok_or_else(|| bad_token("the header Authorization: Bearer is missing"))?;
        match same(given, &self.token(&transaction)) {
            true if now_ms() >= transaction.created.ready_ms => Ok(transaction),
            true => Err(invalid(&[("transaction", "is not ready for its code".to_owned())])),
            false => Err(bad_token("the token is not that of this step; each code that is sent rotates it")),
        }
    }

    pub(super) async fn send_code(&self, request: &Request, id: &str) -> Reacted {
        let seen = self.at_step(request, id).await?;
        let (id, sent, at_ms) = (id.to_owned(), seen.sent, now_ms());
        let after = self
            .books
            .with(move |books| {
                let transaction = books.ledger().by_id(&id)?;
                // The token may have been rotated by another call that came in between with the
                // same one.
                if transaction.sent != sent || sent >= CODES_MAX || transaction.decided.is_some() {
                    return None;
                }
                books.enter(Entry::Sent { id: id.clone(), at_ms });
                books.ledger().by_id(&id).cloned()
            })
            .await;
        let Some(after) = after else {
            return Err(invalid(&[(
                "code_otp_send",
                format!("a code is sent at most {CODES_MAX} times, while pending"),
            )]));
        };
        let expires = instant(at_ms.saturating_add_unsigned(self.otp_ms()));
        let body = json!({
            "authorization": {"access_token": self.token(&after), "token_type": "Bearer"},
            "attempts": {"limitSendCode": CODES_MAX, "sendCode": after.sent, "limitValidateCode": CODES_MAX},
            "steps": {"PurchaseIntention": {
                "fechaExpiracionToken": expires, "idSessionToken": after.created.id,
            }},
        });
        let body = if self.options.token_in == TokenPlace::Data { json!({"data": body}) } else { body };
        Ok((Answer::new(200, body), format!("code sent, {} of {CODES_MAX}", after.sent)))
    }

    pub(super) async fn validate_code(&self, request: &Request, id: &str) -> Reacted {
        let seen = self.at_step(request, id).await?;
        let body = request.json().map_err(|problem| invalid(&[("body", problem)]))?;
        let code =
            body.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("code"));
        let code = code
            .and_then(Value::as_str)
            .filter(|code| code.len() == 6 && code.bytes().all(|c| c.is_ascii_digit()));
        let code = code.ok_or_else(|| invalid(&[("code", "has to be 6 digits, and alone".to_owned())]))?;
        let now = now_ms();
        let one_try = Try {
            meant: meaning(code),
            sent: seen.sent,
            oldest_ms: now.saturating_sub_unsigned(self.otp_ms()),
            from_ms: now.saturating_add_unsigned(self.options.settle_ms),
        };
        let id = id.to_owned();
        let (outcome, after) = self
            .books
            .with(move |books| {
                let outcome = tried(books, &id, &one_try);
                (outcome, books.ledger().by_id(&id).cloned())
            })
            .await;
        if let (Outcome::Taken(_) | Outcome::Wrong(CODES_MAX), Some(transaction)) = (&outcome, &after) {
            self.schedule_event(transaction);
        }
        match outcome {
            Outcome::Refused(text) => Err(invalid(&[("code", text.to_owned())])),
            Outcome::Wrong(count) => Err(invalid(&[("code", format!("is wrong, {count} of {CODES_MAX}"))])),
            Outcome::Taken(status) => {
                let word = if status == Status::Approved { "Aprobado" } else { "Rechazado" };
                let body =
                    json!({"steps": {"ConfirmIntention": {"estado": word, "numAprobacion": "000001"}}});
                Ok((Answer::new(200, body), format!("a code that leads to {status:?}")))
            }
        }
    }

    /// The time that a code is good, in ms.
    fn otp_ms(&self) -> u64 {
        self.options.otp_seconds.saturating_mul(1_000)
    }
}

/// Tries a code. After the last wrong one the transaction is declined: none can be right any more.
fn tried(books: &mut Open<WompiLedger>, id: &str, code: &Try) -> Outcome {
    let Some(transaction) = books.ledger().by_id(id) else {
        return Outcome::Refused("the transaction is gone");
    };
    match () {
        () if transaction.sent != code.sent => return Outcome::Refused("the token was rotated"),
        () if code.sent == 0 => return Outcome::Refused("no code was sent"),
        () if transaction.wrong >= CODES_MAX => return Outcome::Refused("too many codes were wrong"),
        () if transaction.decided.is_some() => return Outcome::Refused("the transaction is decided"),
        () if transaction.sent_ms <= code.oldest_ms => return Outcome::Refused("the code has expired"),
        () => {}
    }
    let wrong = transaction.wrong + 1;
    if code.meant.is_none() {
        books.enter(Entry::WrongCode { id: id.to_owned() });
    }
    let decided = code.meant.or((wrong == CODES_MAX).then_some(Status::Declined));
    if let Some(status) = decided {
        books.enter(Entry::Decided { id: id.to_owned(), status, from_ms: code.from_ms });
    }
    code.meant.map_or(Outcome::Wrong(wrong), Outcome::Taken)
}
