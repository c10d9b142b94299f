//! SMS codes of Daviplata: one is sent to the buyer, who types it (`docs/contract.md, 18.4`).
//!
//! The decisions whether one may be sent, and how many may be tried, are not made here: each call
//! comes after the record that says so. Each use of the token gives another one, which is kept in
//! memory and nowhere else; after a restart, and when the answer with the next one was lost, the
//! token is the one that Wompi shows with the transaction.

use super::Wompi;
use super::client::Deadline;
use super::mapping::{Asked, standing, words};
use super::wire::{CodeServices, Transaction, next_token};
use crate::rails::http::{Exchange, HttpAnswer, Request};
use crate::rails::live::{NotSent, OrderOutcome, RailId, Report};
use domain::rail::Progress;
use domain::resources::cop_payments::collect::WRONG_CODE;
use domain::values::token::Token;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;
use zeroize::Zeroizing;

/// Longer than any code is good for.
const SESSION_LIFE: Duration = Duration::from_secs(3_600);

/// The addresses where the codes of an order are sent and typed, and the token of now.
#[derive(Clone)]
struct Session {
    transaction: RailId,
    codes: CodeServices,
    began: Instant,
}

/// The sessions of this process.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<Uuid, Session>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The order is final, or its token is lost.
    pub(super) fn end(&self, operation: Uuid) {
        self.lock().remove(&operation);
    }

    fn get(&self, operation: Uuid) -> Option<Session> {
        self.lock().get(&operation).cloned()
    }

    /// Keeps where the codes of a transaction go, unless that is known with a later token.
    pub(super) fn learn(&self, operation: Uuid, transaction: &Transaction) {
        let Some(codes) = transaction.codes.clone() else { return };
        let mut sessions = self.lock();
        sessions.retain(|_, session| session.began.elapsed() < SESSION_LIFE);
        let session = Session { transaction: transaction.id.clone(), codes, began: Instant::now() };
        sessions.entry(operation).or_insert(session);
    }

    /// The token that is to be used next.
    fn rotate(&self, operation: Uuid, body: &[u8]) {
        if let (Some(token), Some(session)) = (next_token(body), self.lock().get_mut(&operation)) {
            session.codes.token = token;
        }
    }
}

/// A token goes only where it is safe: elsewhere nothing is sent.
fn elsewhere() -> NotSent {
    tracing::warn!("Wompi names an address for codes that no secret is sent to");
    NotSent::NoConnection
}

impl Wompi {
    /// Has a code sent to the buyer, once.
    pub(super) async fn send_code(&self, asked: &Asked, id: Option<&RailId>) -> Result<Report, NotSent> {
        let deadline = self.deadline();
        let session = match self.session(asked, id, deadline).await? {
            Ok(session) => session,
            Err(report) => return Ok(report),
        };
        let operation = asked.operation;
        let url = self.settings.base_url.named(&session.codes.send).ok_or_else(elsewhere)?;
        let open = OrderOutcome::Open { id: Some(session.transaction.clone()) };
        match self.exchange(Request::post(url).bearer(&session.codes.token), deadline).await {
            Exchange::NotSent(_) => Err(NotSent::NoConnection),
            Exchange::NoAnswer(failure) => {
                // The lost answer had the token that is good now.
                self.sessions.end(operation);
                tracing::warn!(%operation, why = failure.text(), "whether Wompi sent a buyer's code is \
                    unknown");
                Ok(Report::unanswered(Some(session.transaction)))
            }
            Exchange::Answer(answer @ HttpAnswer { status: 200..=299, .. }) => {
                self.sessions.rotate(operation, &answer.body);
                Ok(Report::answered(open, words(&answer)))
            }
            Exchange::Answer(answer) => {
                self.sessions.end(operation);
                tracing::warn!(%operation, status = answer.status, "Wompi did not send a buyer's code");
                let report = Report::answered(open, words(&answer));
                Ok(Report { is_answered: answer.status < 500, ..report })
            }
        }
    }

    /// Has a code validated, once.
    pub(super) async fn validate(
        &self,
        asked: &Asked,
        id: Option<&RailId>,
        code: &Token,
    ) -> Result<Report, NotSent> {
        let deadline = self.deadline();
        let session = match self.session(asked, id, deadline).await? {
            Ok(session) => session,
            Err(report) => return Ok(report),
        };
        let url = self.settings.base_url.named(&session.codes.validate).ok_or_else(elsewhere)?;
        let body = Zeroizing::new(format!("{{\"code\":\"{}\"}}", code.reveal()).into_bytes());
        let request = Request::post(url).bearer(&session.codes.token).json(body);
        let open = OrderOutcome::Open { id: Some(session.transaction.clone()) };
        match self.exchange(request, deadline).await {
            Exchange::NotSent(_) => Err(NotSent::NoConnection),
            Exchange::NoAnswer(_) => Ok(Report::unanswered(Some(session.transaction))),
            Exchange::Answer(answer) => {
                self.sessions.rotate(asked.operation, &answer.body);
                match answer.status {
                    200..=299 => Ok(self.identified(&session.transaction, asked, deadline).await),
                    422 => {
                        let wrong = OrderOutcome::Refused { code: WRONG_CODE.to_owned() };
                        Ok(Report::answered(wrong, words(&answer)))
                    }
                    400..=499 => Ok(Report::answered(open, words(&answer))),
                    _ => Ok(Report::unanswered(Some(session.transaction))),
                }
            }
        }
    }

    /// The addresses for the codes of an order, as this process knows them or as Wompi says; or how
    /// the order stands, if no code is wanted any more. Nothing is sent where neither can be
    /// learned.
    async fn session(
        &self,
        asked: &Asked,
        id: Option<&RailId>,
        deadline: Deadline,
    ) -> Result<Result<Session, Report>, NotSent> {
        if let Some(session) = self.sessions.get(asked.operation) {
            return Ok(Ok(session));
        }
        let transaction = self.found(asked, id, deadline).await.ok_or(NotSent::NoConnection)?;
        let report = standing(&transaction, asked);
        if report.progress != Some(Progress::AwaitsCode) {
            return Ok(Err(report));
        }
        self.sessions.learn(asked.operation, &transaction);
        self.sessions.get(asked.operation).map(Ok).ok_or(NotSent::NoConnection)
    }
}
