//! Hosted checkout: a session says what is to be paid, and never changes. Whether it is paid is what the payments made for it say (`service.md`, "Hosted checkout"; `contract.md`,
//! sections 12 and 18, "Checkout").
//!
//! That is the whole argument for "paid once, and never forgotten": there is no second place that would have to be told that a payment completed, hence no moment in which it does not
//! know. Attempts by C2P are one chain under the session's name, of which only the newest can be charged, and none after one that completed.

use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::external_ref::ExternalRef;
use crate::domain::ids::Id;
use crate::domain::money::{Rate, Usd, Ves};
use crate::domain::payments::{Payment, Phase, Status as PaymentStatus};
use crate::domain::record::{Cause, Entity};
use crate::domain::refusal::Refusal;
use crate::domain::time::{DAY_MS, Timestamp};
use bincode::{Decode, Encode};

/// A session can be paid for so long.
pub const SESSION_MS: i64 = DAY_MS;

/// A way to pay that a session can offer. The number is its bit in [`Offered`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// A pull from the buyer's Venezuelan bank.
    C2p = 1,
    /// Pesos.
    Cop = 2,
    /// USDT.
    Usdt = 4,
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

/// The ways that a session names; none of them means every one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Offered(u8);

impl Offered {
    /// Whether this way may be used.
    pub const fn includes(self, way: Way) -> bool {
        self.0 == 0 || self.0 & way as u8 != 0
    }

    /// Those that were named.
    pub fn named(self) -> impl Iterator<Item = Way> {
        Way::ALL.into_iter().filter(move |way| self.0 & *way as u8 != 0)
    }
}

impl FromIterator<Way> for Offered {
    fn from_iter<I: IntoIterator<Item = Way>>(ways: I) -> Offered {
        Offered(ways.into_iter().fold(0, |bits, way| bits | way as u8))
    }
}

/// What was bought through a payment link.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
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

/// What is to be paid.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Session {
    /// Its name.
    pub id: Id,
    /// The price.
    pub amount: Usd,
    /// For the buyer.
    pub description: Option<String>,
    /// The tenant's name for it, which need not be unique.
    pub reference: Option<String>,
    /// Where the buyer goes when it is paid.
    pub success_url: Option<String>,
    /// Where the buyer goes instead of paying.
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
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// What is asked of a new session.
pub struct NewSession {
    /// Its name.
    pub id: Id,
    /// The price.
    pub amount: Usd,
    /// For the buyer.
    pub description: Option<String>,
    /// The tenant's name for it.
    pub reference: Option<String>,
    /// Where the buyer goes when it is paid.
    pub success_url: Option<String>,
    /// Where the buyer goes instead of paying.
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

/// A new session.
pub fn open(new: NewSession, turn: &Turn) -> Outcome {
    let NewSession { id, amount, description, reference, success_url, cancel_url, offered, metadata, url, bought } = new;
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
    Outcome::write(draft)
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

/// What a payment knows of the session that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
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
    /// A bank has the charge, and nobody knows yet.
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
    pub const fn may_begin(self) -> Result<(), Refusal> {
        match self {
            Status::Open => Ok(()),
            Status::Processing => Err(Refusal::ChargeInProgress),
            Status::Paid(_) => Err(Refusal::SessionPaid),
            Status::Expired => Err(Refusal::SessionExpired),
        }
    }
}

/// Where a session stands, given the newest attempt to pay it by C2P, and the first payments that came by other ways. The payment that came first is the session's. A charge that is at the
/// bank when the session ends is still waited for.
pub fn standing(session: &Session, newest: Option<&Payment>, others: impl IntoIterator<Item = (Id, Timestamp)>, now: Timestamp) -> Status {
    let by_bank = newest.and_then(|payment| Some((payment.id, payment.completed_at?)));
    if let Some((first, _)) = by_bank.into_iter().chain(others).min_by_key(|(id, at)| (*at, *id)) {
        return Status::Paid(first);
    }
    match newest.map(|payment| (payment.status, &payment.phase)) {
        Some((PaymentStatus::Pending, Phase::Charging { .. })) => Status::Processing,
        _ if now >= session.expires_at => Status::Expired,
        _ => Status::Open,
    }
}
