//! SMS codes of Daviplata: one is sent to the buyer, who types it (`docs/contract.md, 18.4`).
//! Whether one may be sent, and how many may be tried, is not decided here: each call comes after
//! the record that says so. Each use of the token gives another one, which is kept with the payment
//! and comes back with the next call; before the first, and when the answer with the next one was
//! lost, the token is the one that Wompi shows with the transaction.

use super::Wompi;
use super::client::Deadline;
use super::mapping::{Asked, standing, words};
use super::wire::{CodeServices, Transaction, next_token};
use crate::rails::http::{Exchange, HttpAnswer, Request};
use crate::rails::live::{NotSent, OrderOutcome, RailId, Report};
use domain::rail::Progress;
use domain::resources::cop_payments::collect::WRONG_CODE;
use domain::values::token::{StepToken, Token};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;
use zeroize::Zeroizing;

const SESSION_LIFE: Duration = Duration::from_secs(3_600);

/// Where the codes of an order are sent and typed, with the token that Wompi showed.
#[derive(Clone)]
struct Session {
    transaction: RailId,
    codes: CodeServices,
    began: Instant,
}

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

    /// Unless that is known with a later token.
    pub(super) fn learn(&self, operation: Uuid, transaction: &Transaction) {
        let Some(codes) = transaction.codes.clone() else { return };
        let mut sessions = self.lock();
        sessions.retain(|_, session| session.began.elapsed() < SESSION_LIFE);
        let session = Session { transaction: transaction.id.clone(), codes, began: Instant::now() };
        sessions.entry(operation).or_insert(session);
    }
}

/// The processor's id of a collection, and the token that it gave last.
type Known<'a> = (Option<&'a RailId>, Option<&'a StepToken>);

fn with_token(report: Report, answer: &HttpAnswer) -> Report {
    Report { token: next_token(&answer.body).map(|token| StepToken::new(&token)), ..report }
}

/// A token goes only where it is safe: elsewhere nothing is sent.
fn elsewhere() -> NotSent {
    tracing::warn!("Wompi names an address for codes that no secret is sent to");
    NotSent::NoConnection
}

/// A 422 judges what was sent, any other 4xx did not get that far.
fn is_nothing_done(answer: &HttpAnswer) -> bool {
    (400..=499).contains(&answer.status) && answer.status != 422
}

impl Wompi {
    pub(super) async fn send_code(&self, asked: &Asked, known: Known<'_>) -> Result<Report, NotSent> {
        let deadline = self.deadline();
        let session = match self.session(asked, known, deadline).await? {
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
                Ok(with_token(Report::answered(open, words(&answer)), &answer))
            }
            Exchange::Answer(answer) => {
                self.sessions.end(operation);
                tracing::warn!(%operation, status = answer.status, "Wompi did not send a buyer's code");
                if is_nothing_done(&answer) {
                    return Err(NotSent::NothingDone);
                }
                let report = Report::answered(open, words(&answer));
                Ok(Report { is_answered: answer.status < 500, ..report })
            }
        }
    }

    pub(super) async fn validate(
        &self,
        asked: &Asked,
        known: Known<'_>,
        code: &Token,
    ) -> Result<Report, NotSent> {
        let deadline = self.deadline();
        let session = match self.session(asked, known, deadline).await? {
            Ok(session) => session,
            Err(report) => return Ok(report),
        };
        let url = self.settings.base_url.named(&session.codes.validate).ok_or_else(elsewhere)?;
        let body = Zeroizing::new(format!("{{\"code\":\"{}\"}}", code.reveal()).into_bytes());
        let request = Request::post(url).bearer(&session.codes.token).json(body);
        let answer = match self.exchange(request, deadline).await {
            Exchange::NotSent(_) => return Err(NotSent::NoConnection),
            Exchange::NoAnswer(_) => return Ok(Report::unanswered(Some(session.transaction))),
            Exchange::Answer(answer) => answer,
        };
        if is_nothing_done(&answer) {
            self.sessions.end(asked.operation);
            let (operation, status) = (asked.operation, answer.status);
            tracing::warn!(%operation, status, "Wompi did not look at a buyer's code");
            return Err(NotSent::NothingDone);
        }
        let report = match answer.status {
            200..=299 => self.identified(&session.transaction, asked, deadline).await,
            422 => {
                let wrong = OrderOutcome::Refused { code: WRONG_CODE.to_owned() };
                Report::answered(wrong, words(&answer))
            }
            _ => Report::unanswered(Some(session.transaction)),
        };
        Ok(with_token(report, &answer))
    }

    /// As this process knows the session or as Wompi says; or how the order stands, if no code is
    /// wanted any more. Nothing is sent where neither can be learned.
    async fn session(
        &self,
        asked: &Asked,
        (id, token): Known<'_>,
        deadline: Deadline,
    ) -> Result<Result<Session, Report>, NotSent> {
        let with_token = |mut session: Session| {
            if let Some(token) = token {
                session.codes.token = Zeroizing::new(token.reveal().to_owned());
            }
            session
        };
        if let Some(session) = self.sessions.get(asked.operation) {
            return Ok(Ok(with_token(session)));
        }
        let transaction = self.found(asked, id, deadline).await.ok_or(NotSent::NoConnection)?;
        let report = standing(&transaction, asked);
        if report.progress != Some(Progress::AwaitsCode) {
            return Ok(Err(report));
        }
        self.sessions.learn(asked.operation, &transaction);
        let session = self.sessions.get(asked.operation).ok_or(NotSent::NoConnection)?;
        Ok(Ok(with_token(session)))
    }
}
