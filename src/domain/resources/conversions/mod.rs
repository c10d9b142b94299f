//! Conversions of bolívares and pesos to USDT (`docs/contract.md, 9`). A quote and the conversion
//! that it becomes are one entity, so accepting is one record about one entity, and nobody can
//! accept a quote twice. An automatic conversion ([`auto`]) begins as one that waits for a rate. The
//! market's prices come in with a command: their sources do not belong here (`src/rates/`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::conversion::{Accepted, Conversion, End, Price, Source, Stage, Taken};
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::{HOLDS_MAX, HoldChange, Ledger, MovementKind, Posting, Row};
use crate::platform::settings::Settings;
use crate::refusal::{ConversionRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Rate};
use crate::values::time::{SECOND_MS, Timestamp};
use price::Amount;

pub mod auto;
pub mod price;

/// The time for which a quote can be accepted, in milliseconds (`docs/contract.md, 9.2`).
pub const QUOTE_MS: i64 = 60 * SECOND_MS;
/// The beginning of references that make a conversion wait in test mode (`docs/contract.md, 4.5`).
const WAITS: &str = "test_pending";

impl Source {
    /// The spread of conversions from it, in percent.
    fn spread(self, settings: &Settings) -> Rate {
        let spread = &settings.conversions.spread_percent;
        match self {
            Source::Ves => spread.ves,
            Source::Cop => spread.cop,
        }
    }

    /// The largest sum of a local day, in minor units; `None` is no limit.
    fn daily_limit(self, settings: &Settings) -> Option<i64> {
        let limit = &settings.conversions.daily_limit;
        match self {
            Source::Ves => limit.ves,
            Source::Cop => limit.cop,
        }
    }

    /// Whether it may be converted: conversions from it, USDT and, for pesos, pesos are switched
    /// on.
    fn is_enabled(self, settings: &Settings) -> bool {
        let enabled = &settings.conversions.enabled;
        settings.usdt_enabled
            && match self {
                Source::Ves => enabled.ves,
                Source::Cop => enabled.cop && settings.cop_enabled,
            }
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
pub fn quote(book: &Book, new: NewQuote, turn: &Turn) -> Ruling {
    let price = match priced(&book.tenant_settings.settings, new.source, new.amount, new.market) {
        Ok(price) => price,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let stage = Stage::Quoted { price, expires_at: turn.now.plus_ms(QUOTE_MS) };
    let quote = Conversion {
        id: new.id,
        source: new.source,
        stage,
        reference: None,
        payment: None,
        livemode: turn.livemode,
        created_at: turn.now,
    };
    let mut draft = Draft::new(Cause::ConversionQuoted);
    draft.create(Entity::Conversion(quote));
    Ruling::write(draft)
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
    let price =
        Price::of(source, amount, market, source.spread(settings)).ok_or(ConversionRefusal::InvalidAmount)?;
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

/// Accepts a quote: its source is debited at once.
pub fn accept(book: &Book, conversion: &Conversion, reference: Option<String>, turn: &Turn) -> Ruling {
    let price = match acceptable(book, conversion, turn) {
        Ok(price) => price,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    match take(book, conversion.source.currency(), price.source_minor) {
        Ok(taken) => Ruling::write(begin(book, conversion, price.clone(), taken, reference, turn)),
        Err(refusal) => Ruling::refuse(refusal),
    }
}

/// The price of a quote that may be accepted, if the balance suffices. Refusals are in the order of
/// `docs/contract.md, 1.12`.
fn acceptable<'a>(book: &Book, conversion: &'a Conversion, turn: &Turn) -> Result<&'a Price, Refusal> {
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
    Ok(price)
}

/// Checks that the day's limit has room for the price, and the ledgers for its figures.
fn within_limit(book: &Book, source: Source, price: &Price, turn: &Turn) -> Result<(), Refusal> {
    let today = book.converted.with(source, price.source_minor, turn.now).ok_or(Refusal::AmountOverflow)?;
    if !book.has_room_for(Currency::Usdt, price.target.minor(), Ledger::Exchange) {
        return Err(Refusal::AmountOverflow);
    }
    match source.daily_limit(&book.tenant_settings.settings) {
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
    taken: Vec<Taken>,
    reference: Option<String>,
    turn: &Turn,
) -> Draft {
    let waits = !turn.livemode && reference.as_deref().is_some_and(|reference| reference.starts_with(WAITS));
    let end = if waits { End::Open } else { End::Completed { at: turn.now } };
    let accepted = Accepted { price, taken, nth: book.converted.count, end };
    let mut draft = Draft::new(Cause::ConversionAccepted);
    source(&mut draft, before, &accepted, -1, MovementKind::Conversion, "conversion to USDT");
    for taken in &accepted.taken {
        draft.hold(taken.change(before.source.currency(), -1));
    }
    draft.event(EventKind::ConversionCreated, EntityId::conversion(before.id));
    if !waits {
        deliver(&mut draft, before.id, &accepted, turn);
    }
    draft.change(
        before,
        Entity::Conversion(Conversion {
            stage: Stage::Accepted(accepted),
            reference,
            created_at: turn.now,
            ..before.clone()
        }),
    );
    draft
}

/// Posts both sides of the source; `sign` −1 takes it from the tenant, 1 gives it back.
fn source(
    draft: &mut Draft,
    conversion: &Conversion,
    accepted: &Accepted,
    sign: i64,
    kind: MovementKind,
    description: &str,
) {
    let (currency, minor) = (conversion.source.currency(), sign * accepted.price.source_minor);
    draft.post(Posting {
        ledger: Ledger::Tenant,
        currency,
        minor,
        row: row(conversion.id, kind, description, None),
    });
    draft.post(Posting { ledger: Ledger::Exchange, currency, minor: -minor, row: None });
}

/// Credits the USDT, held until the last end of the holds that paid for them.
fn deliver(draft: &mut Draft, id: Id, accepted: &Accepted, turn: &Turn) {
    let (currency, minor) = (Currency::Usdt, accepted.price.target.minor());
    let held_until = accepted.held_until().filter(|until| *until > turn.now);
    draft.post(Posting {
        ledger: Ledger::Tenant,
        currency,
        minor,
        row: row(id, MovementKind::Conversion, "USDT from a conversion", held_until),
    });
    draft.post(Posting { ledger: Ledger::Exchange, currency, minor: -minor, row: None });
    if let Some(release_at) = held_until {
        draft.hold(HoldChange {
            ledger: Ledger::Tenant,
            currency,
            release_at: release_at.into(),
            hold: id,
            minor,
        });
    }
    draft.event(EventKind::ConversionCompleted, EntityId::conversion(id));
}

fn row(id: Id, kind: MovementKind, description: &str, available_at: Option<Timestamp>) -> Option<Box<Row>> {
    let subject = Some(EntityId::conversion(id));
    Some(Box::new(Row {
        kind,
        subject,
        chargeback: None,
        external_ref: None,
        description: description.to_owned(),
        available_at,
    }))
}

pub enum Decision {
    Cancel,
    Fulfil,
    /// The USDT will not come, for this reason.
    Reject(String),
}

pub fn end(conversion: &Conversion, decision: Decision, turn: &Turn) -> Ruling {
    let Some(accepted) = conversion.accepted() else { return Ruling::refuse(Refusal::NotFound) };
    match (decision, &accepted.end) {
        (Decision::Cancel, End::Open) => cancel(conversion, accepted, CANCELED_BY_TENANT.to_owned(), turn),
        (Decision::Reject(reason), End::Open) => cancel(conversion, accepted, reason, turn),
        (Decision::Fulfil, End::Open) => {
            let mut draft = Draft::new(Cause::ConversionCompleted);
            deliver(&mut draft, conversion.id, accepted, turn);
            draft.change(
                conversion,
                Entity::Conversion(conversion.ended(accepted, End::Completed { at: turn.now })),
            );
            Ruling::write(draft)
        }
        (Decision::Cancel, _) => Ruling::refuse(ConversionRefusal::NotCancelable),
        (Decision::Fulfil | Decision::Reject(_), _) => Ruling::refuse(ConversionRefusal::NotPending),
    }
}

/// Credits the source again, and restores the holds that it was taken from, as far as they have not
/// ended.
fn cancel(conversion: &Conversion, accepted: &Accepted, reason: String, turn: &Turn) -> Ruling {
    let mut draft = Draft::new(Cause::ConversionCanceled);
    source(&mut draft, conversion, accepted, 1, MovementKind::ConversionReversal, "conversion canceled");
    for taken in accepted.taken.iter().filter(|taken| taken.release_at > turn.now) {
        draft.hold(taken.change(conversion.source.currency(), 1));
    }
    draft.change(
        conversion,
        Entity::Conversion(conversion.ended(accepted, End::Canceled { at: turn.now, reason })),
    );
    draft.event(EventKind::ConversionCanceled, EntityId::conversion(conversion.id));
    Ruling::write(draft)
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

pub fn decide(book: &Book, conversion: Option<&Conversion>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, conversion) {
        (Command::Quote(new), None) => quote(book, *new, turn),
        (Command::Accept(reference), Some(conversion)) => accept(book, conversion, reference, turn),
        (Command::End(decision), Some(conversion)) => end(conversion, decision, turn),
        (Command::Quote(_), Some(_)) | (_, None) => Ruling::refuse(Refusal::NotFound),
    }
}

/// Takes `minor` units of the tenant's balance in a currency: the available balance, then holds in the order in which
/// they would end (`docs/contract.md, 9.4`), which are returned. Money that is set aside until a decision cannot be
/// taken, nor can holds beyond the first [`HOLDS_MAX`], nor anything while the available balance is
/// below zero.
fn take(book: &Book, currency: Currency, minor: i64) -> Result<Vec<Taken>, Refusal> {
    let available = book.spendable(currency);
    let mut left = match minor.checked_sub(available) {
        Some(left) if available >= 0 => left,
        _ => return Err(ConversionRefusal::InsufficientBalance { currency, available, spendable: 0 }.into()),
    };
    let account = book.account(currency);
    let mut taken = Vec::new();
    let with_an_end = account
        .holds
        .iter()
        .map_while(|((release_at, hold), held)| Some((release_at.instant()?, hold, held)));
    for (release_at, hold, held) in with_an_end.take(HOLDS_MAX) {
        if left <= 0 {
            break;
        }
        let minor = left.min(*held);
        taken.push(Taken { release_at, hold: *hold, minor });
        left -= minor;
    }
    if left > 0 {
        let held: i64 = taken.iter().map(|taken| taken.minor).sum();
        return Err(ConversionRefusal::InsufficientBalance {
            currency,
            available,
            spendable: available + held,
        }
        .into());
    }
    Ok(taken)
}

#[cfg(test)]
mod tests;
