//! Version 4 of rates: the pins of operators, in the store of rates.

use crate::resources::rates::{pins, samples};
use crate::stored::layout::layout;
use crate::stored::v1::rates::Series;
use crate::stored::v1::values::{Date, Rate, Timestamp};
use std::sync::Arc;

layout! {
    struct Sample of samples::Sample {
        series: Series,
        price: Rate,
        as_of: Timestamp,
        fetched_at: Timestamp,
        value_date: Option<Date>,
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
