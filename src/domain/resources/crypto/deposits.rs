//! Deposit addresses, one per customer, network and asset, and the deposits to them: credited 1:1
//! in USDT and held for 24 hours (`docs/contract.md, 10.4`). All addresses of a checkout session
//! are one entity with a [`Till`], which alone counts what comes to any of them.

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::deposit_address::{Asset, Deposit, DepositAddress, LogEntry, Till, TillAddress};
use crate::entities::means::Means;
use crate::entities::payment::{Marketplace, Payment, Status};
use crate::events::{BalanceReason, EventKind, Extra};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::ledger::{Ledger, MovementKind, Row};
use crate::rail::Service;
use crate::refusal::{CryptoRefusal, MerchantRefusal, Refusal};
use crate::resources::collections::sale::{HOLD_MS, seller_available_at};
use crate::resources::payments::charge::Figured;
use crate::values::address::{Network, canonical};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Rate, Usd, Usdt, Ves};
use crate::values::time::{SECOND_MS, Timestamp};
use rust_decimal::Decimal;
use sha2::{Digest, Sha256};

pub enum Command {
    /// A request for an address; the entity is that of the same customer, network and asset, if known.
    Open {
        /// That of a checkout session has no deposits yet.
        new: Box<DepositAddress>,
        /// Whether it derives from the seed of a network that is served, as those of live mode have to.
        is_derived: bool,
    },
    Receive(Box<Incoming>),
}

pub fn decide(book: &Book, address: Option<&DepositAddress>, command: Command, turn: &Turn<'_>) -> Ruled {
    let is_there =
        |address: &&DepositAddress| address.till.as_ref().is_none_or(|till| till.generation == book.begun_at);
    let address = address.filter(is_there);
    match (command, address) {
        (Command::Open { new, is_derived }, None) => open(book, *new, is_derived, turn),
        (Command::Open { new, is_derived }, Some(known)) => open_again(book, known, *new, is_derived, turn),
        (Command::Receive(incoming), Some(address)) => receive(book, address, *incoming, turn),
        (Command::Receive(_), None) => Err(Refusal::NotFound),
    }
}

fn open(book: &Book, new: DepositAddress, is_derived: bool, turn: &Turn) -> Ruled {
    can_open(book, &new, is_derived, turn)?;
    let till = new.till.map(|till| Box::new(Till { generation: book.begun_at, ..*till }));
    let made = DepositAddress { livemode: turn.livemode, created_at: turn.now, till, ..new };
    Ok(Ruling::write(Draft::created(Cause::DepositAddressMade, made)))
}

/// The ruling on a repeated request: a known address stays, and a checkout session gets one more
/// address on each network that its buyer chooses.
fn open_again(
    book: &Book,
    known: &DepositAddress,
    new: DepositAddress,
    is_derived: bool,
    turn: &Turn,
) -> Ruled {
    let Some(till) = known.till.as_deref().filter(|_| known.address_for(new.network, new.asset).is_none())
    else {
        return Ok(Ruling::unchanged());
    };
    can_open(book, &new, is_derived, turn)?;
    let mut till = till.clone();
    till.more.push(TillAddress { network: new.network, asset: new.asset, address: new.address });
    let more = DepositAddress { till: Some(Box::new(till)), ..known.clone() };
    Ok(Ruling::write(Draft::changed(Cause::DepositAddressMade, known, more)))
}

/// Checks whether an address may be made. Refusals are in the order of `docs/contract.md, 1.12`.
fn can_open(book: &Book, new: &DepositAddress, is_derived: bool, turn: &Turn) -> Result<(), Refusal> {
    let marketplace = new.till.as_ref().and_then(|till| till.marketplace);
    if sellers::is_unknown(book, marketplace) {
        return Err(Refusal::NotFound);
    }
    if !book.tenant_settings.settings.usdt_enabled {
        return Err(CryptoRefusal::NotEnabled.into());
    }
    if sellers::is_inactive(book, marketplace) {
        return Err(MerchantRefusal::Inactive.into());
    }
    // An address that derives from no seed is nobody's: what came to it would be lost.
    if turn.livemode && !is_derived {
        return Err(CryptoRefusal::NetworkNotConfigured.into());
    }
    turn.terms(Service::Usdt(new.network), None)
        .may_queue()
        .map_err(|_| CryptoRefusal::NetworkNotConfigured.into())
}

pub struct Incoming {
    pub id: Id,
    pub address: String,
    pub amount: Usdt,
    pub network: Network,
    pub asset: Asset,
    pub tx_hash: String,
    pub entry: Option<LogEntry>,
}

/// Credits a deposit. Money that came is not refused, even when USDT were switched off meanwhile; a
/// deposit is refused only when its network or asset is not the address's.
fn receive(book: &Book, to: &DepositAddress, incoming: Incoming, turn: &Turn) -> Ruled {
    let place = to.places().find(|place| canonical(place.2) == incoming.address);
    let (network, asset, address) = place.ok_or(Refusal::NotFound)?;
    for (field, differs) in [("network", network != incoming.network), ("asset", asset != incoming.asset)] {
        if differs {
            return Err(Refusal::Invalid { field, message: "must be the address's own" });
        }
    }
    let available_at = turn.now.plus_ms(HOLD_MS);
    let share = to
        .till
        .as_ref()
        .and_then(|till| till.marketplace)
        .and_then(|sale| share(book, sale, incoming.amount, turn));
    let counted = to.till.as_deref().map(|till| counted(to, till, &incoming, share, turn));
    let (till, payment) = counted.map_or((None, None), |(till, payment)| (Some(till), payment));
    let about =
        payment.as_ref().map_or(EntityId::deposit_address(to.id), |payment| EntityId::payment(payment.id));
    let mut draft = Draft::new(Cause::CryptoDeposited);
    credit(&mut draft, to, about, &incoming, share, available_at);
    if let Some(till) = till {
        draft.change(to, DepositAddress { till: Some(Box::new(till)), ..to.clone() });
    }
    let place = DepositAddress { network, asset, address: address.to_owned(), till: None, ..to.clone() };
    let deposit = Deposit {
        id: incoming.id,
        to: place,
        amount: incoming.amount,
        tx_hash: incoming.tx_hash,
        entry: incoming.entry,
        available_at,
    };
    let subject = Some(EntityId::deposit_address(to.id));
    draft.event_with(EventKind::CryptoDepositCompleted, subject, Extra::Deposit(deposit));
    if let Some(payment) = payment {
        draft.event(EventKind::PaymentCompleted, EntityId::payment(payment.id));
        draft.create(payment);
    }
    if let Some(DepositShare { merchant, amount, .. }) = share {
        sellers::tell(&mut draft, book, merchant, Currency::Usdt, amount.minor(), BalanceReason::Sale);
    }
    Ok(Ruling::write(draft))
}

/// Posts a deposit to the tenant and the seller's share of it to the seller, each held until its
/// instant.
fn credit(
    draft: &mut Draft,
    to: &DepositAddress,
    about: EntityId,
    incoming: &Incoming,
    share: Option<DepositShare>,
    available_at: Timestamp,
) {
    let (currency, minor) = (Currency::Usdt, incoming.amount.minor());
    let row = |kind, words: &str, available_at| {
        let (external_ref, available_at) = (Some(to.customer_ref.clone()), Some(available_at));
        Some(Row { external_ref, available_at, ..Row::new(kind, about, words) })
    };
    let words = format!("{} deposit over {}", incoming.asset.name(), incoming.network.name());
    let received = row(MovementKind::Deposit, &words, available_at);
    draft.post((currency, minor), (Ledger::Tenant, received), (Ledger::Rail, None));
    let mut own = minor;
    if let Some(DepositShare { merchant, amount, available_at: at }) = share {
        let (seller, share, kind) = (Ledger::Seller(merchant), amount.minor(), MovementKind::SellerTransfer);
        let of_tenant = row(kind, "seller's share of the deposit", available_at);
        let theirs = row(kind, "share of the deposit", at);
        draft.post((currency, -share), (Ledger::Tenant, of_tenant), (seller, theirs));
        draft.hold((seller, currency), at, incoming.id, share);
        own -= share;
    }
    draft.hold((Ledger::Tenant, currency), available_at, incoming.id, own);
}

#[derive(Clone, Copy)]
struct DepositShare {
    merchant: Id,
    amount: Usdt,
    available_at: Timestamp,
}

/// The seller's share of a deposit: the tenant keeps its percentage, rounded half up to the cent.
/// `None` when nothing is left for the seller, or the seller was deleted meanwhile.
fn share(book: &Book, (merchant, percent): (Id, Rate), amount: Usdt, turn: &Turn) -> Option<DepositShare> {
    let commission = Usdt::rounded(percent.percent_of(amount.decimal())?)?;
    let amount = amount.minus(commission).filter(|amount| *amount > Usdt::ZERO)?;
    book.sellers.contains_key(&merchant).then(|| DepositShare {
        merchant,
        amount,
        available_at: seller_available_at(book, turn),
    })
}

/// The till after a deposit, and the payment that the deposit makes: one for the session once
/// enough has come, and one for each deposit after that. A payment has the id of the deposit that
/// made it.
fn counted(
    to: &DepositAddress,
    till: &Till,
    incoming: &Incoming,
    share: Option<DepositShare>,
    turn: &Turn,
) -> (Till, Option<Payment>) {
    let shared = share.map_or(Usdt::ZERO, |share| share.amount);
    // The sums fit, as the whole balance has room for the deposit.
    let received = till.received.plus(incoming.amount).unwrap_or(till.received);
    let seller_received = till.seller_received.plus(shared).unwrap_or(till.seller_received);
    let enough = received.minor() >= till.amount.minor();
    let counted = match till.paid {
        None if !enough => None,
        None => Some((till.amount, received, seller_received)),
        Some(_) => Some((Usd::from_minor(incoming.amount.minor()), incoming.amount, shared)),
    };
    let payment = counted.map(|(usd, amount, seller_net)| {
        let means = Means::Usdt {
            amount,
            seller_net: till.marketplace.map(|_| seller_net),
            tx_hash: incoming.tx_hash.clone(),
        };
        let price = Figured { usd, ves: Ves::ZERO, rate: Rate(Decimal::ZERO) };
        let seller_available_at = share.map(|share| share.available_at);
        let marketplace = till
            .marketplace
            .map(|sale| Box::new(Marketplace { seller_available_at, ..*Marketplace::begun(sale) }));
        Payment {
            status: Status::Completed,
            completed_at: Some(turn.now),
            available_at: Some(turn.now.plus_ms(HOLD_MS)),
            checkout: Some(Box::new(till.sale.clone())),
            marketplace,
            ..Payment::new(incoming.id, to.customer_ref.clone(), means, price, turn)
        }
    });
    let paid = till.paid.or(payment.as_ref().map(|payment| (turn.now, payment.id)));
    (Till { received, seller_received, paid, ..till.clone() }, payment)
}

/// The id of a deposit on a chain. `made_at` is the instant of its block, in seconds since 1970.
pub fn deposit_id(chain_id: u64, transaction: &[u8; 32], log_index: u64, made_at: u64) -> Id {
    let named = [&chain_id.to_be_bytes(), transaction.as_slice(), &log_index.to_be_bytes()].concat();
    let hash: [u8; 32] = Sha256::digest(&named).into();
    let part = |at: usize| hash.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; 8]);
    let made_at_ms = i64::try_from(made_at).unwrap_or(0).saturating_mul(SECOND_MS);
    let [.., high, low] = part(8);
    Id::derived(made_at_ms, u64::from_be_bytes(part(0)), u16::from_be_bytes([high, low]))
}

#[cfg(test)]
mod tests;
