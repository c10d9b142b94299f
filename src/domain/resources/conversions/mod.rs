//! Conversions of bolívares and pesos to USDT (`docs/contract.md, 9`). A quote and the conversion
//! that it becomes are one entity, so accepting is one record about one entity, and nobody can
//! accept a quote twice. An automatic conversion ([`auto`]) begins as one that waits for a rate. The
//! market's prices come in with a command: their sources do not belong here (`src/rates/`).

use crate::codec::stored;
use crate::decision::{Draft, Ruling, Turn};
use crate::entity::{Change, Listing, Resource};
use crate::events::EventKind;
use crate::index::{Entries, Trait, time_bytes};
use crate::ledger::book::Book;
use crate::ledger::{HoldChange, Ledger, MovementKind, Posting, Row};
use crate::platform::settings::Settings;
use crate::record::{Cause, Entity};
use crate::refusal::{ConversionRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Rate};
use crate::values::time::{SECOND_MS, Timestamp, Zone};
pub use commands::{CANCELED_BY_TENANT, Command, decide};
use price::{Amount, Price};
use spend::Taken;

pub mod auto;
mod commands;
pub mod price;
pub mod spend;
#[cfg(test)]
mod tests;
pub mod totals;

/// The time for which a quote can be accepted, in milliseconds (`docs/contract.md, 9.2`).
pub const QUOTE_MS: i64 = 60 * SECOND_MS;
/// The beginning of references that make a conversion wait in test mode (`docs/contract.md, 4.5`).
const WAITS: &str = "test_pending";
/// The facet of conversions that are in no list: quotes, and automatic ones without a rate.
pub const UNLISTED: u8 = 0xFF;

stored! {
    /// The currency that is converted. The number is part of list facets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[repr(u8)]
    pub enum Source {
        0 Ves,
        1 Cop,
    }
}

impl Source {
    pub const ALL: [Source; 2] = [Source::Ves, Source::Cop];

    pub const fn currency(self) -> Currency {
        match self {
            Source::Ves => Currency::Ves,
            Source::Cop => Currency::Cop,
        }
    }

    /// The time zone in which its days begin.
    pub const fn zone(self) -> Zone {
        match self {
            Source::Ves => Zone::Caracas,
            Source::Cop => Zone::Bogota,
        }
    }

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

/// The status of an accepted conversion. The number is part of its list facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The source is debited; the USDT are still to come.
    Pending = 0,
    Completed = 1,
    /// The conversion was canceled, and the source is credited again.
    Canceled = 2,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Pending, Status::Completed, Status::Canceled];

    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "PENDING",
            Status::Completed => "COMPLETED",
            Status::Canceled => "CANCELED",
        }
    }
}

stored! {
    /// The end of an accepted conversion, if it has ended.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum End {
        /// The conversion has not ended.
        0 Open,
        1 Completed { 0 at: Timestamp },
        2 Canceled { 0 at: Timestamp, 1 reason: String },
    }

    /// The part of a conversion that begins when its quote is accepted.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Accepted {
        /// The number of conversions accepted before it, by which those of one millisecond are listed.
        0 pub nth: u64,
        /// The amounts, which do not change any more.
        1 pub price: Price,
        /// The held money that was taken, in the order in which it was taken.
        2 pub taken: Vec<Taken>,
        3 pub end: End,
    }
}

impl Accepted {
    pub const fn status(&self) -> Status {
        match self.end {
            End::Open => Status::Pending,
            End::Completed { .. } => Status::Completed,
            End::Canceled { .. } => Status::Canceled,
        }
    }

    /// The last end of the holds that it took: until then its USDT are held.
    pub fn held_until(&self) -> Option<Timestamp> {
        self.taken.iter().map(|taken| taken.release_at).max()
    }
}

stored! {
    /// The stage of a conversion, from its quote on.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Stage {
        /// A quote that can be accepted before it expires.
        0 Quoted { 0 price: Price, 1 expires_at: Timestamp },
        1 Accepted(Accepted),
        /// An automatic conversion that waits for a rate; nobody sees it.
        2 Waiting(auto::Waiting),
        /// An automatic conversion that came to nothing; nobody ever sees it.
        3 Dropped,
    }

    /// A quote, and the conversion that it becomes.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Conversion {
        /// The id of the quote and of the conversion.
        0 pub id: Id,
        1 pub source: Source,
        2 pub stage: Stage,
        3 pub reference: Option<String>,
        /// The peso payment that an automatic conversion is for.
        4 pub payment: Option<Id>,
        /// Whether real money is converted; a test conversion buys no real USDT.
        5 pub livemode: bool,
        /// The instant at which the quote was made or, once it is accepted, that of its acceptance.
        6 pub created_at: Timestamp,
    }
}

impl Conversion {
    /// The accepted conversion; `None` before it is accepted.
    pub const fn accepted(&self) -> Option<&Accepted> {
        if let Stage::Accepted(accepted) = &self.stage { Some(accepted) } else { None }
    }

    /// Whether this is a quote, which can be accepted unless it has expired.
    pub const fn is_quote(&self) -> bool {
        matches!(self.stage, Stage::Quoted { .. })
    }

    fn ended(&self, accepted: &Accepted, end: End) -> Conversion {
        Conversion { stage: Stage::Accepted(Accepted { end, ..accepted.clone() }), ..self.clone() }
    }
}

impl Resource for Conversion {
    fn entity_id(&self) -> EntityId {
        EntityId::conversion(self.id)
    }

    fn facet(&self) -> u8 {
        self.accepted().map_or(UNLISTED, |accepted| facet(self.source, accepted.status()))
    }

    fn deadline(&self) -> Option<Timestamp> {
        if let Stage::Waiting(waiting) = &self.stage { Some(waiting.next_try) } else { None }
    }

    fn external_ref(&self) -> Option<&str> {
        None
    }

    fn listing(&self, facet: u8) -> Listing {
        if facet == UNLISTED {
            return Listing::Nowhere;
        }
        // The id is as old as the quote, which may be older than an earlier conversion's.
        let nth = self.accepted().map_or(0, |accepted| accepted.nth);
        Listing::After([time_bytes(self.created_at), nth.to_be_bytes()].concat())
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        let is_new = change.cause == Cause::ConversionAccepted;
        entries.maybe_found_by(Trait::Reference, self.reference.as_deref().filter(|_| is_new));
    }
}

/// The byte by which lists of conversions are filtered: the source and the status.
pub const fn facet(source: Source, status: Status) -> u8 {
    (source as u8) << 2 | status as u8
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
    match spend::take(book, conversion.source.currency(), price.source_minor) {
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
    let accepted = Accepted { price, taken, nth: book.converted.count(), end };
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
