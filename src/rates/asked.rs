//! A source of the official rate that knows by itself how it is asked: a bank. It must not know what
//! is asked of the bank besides.

use crate::rates::error::SourceError;
use domain::resources::rates::samples::{Sample, Series};
use domain::values::date::Date;
use domain::values::money::Rate;
use domain::values::time::{Timestamp, Zone};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// The answer of a bank, once it is there: the newest rate and the day on which it is in force, if the
/// bank has said any.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Option<(Rate, Date)>> + Send + 'a>>;

/// A source that is asked for the newest official rate.
pub trait Quoting: Send + Sync + fmt::Debug {
    /// Asks for the newest rate.
    fn newest(&self) -> Answering<'_>;
}

/// A sample of what the source says now.
pub(super) async fn look(
    source: &Arc<dyn Quoting>,
    series: &Series,
    now: Timestamp,
) -> Result<Sample, SourceError> {
    let (rate, value_date) = source.newest().await.ok_or(SourceError::NoRate)?;
    Ok(Sample::new(series.clone(), rate, value_date.start_in(Zone::Caracas), now))
}
