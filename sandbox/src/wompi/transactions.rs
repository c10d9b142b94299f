//! Merchants and transactions: creating one, reading it by id and by reference, what its method
//! makes of it.
//!
//! Promises: a reference is used once, decided in the same step in which it is taken; a transaction
//! is born PENDING, whatever becomes of it.

use super::answers::{data, invalid, not_found};
use super::asked::{self, Asked, Expected};
use super::books::{Created, Entry, Status, Transaction};
use super::{Wompi, now_ms};
use crate::http::{Answer, Request};
use percent_encoding::percent_decode_str;
use serde_json::json;
use uuid::Uuid;

/// An answer and a note, or the answer to a call that is wrong.
pub type Reacted = Result<(Answer, String), Answer>;

/// The status that a transaction comes to by itself: magic phones (docs/contract.md, 21.10), or
/// what the merchant wrote. Daviplata's code and `POST /sandbox/settle` decide the others.
fn fate(asked: &Asked) -> Option<Status> {
    let method = &asked.payment_method;
    match method["type"].as_str() {
        Some("NEQUI") => Some(match method["phone_number"].as_str() {
            Some("3991111111") => Status::Approved,
            Some("3992222222") => Status::Declined,
            _ => Status::Error,
        }),
        Some("BANCOLOMBIA_QR") => match method["sandbox_status"].as_str() {
            Some("APPROVED") => Some(Status::Approved),
            Some("DECLINED") => Some(Status::Declined),
            Some("ERROR") => Some(Status::Error),
            _ => None,
        },
        _ => None,
    }
}

/// The reference in a query.
fn reference_of(query: &str) -> Option<String> {
    let of = |pair: &str| {
        let value = pair.strip_prefix("reference=")?.replace('+', " ");
        percent_decode_str(&value).decode_utf8().ok().map(|value| value.into_owned())
    };
    query.split('&').find_map(of)
}

impl Wompi {
    pub(super) async fn merchant(&self, key: &str) -> Reacted {
        if key != self.options.public_key {
            return Err(not_found("there is no merchant with this public key"));
        }
        let generation = self.books.with(|books| books.ledger().tokens_generation).await;
        let token = |kind: &str, name: &str| {
            json!({
                "acceptance_token": self.acceptance(kind, generation),
                "permalink": "about:blank",
                "type": name,
            })
        };
        let merchant = json!({
            "id": 1,
            "name": "Pasarela sandbox",
            "public_key": key,
            "active": true,
            "accepted_currencies": ["COP"],
            "accepted_payment_methods": ["NEQUI", "DAVIPLATA", "BANCOLOMBIA_QR"],
            "presigned_acceptance": token("terms", "END_USER_POLICY"),
            "presigned_personal_data_auth": token("personal", "PERSONAL_DATA_AUTH"),
        });
        Ok((data(200, merchant), "the merchant".to_owned()))
    }

    pub(super) async fn create(&self, request: &Request) -> Reacted {
        self.knows(request, true)?;
        let malformed = |problem: String| invalid(&[("body", problem)]);
        if !request.says_json() {
            return Err(malformed("Content-Type has to be application/json".to_owned()));
        }
        let body = request.json().map_err(malformed)?;
        let generation = self.books.with(|books| books.ledger().tokens_generation).await;
        let expected = Expected {
            integrity_secret: &self.options.integrity_secret,
            acceptance: &self.acceptance("terms", generation),
            personal: &self.acceptance("personal", generation),
        };
        let asked = asked::read(&body, &expected).map_err(|problems| invalid(&problems))?;
        let (fate, at_ms) = (fate(&asked), now_ms());
        let created = Created {
            id: format!("1-{}-{}", at_ms / 1000, &Uuid::new_v4().simple().to_string()[..12]),
            reference: asked.reference,
            amount_in_cents: asked.amount_in_cents,
            customer_email: asked.customer_email,
            payment_method: asked.payment_method,
            at_ms,
            ready_ms: at_ms.saturating_add_unsigned(self.options.settle_ms),
        };
        let transaction = self
            .books
            .with(move |books| {
                if books.ledger().by_reference(&created.reference).is_some() {
                    return None;
                }
                let (id, from_ms) = (created.id.clone(), created.ready_ms);
                books.enter(Entry::Created(created));
                let born = books.ledger().by_id(&id).cloned();
                if let Some(status) = fate {
                    books.enter(Entry::Decided { id: id.clone(), status, from_ms });
                }
                born.zip(books.ledger().by_id(&id).cloned())
            })
            .await;
        let Some((born, transaction)) = transaction else {
            return Err(invalid(&[("reference", "La referencia ya ha sido usada".to_owned())]));
        };
        let note = format!("{} {} {:?}", transaction.method(), transaction.created.amount_in_cents, fate);
        self.schedule_event(&transaction);
        // The answer shows the transaction as it was created, before any later status.
        let shown = super::answers::transaction(&born, at_ms.saturating_sub(1), &self.steps(&born));
        Ok((data(201, shown), note))
    }

    pub(super) async fn get(&self, request: &Request, id: &str) -> Reacted {
        self.knows(request, true)?;
        let transaction = self.transaction(id).await?;
        Ok((data(200, self.shown(&transaction)), format!("{:?}", transaction.status(now_ms()))))
    }

    pub(super) async fn list(&self, request: &Request) -> Reacted {
        self.knows(request, false)?;
        let reference =
            reference_of(&request.query).ok_or_else(|| invalid(&[("reference", "is missing".to_owned())]))?;
        let found = self.books.with(move |books| books.ledger().by_reference(&reference).cloned()).await;
        let shown: Vec<_> = found.iter().map(|transaction| self.shown(transaction)).collect();
        Ok((data(200, json!(shown)), format!("{} found", shown.len())))
    }

    /// A transaction of the books.
    pub(super) async fn transaction(&self, id: &str) -> Result<Transaction, Answer> {
        let id = id.to_owned();
        let found = self.books.with(move |books| books.ledger().by_id(&id).cloned()).await;
        found.ok_or_else(|| not_found("there is no transaction with this id"))
    }
}
