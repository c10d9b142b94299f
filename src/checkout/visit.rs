//! A visit to a checkout session: whose it is, where it stands, and the two steps by which it is paid from a Venezuelan bank. The page's forms and the page's calls are two ways to the
//! same functions.

use crate::api::checkout::{Market, Offer, offers};
use crate::api::problem::Problem;
use crate::api::refusals::problem;
use crate::api::sessions::secret;
use crate::domain::banks::sends_otp;
use crate::domain::checkout::{Session, Status, Way, standing};
use crate::domain::ids::{EntityId, Id};
use crate::domain::index::{self, Space};
use crate::domain::machine::{Ask, Domain};
use crate::domain::payments::charge::Price;
use crate::domain::payments::{Debtor, Payment, c2p};
use crate::domain::platform::{PLATFORM, Tenant, is_live};
use crate::domain::record::Entity;
use crate::domain::refusal::Refusal;
use crate::domain::settings::LiveStatus;
use crate::domain::time::Timestamp;
use crate::domain::token::Token;
use crate::domain::view::{Query, View};
use crate::server::dispatch::failure;
use crate::server::history::{self, Unreadable};
use crate::server::services::{Services, fresh_id};
use actors::Settled;
use std::sync::Arc;

/// A tenant in a mode, as a buyer comes to it.
pub struct Shop {
    /// The tenant in the mode.
    pub tenant_key: u64,
    /// The tenant.
    pub tenant: Arc<Tenant>,
}

impl Shop {
    /// Whose key this is; `None` when its live mode is not open to buyers.
    pub fn of(services: &Services, tenant_key: u64) -> Option<Shop> {
        let tenant = services.directory.tenant_numbered(u32::try_from(tenant_key / 2).ok()?)?;
        let open = !is_live(tenant_key) || tenant.sheet.live_status == LiveStatus::Active;
        open.then_some(Shop { tenant_key, tenant })
    }

    /// What can be offered now.
    pub fn market(&self, services: &Services) -> Market {
        Market {
            bcv_rate: services.board.bcv_in_force(services.now()).map(|sample| sample.price),
            has_rail: !is_live(self.tenant_key) || services.engine.machine().live_rails,
        }
    }
}

/// A session, as it stands now.
pub struct Visit {
    /// Whose it is.
    pub shop: Shop,
    /// What is to be paid.
    pub session: Session,
    /// Where it stands.
    pub status: Status,
    /// The newest attempt to pay it by C2P.
    pub newest: Option<Payment>,
    /// The tenant's clock.
    pub now: Timestamp,
}

/// The random part of a session's client secret.
pub fn secret_of(services: &Services, session: Id) -> [u8; 16] {
    secret(&|parts| services.mark(parts), session)
}

impl Visit {
    /// The session with this id; `None` when there is none that a buyer may see.
    pub async fn begin(services: &Services, id: Id) -> Result<Option<Visit>, Problem> {
        let reader = services.engine.reader();
        let Some(value) = reader.index_get(&index::name(PLATFORM, Space::Session, &id.to_string())).map_err(Unreadable::from)? else { return Ok(None) };
        let tenant_key = u64::from_be_bytes(value.as_slice().try_into().map_err(|_| Unreadable("a session of no tenant".to_owned()))?);
        let Some(shop) = Shop::of(services, tenant_key) else { return Ok(None) };
        let Some(found) = history::entity(reader, tenant_key, EntityId::session(id))? else { return Ok(None) };
        let Entity::Session(session) = &*found else { return Ok(None) };
        let View::Clock(now) = services.engine.view(tenant_key, Query::Clock).await.map_err(failure)? else { return Err(Problem::internal_error()) };
        let newest = history::newest_attempt(reader, tenant_key, id)?;
        let deposits = history::session_addresses(reader, tenant_key, session)?;
        let status = standing(session, newest.as_ref(), history::paid_deposits(&deposits), now);
        Ok(Some(Visit { shop, session: session.clone(), status, newest, now }))
    }

    /// The ways to pay it that are shown.
    pub fn offers(&self, services: &Services) -> Vec<Offer> {
        offers(self.session.amount, |way| self.session.offered.includes(way), &self.shop.market(services), &services.banks.now())
    }

    /// Asks for an intent. A pending one is superseded: there is one attempt at a time.
    pub async fn request(&self, services: &Services, debtor: Debtor) -> Result<Settled<Domain>, Problem> {
        if !self.session.offered.includes(Way::C2p) {
            return Err(Problem::conflict("method_not_offered", "the checkout does not offer this way to pay"));
        }
        let tenant = self.shop.tenant_key;
        let name = self.session.id.to_string();
        let held = services.desk.hold_name(tenant, Space::Checkout, &name).await;
        let newest = history::newest_attempt(services.engine.reader(), tenant, self.session.id)?;
        let deposits = history::session_addresses(services.engine.reader(), tenant, &self.session)?;
        standing(&self.session, newest.as_ref(), history::paid_deposits(&deposits), self.now).may_begin().map_err(|refusal| problem(&refusal))?;
        let rate = self.shop.market(services).bcv_rate.ok_or_else(|| problem(&Refusal::RateUnavailable))?;
        let usd = self.session.amount;
        let ves = Price::Usd(usd).at(rate).map_err(|refusal| problem(&refusal))?.ves;
        let new = c2p::NewIntent {
            id: fresh_id(),
            external_ref: self.session.name(),
            usd,
            rate,
            ves,
            debtor,
            bank_sends_otp: sends_otp(debtor.bank),
            checkout: Some(Box::new(self.session.sale())),
        };
        let (id, is_new) = newest.map_or((new.id, true), |newest| (newest.id, false));
        let ask = Ask::RequestC2p(Box::new(new)).into();
        services.engine.ask_entity(tenant, EntityId::payment(id), is_new, ask, Some(Box::new(held)), None).await.map_err(failure)
    }

    /// Executes an intent of this session with the buyer's key. Without a debtor it is the one of the intent.
    pub async fn pay(&self, services: &Services, intent: Id, debtor: Option<Debtor>, token: Token) -> Result<Settled<Domain>, Problem> {
        let tenant = self.shop.tenant_key;
        let found = history::entity(services.engine.reader(), tenant, EntityId::payment(intent))?.ok_or_else(Problem::not_found)?;
        let known = match &*found {
            Entity::Payment(payment) if payment.checkout.as_ref().is_some_and(|sale| sale.session == self.session.id) => payment.debtor().copied(),
            _ => None,
        }
        .ok_or_else(Problem::not_found)?;
        match self.status {
            Status::Paid(paid) if paid != intent => return Err(problem(&Refusal::SessionPaid)),
            Status::Expired => return Err(problem(&Refusal::SessionExpired)),
            Status::Open | Status::Processing | Status::Paid(_) => {}
        }
        let token_mark = services.mark(&[b"c2p token", intent.as_bytes(), token.reveal().as_bytes()]);
        let execute = c2p::Execute {
            external_ref: self.session.name(),
            usd: self.session.amount,
            debtor: debtor.unwrap_or(known),
            token,
            token_mark,
            marketplace: self.session.bought.as_ref().and_then(|bought| bought.marketplace),
        };
        let ask = Ask::ExecuteC2p(Box::new(execute)).into();
        let settled = services.engine.ask_entity(tenant, EntityId::payment(intent), false, ask, None, None).await.map_err(failure)?;
        match &settled.refusal {
            // With another key: the session is paid, and that is what a buyer is told.
            Some(Refusal::IntentCompleted) => Err(problem(&Refusal::SessionPaid)),
            Some(refusal) => Err(problem(refusal)),
            None => Ok(settled),
        }
    }
}
