//! Conversions and their totals.

use crate::resources::conversions;
use crate::resources::conversions::auto;
use crate::resources::conversions::price;
use crate::resources::conversions::spend;
use crate::resources::conversions::totals;
use crate::stored::layout::layout;
use crate::stored::values::Cop;
use crate::stored::values::Date;
use crate::stored::values::Id;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use crate::stored::values::Usdt;

layout! {
    enum Source of conversions::Source {
        0 Ves,
        1 Cop,
    }
}

layout! {
    enum End of conversions::End {
        0 Open,
        1 Completed { at: Timestamp },
        2 Canceled { at: Timestamp, reason: String },
    }
}

layout! {
    struct Accepted of conversions::Accepted {
        nth: u64,
        price: Price,
        taken: Vec<Taken>,
        end: End,
    }
}

layout! {
    enum Stage of conversions::Stage {
        0 Quoted { price: Price, expires_at: Timestamp },
        1 Accepted(it: Accepted),
        2 Waiting(it: Waiting),
        3 Dropped,
    }
}

layout! {
    struct Conversion of conversions::Conversion {
        id: Id,
        source: Source,
        stage: Stage,
        reference: Option<String>,
        payment: Option<Id>,
        livemode: bool,
        created_at: Timestamp,
    }
}

layout! {
    struct Waiting of auto::Waiting {
        share: Cop,
        release_at: Timestamp,
        next_try: Timestamp,
        until: Timestamp,
    }
}

layout! {
    struct Price of price::Price {
        source_minor: i64,
        target: Usdt,
        market: Rate,
        spread_percent: Rate,
        rate: Rate,
    }
}

layout! {
    struct Taken of spend::Taken {
        release_at: Timestamp,
        hold: Id,
        minor: i64,
    }
}

layout! {
    struct Day of totals::Day {
        date: Date,
        minor: i64,
    }
}

layout! {
    struct Totals of totals::Totals {
        days: [Day; 2],
        ves: i64,
        count: u64,
    }
}
