//! An order becomes a call (two for micro-deposits), an answer becomes a report.

use super::config::{CreditBy, Settings};
use super::formats::AMOUNT_MAX;
use super::wire::{Operation, Request};
use super::{mapping, signature};
use crate::rails::checking::Finding;
use crate::rails::http::{Client, Exchange, NoClient, Request as HttpRequest};
use crate::rails::live::{BankWord, LiveRail, Look, NotSent, OrderOutcome, Profile, RailId, Recall, Report};
use crate::rails::{BoxFuture, Call, Order};
use domain::bank_names::of_id;
use domain::entities::verification::references_of_two;
use domain::rail::Service;
use domain::values::money::Ves;
use domain::values::time::{Date, Timestamp, Zone};
use hyper::header::{AUTHORIZATION, HeaderName};
use std::time::{SystemTime, UNIX_EPOCH};

const COMMERCE: HeaderName = HeaderName::from_static("commerce");
const PROBED: &str = "USD";

const SERVICES: [Service; 4] = [Service::C2p, Service::Debit, Service::Payouts, Service::MicroDeposits];

pub struct R4 {
    pub(super) settings: Settings,
    pub(super) client: Client,
}

impl R4 {
    pub fn new(settings: Settings) -> Result<R4, NoClient> {
        let client = Client::new(&settings.base_url, settings.timeout)?.idle_for(settings.idle);
        Ok(R4 { settings, client })
    }

    pub(super) async fn exchange(&self, request: &Request) -> Exchange {
        let url = self.settings.base_url.path(request.operation.path(self.settings.path_family));
        let http = HttpRequest::post(url)
            .header(COMMERCE, self.settings.commerce_token.expose())
            .header(AUTHORIZATION, &signature::of(request, &self.settings))
            .json(request.body());
        self.client.exchange(http).await
    }

    async fn report(&self, request: &Request) -> Result<Report, NotSent> {
        let operation = request.operation;
        let report = mapping::report(operation, self.exchange(request).await);
        match &report {
            Ok(Report { is_answered: true, word, .. }) => {
                let code = word.as_ref().map_or("", |word| word.code.as_str());
                tracing::debug!(?operation, code, "R4 answered");
            }
            Ok(_) => tracing::warn!(?operation, "R4 gave no readable answer: the outcome is unknown"),
            Err(why) => tracing::warn!(?operation, ?why, "nothing was sent to R4"),
        }
        report
    }

    /// Each once. A refusal of either is one of both; the second is not made after a first that was
    /// refused or never left.
    async fn both(&self, first: &Request, second: &Request) -> Result<Report, NotSent> {
        let first = self.report(first).await?;
        if matches!(first.outcome, OrderOutcome::Refused { .. }) {
            return Ok(first);
        }
        let unknown = OrderOutcome::Open { id: None };
        let Ok(second) = self.report(second).await else {
            return Ok(Report { is_answered: false, outcome: unknown, ..first });
        };
        Ok(match (&first.outcome, &second.outcome) {
            (one, OrderOutcome::Refused { .. }) => {
                Report { half_done: matches!(one, OrderOutcome::Done { .. }), ..second }
            }
            (OrderOutcome::Done { reference: one }, OrderOutcome::Done { reference: other }) => {
                let reference = references_of_two(one.clone(), other.clone());
                Report { outcome: OrderOutcome::Done { reference }, ..first }
            }
            (_, OrderOutcome::Done { .. }) => Report { outcome: unknown, ..first },
            (_, OrderOutcome::Open { .. }) => Report { outcome: unknown, ..second },
        })
    }

    async fn carry_out(&self, order: &Order) -> Result<Report, NotSent> {
        let to_phone = match self.settings.credit_by {
            CreditBy::Vuelto => Operation::Vuelto,
            CreditBy::CreditoInmediato => Operation::CreditoInmediato,
        };
        let (operation, amount) = match order {
            // The customer's key is gone, so the order can't be sent; it may have been, before a crash.
            Order::ChargeC2p { token: None, .. } | Order::Debit { otp: None, .. } => {
                return Ok(Report::unanswered(None));
            }
            Order::ChargeC2p { amount, .. } => (Operation::C2p, amount),
            Order::ReverseC2p { amount, .. } => (Operation::AnulacionC2p, amount),
            Order::RequestOtp { amount, .. } => (Operation::GenerarOtp, amount),
            Order::Debit { amount, .. } => (Operation::DebitoInmediato, amount),
            Order::Credit { amount, .. } => (to_phone, amount),
            Order::CreditAccount { amount, .. } => (Operation::CiCuentas, amount),
            Order::MicroDeposit { amounts: (first, second), .. } => {
                let [first, second] = [first, second].map(|amount| Request::of(to_phone, order, *amount));
                return self.both(&first?, &second?).await;
            }
            _ => return Err(NotSent::Unfit("R4 has no call for it")),
        };
        self.report(&Request::of(operation, order, *amount)?).await
    }

    async fn operation(&self, id: &RailId) -> Report {
        match self.report(&Request::look(id)).await {
            Ok(report) if report.id.as_ref().is_some_and(|named| of_id(named) != of_id(id)) => {
                tracing::error!(
                    id = id.as_str(),
                    "R4 was asked about an operation, and speaks of another: its answer decides nothing"
                );
                let word = report.word.map(|word| {
                    BankWord::new(&word.code, &format!("said of another operation; the bank: {}", word.text))
                });
                Report { word, is_answered: report.is_answered, ..Report::unanswered(Some(id.clone())) }
            }
            // The bank's word about a question is not the end of what was asked about.
            Ok(Report { outcome: OrderOutcome::Open { .. }, word, is_answered, .. }) => {
                Report { word, is_answered, ..Report::unanswered(Some(id.clone())) }
            }
            Ok(report) => report,
            Err(_) => Report::unanswered(Some(id.clone())),
        }
    }
}

impl LiveRail for R4 {
    fn profile(&self) -> Profile {
        let (amount_max, timeout) = (Some(AMOUNT_MAX), self.settings.timeout);
        Profile { name: super::NAME, services: &SERVICES, amount_max, timeout }
    }

    fn recall(&self, order: &Order) -> Option<Recall> {
        match order {
            // Micro-deposits are two calls, and so have no one id.
            Order::ChargeC2p { .. }
            | Order::ReverseC2p { .. }
            | Order::RequestOtp { .. }
            | Order::MicroDeposit { .. } => Some(Recall::Unaskable),
            Order::Credit { .. } if self.settings.credit_by == CreditBy::Vuelto => Some(Recall::Unaskable),
            Order::Debit { .. } | Order::CreditAccount { .. } | Order::Credit { .. } => Some(Recall::ById),
            // Transfers are not looked for: the bank's notices tell of them.
            _ => None,
        }
    }

    fn execute<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>> {
        Box::pin(self.carry_out(&call.order))
    }

    fn look<'a>(&'a self, call: &'a Call, id: Option<&'a RailId>) -> BoxFuture<'a, Look> {
        Box::pin(async move {
            match (self.recall(&call.order), id) {
                (Some(Recall::ById), Some(id)) => Look::Report(self.operation(id).await),
                _ => Look::NotAsked,
            }
        })
    }

    fn probe(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let exchange = self.exchange(&Request::bcv(PROBED, today())).await;
            matches!(exchange, Exchange::Answer(answer) if answer.status < 500)
        })
    }

    fn check(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(self.tried())
    }
}

pub(super) fn today() -> Date {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(i64::try_from(now.as_millis()).unwrap_or(i64::MAX)).date_in(Zone::Caracas)
}

/// Different, from 0.01 to 0.99: an owner proves a phone by them.
pub fn micro_deposit_amounts() -> Result<(Ves, Ves), getrandom::Error> {
    let first = getrandom::u32()? % 99;
    // One of the other 98.
    let second = (first + 1 + getrandom::u32()? % 98) % 99;
    let cents = |n: u32| Ves::from_minor(i64::from(n) + 1);
    Ok((cents(first), cents(second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn micro_deposits_are_two_different_amounts_below_a_bolivar() {
        for _ in 0..1_000 {
            let (first, second) = micro_deposit_amounts().expect("random bits");
            assert_ne!(first, second);
            for amount in [first, second] {
                assert!((1..=99).contains(&amount.minor()), "{amount}");
            }
        }
    }
}
