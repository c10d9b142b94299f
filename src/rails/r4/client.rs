//! An order becomes a call (two for micro-deposits), an answer becomes a report.

use super::config::{CreditBy, Settings};
use super::wire::{Operation, Party, Request};
use super::{mapping, signature};
use crate::rails::checking::Finding;
use crate::rails::http::{BaseUrl, Client, Exchange, NoClient, Request as HttpRequest};
use crate::rails::live::{BankWord, LiveRail, Look, NotSent, OrderOutcome, RailId, Recall, Report};
use crate::rails::{BoxFuture, Call, Order};
use domain::bank_names::of_id;
use domain::entities::verification::references_of_two;
use domain::rail::Service;
use domain::values::money::Ves;
use domain::values::time::{Date, Timestamp, Zone};
use domain::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use hyper::header::{AUTHORIZATION, HeaderName};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const COMMERCE: HeaderName = HeaderName::from_static("commerce");
const CONCEPT_OF_PROOF: &str = "Verificacion";
const PROBED: &str = "USD";

const SERVICES: [Service; 4] = [Service::C2p, Service::Debit, Service::Payouts, Service::MicroDeposits];
/// Eight digits before the point.
const AMOUNT_MAX: Ves = Ves::from_minor(9_999_999_999);

pub struct R4 {
    settings: Settings,
    client: Client,
}

enum Calls {
    One(Request),
    Two(Request, Request),
    /// The customer's key is gone, so the order can't be sent; it may have been, before a crash.
    KeyGone,
}

impl R4 {
    pub fn new(settings: Settings) -> Result<R4, NoClient> {
        let client = Client::new(&settings.base_url, settings.timeout)?.idle_for(settings.idle);
        Ok(R4 { settings, client })
    }

    pub(super) const fn base_url(&self) -> &BaseUrl {
        &self.settings.base_url
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
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
        let report = mapping::report(request.operation, self.exchange(request).await);
        log(request.operation, &report);
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

    /// What the bank would not take is refused here, before a call.
    fn calls(&self, order: &Order) -> Result<Calls, NotSent> {
        Ok(match order {
            Order::ChargeC2p { token: None, .. } | Order::Debit { otp: None, .. } => Calls::KeyGone,
            Order::ChargeC2p { bank, debtor, phone, amount, token: Some(key) } => {
                let payer = Party { bank: *bank, phone: *phone, document: *debtor };
                Calls::One(Request::c2p(payer, *amount, key)?)
            }
            Order::ReverseC2p { bank, debtor, reference, .. } => {
                Calls::One(Request::annulment(*bank, *debtor, reference)?)
            }
            Order::RequestOtp { bank, debtor, phone, amount } => {
                let payer = Party { bank: *bank, phone: *phone, document: *debtor };
                Calls::One(Request::otp(payer, *amount)?)
            }
            Order::Debit { bank, debtor, phone, name, amount, concept, otp: Some(otp) } => {
                let payer = Party { bank: *bank, phone: *phone, document: *debtor };
                Calls::One(Request::debit(payer, name, *amount, otp, concept)?)
            }
            Order::Credit { bank, phone, identity, amount, concept } => {
                Calls::One(self.to_phone(payee(*bank, *phone, *identity)?, *amount, concept)?)
            }
            Order::CreditAccount { account, identity, amount, concept, .. } => {
                Calls::One(Request::credit_account(*account, *identity, *amount, concept)?)
            }
            Order::MicroDeposit { bank, phone, identity, amounts } => {
                let payee = payee(*bank, *phone, *identity)?;
                let call = |amount| self.to_phone(payee, amount, CONCEPT_OF_PROOF);
                Calls::Two(call(amounts.0)?, call(amounts.1)?)
            }
            // `recall` names each of them.
            _ => return Err(NotSent::Unfit("R4 has no call for it")),
        })
    }

    fn to_phone(&self, payee: Party, amount: Ves, concept: &str) -> Result<Request, NotSent> {
        match self.settings.credit_by {
            CreditBy::Vuelto => Request::change(payee, amount, concept),
            CreditBy::CreditoInmediato => Request::credit(payee, amount, concept),
        }
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
    fn name(&self) -> &'static str {
        super::NAME
    }

    fn services(&self) -> &[Service] {
        &SERVICES
    }

    fn amount_max(&self) -> Option<Ves> {
        Some(AMOUNT_MAX)
    }

    fn timeout(&self) -> Duration {
        self.settings.timeout
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
            // The bank's notices say it.
            Order::FindTransfer { .. } => Some(Recall::Reports),
            Order::ChargeCard { .. }
            | Order::SendUsdt { .. }
            | Order::PriceUsdt { .. }
            | Order::CollectCop { .. }
            | Order::TellCop { .. }
            | Order::RefundCop { .. } => None,
        }
    }

    fn execute<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Report, NotSent>> {
        Box::pin(async move {
            match self.calls(&call.order)? {
                Calls::One(request) => self.report(&request).await,
                Calls::Two(first, second) => self.both(&first, &second).await,
                Calls::KeyGone => Ok(Report::unanswered(None)),
            }
        })
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

fn payee(bank: BankCode, phone: MobilePhone, document: Option<IdentityDocument>) -> Result<Party, NotSent> {
    let document = document.ok_or(NotSent::Unfit("the owner of the phone is unknown"))?;
    Ok(Party { bank, phone, document })
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

fn log(operation: Operation, report: &Result<Report, NotSent>) {
    match report {
        Ok(Report { is_answered: true, word, .. }) => {
            let code = word.as_ref().map_or("", |word| word.code.as_str());
            tracing::debug!(?operation, code, "R4 answered");
        }
        Ok(_) => tracing::warn!(?operation, "R4 gave no readable answer: the outcome is unknown"),
        Err(why) => tracing::warn!(?operation, ?why, "nothing was sent to R4"),
    }
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
