//! Why a feed has no price. Nothing here quotes an address, a header or an answer: they may be
//! secrets, and anything.

use crate::fetch::FetchError;
use domain::resources::rates::samples::Series;

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("headers: {name} is no header, or its value has characters that a header cannot have")]
    Header { name: String },
    #[error("the answer {0}")]
    Answer(String),
    /// The bank has published no rate of the last days, or does not answer.
    #[error("the bank says no rate")]
    NoRate,
    #[error("reading the answer failed by a defect of this server")]
    Defect,
}

/// Found at the start: a feed cannot be asked at all, as it is configured.
#[derive(Debug, thiserror::Error)]
#[error("{} {}: {source}", series.pair, series.source)]
pub struct FeedError {
    pub series: Series,
    pub source: SourceError,
}
