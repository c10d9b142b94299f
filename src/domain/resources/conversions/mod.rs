//! Conversions of bolívares and pesos to USDT (`docs/contract.md, 9`). A quote and the conversion
//! that it becomes are one entity, so accepting is one record about one entity, and nobody can
//! accept a quote twice. An automatic conversion ([`auto`]) begins as one that waits for a rate. The
//! market's prices come in with a command: their sources do not belong here (`src/rates/`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::conversion::{Accepted, Conversion, End, Price, Source, Stage};
use crate::entities::sale::Part;
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::spending::Drawn;
use crate::ledger::{HOLDS_MAX, Ledger, MovementKind, Row};
use crate::platform::settings::Settings;
use crate::refusal::{ConversionRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Rate};
use crate::values::time::SECOND_MS;
use price::Amount;

pub mod auto;
pub mod price;

/// The time for which a quote can be accepted, in milliseconds (`docs/contract.md, 9.2`).
pub const QUOTE_MS: i64 = 60 * SECOND_MS;
/// The beginning of references that make a conversion wait in test mode (`docs/contract.md, 4.5`).
const WAITS: &str = "test_pending";

impl Source {
    /// Whether it may be converted: conversions from it, USDT and, for pesos, pesos are switched
    /// on.
    fn is_enabled(self, settings: &Settings) -> bool {
        settings.usdt_enabled
            && *settings.conversions.enabled.of(self)
            && (self != Source::Cop || settings.cop_enabled)
    }
}

pub struct NewQuote {
    pub id: Id,
    pub source: Source,
    pub amount: Amount,
    /// The market price of a USDT; `None` if no source knows it.
    pub market: Option<Rate>,
}

/// Makes a quote. It reserves nothing, and has no event.
fn quote(book: &Book, new: NewQuote, turn: &Turn) -> Ruled {
    let price = priced(&book.tenant_settings.settings, new.source, new.amount, new.market)?;
    let quote = Conversion {
        id: new.id,
        source: new.source,
        stage: Stage::Quoted { price, expires_at: turn.now.plus_ms(QUOTE_MS) },
        reference: None,
        payment: None,
        livemode: turn.livemode,
        created_at: turn.now,
    };
    Ok(Ruling::write(Draft::created(Cause::ConversionQuoted, quote)))
}

/// The price by the settings in force; a refusal if there is none.
fn priced(
    settings: &Settings,
    source: Source,
    amount: Amount,
    market: Option<Rate>,
) -> Result<Price, Refusal> {
    if !source.is_enabled(settings) {
        return Err(ConversionRefusal::NotEnabled.into());
    }
    let market = market.ok_or(ConversionRefusal::MarketRateUnavailable)?;
    let spread = *settings.conversions.spread_percent.of(source);
    let price = Price::of(source, amount, market, spread).ok_or(ConversionRefusal::InvalidAmount)?;
    not_too_little(settings, &price)?;
    Ok(price)
}

fn not_too_little(settings: &Settings, price: &Price) -> Result<(), Refusal> {
    let minimum = settings.conversions.minimum;
    if price.target < minimum || price.target.is_zero() {
        Err(ConversionRefusal::BelowMinimum { minimum }.into())
    } else {
        Ok(())
    }
}

/// Accepts a quote: its source is debited at once. Refusals are in the order of `docs/contract.md, 1.12`.
fn accept(book: &Book, conversion: &Conversion, reference: Option<String>, turn: &Turn) -> Ruled {
    let settings = &book.tenant_settings.settings;
    let price = match &conversion.stage {
        Stage::Quoted { expires_at, .. } if turn.now >= *expires_at => {
            return Err(ConversionRefusal::QuoteExpired.into());
        }
        Stage::Quoted { price, .. } => price,
        Stage::Accepted(_) if conversion.payment.is_none() => return Err(ConversionRefusal::QuoteUsed.into()),
        // Automatic conversions never were quotes.
        Stage::Accepted(_) | Stage::Waiting(_) | Stage::Dropped => return Err(Refusal::NotFound),
    };
    if !conversion.source.is_enabled(settings) {
        return Err(ConversionRefusal::NotEnabled.into());
    }
    not_too_little(settings, price)?;
    within_limit(book, conversion.source, price, turn)?;
    let drawn = turn.may_take(book, (conversion.source.currency(), price.source_minor))?;
    let taken = take(book, conversion.source.currency(), price.source_minor)?;
    Ok(Ruling::write(begin(book, conversion, price.clone(), (taken, drawn), reference, turn)))
}

/// Checks that the day's limit has room for the price, and the ledgers for its figures.
fn within_limit(book: &Book, source: Source, price: &Price, turn: &Turn) -> Result<(), Refusal> {
    let today = book.converted.with(source, price.source_minor, turn.now).ok_or(Refusal::AmountOverflow)?;
    if !book.has_room_for(Currency::Usdt, price.target.minor(), Ledger::Exchange) {
        return Err(Refusal::AmountOverflow);
    }
    match *book.tenant_settings.settings.conversions.daily_limit.of(source) {
        Some(limit) if today > limit => {
            Err(ConversionRefusal::DailyLimitExceeded { currency: source.currency(), limit }.into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Debits the source and, unless the conversion waits, credits the USDT.
fn begin(
    book: &Book,
    before: &Conversion,
    price: Price,
    (taken, drawn): (Vec<Part>, Drawn),
    reference: Option<String>,
    turn: &Turn,
) -> Draft {
    let waits = !turn.livemode && reference.as_deref().is_some_and(|reference| reference.starts_with(WAITS));
    let end = if waits { End::Open } else { End::Completed { at: turn.now } };
    let accepted = Accepted { price, taken, nth: book.converted.count, end, drawn };
    let currency = before.source.currency();
    let mut draft = Draft::new(Cause::ConversionAccepted);
    source(&mut draft, before, &accepted, -1, MovementKind::Conversion, "conversion to USDT");
    for part in &accepted.taken {
        draft.hold((Ledger::Tenant, currency), part.release_at, part.hold, -part.minor);
    }
    draft.event(EventKind::ConversionCreated, EntityId::conversion(before.id));
    if !waits {
        deliver(&mut draft, before.id, &accepted, turn);
    }
    let stage = Stage::Accepted(accepted);
    draft.change(before, Conversion { stage, reference, created_at: turn.now, ..before.clone() });
    draft
}

/// Posts both sides of the source; `sign` −1 takes it from the tenant, 1 gives it back.
fn source(
    draft: &mut Draft,
    conversion: &Conversion,
    accepted: &Accepted,
    sign: i64,
    kind: MovementKind,
    words: &str,
) {
    let (currency, minor) = (conversion.source.currency(), sign * accepted.price.source_minor);
    let row = Row::new(kind, EntityId::conversion(conversion.id), words);
    draft.post((currency, minor), (Ledger::Tenant, Some(row)), (Ledger::Exchange, None));
    draft.spend(&accepted.drawn, currency, -minor);
}

/// Credits the USDT, held until the last end of the holds that paid for them.
fn deliver(draft: &mut Draft, id: Id, accepted: &Accepted, turn: &Turn) {
    let minor = accepted.price.target.minor();
    let available_at = accepted.held_until().filter(|until| *until > turn.now);
    let row = Row::new(MovementKind::Conversion, EntityId::conversion(id), "USDT from a conversion");
    let row = Row { available_at, ..row };
    draft.post((Currency::Usdt, minor), (Ledger::Tenant, Some(row)), (Ledger::Exchange, None));
    if let Some(release_at) = available_at {
        draft.hold((Ledger::Tenant, Currency::Usdt), release_at, id, minor);
    }
    draft.event(EventKind::ConversionCompleted, EntityId::conversion(id));
}

pub enum Decision {
    Cancel,
    Fulfil,
    /// The USDT will not come, for this reason.
    Reject(String),
}

fn end(conversion: &Conversion, decision: Decision, turn: &Turn) -> Ruled {
    let accepted = conversion.accepted().ok_or(Refusal::NotFound)?;
    let reason = match (decision, &accepted.end) {
        (Decision::Cancel, End::Open) => CANCELED_BY_TENANT.to_owned(),
        (Decision::Reject(reason), End::Open) => reason,
        (Decision::Fulfil, End::Open) => {
            let ended = conversion.ended(accepted, End::Completed { at: turn.now });
            let mut draft = Draft::changed(Cause::ConversionCompleted, conversion, ended);
            deliver(&mut draft, conversion.id, accepted, turn);
            return Ok(Ruling::write(draft));
        }
        (Decision::Cancel, _) => return Err(ConversionRefusal::NotCancelable.into()),
        (Decision::Fulfil | Decision::Reject(_), _) => return Err(ConversionRefusal::NotPending.into()),
    };
    // The holds that the source was taken from are restored, as far as they have not ended.
    let ended = conversion.ended(accepted, End::Canceled { at: turn.now, reason });
    let mut draft = Draft::changed(Cause::ConversionCanceled, conversion, ended);
    source(&mut draft, conversion, accepted, 1, MovementKind::ConversionReversal, "conversion canceled");
    for part in accepted.taken.iter().filter(|part| part.release_at > turn.now) {
        draft.hold((Ledger::Tenant, conversion.source.currency()), part.release_at, part.hold, part.minor);
    }
    draft.event(EventKind::ConversionCanceled, EntityId::conversion(conversion.id));
    Ok(Ruling::write(draft))
}

/// The reason that a conversion canceled by the tenant shows.
pub const CANCELED_BY_TENANT: &str = "canceled_by_tenant";

pub enum Command {
    Quote(Box<NewQuote>),
    /// The acceptance of a quote, with the tenant's reference.
    Accept(Option<String>),
    /// The end of a conversion that waits, decided by the tenant or an operator.
    End(Decision),
}

pub fn decide(book: &Book, conversion: Option<&Conversion>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, conversion) {
        (Command::Quote(new), None) => quote(book, *new, turn),
        (Command::Accept(reference), Some(conversion)) => accept(book, conversion, reference, turn),
        (Command::End(decision), Some(conversion)) => end(conversion, decision, turn),
        (Command::Quote(_), Some(_)) | (_, None) => Err(Refusal::NotFound),
    }
}

/// Takes `minor` units of the tenant's balance in a currency: the available balance, then holds in the order in which
/// they would end (`docs/contract.md, 9.4`), which are returned. Money that is set aside until a decision cannot be
/// taken, nor can holds beyond the first [`HOLDS_MAX`], nor anything while the available balance is
/// below zero.
fn take(book: &Book, currency: Currency, minor: i64) -> Result<Vec<Part>, Refusal> {
    let available = book.spendable(currency);
    let mut left = match minor.checked_sub(available) {
        Some(left) if available >= 0 => left,
        _ => return Err(ConversionRefusal::InsufficientBalance { currency, available, spendable: 0 }.into()),
    };
    let mut taken = Vec::new();
    for ((release_at, hold), held) in book.account(currency).holds_with_an_end().take(HOLDS_MAX) {
        if left <= 0 {
            break;
        }
        let minor = left.min(held);
        taken.push(Part { release_at, hold, minor });
        left -= minor;
    }
    if left > 0 {
        let held: i64 = taken.iter().map(|taken| taken.minor).sum();
        let spendable = available + held;
        return Err(ConversionRefusal::InsufficientBalance { currency, available, spendable }.into());
    }
    Ok(taken)
}

#[cfg(test)]
mod tests;
