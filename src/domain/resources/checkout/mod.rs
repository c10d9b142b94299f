//! Hosted checkout: a session says what is to be paid, and never changes. The payments made for it
//! show whether it is paid (`docs/contract.md, 12.4, 12.5`).
//!
//! No other place stores that a session is paid, so none can miss the completion of a payment: a
//! session is paid once, and stays paid. Attempts in bolívares (C2P, card, Pago Móvil) are one chain
//! under the session's name, of which only the newest can be charged, and none after one that
//! completed. An attempt in pesos
//! begins when the one before it is over. USDT can come at any time; one entity counts the deposits
//! of a session. Money that comes although the session is paid is a payment like any other.
//!
//! Sessions, and the attempts that they allow, belong here. The rules of a payment do not: they
//! are those of its resource. Pages and their words are in `src/checkout/`.

use crate::codec::stored;
use crate::decision::{Draft, Ruling, Turn};
use crate::entity::{Change, Listing, Resource};
use crate::index::{Entries, Space, Trait, time_bytes};
use crate::ledger::book::Book;
use crate::record::{Cause, Entity};
use crate::refusal::{CheckoutRefusal, PaymentRefusal, Refusal};
use crate::resources::conversions::price::with_four_decimals;
use crate::resources::cop_payments::{AMOUNT_MAX as COP_MAX, AMOUNT_MIN as COP_MIN, CopPayment};
use crate::resources::crypto::deposits::{DepositAddress, Till};
use crate::resources::payments::{Payment, Phase, Status as PaymentStatus};
use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Rate, Usd, Ves};
use crate::values::time::{DAY_MS, Timestamp};
use rust_decimal::Decimal;

/// The facet of all sessions: what becomes of one is not in it.
pub const FACET: u8 = 0;

/// The time for which a session can be paid, in milliseconds.
pub const SESSION_MS: i64 = DAY_MS;

stored! {
    /// A way to pay that a session can offer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Way {
        /// A C2P charge at the buyer's Venezuelan bank.
        0 C2p,
        1 Cop,
        2 Usdt,
        3 Card,
        /// A Pago Móvil transfer that the buyer made to the shop, and names by its reference.
        4 PagoMovil,
    }
}

impl Way {
    /// All ways, in the order in which they are shown.
    pub const ALL: [Way; 5] = [Way::C2p, Way::PagoMovil, Way::Card, Way::Cop, Way::Usdt];

    pub const fn name(self) -> &'static str {
        match self {
            Way::C2p => "c2p",
            Way::Cop => "cop",
            Way::Usdt => "usdt",
            Way::Card => "card",
            Way::PagoMovil => "pago_movil",
        }
    }

    /// The place among all ways, as they are shown.
    pub fn place(self) -> usize {
        Way::ALL.iter().position(|way| *way == self).unwrap_or(Way::ALL.len())
    }
}

stored! {
    /// The ways to pay that a session names, in its own order; an empty list means every way.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Offered(pub(crate) Vec<Way>);
}

impl Offered {
    pub fn includes(&self, way: Way) -> bool {
        self.0.is_empty() || self.0.contains(&way)
    }

    pub fn named(&self) -> impl Iterator<Item = Way> {
        self.0.iter().copied()
    }
}

impl FromIterator<Way> for Offered {
    fn from_iter<I: IntoIterator<Item = Way>>(ways: I) -> Offered {
        Offered(ways.into_iter().collect())
    }
}

stored! {
    /// The item that was bought through a payment link.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Bought {
        0 pub link: Id,
        1 pub quantity: u16,
        2 pub chosen: bool,
        /// The seller, and the percentage that the tenant keeps.
        3 pub marketplace: Option<(Id, Rate)>,
    }

    /// A checkout session: an amount to be paid, and how.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Session {
        0 pub id: Id,
        1 pub amount: Usd,
        2 pub description: Option<String>,
        /// The tenant's reference, which need not be unique.
        3 pub reference: Option<String>,
        /// The address to which the buyer goes when it is paid.
        4 pub success_url: Option<String>,
        /// The address to which the buyer goes instead of paying.
        5 pub cancel_url: Option<String>,
        6 pub offered: Offered,
        /// A JSON object of the tenant's, as it was sent.
        7 pub metadata: Option<String>,
        /// The address of the session's page, as it was given out.
        8 pub url: String,
        /// The item that it sells, if it came from a payment link.
        9 pub bought: Option<Bought>,
        /// Whether real money is paid; a test session costs none.
        10 pub livemode: bool,
        11 pub created_at: Timestamp,
        12 pub expires_at: Timestamp,
    }
}

pub struct NewSession {
    pub id: Id,
    pub amount: Usd,
    pub description: Option<String>,
    pub reference: Option<String>,
    /// The address to which the buyer goes when it is paid.
    pub success_url: Option<String>,
    /// The address to which the buyer goes instead of paying.
    pub cancel_url: Option<String>,
    pub offered: Offered,
    pub metadata: Option<String>,
    pub url: String,
    /// The item that it sells, if it came from a payment link.
    pub bought: Option<Bought>,
}

pub enum Command {
    Open(Box<NewSession>),
}

pub fn decide(_: &Book, session: Option<&Session>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, session) {
        (Command::Open(new), None) => open(*new, turn),
        // A session never changes.
        (Command::Open(_), Some(_)) => Ruling::refuse(Refusal::NotFound),
    }
}

pub fn open(new: NewSession, turn: &Turn) -> Ruling {
    let NewSession {
        id,
        amount,
        description,
        reference,
        success_url,
        cancel_url,
        offered,
        metadata,
        url,
        bought,
    } = new;
    let mut draft = Draft::new(Cause::SessionOpened);
    draft.create(Entity::Session(Session {
        id,
        amount,
        description,
        reference,
        success_url,
        cancel_url,
        offered,
        metadata,
        url,
        bought,
        livemode: turn.livemode,
        created_at: turn.now,
        expires_at: turn.now.plus_ms(SESSION_MS),
    }));
    Ruling::write(draft)
}

impl Session {
    /// The part of the session that its payments store.
    pub fn sale(&self) -> Sale {
        Sale {
            session: self.id,
            reference: self.reference.clone(),
            metadata: self.metadata.clone(),
            link: self.bought.as_ref().map(|bought| bought.link),
            platform_fee: None,
        }
    }

    /// The name under which its payments are found, which is also their `externalRef`.
    pub fn name(&self) -> ExternalRef {
        match ExternalRef::parse(&self.id.to_string()) {
            Ok(name) => name,
            Err(_) => unreachable!("an id has 36 plain characters"),
        }
    }
}

impl Resource for Session {
    fn entity_id(&self) -> EntityId {
        EntityId::session(self.id)
    }

    fn facet(&self) -> u8 {
        FACET
    }

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn external_ref(&self) -> Option<&str> {
        None
    }

    fn listing(&self, _facet: u8) -> Listing {
        // The id says nothing of the time.
        Listing::After(time_bytes(self.created_at).to_vec())
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.id_among_all(Space::Session);
            entries.maybe_found_by(Trait::Reference, self.reference.as_deref());
        }
    }
}

stored! {
    /// The part of a session that a payment for it stores.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Sale {
        0 pub session: Id,
        1 pub reference: Option<String>,
        2 pub metadata: Option<String>,
        /// The payment link that the session came from; with one, the operator has a share.
        3 pub link: Option<Id>,
        /// The operator's share; set on completion.
        4 pub platform_fee: Option<Ves>,
    }
}

/// The status of a session, derived from its attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    /// A bank has the charge, or the processor the code, and its outcome is open.
    Processing,
    /// The session was paid, by the payment with this id.
    Paid(Id),
    Expired,
}

impl Status {
    /// The name in the API: for a tenant, a session that is being charged is still open.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Open | Status::Processing => "open",
            Status::Paid(_) => "paid",
            Status::Expired => "expired",
        }
    }

    /// The payment by which the session was paid.
    pub const fn payment(self) -> Option<Id> {
        match self {
            Status::Paid(payment) => Some(payment),
            Status::Open | Status::Processing | Status::Expired => None,
        }
    }

    /// Checks whether an attempt may begin now.
    pub fn may_begin(self) -> Result<(), Refusal> {
        match self {
            Status::Open => Ok(()),
            Status::Processing => Err(PaymentRefusal::ChargeInProgress.into()),
            Status::Paid(_) => Err(CheckoutRefusal::SessionPaid.into()),
            Status::Expired => Err(CheckoutRefusal::SessionExpired.into()),
        }
    }
}

/// The attempts to pay a session: the newest in each currency, as only that one can have brought
/// money. An attempt in bolívares or in pesos begins when the one before it is over and has not paid;
/// deposits in USDT, whatever the network, are counted in one place.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// The newest attempt in bolívares: by C2P, card or Pago Móvil.
    pub bolivares: Option<Payment>,
    pub cop: Option<CopPayment>,
    pub usdt: Option<DepositAddress>,
}

impl Attempts {
    /// The payment that completed first, which is the one of the session. When two ways are paid at
    /// once, both payments are the tenant's.
    fn paid(&self) -> Option<Id> {
        let bolivares = self.bolivares.as_ref().and_then(|payment| Some((payment.completed_at?, payment.id)));
        let cop = self.cop.as_ref().and_then(|payment| Some((payment.completed_at?, payment.id)));
        let usdt = self.till().and_then(|till| till.paid);
        [bolivares, cop, usdt].into_iter().flatten().min().map(|(_, id)| id)
    }

    /// The status of a session. A charge that is at a bank or the processor when the session
    /// expires is still waited for, and money that comes later pays the session all the same.
    pub fn standing(&self, session: &Session, now: Timestamp) -> Status {
        if let Some(payment) = self.paid() {
            return Status::Paid(payment);
        }
        let charging = self.bolivares.as_ref().is_some_and(|payment| {
            payment.status == PaymentStatus::Pending && matches!(payment.phase, Phase::Charging { .. })
        });
        // The processor has the buyer's code, or an order to cancel, and has not answered: nothing
        // else can begin before it has.
        let telling = self
            .pending_cop()
            .and_then(|payment| payment.phase.waiting())
            .is_some_and(|waiting| waiting.telling.is_some());
        // A live processor lets nothing expire: what is there may still be paid.
        let at_live =
            now >= session.expires_at && self.pending_cop().is_some_and(|payment| payment.live.is_some());
        match charging || telling || at_live {
            true => Status::Processing,
            false if now >= session.expires_at => Status::Expired,
            false => Status::Open,
        }
    }

    pub fn pending_cop(&self) -> Option<&CopPayment> {
        self.cop.as_ref().filter(|payment| payment.status == PaymentStatus::Pending)
    }

    /// The pending attempt in bolívares: an intent, unless a bank works on it.
    pub fn pending_intent(&self) -> Option<&Payment> {
        self.bolivares.as_ref().filter(|payment| payment.status == PaymentStatus::Pending)
    }

    /// The attempt that began last, by a bank or in pesos.
    pub fn newest(&self) -> Option<Id> {
        let bolivares = self.bolivares.as_ref().map(|payment| (payment.created_at, payment.id));
        let cop = self.cop.as_ref().map(|payment| (payment.created_at, payment.id));
        bolivares.max(cop).map(|(_, id)| id)
    }

    pub fn till(&self) -> Option<&Till> {
        self.usdt.as_ref().and_then(|address| address.till.as_deref())
    }
}

/// The factor on the market rate of pesos in a checkout (`docs/contract.md, 12.7`).
const COP_MARGIN: Decimal = Decimal::from_parts(1_025, 0, 0, false, 3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPesos {
    pub market_rate: Rate,
    /// The price of a dollar for the buyer, in pesos.
    pub rate: Rate,
    pub total: Cop,
}

impl InPesos {
    /// The price of `usd` in pesos: the market rate with the margin, rounded to four decimals, and
    /// the total rounded up to whole pesos. `None` if the total exceeds what can be collected, or a
    /// figure overflows.
    pub fn of(usd: Usd, market_rate: Rate) -> Option<InPesos> {
        let rate = Rate(with_four_decimals(market_rate.0.checked_mul(COP_MARGIN)?));
        let total = Cop::ceiled(usd.decimal().checked_mul(rate.0)?)?;
        (total <= COP_MAX).then_some(InPesos { market_rate, rate, total })
    }

    /// Whether the total is less than can be collected.
    pub fn is_too_little(&self) -> bool {
        self.total < COP_MIN
    }
}

#[cfg(test)]
mod tests;
