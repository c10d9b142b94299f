//! The steps by which a session is paid. The page's forms and the page's calls are two ways to the
//! same functions.
//!
//! One attempt at a time: whoever begins one holds the session's name, ends what is pending, and
//! only then asks the engine. What cannot be ended (a charge at the bank, a buyer who has just
//! paid) refuses the new attempt. So however many tabs are open, at most one of them can be charged
//! by C2P or in pesos at any moment.

use crate::checkout::limits::Phone;
use crate::checkout::visit::{Tried, Visit};
use crate::gateway::ask::{self, accepted, failure};
use crate::gateway::names::Held;
use crate::gateway::otp;
use crate::gateway::services::Services;
use crate::gateway::transfers;
use crate::gateway::usdt_addresses;
use crate::store::history::Stored;
use actors::{CommandReply, Settled};
use api::checkout::bolivares::{GotTransfer, Quote, TOTAL_CHANGED, agreed_rate, no_more_than, still_good};
use api::crypto::account;
use api::payments::card_tokens::CardToken;
use api::payments::cards::means;
use api::problem::Problem;
use api::refusals::problem;
use domain::entities::cop_payment::{Failure, ForSession};
use domain::entities::deposit_address::{Asset, DepositAddress, Till};
use domain::entities::means::{Debtor, Means};
use domain::entities::payment::Payment;
use domain::entities::session::{Session, Way};
use domain::index::Space;
use domain::machine::Domain;
use domain::machine::{Command, KeyedCommand};
use domain::rail::Service;
use domain::refusal::{CheckoutRefusal, CopPaymentRefusal, PaymentRefusal, Refusal};
use domain::resources::banks::sends_otp;
use domain::resources::checkout::{Attempts, InPesos, Status};
use domain::resources::cop_payments::collect::NewCopPayment;
use domain::resources::payments::c2p;
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::resources::{cop_payments, crypto, payments};
use domain::values::address::Network;
use domain::values::card::Card;
use domain::values::colombia::{Buyer, Channel};
use domain::values::ids::{EntityId, Id, is_live};
use domain::values::money::{Cop, Rate, Usdt};
use domain::values::time::Timestamp;
use domain::values::token::Token;
use std::sync::Arc;

pub async fn open(services: &Services, tenant_key: u64, new: Session) -> CommandReply<Domain> {
    let (id, command) = (EntityId::session(new.id), Box::new(new));
    services.engine.ask_entity(tenant_key, id, true, command.into(), None, None).await
}

type Step = Box<Settled<Domain>>;

impl Visit<'_> {
    pub async fn request(&self, debtor: Debtor) -> Result<Step, Problem> {
        self.limits.message(self.client, &self.session, Phone::Venezuelan(debtor.phone))?;
        let (held, attempts) = self.begin_attempt(Way::C2p).await?;
        let rate = self.market().bcv_rate().ok_or_else(|| problem(&Refusal::RateUnavailable))?;
        let price = Price::Usd(self.session.amount);
        let figured = price.at(rate).map_err(|refusal| problem(&refusal))?;
        let mut new = c2p::NewIntent {
            id: self.services.fresh_id(self.tenant()),
            external_ref: self.session.name(),
            price,
            figured,
            debtor,
            bank_sends_otp: sends_otp(debtor.bank),
            is_known: attempts.bolivares.is_some(),
            checkout: Some(Box::new(self.session.sale())),
        };
        otp::before_intent(self.services, self.tenant(), &mut new, attempts.bolivares.as_ref()).await?;
        let (id, is_new) = attempts.bolivares.map_or((new.id, true), |newest| (newest.id, false));
        let ask = payments::Command::RequestC2p(Box::new(new));
        self.ask(EntityId::payment(id), is_new, ask, [Some(Box::new(held)), None]).await
    }

    pub async fn pay(&self, intent: Id, debtor: Option<Debtor>, token: Token) -> Result<Step, Problem> {
        let known = match self.attempt(intent)? {
            Some(Tried::Payment(payment)) => payment.debtor().copied(),
            _ => None,
        };
        let known = known.ok_or_else(Problem::not_found)?;
        match self.status {
            Status::Paid(paid) if paid != intent => {
                return Err(problem(&CheckoutRefusal::SessionPaid.into()));
            }
            Status::Expired => return Err(problem(&CheckoutRefusal::SessionExpired.into())),
            Status::Open | Status::Processing | Status::Paid(_) => {}
        }
        let token_mark =
            self.services.keys.mark(&[b"c2p token", intent.as_bytes(), token.reveal().as_bytes()]);
        let execute = c2p::Execute {
            external_ref: self.session.name(),
            price: Price::Usd(self.session.amount),
            debtor: debtor.unwrap_or(known),
            token,
            token_mark,
            marketplace: self.session.bought.as_ref().and_then(|bought| bought.marketplace),
        };
        let ask = payments::Command::ExecuteC2p(Box::new(execute));
        let settled = self.ask(EntityId::payment(intent), false, ask, [None, None]).await?;
        // Paid already, with another key: the buyer is told that the session is paid.
        if settled.refusal == Some(Refusal::Payments(PaymentRefusal::IntentCompleted)) {
            return Err(problem(&CheckoutRefusal::SessionPaid.into()));
        }
        accepted(settled)
    }

    /// The price in pesos at the rate of now, if they can be paid. `seen` is the total that the buyer
    /// was shown: one that rose since then is shown again first.
    fn in_pesos(&self, seen: Option<Cop>) -> Result<InPesos, Problem> {
        self.admits(Way::Cop)?;
        let market = self.market();
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
        channel: Channel,
        buyer: Option<Buyer>,
        seen: Option<Cop>,
    ) -> Result<Step, Problem> {
        let price = self.in_pesos(seen)?;
        self.limits.start(self.client, self.tenant(), self.session.id)?;
        if let Some(phone) = buyer.as_ref().and_then(|buyer| buyer.phone)
            && channel != Channel::Qr
        {
            self.limits.message(self.client, &self.session, Phone::Colombian(phone))?;
        }
        let (held, _) = self.begin_attempt(Way::Cop).await?;
        let (session, id) = (&self.session, self.services.fresh_id(self.tenant()));
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
        let ask = cop_payments::Command::Collect(Box::new(new));
        self.ask(EntityId::cop_payment(id), true, ask, [Some(Box::new(held)), None]).await
    }

    pub async fn submit_code(&self, code: Option<Token>) -> Result<Step, Problem> {
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
        let ask = cop_payments::Command::SubmitCode(code);
        accepted(self.ask(EntityId::cop_payment(payment.id), false, ask, [None, None]).await?)
    }

    /// The session's address on a network for an asset: the same whenever it is asked for.
    pub async fn address(&self, network: Network, asset: Asset) -> Result<Step, Problem> {
        let (held, attempts) = self.begin_attempt(Way::Usdt).await?;
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
            generation: 0,
        };
        let mark = |parts: &[&[u8]]| self.services.keys.mark(parts);
        let mut new = DepositAddress {
            id: self.services.fresh_id(self.tenant()),
            customer_ref: session.name(),
            network,
            asset,
            address: network.address(&account(&mark, self.shop.tenant.id, &name)),
            // The decision fills these in.
            livemode: false,
            created_at: Timestamp::EPOCH,
            till: Some(Box::new(till)),
        };
        let held_address = usdt_addresses::derive_in_live(self.services, self.tenant(), &mut new).await?;
        let (id, is_new) = attempts.usdt.map_or((new.id, true), |known| (known.id, false));
        let ask = crypto::deposits::Command::Open { new: Box::new(new), is_derived: held_address.is_some() };
        let held = [Some(Box::new((held, held_address)) as _), None];
        self.ask(EntityId::deposit_address(id), is_new, ask, held).await
    }

    /// Charges a card, no more than the quote that its buyer was shown. The id is the attempt's, whose
    /// end may be that it failed.
    pub async fn charge_card(&self, card: Arc<Card>, quote: Option<&Quote>) -> Result<(Id, Step), Problem> {
        self.takes(&card)?;
        let rate = self.market().bcv_rate();
        no_more_than(&self.session, quote, &|parts| self.services.keys.mark(parts), rate)?;
        let (held, attempts) = self.begin_attempt(Way::Card).await?;
        let means = means(&card, &|parts| self.services.keys.card_mark(parts));
        let new = self.new_charge(means, Secret::Card(card), rate, &attempts);
        let id = new.id;
        self.make_way(&attempts, &new).await?;
        let ask = payments::Command::Charge(Box::new(new));
        let settled = self.ask(EntityId::payment(id), true, ask, [Some(Box::new(held)), None]).await?;
        Ok((id, accepted(settled)?))
    }

    pub fn keep_card(&self, card: Arc<Card>) -> Result<CardToken, Problem> {
        self.takes(&card)?;
        let Means::Card { brand, last_four, mark } =
            means(&card, &|parts| self.services.keys.card_mark(parts))
        else {
            return Err(ask::defect("the means of a card are others"));
        };
        Ok(CardToken { name: self.services.cards.put(self.tenant(), card)?, brand, last_four, mark })
    }

    pub async fn verify_transfer(&self, transfer: GotTransfer) -> Result<(Id, Step), Problem> {
        self.limits.guess(self.client, self.tenant(), self.session.id)?;
        let market = self.market();
        if market.receiver.is_none() {
            return Err(not_offered());
        }
        let means = transfer.means();
        let mark = |parts: &[&[u8]]| self.services.keys.mark(parts);
        let rate = agreed_rate(self.session.id, transfer.quote.as_ref(), &mark, market.bcv_rate())?;
        let (held, attempts) = self.begin_attempt(Way::PagoMovil).await?;
        // The transfer is held, as every one is, until the bank has said whether it is there.
        let tenant = self.tenant();
        let held_transfer = transfers::hold(self.services, tenant, &means).await;
        let mut new = self.new_charge(means, Secret::None, rate, &attempts);
        new.transfer = transfers::known(self.services, tenant, &new).await?;
        new.notice_wait_ms = if is_live(tenant) { self.services.waits.notice_ms } else { 0 };
        let id = new.id;
        self.make_way(&attempts, &new).await?;
        let ask = payments::Command::Charge(Box::new(new));
        let held = [Some(Box::new(held) as _), Some(Box::new(held_transfer) as _)];
        Ok((id, accepted(self.ask(EntityId::payment(id), true, ask, held).await?)?))
    }

    /// Ends the intent that a charge takes the place of, unless that would be refused.
    async fn make_way(&self, attempts: &Attempts, new: &NewCharge) -> Result<(), Problem> {
        let Some(intent) = attempts.pending_intent() else { return Ok(()) };
        let ask = payments::Command::MakeWay(Box::new(new.without_code()));
        accepted(self.ask(EntityId::payment(intent.id), false, ask, [None, None]).await?).map(drop)
    }

    fn tenant(&self) -> u64 {
        self.shop.tenant_key
    }

    fn takes(&self, card: &Card) -> Result<(), Problem> {
        self.limits.guess(self.client, self.tenant(), self.session.id)?;
        self.admits(Way::Card)?;
        if !self.services.rails.serves(self.tenant(), Service::Card) {
            return Err(Problem::rail_not_configured(Service::Card.name()));
        }
        still_good(card.expiry, self.now)
    }

    fn new_charge(&self, means: Means, secret: Secret, rate: Option<Rate>, attempts: &Attempts) -> NewCharge {
        let (id, price) = (self.services.fresh_id(self.tenant()), Price::Usd(self.session.amount));
        NewCharge {
            rate,
            description: self.session.description.clone(),
            marketplace: self.session.bought.as_ref().and_then(|bought| bought.marketplace),
            before: attempts.bolivares.as_ref().map(Payment::before),
            checkout: Some(Box::new(self.session.sale())),
            ..NewCharge::new(id, self.session.name(), price, means, secret)
        }
    }

    fn admits(&self, way: Way) -> Result<(), Problem> {
        if !self.session.offers(way) {
            return Err(not_offered());
        }
        self.status.may_begin().map_err(|refusal| problem(&refusal))
    }

    /// The right to begin an attempt, and what was done before: nothing of it is pending any more,
    /// except an intent that makes way for another or a charge, once that is not refused.
    async fn begin_attempt(&self, way: Way) -> Result<(Held, Attempts), Problem> {
        self.services.admit(Some(self.tenant()), true)?;
        self.admits(way)?;
        let held = self
            .services
            .names
            .reservations
            .hold_name(self.tenant(), Space::Checkout, &self.session.id.to_string())
            .await;
        let attempts = self.open_attempts()?;
        if let Some(payment) = attempts.pending_cop() {
            // The outcome is read below: it may have been paid in this moment.
            let cancel = cop_payments::Command::Cancel(None);
            self.ask(EntityId::cop_payment(payment.id), false, cancel, [None, None]).await?;
        }
        if let Some(intent) = attempts.pending_intent().filter(|_| matches!(way, Way::Cop | Way::Usdt)) {
            let cancel = payments::Command::CancelIntent;
            self.ask(EntityId::payment(intent.id), false, cancel, [None, None]).await?;
        }
        let attempts = self.open_attempts()?;
        if attempts.pending_cop().is_some() {
            return Err(problem(&PaymentRefusal::ChargeInProgress.into()));
        }
        Ok((held, attempts))
    }

    fn open_attempts(&self) -> Result<Attempts, Problem> {
        let attempts = Stored::of(self.reader(), self.tenant()).session_attempts(self.session.id)?;
        attempts.standing(&self.session, self.now).may_begin().map_err(|refusal| problem(&refusal))?;
        Ok(attempts)
    }

    async fn ask(
        &self,
        id: EntityId,
        is_new: bool,
        command: impl Into<Command>,
        [until_record, until_answered]: [Option<actors::Guard>; 2],
    ) -> Result<Step, Problem> {
        self.services.admit(Some(self.tenant()), true)?;
        let (engine, command) = (&self.services.engine, KeyedCommand::from(command.into()));
        let tenant = self.tenant();
        engine.ask_entity(tenant, id, is_new, command, until_record, until_answered).await.map_err(failure)
    }
}

fn not_offered() -> Problem {
    Problem::conflict("method_not_offered", "the checkout does not offer this way to pay")
}
