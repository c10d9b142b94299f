//! A visit to a checkout session: whose it is, where it stands, and by what it can be paid now.

use crate::checkout::limits::Limits;
use crate::gateway::keys::ServerKeys;
use crate::gateway::services::{Pass, Services};
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use crate::network::Client;
use crate::store::history::{self, Stored, Unreadable};
use api::checkout::bolivares::{Quote, show_receiver};
use api::checkout::sessions::secret;
use api::checkout::{Attempt, Market, Offer, offers};
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::cop_payment::CopPayment;
use domain::entities::payment::{Payment, Phase, Status as PaymentStatus};
use domain::entities::session::{Session, Way};
use domain::index::{self, Space};
use domain::platform::Tenant;
use domain::platform::settings::{LiveStatus, Receiver};
use domain::rail::Service;
use domain::resources::checkout::{Attempts, Status};
use domain::values::ids::{EntityId, Id, Mode, is_live};
use domain::values::money::{Currency, Usdt};
use domain::values::time::Timestamp;
use domain::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use std::pin::Pin;
use std::sync::Arc;

pub type Handler = for<'a> fn(Call<'a>) -> Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send + 'a>>;

macro_rules! run {
    ($call:ident => $answer:expr) => {
        |$call| Box::pin(async move { $answer })
    };
    ($answer:path) => {
        |call| Box::pin($answer(call))
    };
}

pub(super) use run;

pub struct Call<'a> {
    pub services: &'a Services,
    pub limits: &'a Limits,
    pub arrival: &'a Arrival,
    pub named: &'a str,
    /// Nobody has read it yet.
    pub body: &'a mut Inbound,
}

impl<'a> Call<'a> {
    pub fn client(&self) -> Client {
        self.limits.client(self.arrival)
    }

    pub fn query(&self) -> Option<&str> {
        self.arrival.head.uri.query()
    }

    /// The session that a page is asked for. Whoever knows its id may see it, so nobody may guess for ever.
    pub async fn visit(&self) -> Result<Visit<'a>, Problem> {
        let client = self.client();
        let found = match Id::parse(self.named) {
            Some(id) => self.find(id).await,
            None => Ok(None),
        };
        self.limits.looked(client, found)
    }

    /// Reads a session and its state. Call it after the body is there, which may take long.
    pub async fn begin(&self, id: Id) -> Result<Visit<'a>, Problem> {
        self.find(id).await?.ok_or_else(Problem::not_found)
    }

    pub async fn find(&self, id: Id) -> Result<Option<Visit<'a>>, Problem> {
        let (services, limits, client) = (self.services, self.limits, self.client());
        let reader = services.engine.reader();
        let Some(shop) = shop_of(services, id)? else { return Ok(None) };
        let tenant_key = shop.tenant_key;
        let _pass = services.names.pass(tenant_key).await;
        let Some(found) = history::entity(reader, tenant_key, EntityId::session(id))? else {
            return Ok(None);
        };
        let Entity::Session(session) = &*found else { return Ok(None) };
        let now = services.clock(tenant_key).await?;
        let attempts = Stored::of(reader, tenant_key).session_attempts(id)?;
        let (status, session) = (attempts.standing(session, now), session.clone());
        Ok(Some(Visit { services, limits, client, shop, session, status, attempts, now, _pass }))
    }
}

pub struct Shop {
    pub tenant_key: u64,
    pub tenant: Arc<Tenant>,
}

impl Shop {
    /// The shop of a tenant key; `None` when its live mode is not open to buyers.
    pub fn of(services: &Services, tenant_key: u64) -> Result<Option<Shop>, Problem> {
        let number = u32::try_from(tenant_key / 2).unwrap_or(u32::MAX);
        let Some(tenant) = services.callers.directory.tenant_numbered(number) else { return Ok(None) };
        if tenant.tenant_settings.moved_to.is_some() {
            return Err(Problem::tenant_moved());
        }
        if tenant.tenant_settings.moving_to.is_some() {
            return Err(Problem::tenant_moving());
        }
        if services.callers.elsewhere(&tenant).is_some() {
            return Err(Problem::no_leader());
        }
        let open = !is_live(tenant_key) || tenant.tenant_settings.live_status == LiveStatus::Active;
        Ok(open.then_some(Shop { tenant_key, tenant }))
    }

    /// The account to which buyers send a Pago Móvil: in test mode there always is one, as nothing is
    /// sent there.
    fn receiver(&self) -> Option<Receiver> {
        let own = self.tenant.tenant_settings.settings.shop.pago_movil;
        own.or_else(|| if is_live(self.tenant_key) { None } else { simulated_receiver() })
    }

    pub fn name(&self) -> &str {
        self.tenant.tenant_settings.settings.shop.name.as_deref().unwrap_or(&self.tenant.name)
    }

    pub fn market(&self, services: &Services) -> Market {
        let (now, settings) = (services.now(), &self.tenant.tenant_settings.settings);
        let mode = Mode::of(self.tenant_key);
        Market {
            bcv: services.prices.bcv(mode, now),
            cop_rate: services.prices.market.rate(Currency::Cop, mode, now),
            cop_enabled: settings.cop_enabled,
            usdt_enabled: settings.usdt_enabled,
            has_c2p: services.rails.serves(self.tenant_key, Service::C2p),
            has_card: services.rails.serves(self.tenant_key, Service::Card),
            has_transfers: services.rails.serves(self.tenant_key, Service::PagoMovil),
            receiver: self.receiver(),
            has_cop: services.rails.serves(self.tenant_key, Service::Cop),
            has_usdt: !services.rails.usdt_networks(self.tenant_key).is_empty(),
        }
    }
}

fn simulated_receiver() -> Option<Receiver> {
    Some(Receiver {
        bank: BankCode::parse("0102").ok()?,
        phone: MobilePhone::parse("04140000000").ok()?,
        id: IdentityDocument::parse("J000000000").ok()?,
    })
}

pub struct Visit<'a> {
    pub services: &'a Services,
    pub limits: &'a Limits,
    pub client: Client,
    pub shop: Shop,
    pub session: Session,
    pub status: Status,
    pub attempts: Attempts,
    pub now: Timestamp,
    /// While the visit lasts, the test data of the shop does not begin anew.
    _pass: Option<Pass>,
}

pub fn secret_of(keys: &ServerKeys, session: Id) -> [u8; 16] {
    secret(&|parts| keys.mark(parts), session)
}

/// The shop of a session; `None` when there is none that a buyer may see. It costs one look into
/// the index, or two: cheap enough to come before anything else.
pub fn shop_of(services: &Services, session: Id) -> Result<Option<Shop>, Problem> {
    let reader = services.engine.reader();
    let Some(tenant_key) = history::owner(reader, Space::Session, session)? else { return Ok(None) };
    // It went with the rest of its shop's test data.
    let entity = index::entity(tenant_key, EntityId::session(session));
    if reader.index_get(&entity).map_err(Unreadable::from)?.is_none() {
        return Ok(None);
    }
    Shop::of(services, tenant_key)
}

impl Visit<'_> {
    pub fn market(&self) -> Market {
        self.shop.market(self.services)
    }

    pub fn reader(&self) -> &wal::Reader {
        self.services.engine.reader()
    }

    /// The ways to pay it that are shown. The total in pesos is the one that the buyer began to
    /// pay, as long as that attempt lasts.
    pub fn offers(&self) -> Vec<Offer> {
        let session = &self.session;
        let chooses = session.bought.as_ref().is_some_and(|bought| bought.chosen);
        let mut offers = offers(
            session.amount,
            chooses,
            |way| session.offers(way),
            &self.market(),
            &self.services.banks.now(),
        );
        if let Some(begun) = self.attempts.pending_cop() {
            offers.retain(|offer| offer.way != Way::Cop);
            let at = offers
                .iter()
                .position(|offer| offer.way as usize > Way::Cop as usize)
                .unwrap_or(offers.len());
            offers.insert(at, Offer { way: Way::Cop, reason: None, ves: None, cop: Some(begun.amount) });
        }
        offers
    }

    pub fn takes_token(&self) -> bool {
        let offers_card = || self.offers().iter().any(|offer| offer.way == Way::Card);
        self.status.may_begin().is_ok() && offers_card()
    }

    pub fn receiver(&self) -> Option<Vec<u8>> {
        let market = self.market();
        let offered = self.session.offers(Way::PagoMovil) && market.has_transfers;
        let (receiver, rate) = (market.receiver.filter(|_| offered)?, market.bcv_rate()?);
        let banks = self.services.banks.now();
        let bank = banks.get(receiver.bank).map_or("", |bank| &bank.name);
        Some(show_receiver(&self.session, &receiver, bank, rate, &|parts| self.services.keys.mark(parts)))
    }

    pub fn quote(&self) -> Option<Quote> {
        let rate = self.market().bcv_rate()?;
        Some(Quote::of(&|parts| self.services.keys.mark(parts), self.session.id, rate))
    }

    pub fn received(&self) -> Usdt {
        self.attempts.till().map_or(Usdt::ZERO, |till| till.received)
    }

    /// The USDT that came beside the payment of the session, of which so many are that payment.
    pub fn beside(&self, paid: Usdt) -> Option<Usdt> {
        Some(self.received().minus(paid)?).filter(|rest| *rest > Usdt::ZERO)
    }

    pub fn is_over(&self) -> Result<bool, Problem> {
        let Some(payment) = self.attempts.pending_cop() else { return Ok(true) };
        let now = history::entity(self.reader(), self.shop.tenant_key, EntityId::cop_payment(payment.id))?;
        Ok(match now.as_deref() {
            Some(Entity::CopPayment(payment)) => payment.status != PaymentStatus::Pending,
            _ => true,
        })
    }

    pub fn paid(&self) -> Result<Option<(Id, Arc<Entity>)>, Problem> {
        let Some(id) = self.status.payment() else { return Ok(None) };
        for whose in [EntityId::payment(id), EntityId::cop_payment(id)] {
            if let Some(found) = history::entity(self.reader(), self.shop.tenant_key, whose)? {
                return Ok(Some((id, found)));
            }
        }
        Ok(None)
    }

    pub fn waiting_intent(&self, id: Id) -> Option<&Payment> {
        let waits = |payment: &&Payment| payment.id == id && payment.phase == Phase::Idle;
        self.attempts.pending_intent().filter(waits)
    }

    pub fn attempt(&self, id: Id) -> Result<Option<Tried>, Problem> {
        for whose in [EntityId::payment(id), EntityId::cop_payment(id)] {
            let tried = match history::entity(self.reader(), self.shop.tenant_key, whose)?.as_deref() {
                Some(Entity::Payment(payment)) => {
                    payment.checkout.as_ref().map(|sale| (sale.session, Tried::Payment(payment.clone())))
                }
                Some(Entity::CopPayment(payment)) => payment
                    .checkout
                    .as_ref()
                    .map(|checkout| (checkout.sale.session, Tried::Pesos(payment.clone()))),
                _ => None,
            };
            if let Some((_, tried)) = tried.filter(|(session, _)| *session == self.session.id) {
                return Ok(Some(tried));
            }
        }
        Ok(None)
    }
}

pub enum Tried {
    Payment(Payment),
    Pesos(CopPayment),
}

impl Tried {
    pub fn is_returned(&self) -> bool {
        let status = match self {
            Tried::Payment(payment) => payment.status,
            Tried::Pesos(payment) => payment.status,
        };
        status == PaymentStatus::Reversed
    }

    pub fn in_usdt(&self) -> Usdt {
        match self {
            Tried::Payment(payment) => payment.means.in_usdt(),
            Tried::Pesos(_) => Usdt::ZERO,
        }
    }

    pub fn failure_code(&self) -> Option<&str> {
        self.shown().failure_code
    }

    pub fn shown(&self) -> Attempt<'_> {
        match self {
            Tried::Payment(payment) => Attempt::of(payment),
            Tried::Pesos(payment) => Attempt::in_pesos(payment),
        }
    }
}
