//! SMS codes of Daviplata: one is sent to the buyer, who types it (`docs/contract.md, 18.4`).
//!
//! Each use of the token gives another one, which is kept in memory and nowhere else. A code is
//! sent at most once per order while this process lives, and each code that a buyer types is
//! validated once: when that answer is lost, the transaction itself says how it ended.

use super::Wompi;
use super::client::Deadline;
use super::mapping::{Asked, standing, words};
use super::wire::{CodeServices, Transaction, next_token};
use crate::rails::http::{Exchange, HttpAnswer, Request};
use crate::rails::live::{NotSent, Outcome, RailId, Report};
use domain::resources::cop_payments::collect::WRONG_CODE;
use domain::values::token::Token;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;
use zeroize::Zeroizing;

/// Longer than any code is good for.
const SESSION_LIFE: Duration = Duration::from_secs(3_600);

/// An order for which a code was sent, or is being sent.
#[derive(Clone)]
struct Session {
    transaction: RailId,
    amount_in_cents: Option<i64>,
    codes: CodeServices,
    began: Instant,
}

/// Those of this process.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<Uuid, Session>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a code was sent for it.
    pub(super) fn has(&self, operation: Uuid) -> bool {
        self.lock().contains_key(&operation)
    }

    /// How much it is.
    pub(super) fn amount(&self, operation: Uuid) -> Option<i64> {
        self.lock().get(&operation)?.amount_in_cents
    }

    /// It is final.
    pub(super) fn end(&self, operation: Uuid) {
        self.lock().remove(&operation);
    }

    fn get(&self, operation: Uuid) -> Option<Session> {
        self.lock().get(&operation).cloned()
    }

    /// Begins one; false if there is one already.
    fn begin(&self, operation: Uuid, session: Session) -> bool {
        let mut sessions = self.lock();
        sessions.retain(|_, session| session.began.elapsed() < SESSION_LIFE);
        if sessions.contains_key(&operation) {
            return false;
        }
        sessions.insert(operation, session);
        true
    }

    /// The token that is to be used next.
    fn rotate(&self, operation: Uuid, body: &[u8]) {
        if let (Some(token), Some(session)) = (next_token(body), self.lock().get_mut(&operation)) {
            session.codes.token = token;
        }
    }
}

impl Wompi {
    /// Has a code sent to the buyer of a transaction that waits for one, once.
    pub(super) async fn offer_code(&self, transaction: &Transaction, asked: &Asked, deadline: Deadline) {
        let Some(codes) = &transaction.codes else { return };
        if !matches!(standing(transaction, asked).outcome, Outcome::Open { .. }) {
            return;
        }
        let session = Session {
            transaction: transaction.id.clone(),
            amount_in_cents: asked.amount_in_cents,
            codes: codes.clone(),
            began: Instant::now(),
        };
        // Before it is sent: nobody sends it twice.
        if !self.sessions.begin(asked.operation, session) {
            return;
        }
        let Some(url) = self.settings.base_url.named(&codes.send) else {
            tracing::warn!(operation = %asked.operation, "Wompi names an address for codes that no secret is sent to");
            return;
        };
        match self.exchange(Request::post(url).bearer(&codes.token), deadline).await {
            Exchange::Answer(HttpAnswer { status: 200..=299, body }) => {
                self.sessions.rotate(asked.operation, &body);
            }
            // Nothing was sent, so the next look may.
            Exchange::NotSent(_) => self.sessions.end(asked.operation),
            Exchange::Answer(HttpAnswer { status, .. }) => {
                tracing::warn!(operation = %asked.operation, status, "Wompi did not send a buyer's code");
            }
            Exchange::NoAnswer(failure) => {
                tracing::warn!(operation = %asked.operation, why = failure.text(), "whether Wompi sent a buyer's code is unknown");
            }
        }
    }

    /// Has a code validated, once.
    pub(super) async fn validate(&self, operation: Uuid, code: &Token) -> Result<Report, NotSent> {
        let deadline = self.deadline();
        let session = match self.sessions.get(operation) {
            Some(session) => session,
            None => match self.resumed(operation, deadline).await? {
                Ok(session) => session,
                Err(report) => return Ok(report),
            },
        };
        let asked = Asked { operation, amount_in_cents: session.amount_in_cents };
        let url = self.settings.base_url.named(&session.codes.validate);
        let url = url.ok_or(NotSent::Unfit("Wompi names an address that no secret is sent to"))?;
        let body = Zeroizing::new(format!("{{\"code\":\"{}\"}}", code.reveal()).into_bytes());
        let request = Request::post(url).bearer(&session.codes.token).json(body);
        let open = Outcome::Open { id: Some(session.transaction.clone()) };
        match self.exchange(request, deadline).await {
            Exchange::NotSent(_) => Err(NotSent::NoConnection),
            Exchange::NoAnswer(_) => Ok(Report::unanswered(Some(session.transaction))),
            Exchange::Answer(answer) => {
                self.sessions.rotate(operation, &answer.body);
                match answer.status {
                    200..=299 => Ok(self.identified(&session.transaction, &asked, deadline).await),
                    422 => {
                        let wrong = Outcome::Refused { code: WRONG_CODE.to_owned() };
                        Ok(Report::answered(wrong, words(&answer)))
                    }
                    400..=499 => Ok(Report::answered(open, words(&answer))),
                    _ => Ok(Report::unanswered(Some(session.transaction))),
                }
            }
        }
    }

    /// The session of an order that another process began; or how it stands, if no code is wanted
    /// any more. Nothing is sent where neither can be learned.
    async fn resumed(&self, operation: Uuid, deadline: Deadline) -> Result<Result<Session, Report>, NotSent> {
        let asked = Asked { operation, amount_in_cents: None };
        let transaction = self.found(&asked, deadline).await.ok_or(NotSent::NoConnection)?;
        let report = standing(&transaction, &asked);
        if transaction.status != "PENDING" {
            return Ok(Err(report));
        }
        let codes = transaction.codes.ok_or(NotSent::NoConnection)?;
        let session =
            Session { transaction: transaction.id, amount_in_cents: None, codes, began: Instant::now() };
        self.sessions.begin(operation, session.clone());
        Ok(Ok(session))
    }
}
