//! Attempts in bolívares without a key: by card, and by a Pago Móvil that the buyer made.

use super::Visit;
use crate::gateway::ask;
use crate::gateway::services::Services;
use crate::gateway::transfers;
use actors::Settled;
use api::checkout::bolivares::{GotTransfer, Quote, agreed_rate, no_more_than, still_good};
use api::payments::card_tokens::CardToken;
use api::payments::cards::means;
use api::problem::Problem;
use api::refusals::problem;
use domain::entities::means::Means;
use domain::entities::payment::Payment;
use domain::entities::session::Way;
use domain::machine::Domain;
use domain::rail::Service;
use domain::resources::checkout::Attempts;
use domain::resources::payments;
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::values::card::Card;
use domain::values::ids::{EntityId, Id};
use domain::values::mode::is_live;
use domain::values::money::Rate;
use std::sync::Arc;

impl Visit {
    /// Charges a card, no more than the quote that its buyer was shown. The id is the attempt's, whose
    /// end may be that it failed.
    pub async fn charge_card(
        &self,
        services: &Services,
        card: Arc<Card>,
        quote: Option<&Quote>,
    ) -> Result<(Id, Box<Settled<Domain>>), Problem> {
        self.admits(Way::Card)?;
        self.takes_card(services)?;
        still_good(card.expiry, self.now)?;
        let rate = self.shop.market(services).bcv_rate();
        no_more_than(&self.session, quote, &|parts| services.keys.mark(parts), rate)?;
        let (held, attempts) = self.begin_attempt(services, Way::Card).await?;
        let means = means(&card, &|parts| services.keys.card_mark(parts));
        let new = self.new_charge(services, means, Secret::Card(card), rate, &attempts);
        let id = new.id;
        self.make_way(services, &attempts, &new).await?;
        let ask = payments::Command::Charge(Box::new(new)).into();
        let settled = self.ask(services, EntityId::payment(id), true, ask, Some(Box::new(held))).await?;
        Ok((id, refused(settled)?))
    }

    /// Keeps a card for the charge of a token, which the shop orders.
    pub fn keep_card(&self, services: &Services, card: Arc<Card>) -> Result<CardToken, Problem> {
        self.admits(Way::Card)?;
        self.takes_card(services)?;
        still_good(card.expiry, self.now)?;
        let Means::Card { brand, last_four, mark } = means(&card, &|parts| services.keys.card_mark(parts))
        else {
            return Err(ask::defect("the means of a card are others"));
        };
        Ok(CardToken { name: services.cards.put(self.shop.tenant_key, card)?, brand, last_four, mark })
    }

    pub async fn verify_transfer(
        &self,
        services: &Services,
        transfer: GotTransfer,
    ) -> Result<(Id, Box<Settled<Domain>>), Problem> {
        let market = self.shop.market(services);
        if market.receiver.is_none() {
            return Err(Problem::conflict(
                "method_not_offered",
                "the checkout does not offer this way to pay",
            ));
        }
        let means = transfer.means();
        let mark = |parts: &[&[u8]]| services.keys.mark(parts);
        let rate = agreed_rate(self.session.id, transfer.quote.as_ref(), &mark, market.bcv_rate())?;
        let (held, attempts) = self.begin_attempt(services, Way::PagoMovil).await?;
        // The transfer is held, as every one is, until the bank has said whether it is there.
        let tenant = self.shop.tenant_key;
        let held_transfer = transfers::hold(services, tenant, &means).await;
        let mut new = self.new_charge(services, means, Secret::None, rate, &attempts);
        new.transfer = transfers::known(services, tenant, &new).await?;
        new.notice_wait_ms = if is_live(tenant) { services.waits.notice_ms } else { 0 };
        let id = new.id;
        self.make_way(services, &attempts, &new).await?;
        let ask = payments::Command::Charge(Box::new(new)).into();
        let until_answered: actors::Guard = Box::new(held_transfer);
        let settled = self
            .ask_holding(
                services,
                (EntityId::payment(id), true),
                ask,
                Some(Box::new(held)),
                Some(until_answered),
            )
            .await?;
        Ok((id, refused(settled)?))
    }

    /// Ends the intent that a charge takes the place of, unless that would be refused.
    async fn make_way(
        &self,
        services: &Services,
        attempts: &Attempts,
        new: &NewCharge,
    ) -> Result<(), Problem> {
        let Some(intent) = attempts.pending_intent() else { return Ok(()) };
        let ask = payments::Command::MakeWay(Box::new(new.without_code())).into();
        refused(self.ask(services, EntityId::payment(intent.id), false, ask, None).await?).map(drop)
    }

    /// Checks that there is a rail for cards, before a card is looked at.
    fn takes_card(&self, services: &Services) -> Result<(), Problem> {
        match services.rails.serves(self.shop.tenant_key, Service::Card) {
            true => Ok(()),
            false => Err(Problem::rail_not_configured(Service::Card.name())),
        }
    }

    fn new_charge(
        &self,
        services: &Services,
        means: Means,
        secret: Secret,
        rate: Option<Rate>,
        attempts: &Attempts,
    ) -> NewCharge {
        let (id, price) = (services.fresh_id(self.shop.tenant_key), Price::Usd(self.session.amount));
        NewCharge {
            rate,
            description: self.session.description.clone(),
            marketplace: self.session.bought.as_ref().and_then(|bought| bought.marketplace),
            before: attempts.bolivares.as_ref().map(Payment::before),
            checkout: Some(Box::new(self.session.sale())),
            ..NewCharge::new(id, self.session.name(), price, means, secret)
        }
    }
}

fn refused(settled: Box<Settled<Domain>>) -> Result<Box<Settled<Domain>>, Problem> {
    match &settled.refusal {
        Some(refusal) => Err(problem(refusal)),
        None => Ok(settled),
    }
}
