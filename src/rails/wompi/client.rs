//! Pesos are collected by one POST under our operation id, and how that stands is asked as often as
//! one likes.
//!
//! SMS codes of Daviplata: one is sent to the buyer, who types it (`docs/contract.md, 18.4`).
//! Whether one may be sent, and how many may be tried, is not decided here: each call comes after
//! the record that says so. Each use of the token gives another one, which is kept with the payment
//! and comes back with the next call; before the first, and when the answer with the next one was
//! lost, the token is the one that Wompi shows with the transaction.

use super::acceptance::Acceptance;
use super::config::Settings;
use super::mapping::{
    Asked, Created, PROCESSOR_ERROR, by_id, counts, created, is_anothers, standing, under_reference, words,
};
use super::signature::cents;
use super::wire::{CodeServices, Collect, Transaction, is_plain, next_token};
use crate::rails::checking::Finding;
use crate::rails::http::{Client, Exchange, HttpAnswer, NoClient, Request};
use crate::rails::live::{BankWord, LiveRail, Look, NotSent, OrderOutcome, Profile, RailId, Recall, Report};
use crate::rails::secret::ApiSecret;
use crate::rails::{BoxFuture, Call, Order};
use domain::rail::{Collection, Instruction, Service};
use domain::resources::cop_payments::collect::WRONG_CODE;
use domain::trace::Progress;
use domain::values::colombia::Channel;
use domain::values::token::{StepToken, Token};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;
use zeroize::Zeroizing;

const PAUSE: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(50);

pub struct Wompi {
    pub(super) settings: Settings,
    pub(super) client: Client,
    acceptance: Mutex<Option<Acceptance>>,
    sessions: Mutex<HashMap<Uuid, Session>>,
}

impl Wompi {
    pub fn new(settings: Settings) -> Result<Wompi, NoClient> {
        let client = Client::new(&settings.base_url, settings.timeout)?.idle_for(settings.idle);
        Ok(Wompi { settings, client, acceptance: Mutex::default(), sessions: Mutex::default() })
    }

    pub(super) fn deadline(&self) -> Instant {
        // A little before whoever waits for the call gives it up: what is known by then is told.
        let timeout = self.client.timeout;
        Instant::now() + timeout - timeout / 20
    }

    pub(super) async fn exchange(&self, request: Request, deadline: Instant) -> Exchange {
        self.client.exchange_within(request, deadline.saturating_duration_since(Instant::now())).await
    }

    fn one(&self, id: &RailId) -> Request {
        let url = self.settings.base_url.path(&format!("transactions/{}", id.as_str()));
        Request::get(url).bearer(self.settings.private_key.expose())
    }

    pub(super) fn under(&self, operation: Uuid) -> Request {
        let url = self.settings.base_url.path(&format!("transactions?reference={operation}"));
        Request::get(url).bearer(self.settings.private_key.expose())
    }

    pub(super) fn merchant(&self) -> Request {
        let path = format!("merchants/{}", self.settings.public_key.expose());
        Request::get(self.settings.base_url.path(&path))
    }

    /// Without the tokens of the terms nothing was sent.
    async fn acceptance(&self, deadline: Instant) -> Result<Acceptance, NotSent> {
        if let Some(kept) = self.kept().clone() {
            return Ok(kept);
        }
        let fetched = match self.exchange(self.merchant(), deadline).await {
            Exchange::Answer(HttpAnswer { status: 200..=299, body }) => Acceptance::read(&body),
            _ => None,
        };
        let fetched = fetched.ok_or(NotSent::NoConnection)?;
        *self.kept() = Some(fetched.clone());
        Ok(fetched)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Acceptance>> {
        self.acceptance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// If nobody has fetched others meanwhile.
    fn forget(&self, stale: &Acceptance) {
        self.kept().take_if(|kept| kept == stale);
    }

    /// Once; a second time under the same reference if the tokens were over, in which case there
    /// was no transaction.
    async fn post(&self, collect: &Collect<'_>, deadline: Instant) -> Result<Created, NotSent> {
        for _ in 0..2 {
            let acceptance = self.acceptance(deadline).await?;
            let request = Request::post(self.settings.base_url.path("transactions"))
                .bearer(self.settings.private_key.expose())
                .json(collect.body(&self.settings, &acceptance)?);
            match self.exchange(request, deadline).await {
                Exchange::NotSent(_) => return Err(NotSent::NoConnection),
                Exchange::NoAnswer(_) => return Ok(Created::Unknown { is_answered: false, word: None }),
                Exchange::Answer(answer) => match created(&answer) {
                    Created::StaleTokens => self.forget(&acceptance),
                    created => return Ok(created),
                },
            }
        }
        Ok(Created::Refused(BankWord::new("INPUT_VALIDATION_ERROR", "the acceptance tokens are not taken")))
    }

    async fn collect(&self, collect: &Collect<'_>) -> Result<Report, NotSent> {
        let deadline = self.deadline();
        let asked = Asked { operation: collect.operation, amount_in_cents: cents(collect.amount) };
        let report = match self.post(collect, deadline).await? {
            Created::Transaction(transaction) if is_anothers(&transaction, &asked) => {
                tracing::error!(operation = %collect.operation, transaction = transaction.id.as_str(), "Wompi answers with a transaction of another reference: ours is looked for by its own");
                let word = BankWord::new(&transaction.status, "the answer has another reference");
                Report { word: Some(word), is_answered: true, ..Report::unanswered(None) }
            }
            Created::Transaction(transaction) => {
                self.until_ready(*transaction, collect.channel, &asked, deadline).await
            }
            Created::Duplicate => match self.reference(&asked, deadline).await {
                Look::Report(report) => report,
                Look::NeverReceived | Look::NotAsked => Report::unanswered(None),
            },
            Created::Refused(word) => {
                Report::answered(OrderOutcome::Refused { code: PROCESSOR_ERROR.to_owned() }, word)
            }
            Created::StaleTokens => Report::unanswered(None),
            Created::Unknown { is_answered, word } => {
                Report { is_answered, word, ..Report::unanswered(None) }
            }
        };
        Ok(report)
    }

    /// Until the buyer has what it takes to pay, the transaction is final, or time is over.
    async fn until_ready(
        &self,
        mut transaction: Transaction,
        channel: Channel,
        asked: &Asked,
        deadline: Instant,
    ) -> Report {
        loop {
            let report = standing(&transaction, asked);
            let is_ready = match channel {
                Channel::Push => true,
                Channel::Qr => transaction.qr_image.is_some(),
                Channel::Sms => transaction.codes.is_some(),
            };
            if is_ready || !matches!(report.outcome, OrderOutcome::Open { .. }) {
                self.learn(asked.operation, &transaction);
                return report;
            }
            // The last look is as late as its answer may still come in time.
            let pause = PAUSE.min(deadline.saturating_duration_since(Instant::now()).saturating_sub(LOOK));
            if pause < LOOK {
                return report;
            }
            tokio::time::sleep(pause).await;
            if let Exchange::Answer(HttpAnswer { status: 200..=299, body }) =
                self.exchange(self.one(&transaction.id), deadline).await
                && let Some(newer) = Transaction::read(&body).filter(|newer| newer.id == transaction.id)
            {
                transaction = newer;
            }
        }
    }

    async fn reference(&self, asked: &Asked, deadline: Instant) -> Look {
        match self.exchange(self.under(asked.operation), deadline).await.answer() {
            Ok(answer) => under_reference(&answer, asked),
            Err(_) => Look::Report(Report::unanswered(None)),
        }
    }

    /// Without an id, the one that counts under the reference.
    async fn found(&self, asked: &Asked, id: Option<&RailId>, deadline: Instant) -> Option<Transaction> {
        let id = id.filter(|id| is_plain(id));
        let request = id.map_or_else(|| self.under(asked.operation), |id| self.one(id));
        match (self.exchange(request, deadline).await, id) {
            (Exchange::Answer(HttpAnswer { status: 200..=299, body }), Some(id)) => {
                Transaction::read(&body).filter(|transaction| transaction.id == *id)
            }
            (Exchange::Answer(HttpAnswer { status: 200..=299, body }), None) => {
                counts(&Transaction::read_list(&body)?, asked).cloned()
            }
            _ => None,
        }
    }

    async fn identified(&self, id: &RailId, asked: &Asked, deadline: Instant) -> Report {
        let mut report = match self.exchange(self.one(id), deadline).await.answer() {
            Ok(answer) => by_id(&answer, id, asked),
            Err(_) => Report::unanswered(None),
        };
        if let OrderOutcome::Open { id: of } = &mut report.outcome {
            *of = Some(id.clone());
        }
        report
    }

    /// At the transaction that paid it alone, once that is known. One that was refused is believed unless another
    /// under its reference counts more: a buyer who was declined may have paid in a second one.
    async fn look_at(&self, asked: &Asked, id: Option<&RailId>, is_paid: bool) -> Look {
        let deadline = self.deadline();
        let look = if let Some(id) = id.filter(|id| is_plain(id)) {
            let report = self.identified(id, asked, deadline).await;
            let of_all = match &report.outcome {
                OrderOutcome::Refused { .. } if !is_paid => self.reference(asked, deadline).await,
                _ => Look::NotAsked,
            };
            match of_all {
                Look::Report(of_all) if counts_more(&of_all.outcome, id) => Look::Report(of_all),
                _ => Look::Report(report),
            }
        } else {
            self.reference(asked, deadline).await
        };
        if let Look::Report(Report { outcome, .. }) = &look
            && !matches!(outcome, OrderOutcome::Open { .. })
        {
            self.sessions().remove(&asked.operation);
        }
        look
    }

    async fn tell(
        &self,
        collection: &Collection,
        instruction: &Instruction,
        (id, token): (Option<&RailId>, Option<&StepToken>),
    ) -> Result<Report, NotSent> {
        let code = match instruction {
            Instruction::SendCode => None,
            Instruction::Code(code) => Some(code),
            Instruction::Cancel => return Err(NotSent::Unfit("Wompi calls nothing off")),
            Instruction::Paid | Instruction::Declined => {
                return Err(NotSent::Unfit("only test mode plays the buyer"));
            }
        };
        let asked = Asked::of(collection);
        let deadline = self.deadline();
        let mut session = match self.session(&asked, id, deadline).await? {
            Ok(session) => session,
            Err(report) => return Ok(report),
        };
        if let Some(token) = token {
            session.codes.token = ApiSecret::new(token.reveal());
        }
        match code {
            None => self.send_code(&asked, session, deadline).await,
            Some(code) => self.validate(&asked, session, code, deadline).await,
        }
    }
}

/// Than that the transaction with this id was refused.
fn counts_more(outcome: &OrderOutcome, id: &RailId) -> bool {
    match outcome {
        OrderOutcome::Done { .. } => true,
        OrderOutcome::Open { id: other } => other.as_ref().is_some_and(|other| other != id),
        OrderOutcome::Refused { .. } => false,
    }
}

const SESSION_LIFE: Duration = Duration::from_secs(3_600);

/// Where the codes of an order are sent and typed, with the token that Wompi showed.
#[derive(Clone)]
struct Session {
    transaction: RailId,
    codes: CodeServices,
    began: Instant,
}

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
    fn sessions(&self) -> MutexGuard<'_, HashMap<Uuid, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unless that is known with a later token.
    fn learn(&self, operation: Uuid, transaction: &Transaction) -> Option<Session> {
        let codes = transaction.codes.clone()?;
        let mut sessions = self.sessions();
        sessions.retain(|_, session| session.began.elapsed() < SESSION_LIFE);
        let session = Session { transaction: transaction.id.clone(), codes, began: Instant::now() };
        Some(sessions.entry(operation).or_insert(session).clone())
    }

    async fn send_code(&self, asked: &Asked, session: Session, deadline: Instant) -> Result<Report, NotSent> {
        let operation = asked.operation;
        let url = self.settings.base_url.named(&session.codes.send).ok_or_else(elsewhere)?;
        let open = OrderOutcome::Open { id: Some(session.transaction.clone()) };
        match self.exchange(Request::post(url).bearer(session.codes.token.expose()), deadline).await {
            Exchange::NotSent(_) => Err(NotSent::NoConnection),
            Exchange::NoAnswer(failure) => {
                // The lost answer had the token that is good now.
                self.sessions().remove(&operation);
                tracing::warn!(%operation, why = failure.text(), "whether Wompi sent a buyer's code is \
                    unknown");
                Ok(Report::unanswered(Some(session.transaction)))
            }
            Exchange::Answer(answer @ HttpAnswer { status: 200..=299, .. }) => {
                Ok(with_token(Report::answered(open, words(&answer)), &answer))
            }
            Exchange::Answer(answer) => {
                self.sessions().remove(&operation);
                tracing::warn!(%operation, status = answer.status, "Wompi did not send a buyer's code");
                if is_nothing_done(&answer) {
                    return Err(NotSent::NothingDone);
                }
                let report = Report::answered(open, words(&answer));
                Ok(Report { is_answered: answer.status < 500, ..report })
            }
        }
    }

    async fn validate(
        &self,
        asked: &Asked,
        session: Session,
        code: &Token,
        deadline: Instant,
    ) -> Result<Report, NotSent> {
        let url = self.settings.base_url.named(&session.codes.validate).ok_or_else(elsewhere)?;
        let body = Zeroizing::new(format!("{{\"code\":\"{}\"}}", code.reveal()).into_bytes());
        let request = Request::post(url).bearer(session.codes.token.expose()).json(body);
        let answer = match self.exchange(request, deadline).await {
            Exchange::NotSent(_) => return Err(NotSent::NoConnection),
            Exchange::NoAnswer(_) => return Ok(Report::unanswered(Some(session.transaction))),
            Exchange::Answer(answer) => answer,
        };
        if is_nothing_done(&answer) {
            self.sessions().remove(&asked.operation);
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
        id: Option<&RailId>,
        deadline: Instant,
    ) -> Result<Result<Session, Report>, NotSent> {
        if let Some(session) = self.sessions().get(&asked.operation) {
            return Ok(Ok(session.clone()));
        }
        let transaction = self.found(asked, id, deadline).await.ok_or(NotSent::NoConnection)?;
        let report = standing(&transaction, asked);
        if report.progress != Some(Progress::AwaitsCode) {
            return Ok(Err(report));
        }
        self.learn(asked.operation, &transaction).map(Ok).ok_or(NotSent::NoConnection)
    }
}

impl LiveRail for Wompi {
    fn profile(&self) -> Profile {
        let timeout = self.settings.timeout;
        Profile { name: super::NAME, services: &[Service::Cop], amount_max: None, timeout }
    }

    fn recall(&self, order: &Order) -> Option<Recall> {
        match order {
            Order::CollectCop { .. } | Order::TellCop { .. } => Some(Recall::ByOperation),
            // Done by hand, in Wompi's panel.
            Order::RefundCop { .. } => Some(Recall::Unaskable),
            _ => None,
        }
    }

    fn execute<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>> {
        Box::pin(async move {
            match &call.order {
                Order::CollectCop { channel, amount, buyer, .. } => {
                    let buyer = buyer.as_deref();
                    let operation = call.operation_id;
                    self.collect(&Collect { operation, channel: *channel, amount: *amount, buyer }).await
                }
                Order::TellCop { collection, rail_id, token, instruction } => {
                    self.tell(collection, instruction, (rail_id.as_ref(), token.as_ref())).await
                }
                Order::RefundCop { .. } => {
                    let word = BankWord::new("", "Wompi refunds by its panel only");
                    Ok(Report::answered(OrderOutcome::Open { id: None }, word))
                }
                _ => Err(NotSent::Unfit("Wompi has no call for it")),
            }
        })
    }

    fn look<'a>(&'a self, call: &'a Call, id: Option<&'a RailId>) -> BoxFuture<'a, Look> {
        Box::pin(async move {
            match &call.order {
                Order::CollectCop { amount, is_paid, .. } => {
                    let asked = Asked { operation: call.operation_id, amount_in_cents: cents(*amount) };
                    self.look_at(&asked, id, *is_paid).await
                }
                Order::TellCop { collection, .. } => self.look_at(&Asked::of(collection), id, false).await,
                _ => Look::NotAsked,
            }
        })
    }

    fn probe(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let exchange = self.exchange(self.merchant(), self.deadline()).await;
            matches!(exchange, Exchange::Answer(answer) if answer.status < 500)
        })
    }

    fn check(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(self.tried())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rails::http::BaseUrl;
    use crate::rails::secret::ApiSecret;

    #[tokio::test]
    async fn only_the_stale_tokens_are_forgotten() {
        let secret = || ApiSecret::new("x");
        let base_url = BaseUrl::parse("http://127.0.0.1:9/v1").expect("an address");
        let wompi = Wompi::new(Settings {
            base_url,
            public_key: secret(),
            private_key: secret(),
            events_secret: secret(),
            integrity_secret: secret(),
            customer_email: None,
            timeout: Duration::from_secs(1),
            idle: Duration::from_secs(1),
        });
        let Ok(wompi) = wompi else { panic!("a client") };
        let tokens =
            |text: &str| Acceptance { terms: ApiSecret::new(text), personal_data: ApiSecret::new(text) };
        *wompi.kept() = Some(tokens("new"));
        wompi.forget(&tokens("old"));
        assert_eq!(*wompi.kept(), Some(tokens("new")));
        wompi.forget(&tokens("new"));
        assert_eq!(*wompi.kept(), None);
    }
}
