//! Deposit addresses, one per customer, network and asset, and what comes in through them: credited 1:1 in USDT and held for 24 hours (`contract.md`, section 10).

use super::address::Network;
use crate::domain::book::Book;
use crate::domain::checkout::Sale;
use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::events::{EventKind, Extra};
use crate::domain::external_ref::ExternalRef;
use crate::domain::ids::{EntityId, Id};
use crate::domain::ledger::{HoldChange, Ledger, MovementKind, Posting, Row};
use crate::domain::money::{Currency, Rate, Usd, Usdt, Ves};
use crate::domain::payments::charge::Figured;
use crate::domain::payments::sale::HOLD_MS;
use crate::domain::payments::{Means, Payment, Status};
use crate::domain::record::{Cause, Entity};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};
use rust_decimal::Decimal;

/// A stablecoin that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Asset {
    /// Tether.
    Usdt,
    /// USD Coin, which is credited as USDT.
    Usdc,
}

impl Asset {
    /// All of them, as the API writes them.
    pub const NAMES: [(&'static str, Asset); 2] = [("USDT", Asset::Usdt), ("USDC", Asset::Usdc)];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        Asset::NAMES[self as usize].0
    }
}

/// Where a customer of the tenant pays.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct DepositAddress {
    /// Its name.
    pub id: Id,
    /// The customer, in the tenant's words.
    pub customer_ref: ExternalRef,
    /// The network.
    pub network: Network,
    /// The asset.
    pub asset: Asset,
    /// The address.
    pub address: String,
    /// Nothing real comes to a test address.
    pub livemode: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// The checkout session that it was made for.
    pub checkout: Option<Box<ForSession>>,
}

impl DepositAddress {
    /// The name under which the same customer, network and asset find it again.
    pub fn name(network: Network, asset: Asset, customer_ref: &ExternalRef) -> String {
        format!("{} {} {customer_ref}", network.name(), asset.name())
    }

    /// The name under which a session's network and asset find it again: the session comes first, so all of its addresses are found together.
    pub fn name_in_session(&self) -> String {
        DepositAddress::session_name(&self.customer_ref, Some((self.network, self.asset)))
    }

    /// That name, or what all names of a session's addresses begin with.
    pub fn session_name(session: &ExternalRef, which: Option<(Network, Asset)>) -> String {
        match which {
            Some((network, asset)) => format!("{session} {} {}", network.name(), asset.name()),
            None => format!("{session} "),
        }
    }
}

/// What an address knows of the checkout session that it was made for, and what came of it. The address decides when it has been paid: what comes to it is counted here alone.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ForSession {
    /// The session.
    pub sale: Sale,
    /// What is to come: a USDT is a dollar.
    pub amount: Usd,
    /// What has come.
    pub received: Usdt,
    /// The first payment that it came to, and when.
    pub paid: Option<(Id, Timestamp)>,
}

/// What is asked.
pub struct NewDepositAddress {
    /// Its name.
    pub id: Id,
    /// The customer.
    pub customer_ref: ExternalRef,
    /// The network.
    pub network: Network,
    /// The asset.
    pub asset: Asset,
    /// The address that it gets.
    pub address: String,
    /// The checkout session that it is for.
    pub checkout: Option<Box<ForSession>>,
}

/// An address that nobody had before.
pub fn open(book: &Book, new: NewDepositAddress, turn: &Turn) -> Outcome {
    if !book.sheet.settings.usdt_enabled {
        return Outcome::refuse(Refusal::UsdtNotEnabled);
    }
    if !turn.has_rail {
        return Outcome::refuse(Refusal::NetworkNotConfigured);
    }
    let NewDepositAddress { id, customer_ref, network, asset, address, checkout } = new;
    let made = DepositAddress { id, customer_ref, network, asset, address, livemode: turn.livemode, created_at: turn.now, checkout };
    let mut draft = Draft::new(Cause::DepositAddressMade);
    draft.create(Entity::DepositAddress(made));
    Outcome::write(draft)
}

/// Something that comes to an address.
pub struct Incoming {
    /// The deposit's name.
    pub id: Id,
    /// How much.
    pub amount: Usdt,
    /// Over which network.
    pub network: Network,
    /// In what.
    pub asset: Asset,
    /// The network's name for the transfer.
    pub tx_hash: String,
}

/// A deposit, as it is told: it has no state to change, so it is no entity.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Deposit {
    /// Its name, under which it is held.
    pub id: Id,
    /// To where it came.
    pub to: DepositAddress,
    /// How much.
    pub amount: Usdt,
    /// The network's name for the transfer.
    pub tx_hash: String,
    /// When it may be spent.
    pub available_at: Timestamp,
}

/// Credits what came to an address. Money that comes is never refused, also when USDT was switched off meanwhile; only what cannot have come is.
pub fn receive(book: &Book, to: &DepositAddress, incoming: Incoming, turn: &Turn) -> Outcome {
    for (field, differs) in [("network", to.network != incoming.network), ("asset", to.asset != incoming.asset)] {
        if differs {
            return Outcome::refuse(Refusal::Invalid { field, message: "must be the address's own" });
        }
    }
    let (currency, minor) = (Currency::Usdt, incoming.amount.minor());
    if !book.has_room_for(currency, minor) {
        return Outcome::refuse(Refusal::AmountOverflow);
    }
    let available_at = turn.now.plus_ms(HOLD_MS);
    let changed = to.checkout.as_deref().map(|checkout| counted(to, checkout, &incoming, available_at, turn));
    let paid = changed.as_ref().and_then(|(_, payment)| payment.as_ref()).map(|payment| EntityId::payment(payment.id));
    let row = Row {
        kind: MovementKind::Deposit,
        subject: Some(paid.unwrap_or(EntityId::deposit_address(to.id))),
        chargeback: None,
        external_ref: Some(to.customer_ref.clone()),
        description: format!("{} deposit over {}", to.asset.name(), to.network.name()),
        available_at: Some(available_at),
    };
    let mut draft = Draft::new(Cause::CryptoDeposited);
    draft.post(Posting { ledger: Ledger::Tenant, currency, minor, row: Some(Box::new(row)) });
    draft.post(Posting { ledger: Ledger::Rail, currency, minor: -minor, row: None });
    draft.hold(HoldChange { ledger: Ledger::Tenant, currency, release_at: available_at, hold: incoming.id, minor });
    let deposit = Deposit { id: incoming.id, to: to.clone(), amount: incoming.amount, tx_hash: incoming.tx_hash, available_at };
    draft.event_with(EventKind::CryptoDepositCompleted, Some(EntityId::deposit_address(to.id)), Extra::Deposit(deposit));
    if let Some((changed, payment)) = changed {
        draft.change(to, Entity::DepositAddress(changed));
        if let Some(payment) = payment {
            draft.event(EventKind::PaymentCompleted, EntityId::payment(payment.id));
            draft.create(Entity::Payment(payment));
        }
    }
    Outcome::write(draft)
}

/// The address of a session after what came, and the payment that it makes: one for the session once enough has come, and one of its own for whatever comes later. A payment has the id of
/// the deposit that made it.
fn counted(to: &DepositAddress, checkout: &ForSession, incoming: &Incoming, available_at: Timestamp, turn: &Turn) -> (DepositAddress, Option<Payment>) {
    let received = checkout.received.plus(incoming.amount).unwrap_or(checkout.received);
    let enough = received.minor() >= checkout.amount.minor();
    let (usd, usdt) = match checkout.paid {
        None if !enough => (None, received),
        None => (Some(checkout.amount), received),
        Some(_) => (Some(Usd::from_minor(incoming.amount.minor())), incoming.amount),
    };
    let payment = usd.map(|usd| {
        let means = Means::Usdt { amount: usdt, tx_hash: incoming.tx_hash.clone() };
        let price = Figured { usd, ves: Ves::ZERO, rate: Rate(Decimal::ZERO) };
        Payment {
            status: Status::Completed,
            completed_at: Some(turn.now),
            available_at: Some(available_at),
            checkout: Some(Box::new(checkout.sale.clone())),
            ..Payment::new(incoming.id, to.customer_ref.clone(), means, price, turn)
        }
    });
    let paid = checkout.paid.or(payment.as_ref().map(|payment| (payment.id, turn.now)));
    let checkout = ForSession { received, paid, ..checkout.clone() };
    (DepositAddress { checkout: Some(Box::new(checkout)), ..to.clone() }, payment)
}
