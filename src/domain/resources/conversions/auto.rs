//! Conversions that the gateway makes by itself: a percentage of what a peso payment brings
//! (`docs/contract.md, 9.9`). The record of the payment
//! creates one that waits; the rate is asked for after that, so it is tried again every minute, for
//! 24 hours, until there is one. Whatever else stands in the way ends it, and the pesos stay pesos.

use super::price::Amount;
use super::spend::Taken;
use super::{Conversion, Source, Stage, begin, priced, within_limit};
use crate::decision::{Draft, Ruling, Turn};
use crate::ledger::book::Book;
use crate::rail::{Effect, How, Order};
use crate::record::{Cause, Entity};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Rate};
use crate::values::time::{HOUR_MS, MINUTE_MS, Timestamp};
use rust_decimal::Decimal;

/// Between two tries.
pub const RETRY_MS: i64 = MINUTE_MS;
/// How long it is tried.
pub const PATIENCE_MS: i64 = 24 * HOUR_MS;
/// The operation that asks for the rate.
const PRICE: u16 = 1;

/// What waits for a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What is to be converted: fixed when the payment completed.
    pub share: Cop,
    /// When the payment's hold ends, of which it is taken.
    pub release_at: Timestamp,
    /// The instant at which it is tried next.
    pub next_try: Timestamp,
    /// From then on it is not tried any more.
    pub until: Timestamp,
}

/// A peso payment that completes.
pub struct Completed<'a> {
    /// Which.
    pub payment: Id,
    /// Its reference, which the conversion carries.
    pub reference: Option<&'a str>,
    /// What it brings the tenant: held under the payment's id, in the same record.
    pub net: Cop,
    /// The instant at which that hold ends.
    pub release_at: Timestamp,
}

/// Adds to the record of a payment's completion the conversion of the tenant's share of it, if
/// there is one, and says what is to be asked for it. The effect belongs to the record's effects:
/// it is the first try.
pub fn arrange(book: &Book, draft: &mut Draft, of: &Completed<'_>, turn: &Turn) -> Option<Effect> {
    let settings = &book.tenant_settings.settings;
    let share = share(of.net, settings.conversions.auto_cop_percent).filter(|share| *share > Cop::ZERO)?;
    if !Source::Cop.is_enabled(settings) {
        return None;
    }
    let waiting = Waiting {
        share,
        release_at: of.release_at,
        next_try: turn.now.plus_ms(RETRY_MS),
        until: turn.now.plus_ms(PATIENCE_MS),
    };
    let conversion = Conversion {
        // The rows of the record have ids of the seed itself.
        id: Id::derived(turn.now.unix_ms(), !turn.seed, 0),
        source: Source::Cop,
        stage: Stage::Waiting(waiting),
        reference: of.reference.map(str::to_owned),
        payment: Some(of.payment),
        livemode: turn.livemode,
        created_at: turn.now,
    };
    let effect = ask(&conversion, turn);
    draft.create(Entity::Conversion(conversion));
    Some(effect)
}

/// So many percent, half up to the whole peso.
fn share(net: Cop, percent: u8) -> Option<Cop> {
    Cop::rounded(Rate(Decimal::from(percent)).percent_of(net.decimal())?)
}

fn ask(conversion: &Conversion, turn: &Turn) -> Effect {
    let order = Order::PriceUsdt { currency: Currency::Cop };
    Effect {
        entity: EntityId::conversion(conversion.id),
        operation: conversion.id.operation(PRICE),
        rail_id: None,
        at: turn.now,
        how: How::Ask,
        order,
    }
}

/// The time for another try, or for none.
pub fn deadline(conversion: &Conversion, turn: &Turn) -> Ruling {
    let Stage::Waiting(waiting) = conversion.stage else { return Ruling::unchanged() };
    if turn.now < waiting.next_try {
        return Ruling::unchanged();
    }
    if turn.now >= waiting.until {
        return Ruling::write(dropped(conversion));
    }
    let next_try = turn.now.plus_ms(RETRY_MS).min(waiting.until);
    let later = Conversion { stage: Stage::Waiting(Waiting { next_try, ..waiting }), ..conversion.clone() };
    let effect = ask(&later, turn);
    let mut draft = Draft::new(Cause::ConversionTried);
    draft.change(conversion, Entity::Conversion(later));
    Ruling::write_then(draft, vec![effect])
}

/// What the market asks for a USDT, if anybody knows.
pub fn on_rail_reply(book: &Book, conversion: &Conversion, market: Option<Rate>, turn: &Turn) -> Ruling {
    let (Stage::Waiting(waiting), Some(market)) = (&conversion.stage, market) else {
        return Ruling::unchanged();
    };
    Ruling::write(made(book, conversion, waiting, market, turn).unwrap_or_else(|| dropped(conversion)))
}

/// The conversion, unless a rule or the money stands in the way.
fn made(book: &Book, conversion: &Conversion, waiting: &Waiting, market: Rate, turn: &Turn) -> Option<Draft> {
    let price = priced(
        &book.tenant_settings.settings,
        Source::Cop,
        Amount::Source(waiting.share.minor()),
        Some(market),
    )
    .ok()?;
    within_limit(book, Source::Cop, &price, turn).ok()?;
    let (account, hold) = (book.account(Currency::Cop), conversion.payment?);
    // A refund or another conversion may have taken the payment's pesos meanwhile.
    if account.free() < 0 || account.held_for(waiting.release_at, hold) < price.source_minor {
        return None;
    }
    let taken = vec![Taken { release_at: waiting.release_at, hold, minor: price.source_minor }];
    Some(begin(book, conversion, price, taken, conversion.reference.clone(), turn))
}

fn dropped(conversion: &Conversion) -> Draft {
    let mut draft = Draft::new(Cause::ConversionDropped);
    draft.change(conversion, Entity::Conversion(Conversion { stage: Stage::Dropped, ..conversion.clone() }));
    draft
}

/// Whether it still waits for a rate.
pub const fn is_waiting(conversion: &Conversion) -> bool {
    matches!(conversion.stage, Stage::Waiting(_))
}
