//! Deposit addresses, one per customer, network and asset, and what comes in through them: credited 1:1 in USDT and held for 24 hours (`contract.md`, section 10).

use super::address::Network;
use crate::domain::book::Book;
use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::events::{EventKind, Extra};
use crate::domain::external_ref::ExternalRef;
use crate::domain::ids::{EntityId, Id};
use crate::domain::ledger::{HoldChange, Ledger, MovementKind, Posting, Row};
use crate::domain::money::{Currency, Usdt};
use crate::domain::payments::sale::HOLD_MS;
use crate::domain::record::{Cause, Entity};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};

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
}

impl DepositAddress {
    /// The name under which the same customer, network and asset find it again.
    pub fn name(network: Network, asset: Asset, customer_ref: &ExternalRef) -> String {
        format!("{} {} {customer_ref}", network.name(), asset.name())
    }
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
}

/// An address that nobody had before.
pub fn open(book: &Book, new: NewDepositAddress, turn: &Turn) -> Outcome {
    if !book.sheet.settings.usdt_enabled {
        return Outcome::refuse(Refusal::UsdtNotEnabled);
    }
    if !turn.has_rail {
        return Outcome::refuse(Refusal::NetworkNotConfigured);
    }
    let NewDepositAddress { id, customer_ref, network, asset, address } = new;
    let made = DepositAddress { id, customer_ref, network, asset, address, livemode: turn.livemode, created_at: turn.now };
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
    let row = Row {
        kind: MovementKind::Deposit,
        subject: Some(EntityId::deposit_address(to.id)),
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
    Outcome::write(draft)
}
