//! Rates, in the store of their own.

use crate::resources::rates::buckets;
use crate::resources::rates::pins;
use crate::resources::rates::samples;
use crate::stored::layout::layout;
use crate::stored::values::Date;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use std::sync::Arc;

layout! {
    struct Placed of buckets::Placed {
        at: Timestamp,
        number: u64,
        ticks: i128,
    }
}

layout! {
    struct Bucket of buckets::Bucket {
        count: u64,
        sum: i128,
        min: i128,
        max: i128,
        first: Placed,
        last: Placed,
    }
}

layout! {
    struct Pair of samples::Pair {
        length: u8,
        text: [u8; 11],
    }
}

layout! {
    struct Series of samples::Series {
        pair: Pair,
        source: Arc<str>,
        side: Option<Arc<str>>,
        method: Option<Arc<str>>,
        payment_method: Option<Arc<str>>,
    }
}

layout! {
    struct Quotation of samples::Quotation {
        price: Rate,
        fetched_at: Timestamp,
        payment_method: Option<Arc<str>>,
        suspect: bool,
    }
}

layout! {
    struct Sample of samples::Sample {
        series: Series,
        price: Rate,
        as_of: Timestamp,
        fetched_at: Timestamp,
        value_date: Option<Date>,
        suspect: bool,
        test_only: bool,
    }
}

layout! {
    struct Pin of pins::Pin {
        sample: Arc<Sample>,
        until: Timestamp,
        reason: String,
        operator_id: String,
        operator_name: String,
    }
}
