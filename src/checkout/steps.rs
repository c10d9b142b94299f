//! The steps by which a session is paid. The page's forms and the page's calls are two ways to the
//! same functions.
//!
//! One attempt at a time: whoever begins one holds the session's name, ends what is pending, and
//! only then asks the engine. What cannot be ended (a charge at the bank, a buyer who has just
//! paid) refuses the new attempt. So however many tabs are open, at most one of them can be charged
//! by C2P or in pesos at any moment.

mod charges;

use crate::checkout::visit::Visit;
use crate::gateway::ask::failure;
use crate::gateway::names::NameHeld;
use crate::gateway::otp;
use crate::gateway::services::Services;
use crate::gateway::usdt_addresses;
use crate::store::history;
use crate::store::stored::Stored;
use actors::{CommandReply, Settled};
use api::checkout::bolivares::TOTAL_CHANGED;
use api::crypto::account;
use api::problem::Problem;
use api::refusals::problem;
use domain::commands::{Command, KeyedCommand};
use domain::index::Space;
use domain::machine::Domain;
use domain::record::Entity;
use domain::refusal::{CheckoutRefusal, CopPaymentRefusal, PaymentRefusal, Refusal};
use domain::resources::banks::sends_otp;
use domain::resources::checkout::{self, Attempts, InPesos, NewSession, Status, Way};
use domain::resources::cop_payments;
use domain::resources::cop_payments::collect::NewCopPayment;
use domain::resources::cop_payments::{Channel, Failure, ForSession};
use domain::resources::crypto;
use domain::resources::crypto::address::Network;
use domain::resources::crypto::deposits::{Asset, NewDepositAddress, Till};
use domain::resources::payments;
use domain::resources::payments::charge::Price;
use domain::resources::payments::{Debtor, c2p};
use domain::values::buyer::Buyer;
use domain::values::ids::{EntityId, Id};
use domain::values::money::{Cop, Usdt};
use domain::values::token::Token;

/// Opens a session of a purchase through a payment link.
pub async fn open(services: &Services, tenant_key: u64, new: NewSession) -> CommandReply<Domain> {
    let (id, command) = (EntityId::session(new.id), checkout::Command::Open(Box::new(new)));
    services.engine.ask_entity(tenant_key, id, true, command.into(), None, None).await
}

impl Visit {
    pub async fn request(
        &self,
        services: &Services,
        debtor: Debtor,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        let (held, attempts) = self.begin_attempt(services, Way::C2p).await?;
        let rate = self.shop.market(services).bcv_rate().ok_or_else(|| problem(&Refusal::RateUnavailable))?;
        let price = Price::Usd(self.session.amount);
        let figured = price.at(rate).map_err(|refusal| problem(&refusal))?;
        let mut new = c2p::NewIntent {
            id: services.fresh_id(self.shop.tenant_key),
            external_ref: self.session.name(),
            price,
            figured,
            debtor,
            bank_sends_otp: sends_otp(debtor.bank),
            is_known: attempts.bolivares.is_some(),
            checkout: Some(Box::new(self.session.sale())),
        };
        otp::before_intent(services, self.shop.tenant_key, &mut new, attempts.bolivares.as_ref()).await?;
        let (id, is_new) = attempts.bolivares.map_or((new.id, true), |newest| (newest.id, false));
        self.ask(
            services,
            EntityId::payment(id),
            is_new,
            payments::Command::RequestC2p(Box::new(new)).into(),
            Some(Box::new(held)),
        )
        .await
    }

    /// Executes an intent of this session with the buyer's key. Without a debtor it is the one of
    /// the intent.
    pub async fn pay(
        &self,
        services: &Services,
        intent: Id,
        debtor: Option<Debtor>,
        token: Token,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        let found =
            history::entity(services.engine.reader(), self.shop.tenant_key, EntityId::payment(intent))?
                .ok_or_else(Problem::not_found)?;
        let known = match &*found {
            Entity::Payment(payment)
                if payment.checkout.as_ref().is_some_and(|sale| sale.session == self.session.id) =>
            {
                payment.debtor().copied()
            }
            _ => None,
        }
        .ok_or_else(Problem::not_found)?;
        match self.status {
            Status::Paid(paid) if paid != intent => {
                return Err(problem(&CheckoutRefusal::SessionPaid.into()));
            }
            Status::Expired => return Err(problem(&CheckoutRefusal::SessionExpired.into())),
            Status::Open | Status::Processing | Status::Paid(_) => {}
        }
        let token_mark = services.keys.mark(&[b"c2p token", intent.as_bytes(), token.reveal().as_bytes()]);
        let execute = c2p::Execute {
            external_ref: self.session.name(),
            price: Price::Usd(self.session.amount),
            debtor: debtor.unwrap_or(known),
            token,
            token_mark,
            marketplace: self.session.bought.as_ref().and_then(|bought| bought.marketplace),
        };
        let settled = self
            .ask(
                services,
                EntityId::payment(intent),
                false,
                payments::Command::ExecuteC2p(Box::new(execute)).into(),
                None,
            )
            .await?;
        match &settled.refusal {
            // The intent was paid already, with another key: the buyer is told that the session is
            // paid.
            Some(Refusal::Payments(PaymentRefusal::IntentCompleted)) => {
                Err(problem(&CheckoutRefusal::SessionPaid.into()))
            }
            Some(refusal) => Err(problem(refusal)),
            None => Ok(settled),
        }
    }

    /// The price in pesos at the rate of now, if they can be paid. `seen` is the total that the buyer
    /// was shown: one that rose since then is shown again first.
    pub fn in_pesos(&self, services: &Services, seen: Option<Cop>) -> Result<InPesos, Problem> {
        self.admits(Way::Cop)?;
        let market = self.shop.market(services);
        if !market.cop_enabled {
            return Err(problem(&CopPaymentRefusal::NotEnabled.into()));
        }
        let price = market.pesos(self.session.amount).map_err(|why| why.problem())?;
        if seen.is_some_and(|seen| seen < price.total) {
            return Err(Problem::conflict(
                TOTAL_CHANGED,
                "the total in pesos has risen since it was shown; nothing was charged",
            ));
        }
        Ok(price)
    }

    pub async fn collect(
        &self,
        services: &Services,
        channel: Channel,
        buyer: Option<Buyer>,
        price: InPesos,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        let (held, _) = self.begin_attempt(services, Way::Cop).await?;
        let (session, id) = (&self.session, services.fresh_id(self.shop.tenant_key));
        let checkout = ForSession {
            sale: session.sale(),
            usd: session.amount,
            rate: price.rate,
            market_rate: price.market_rate,
            platform_fee: None,
        };
        let new = NewCopPayment {
            id,
            amount: price.total,
            channel,
            buyer,
            reference: session.reference.clone(),
            metadata: session.metadata.clone(),
            marketplace: session.bought.as_ref().and_then(|bought| bought.marketplace),
            checkout: Some((Box::new(checkout), session.expires_at)),
        };
        self.ask(
            services,
            EntityId::cop_payment(id),
            true,
            cop_payments::Command::Collect(Box::new(new)).into(),
            Some(Box::new(held)),
        )
        .await
    }

    /// Submits the SMS code of the attempt in pesos that waits for it; `None` is what cannot be
    /// one.
    pub async fn submit_code(
        &self,
        services: &Services,
        code: Option<Token>,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        let Some(payment) = self.attempts.pending_cop() else {
            // The session says more than its last attempt: it may be paid, or over.
            self.status.may_begin().map_err(|refusal| problem(&refusal))?;
            let used_up = self
                .attempts
                .cop
                .as_ref()
                .is_some_and(|payment| payment.failure == Some(Failure::OtpAttemptsExhausted));
            let refusal =
                if used_up { CopPaymentRefusal::OtpAttemptsExhausted } else { CopPaymentRefusal::NotPending };
            return Err(problem(&refusal.into()));
        };
        let settled = self
            .ask(
                services,
                EntityId::cop_payment(payment.id),
                false,
                cop_payments::Command::SubmitCode(code).into(),
                None,
            )
            .await?;
        match &settled.refusal {
            Some(refusal) => Err(problem(refusal)),
            None => Ok(settled),
        }
    }

    /// The session's address on a network for an asset: the same whenever it is asked for.
    pub async fn address(
        &self,
        services: &Services,
        network: Network,
        asset: Asset,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        let (held, attempts) = self.begin_attempt(services, Way::Usdt).await?;
        let session = &self.session;
        // No customer of the tenant's has a name like this.
        let name = format!("checkout {} {} {}", session.id, network.name(), asset.name());
        let till = Till {
            sale: session.sale(),
            amount: session.amount,
            marketplace: session.bought.as_ref().and_then(|bought| bought.marketplace),
            more: Vec::new(),
            received: Usdt::ZERO,
            seller_received: Usdt::ZERO,
            paid: None,
            // The decision fills it in.
            generation: 0,
        };
        let mut new = NewDepositAddress {
            id: services.fresh_id(self.shop.tenant_key),
            customer_ref: session.name(),
            network,
            asset,
            address: network.address(&account(
                &|parts| services.keys.mark(parts),
                self.shop.tenant.id,
                &name,
            )),
            is_derived: false,
            till: Some(Box::new(till)),
        };
        let held_address = usdt_addresses::derive_in_live(services, self.shop.tenant_key, &mut new).await?;
        let (id, is_new) = attempts.usdt.map_or((new.id, true), |known| (known.id, false));
        self.ask(
            services,
            EntityId::deposit_address(id),
            is_new,
            crypto::deposits::Command::Open(Box::new(new)).into(),
            Some(Box::new((held, held_address))),
        )
        .await
    }

    /// Checks that an attempt by this way may begin; the problem says why not.
    fn admits(&self, way: Way) -> Result<(), Problem> {
        if !self.session.offered.includes(way) {
            return Err(Problem::conflict(
                "method_not_offered",
                "the checkout does not offer this way to pay",
            ));
        }
        self.status.may_begin().map_err(|refusal| problem(&refusal))
    }

    /// The right to begin an attempt, and what was done before: nothing of it is pending any more,
    /// except an intent that makes way for another or a charge, once that is not refused.
    async fn begin_attempt(&self, services: &Services, way: Way) -> Result<(NameHeld, Attempts), Problem> {
        services.admit(Some(self.shop.tenant_key), true)?;
        self.admits(way)?;
        let held = services
            .names
            .reservations
            .hold_name(self.shop.tenant_key, Space::Checkout, &self.session.id.to_string())
            .await;
        let attempts = self.open_attempts(services)?;
        if let Some(payment) = attempts.pending_cop() {
            // The outcome is read below: it may have been paid in this moment.
            self.ask(
                services,
                EntityId::cop_payment(payment.id),
                false,
                cop_payments::Command::Cancel(None).into(),
                None,
            )
            .await?;
        }
        if let Some(intent) = attempts.pending_intent().filter(|_| matches!(way, Way::Cop | Way::Usdt)) {
            self.ask(
                services,
                EntityId::payment(intent.id),
                false,
                payments::Command::CancelIntent.into(),
                None,
            )
            .await?;
        }
        let attempts = self.open_attempts(services)?;
        if attempts.pending_cop().is_some() {
            return Err(problem(&PaymentRefusal::ChargeInProgress.into()));
        }
        Ok((held, attempts))
    }

    /// Reads the attempts to pay the session, and checks that a new one may begin.
    fn open_attempts(&self, services: &Services) -> Result<Attempts, Problem> {
        let attempts =
            Stored::of(services.engine.reader(), self.shop.tenant_key).session_attempts(self.session.id)?;
        attempts.standing(&self.session, self.now).may_begin().map_err(|refusal| problem(&refusal))?;
        Ok(attempts)
    }

    async fn ask(
        &self,
        services: &Services,
        id: EntityId,
        is_new: bool,
        ask: Command,
        held: Option<actors::Guard>,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        self.ask_holding(services, (id, is_new), ask, held, None).await
    }

    /// Asks an entity, with one guard until the record and one until the answer.
    async fn ask_holding(
        &self,
        services: &Services,
        (id, is_new): (EntityId, bool),
        ask: Command,
        until_record: Option<actors::Guard>,
        until_answered: Option<actors::Guard>,
    ) -> Result<Box<Settled<Domain>>, Problem> {
        services.admit(Some(self.shop.tenant_key), true)?;
        services
            .engine
            .ask_entity(
                self.shop.tenant_key,
                id,
                is_new,
                KeyedCommand::from(ask),
                until_record,
                until_answered,
            )
            .await
            .map_err(failure)
    }
}
