//! A source of the official rate that knows by itself how it is asked: a bank.

use crate::rates::error::SourceError;
use domain::resources::rates::samples::{Sample, Series};
use domain::values::date::Date;
use domain::values::money::Rate;
use domain::values::time::{Timestamp, Zone};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// The newest rate and the day on which it is in force, if the bank has said any.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Option<(Rate, Date)>> + Send + 'a>>;

pub trait Quoting: Send + Sync + fmt::Debug {
    fn newest(&self) -> Answering<'_>;
}

pub(super) async fn look(
    source: &Arc<dyn Quoting>,
    series: &Series,
    now: Timestamp,
) -> Result<Sample, SourceError> {
    let (rate, value_date) = source.newest().await.ok_or(SourceError::NoRate)?;
    Ok(Sample::new(series.clone(), rate, value_date.start_in(Zone::Caracas), now))
}
