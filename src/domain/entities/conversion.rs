//! Conversions to USDT.

use crate::cause::Cause;
use crate::codec::{named, stored};
use crate::entities::resource::{Change, Listing, Resource};
use crate::entities::sale::Part;
use crate::index::{Entries, Trait, time_bytes};
use crate::ledger::spending::Drawn;
use crate::values::ids::Id;
use crate::values::money::{Cop, Currency, Rate, Usdt};
use crate::values::time::{Timestamp, Zone};

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
}

named! {
    /// The status of an accepted conversion. The number is part of its list facet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The source is debited; the USDT are still to come.
        Pending = 0 "PENDING",
        Completed = 1 "COMPLETED",
        /// The conversion was canceled, and the source is credited again.
        Canceled = 2 "CANCELED",
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
        2 pub taken: Vec<Part>,
        3 pub end: End,
        4 pub drawn: Drawn = since 8 else Drawn::NONE,
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
        2 Waiting(Waiting),
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

    pub(crate) fn ended(&self, accepted: &Accepted, end: End) -> Conversion {
        Conversion { stage: Stage::Accepted(Accepted { end, ..accepted.clone() }), ..self.clone() }
    }
}

impl Resource for Conversion {
    fn facet(&self) -> u8 {
        self.accepted().map_or(UNLISTED, |accepted| facet(self.source, accepted.status()))
    }

    fn deadline(&self) -> Option<Timestamp> {
        if let Stage::Waiting(waiting) = &self.stage { Some(waiting.next_try) } else { None }
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
        entries.found_by(Trait::Reference, self.reference.as_deref().filter(|_| is_new));
    }
}

/// The byte by which lists of conversions are filtered: the source and the status.
pub const fn facet(source: Source, status: Status) -> u8 {
    (source as u8) << 2 | status as u8
}

stored! {
    /// Both amounts of a conversion, and the rate between them.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Price {
        /// The amount that is paid, in minor units of the source.
        0 pub source_minor: i64,
        1 pub target: Usdt,
        /// The market price of a USDT, with four decimals.
        2 pub market: Rate,
        /// The spread on top of it, in percent, with four decimals.
        3 pub spread_percent: Rate,
        /// The charged price of a USDT, with four decimals.
        4 pub rate: Rate,
    }

    /// The state of a conversion that waits for a rate.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Waiting {
        /// The pesos to be converted, fixed when the payment completed.
        0 pub share: Cop,
        /// The end of the payment's hold, from which the pesos are taken.
        1 pub release_at: Timestamp,
        2 pub next_try: Timestamp,
        /// The instant from which it is not tried any more.
        3 pub until: Timestamp,
    }
}
