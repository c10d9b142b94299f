//! Hosted checkout: a session says what is to be paid, and never changes. Whether it is paid is
//! what the payments made for it say (`docs/contract.md, 12.4, 12.5`).
//!
//! That is the whole argument for "paid once, and never forgotten": there is no second place that
//! would have to be told that a payment completed, hence no moment in which it does not know.
//! Attempts by C2P are one chain under the session's name, of which only the newest can be charged,
//! and none after one that completed. An attempt in pesos begins when the one before it is over.
//! USDT can come at any time; one entity counts what comes for a session. What comes although the
//! session is paid is a payment like any other.

use crate::decision::{Draft, Ruling, Turn};
use crate::entity::{Change, Listing, Resource};
use crate::index::{Entries, Space};
use crate::record::{Cause, Entity};
use crate::refusal::Refusal;
use crate::resources::conversions::price::with_four_decimals;
use crate::resources::cop_payments::{AMOUNT_MAX as COP_MAX, AMOUNT_MIN as COP_MIN, CopPayment};
use crate::resources::crypto::deposits::{DepositAddress, Till};
use crate::resources::payments::PaymentRefusal;
use crate::resources::payments::{Payment, Phase, Status as PaymentStatus};
use crate::values::external_ref::ExternalRef;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Rate, Usd, Ves};
use crate::values::time::{DAY_MS, Timestamp};
use rust_decimal::Decimal;

/// A session can be paid for so long.
pub const SESSION_MS: i64 = DAY_MS;

/// A way to pay that a session can offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A pull from the buyer's Venezuelan bank.
    C2p,
    /// Pesos.
    Cop,
    /// USDT.
    Usdt,
}

impl Way {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Way; 3] = [Way::C2p, Way::Cop, Way::Usdt];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Way::C2p => "c2p",
            Way::Cop => "cop",
            Way::Usdt => "usdt",
        }
    }
}

/// The ways that a session names, in its own order; none of them means every one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered(pub(crate) Vec<Way>);

impl Offered {
    /// Whether this way may be used.
    pub fn includes(&self, way: Way) -> bool {
        self.0.is_empty() || self.0.contains(&way)
    }

    /// Those that were named.
    pub fn named(&self) -> impl Iterator<Item = Way> {
        self.0.iter().copied()
    }
}

impl FromIterator<Way> for Offered {
    fn from_iter<I: IntoIterator<Item = Way>>(ways: I) -> Offered {
        Offered(ways.into_iter().collect())
    }
}

/// What was bought through a payment link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bought {
    /// The link.
    pub link: Id,
    /// How many.
    pub quantity: u16,
    /// Whether the buyer chose how many.
    pub chosen: bool,
    /// The seller and what the tenant keeps, in percent.
    pub marketplace: Option<(Id, Rate)>,
}

/// The amount that is to be paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The id.
    pub id: Id,
    /// The price.
    pub amount: Usd,
    /// For the buyer.
    pub description: Option<String>,
    /// The tenant's name for it, which need not be unique.
    pub reference: Option<String>,
    /// The address to which the buyer goes when it is paid.
    pub success_url: Option<String>,
    /// The address to which the buyer goes instead of paying.
    pub cancel_url: Option<String>,
    /// By what it may be paid.
    pub offered: Offered,
    /// A JSON object of the tenant's, as it was sent.
    pub metadata: Option<String>,
    /// The address of its page, as it was given out.
    pub url: String,
    /// What it sells, if it came from a link.
    pub bought: Option<Bought>,
    /// Test sessions cost no real money.
    pub livemode: bool,
    /// The instant at which it was made.
    pub created_at: Timestamp,
    /// The instant at which it ends.
    pub expires_at: Timestamp,
}

/// What is asked of a new session.
pub struct NewSession {
    /// The id.
    pub id: Id,
    /// The price.
    pub amount: Usd,
    /// For the buyer.
    pub description: Option<String>,
    /// The tenant's name for it.
    pub reference: Option<String>,
    /// The address to which the buyer goes when it is paid.
    pub success_url: Option<String>,
    /// The address to which the buyer goes instead of paying.
    pub cancel_url: Option<String>,
    /// By what it may be paid.
    pub offered: Offered,
    /// A JSON object of the tenant's.
    pub metadata: Option<String>,
    /// The address of its page.
    pub url: String,
    /// What it sells, if it came from a link.
    pub bought: Option<Bought>,
}

/// A refusal of a rule about sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutRefusal {
    /// The session was paid.
    SessionPaid,
    /// The session's time is over.
    SessionExpired,
}

impl CheckoutRefusal {
    /// Whether an Idempotency-Key keeps it ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            CheckoutRefusal::SessionPaid | CheckoutRefusal::SessionExpired => true,
        }
    }
}

/// A command to a session.
pub enum Command {
    /// A new one.
    Open(Box<NewSession>),
}

/// The ruling on a command.
pub fn decide(session: Option<&Session>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, session) {
        (Command::Open(new), None) => open(*new, turn),
        // A session never changes.
        (Command::Open(_), Some(_)) => Ruling::refuse(Refusal::NotFound),
    }
}

/// A new session.
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
    /// What its payments know of it.
    pub fn sale(&self) -> Sale {
        Sale {
            session: self.id,
            reference: self.reference.clone(),
            metadata: self.metadata.clone(),
            link: self.bought.as_ref().map(|bought| bought.link),
            platform_fee: None,
        }
    }

    /// The name under which its payments are found, which is also their externalRef.
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
        0
    }

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn external_ref(&self) -> Option<&str> {
        None
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::Nowhere
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.id_among_all(Space::Session);
        }
    }
}

/// What a payment knows of the session that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sale {
    /// The session.
    pub session: Id,
    /// The tenant's name for it.
    pub reference: Option<String>,
    /// A JSON object of the tenant's.
    pub metadata: Option<String>,
    /// The link that it came from: then the operator has a share.
    pub link: Option<Id>,
    /// The operator's share; set on completion.
    pub platform_fee: Option<Ves>,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can be paid.
    Open,
    /// A bank has the charge, or the processor the code, and nobody knows yet.
    Processing,
    /// It was paid, by this payment.
    Paid(Id),
    /// Its time is over.
    Expired,
}

impl Status {
    /// As the API writes it: to a tenant, a session that is being charged is still open.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Open | Status::Processing => "open",
            Status::Paid(_) => "paid",
            Status::Expired => "expired",
        }
    }

    /// The payment that paid it.
    pub const fn payment(self) -> Option<Id> {
        match self {
            Status::Paid(payment) => Some(payment),
            Status::Open | Status::Processing | Status::Expired => None,
        }
    }

    /// Whether an attempt may begin now.
    pub fn may_begin(self) -> Result<(), Refusal> {
        match self {
            Status::Open => Ok(()),
            Status::Processing => Err(PaymentRefusal::ChargeInProgress.into()),
            Status::Paid(_) => Err(CheckoutRefusal::SessionPaid.into()),
            Status::Expired => Err(CheckoutRefusal::SessionExpired.into()),
        }
    }
}

/// What was done to pay a session: by each way the newest attempt, which is the only one that can
/// have brought money. An attempt by C2P or in pesos begins when the one before it is over and has
/// not paid; and what comes in USDT, whatever the network, is counted in one place.
#[derive(Clone, Debug, Default)]
pub struct Attempts {
    /// From a bank.
    pub c2p: Option<Payment>,
    /// In pesos.
    pub cop: Option<CopPayment>,
    /// In USDT.
    pub usdt: Option<DepositAddress>,
}

impl Attempts {
    /// The payment that came first: it is the session's. Two ways that are paid at once are two
    /// payments, and both are the tenant's.
    fn paid(&self) -> Option<Id> {
        let c2p = self.c2p.as_ref().and_then(|payment| Some((payment.completed_at?, payment.id)));
        let cop = self.cop.as_ref().and_then(|payment| Some((payment.completed_at?, payment.id)));
        let usdt = self.till().and_then(|till| till.paid);
        [c2p, cop, usdt].into_iter().flatten().min().map(|(_, id)| id)
    }

    /// Where a session stands. What is at a bank or the processor when the session ends is still
    /// waited for, and money that comes later pays it all the same.
    pub fn standing(&self, session: &Session, now: Timestamp) -> Status {
        if let Some(payment) = self.paid() {
            return Status::Paid(payment);
        }
        let charging = self.c2p.as_ref().is_some_and(|payment| {
            payment.status == PaymentStatus::Pending && matches!(payment.phase, Phase::Charging { .. })
        });
        // The processor has the buyer's code, or is to call it off, and has not answered: nothing
        // else can begin before it has.
        let telling = self
            .pending_cop()
            .and_then(|payment| payment.phase.waiting())
            .is_some_and(|waiting| waiting.telling.is_some());
        match charging || telling {
            true => Status::Processing,
            false if now >= session.expires_at => Status::Expired,
            false => Status::Open,
        }
    }

    /// The attempt in pesos that waits for the buyer.
    pub fn pending_cop(&self) -> Option<&CopPayment> {
        self.cop.as_ref().filter(|payment| payment.status == PaymentStatus::Pending)
    }

    /// The intent that waits for its key.
    pub fn pending_intent(&self) -> Option<&Payment> {
        self.c2p.as_ref().filter(|payment| payment.status == PaymentStatus::Pending)
    }

    /// What has come in USDT.
    pub fn till(&self) -> Option<&Till> {
        self.usdt.as_ref().and_then(|address| address.till.as_deref())
    }
}

/// What a checkout adds to the market's rate of pesos (`docs/contract.md, 12.7`).
const COP_MARGIN: Decimal = Decimal::from_parts(1_025, 0, 0, false, 3);

/// A price in pesos.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPesos {
    /// What the market asks for a dollar.
    pub market_rate: Rate,
    /// What the buyer pays for one.
    pub rate: Rate,
    /// The amount that the buyer pays.
    pub total: Cop,
}

impl InPesos {
    /// What `usd` come to: the market's rate and the margin, to four decimals, and the total
    /// rounded up to whole pesos. `None` when it does not fit.
    pub fn of(usd: Usd, market_rate: Rate) -> Option<InPesos> {
        let rate = Rate(with_four_decimals(market_rate.0.checked_mul(COP_MARGIN)?));
        let total = Cop::ceiled(usd.decimal().checked_mul(rate.0)?)?;
        (total <= COP_MAX).then_some(InPesos { market_rate, rate, total })
    }

    /// Whether it is less than can be collected.
    pub fn is_too_little(&self) -> bool {
        self.total < COP_MIN
    }
}

#[cfg(test)]
mod tests;
