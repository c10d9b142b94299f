//! Automatic conversions: a percentage of what a peso payment brings (`docs/contract.md, 9.9`). The
//! record of the payment creates a conversion that waits; its rate is asked for afterwards, every
//! minute for up to 24 hours. Any other obstacle ends the conversion, and the pesos stay pesos.

use super::price::Amount;
use super::{begin, priced, within_limit};
use crate::cause::Cause;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entities::conversion::{Conversion, Source, Stage, Waiting};
use crate::entities::sale::Part;
use crate::ledger::book::Book;
use crate::ledger::spending::Drawn;
use crate::rail::{Effect, How, Order};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency, Rate};
use crate::values::time::{HOUR_MS, MINUTE_MS, Timestamp};
use rust_decimal::Decimal;

/// The time between two tries, in milliseconds.
pub const RETRY_MS: i64 = MINUTE_MS;
/// The time for which a conversion is tried, in milliseconds.
pub const PATIENCE_MS: i64 = 24 * HOUR_MS;
/// The number of the operation that asks for the rate.
const PRICE: u16 = 1;

/// A peso payment that completes, as far as its conversion is concerned.
pub struct Completed<'a> {
    pub payment: Id,
    /// The reference of the payment, which the conversion carries.
    pub reference: Option<&'a str>,
    /// The pesos that the tenant gets, held under the payment's id in the same record.
    pub net: Cop,
    pub release_at: Timestamp,
}

/// Adds the conversion of the tenant's percentage to the record of a payment's completion, if there
/// is one. The effect that is returned asks for the rate, as the first try, and belongs to that
/// record.
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
    draft.create(conversion);
    Some(effect)
}

/// The percentage of `net`, rounded half up to the whole peso.
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

impl Rules for Conversion {
    /// Another try, or the end of the tries.
    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        let Stage::Waiting(waiting) = self.stage else { return Ruling::unchanged() };
        if turn.now < waiting.next_try {
            return Ruling::unchanged();
        }
        if turn.now >= waiting.until {
            return Ruling::write(dropped(self));
        }
        let next_try = turn.now.plus_ms(RETRY_MS).min(waiting.until);
        let later = Conversion { stage: Stage::Waiting(Waiting { next_try, ..waiting }), ..self.clone() };
        let effect = ask(&later, turn);
        Ruling::write_then(Draft::changed(Cause::ConversionTried, self, later), vec![effect])
    }

    /// A quote is accepted soon or never; what was accepted then waits for hours.
    fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Quoted { .. })
    }

    /// A payment's record asks for the price of its conversion.
    fn wants(&self, _: &Order) -> bool {
        matches!(self.stage, Stage::Waiting(_))
    }
}

/// The ruling on the market price of a USDT; `None` if no source knows it.
pub fn on_market(book: &Book, conversion: &Conversion, market: Option<Rate>, turn: &Turn) -> Ruling {
    let (Stage::Waiting(waiting), Some(market)) = (&conversion.stage, market) else {
        return Ruling::unchanged();
    };
    Ruling::write(made(book, conversion, waiting, market, turn).unwrap_or_else(|| dropped(conversion)))
}

/// The record of the conversion; `None` if a rule or the balance does not allow it.
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
    let taken = vec![Part { release_at: waiting.release_at, hold, minor: price.source_minor }];
    Some(begin(book, conversion, price, (taken, Drawn::NONE), conversion.reference.clone(), turn))
}

fn dropped(conversion: &Conversion) -> Draft {
    let dropped = Conversion { stage: Stage::Dropped, ..conversion.clone() };
    Draft::changed(Cause::ConversionDropped, conversion, dropped)
}
